from __future__ import annotations

import pyarrow as pa
import pytest

from raydata_ext.table.ipc_reader import open_ipc_file
from raydata_ext.table.ipc_writer import ShardWriter
from raydata_ext.table.string_views import compact_views

LONG = [f"row {index}: " + "x" * 100 for index in range(1000)]


@pytest.mark.parametrize(
    "column",
    [
        pa.array(LONG, pa.string_view()),
        pa.array([text.encode() for text in LONG], pa.binary_view()),
        pa.array([{"a": [text, None]} for text in LONG], pa.struct({"a": pa.large_list(pa.string_view())})),
    ],
    ids=["string", "binary", "nested"],
)
def test_a_slice_of_views_keeps_its_own_values_alone(column):
    batch = pa.record_batch({"c": column}).replace_schema_metadata({"k": "v"}).slice(10, 2)

    compact = compact_views(batch)

    assert compact.schema.equals(batch.schema, check_metadata=True)
    assert compact.to_pylist() == batch.to_pylist()
    assert compact.get_total_buffer_size() < 1000


def test_a_batch_without_views_is_returned_as_it_is():
    batch = pa.record_batch({"c": [["a"]], "n": [1]})

    assert compact_views(batch) is batch


def test_many_batches_cut_from_one_batch_of_views_do_not_repeat_its_text(tmp_path):
    batch = pa.record_batch({"c": pa.array(LONG, pa.string_view())})

    with ShardWriter(tmp_path / "a.arrow", batch.schema, batch_rows=10) as writer:
        writer.write(batch)
        summary = writer.finish()

    assert summary.num_bytes < 2 * batch.get_total_buffer_size()
    assert open_ipc_file(tmp_path / "a.arrow").column("c").to_pylist() == LONG
