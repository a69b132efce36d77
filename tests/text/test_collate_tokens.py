from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.text.collate_tokens import collate_tokens

ROWS = st.lists(st.lists(st.integers(0, 99), max_size=12), min_size=1, max_size=12)


def plain_loop(rows, pad, eos, left, move, to_length, multiple, to_bsz):
    width = max([len(row) for row in rows] + [to_length or 0])
    while width % multiple:
        width += 1
    matrix = []
    for row in rows + [[]] * max(0, (to_bsz or 0) - len(rows)):
        moved = [eos if eos is not None else row[-1], *row[:-1]] if move and row else row
        padding = [pad] * (width - len(row))
        matrix.append(padding + moved if left else moved + padding)
    return matrix


@given(
    ROWS,
    st.sampled_from([None, 2]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, 3, 20]),
    st.sampled_from([1, 8]),
    st.sampled_from([None, 4]),
)
@settings(max_examples=200, deadline=None)
def test_the_matrix_equals_a_plain_loop(rows, eos, left, move, to_length, multiple, to_bsz):
    values = [np.array(row, np.int64) for row in rows]
    matrix = collate_tokens(values, 1, eos, left, move, to_length, multiple, to_bsz, return_tensors="np")
    assert matrix.tolist() == plain_loop(rows, 1, eos, left, move, to_length, multiple, to_bsz)


def test_the_end_of_sentence_moves_to_the_beginning_of_the_tokens_not_of_the_padding():
    values = [np.array([5, 6, 2]), np.array([7, 2])]
    moved = collate_tokens(values, 1, 2, left_pad=True, move_eos_to_beginning=True, return_tensors="np")
    assert moved.tolist() == [[2, 5, 6], [1, 2, 7]]


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8, np.float32])
def test_the_type_of_the_first_value_is_kept(dtype):
    assert collate_tokens([np.ones(2, dtype), np.ones(1, np.int64)], 0, return_tensors="np").dtype == dtype


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32])
def test_tokens_of_files_become_int64_since_torch_does_not_compute_with_their_types(dtype):
    matrix = collate_tokens([np.array([40_000, 5], dtype), np.array([6], dtype)], -100, return_tensors="np")
    assert (matrix.dtype, matrix.tolist()) == (np.int64, [[40_000, 5], [6, -100]])


def test_tensors_in_and_out_have_equal_values():
    torch = pytest.importorskip("torch")
    matrix = collate_tokens([torch.tensor([4, 5], dtype=torch.int32), torch.tensor([6])], 1)
    assert matrix.dtype == torch.int32
    assert matrix.tolist() == [[4, 5], [6, 1]]


def test_rows_without_tokens_are_all_padding():
    assert collate_tokens([np.empty(0, np.int64)], 1, return_tensors="np").shape == (1, 0)
    moved = collate_tokens([np.empty(0, np.int64), np.array([5, 2])], 1, 2, move_eos_to_beginning=True)
    assert moved.tolist() == [[1, 1], [2, 5]]


def test_values_are_left_as_they_are():
    value = np.array([5, 6, 2])
    value.flags.writeable = False
    collate_tokens([value], 1, 2, move_eos_to_beginning=True)
    assert value.tolist() == [5, 6, 2]


def test_no_rows_and_no_multiple_are_errors():
    with pytest.raises(ValueError, match="no rows to collate"):
        collate_tokens([], 1)
    with pytest.raises(ValueError, match="pad_to_multiple is 0"):
        collate_tokens([np.array([1])], 1, pad_to_multiple=0)
