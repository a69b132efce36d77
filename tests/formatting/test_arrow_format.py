from __future__ import annotations

import datasets
import pyarrow as pa

from raydata_ext.formatting import get_formatter

TABLE = pa.table({"n": [1, 2], "s": ["x", "y"]})


def test_a_batch_is_the_data_itself():
    batch = TABLE.to_batches()[0]

    assert get_formatter("arrow").batch(TABLE) is TABLE
    assert get_formatter("arrow").batch(batch) is batch
    assert get_formatter("arrow").column(TABLE["n"]) is not None


def test_a_row_is_a_table_of_one_row_as_in_hugging_face():
    theirs = datasets.Dataset(TABLE).with_format("arrow")[1]

    ours = get_formatter("arrow").row(TABLE.to_batches()[0], 1)

    assert isinstance(ours, pa.Table)
    assert ours.equals(theirs)
