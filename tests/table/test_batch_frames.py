from __future__ import annotations

import itertools

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.table.batch_frames import BatchFrames


def numbers(start, stop):
    return pa.record_batch({"n": pa.array(range(start, stop), pa.int64())})


def cut(frames, batches):
    return [out for batch in batches for out in frames.push(batch)] + list(frames.flush())


def sizes(batches):
    return [batch.num_rows for batch in batches]


def test_small_batches_are_joined_to_full_ones():
    batches = cut(BatchFrames(3, 1 << 20), [numbers(i, i + 1) for i in range(8)])

    assert sizes(batches) == [3, 3, 2]
    assert pa.Table.from_batches(batches).column("n").to_pylist() == list(range(8))


def test_large_batches_are_cut():
    assert sizes(cut(BatchFrames(3, 1 << 20), [numbers(0, 8)])) == [3, 3, 2]


def test_a_batch_of_exactly_the_size_passes_through_uncopied():
    whole = numbers(0, 3)

    assert next(BatchFrames(3, 1 << 20).push(whole)) is whole


def test_a_batch_above_the_limit_of_bytes_is_halved_until_it_fits():
    assert sizes(cut(BatchFrames(8, 16), [numbers(0, 8)])) == [2, 2, 2, 2]


def test_buffers_that_columns_share_count_for_each_of_them_however_the_rows_arrive():
    column = pa.array(range(8), pa.int64())
    shared = pa.record_batch({"a": column, "b": column})  # 128 bytes of rows in 64 of memory

    whole = sizes(cut(BatchFrames(8, 100), [shared]))
    in_halves = sizes(cut(BatchFrames(8, 100), [shared.slice(0, 4), shared.slice(4, 4)]))

    assert whole == in_halves == [4, 4]


def test_a_row_above_the_limit_of_bytes_is_a_batch_of_its_own():
    assert sizes(cut(BatchFrames(4, 100), [pa.record_batch({"s": ["a" * 1000, "b", "c", "d"]})])) == [1, 1, 2]


def test_no_more_than_the_limit_and_one_batch_is_held():
    frames = BatchFrames(1_000_000, 1 << 20)
    before = pa.total_allocated_bytes()
    held = []
    for start in range(0, 4_000_000, 8_000):  # 64 kB each
        assert sum(out.num_rows for out in frames.push(numbers(start, start + 8_000))) < 200_000
        held.append(pa.total_allocated_bytes() - before)

    assert max(held) < (1 << 20) + 2 * 64_000


def test_a_large_dictionary_does_not_count_against_the_rows_that_share_it():
    words = pa.array([f"word {index}" for index in range(1000)]).dictionary_encode()

    assert sizes(cut(BatchFrames(100, 1000), [pa.record_batch({"d": words})])) == [100] * 10


def test_batches_with_different_dictionaries_are_joined():
    batches = [pa.record_batch({"d": pa.array([word]).dictionary_encode()}) for word in "abab"]

    joined = cut(BatchFrames(4, 1 << 20), batches)

    assert sizes(joined) == [4]
    assert joined[0].column("d").to_pylist() == ["a", "b", "a", "b"]


def test_empty_batches_leave_no_trace():
    assert sizes(cut(BatchFrames(3, 1 << 20), [numbers(0, 0), numbers(0, 4), numbers(4, 4)])) == [3, 1]


def test_rows_without_columns_are_counted():
    rows = numbers(0, 5).select([])

    assert sizes(cut(BatchFrames(3, 1 << 20), [rows])) == [3, 2]


@pytest.mark.parametrize("limits", [(0, 1), (1, 0), (-5, 10)])
def test_limits_below_one_are_refused(limits):
    with pytest.raises(ValueError, match="at least 1"):
        BatchFrames(*limits)


@given(
    texts=st.lists(st.text(alphabet="ab", max_size=30), max_size=60),
    cuts=st.lists(st.integers(0, 60), max_size=8),
    batch_rows=st.integers(1, 20),
    batch_bytes=st.integers(8, 400),
)
@settings(deadline=None)
def test_where_batches_end_does_not_depend_on_how_rows_arrive(texts, cuts, batch_rows, batch_bytes):
    whole = pa.record_batch({"text": pa.array(texts, pa.string())})
    edges = sorted({0, len(texts), *(edge for edge in cuts if edge < len(texts))})
    pieces = [whole.slice(start, stop - start) for start, stop in itertools.pairwise(edges)]

    at_once = cut(BatchFrames(batch_rows, batch_bytes), [whole])
    in_pieces = cut(BatchFrames(batch_rows, batch_bytes), pieces)

    assert sizes(in_pieces) == sizes(at_once)
    assert pa.Table.from_batches(in_pieces, whole.schema).column("text").to_pylist() == texts
    assert all(batch.num_rows <= batch_rows for batch in at_once)
    assert all(batch.num_rows == 1 or batch.nbytes <= batch_bytes + 4 for batch in at_once)
