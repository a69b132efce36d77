"""Rows a few at a time."""

from __future__ import annotations

import pytest

from raydata_ext.dataset import Dataset


@pytest.mark.parametrize(("row_bytes", "most"), [(10, 1000), (1 << 20, 16), (20 << 20, 1)])
def test_rows_of_a_mapping_are_copied_together_up_to_a_number_and_a_size(row_bytes: int, most: int) -> None:
    rows = Dataset.from_dict({"text": [f"{number:<{row_bytes}}" for number in range(4)]})
    chosen = rows.select([3, 0, 2, 1] * (500 if most == 1000 else 5))
    sizes = [piece.num_rows for piece in chosen.parts.plain_view.pieces()]
    assert sum(sizes) == len(chosen)
    assert most // 2 < max(sizes) <= most
    assert [int(value) for value in chosen["text"]] == [3, 0, 2, 1] * (len(chosen) // 4)
