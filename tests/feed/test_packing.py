"""Packed sequences hold every token once, in order, and a stream of them goes on at every sequence."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.dataset import Dataset, load_from_disk
from raydata_ext.errors import SchemaError
from raydata_ext.feed import pack, pack_stream
from raydata_ext.feed.plan import FeedPlan
from raydata_ext.feed.rank_batches import rank_batches
from raydata_ext.feed.share import Share
from raydata_ext.job import read_job_file, run_job
from raydata_ext.streaming import IterableDataset

documents = st.lists(st.lists(st.integers(1, 9), max_size=25), max_size=12)


def sequences(packed):
    return [list(map(int, ids)) for ids in packed["input_ids"]], [list(map(int, ids)) for ids in packed["document_ids"]]


def test_documents_are_laid_end_to_end():
    ids, numbers = sequences(pack(4, pad=99)({"input_ids": [[1, 2, 3], [], [4, 5], [6]]}))
    assert ids == [[1, 2, 3, 4], [5, 6, 99, 99]]
    assert numbers == [[1, 1, 1, 2], [1, 2, 0, 0]]


def test_best_fit_cuts_no_document_that_fits_a_sequence():
    ids, numbers = sequences(pack(4, mode="best_fit", pad=0)({"input_ids": [[1], [2, 2, 2], [3, 3], [4] * 6, [5]]}))
    assert ids == [[4, 4, 4, 4], [2, 2, 2, 1], [3, 3, 4, 4], [5, 0, 0, 0]]
    assert numbers == [[1, 1, 1, 1], [1, 1, 1, 2], [1, 1, 2, 2], [1, 0, 0, 0]]


@settings(max_examples=150, deadline=None)
@given(documents=documents, length=st.integers(1, 12), mode=st.sampled_from(["concat", "best_fit"]))
def test_every_token_is_packed_once_with_its_document(documents, length, mode):
    ids, numbers = sequences(pack(length, mode=mode, pad=0)({"input_ids": documents}))
    assert all(len(row) == length for row in ids)
    found = []
    for row, of in zip(ids, numbers, strict=True):
        assert [x for x, number in zip(row, of, strict=True) if number == 0] == [0] * of.count(0)
        found += [[x for x, n in zip(row, of, strict=True) if n == number] for number in sorted(set(of) - {0})]
    tokens = [token for document in documents for token in document]
    if mode == "concat":
        assert [token for piece in found for token in piece] == tokens
        assert len(ids) == -(-len(tokens) // length)
    else:
        pieces = [document[i : i + length] for document in documents for i in range(0, len(document), length)]
        assert sorted(found) == sorted(pieces)


def test_packing_is_a_step_of_a_plan(tmp_path):
    made = Dataset.from_dict({"input_ids": [[1, 2, 3], [4, 5], [6]], "text": ["a", "b", "c"]}, cache_dir=tmp_path)
    packed = made.map(
        pack(4, pad=0), batched=True, batch_size=None, remove_columns=["input_ids", "text"], executor="inline"
    )
    assert packed[:] == {
        "input_ids": [[1, 2, 3, 4], [5, 6, 0, 0]],
        "document_ids": [[1, 1, 1, 2], [1, 2, 0, 0]],
    }


def test_packing_is_a_step_of_a_job_file_and_tokens_keep_their_type(tmp_path):
    made = Dataset.from_dict(
        {"input_ids": [np.array([1, 2, 3], np.int32), np.array([4], np.int32)]}, cache_dir=tmp_path
    )
    made.save_to_disk(tmp_path / "tokens", executor="inline")
    step = {
        "function": "raydata_ext.feed:Pack",
        "constructor_kwargs": {"seq_length": 2, "mode": "best_fit", "pad": 9, "document_ids": False},
        "batched": True,
        "batch_size": None,
        "batch_format": "numpy",
        "remove_columns": ["input_ids"],
    }
    job = {
        "name": "packed",
        "source": {"paths": str(tmp_path / "tokens"), "format": "arrow"},
        "steps": [{"map": step}],
        "output": {"path": str(tmp_path / "packed")},
        "run": {"cache_dir": str(tmp_path), "executor": "inline"},
    }
    path = tmp_path / "job.yaml"
    path.write_text(json.dumps(job))
    run_job(read_job_file(path))
    packed = load_from_disk(tmp_path / "packed")
    assert packed[:] == {"input_ids": [[1, 2], [3, 4]]}
    assert packed.schema.field("input_ids").type.value_type == pa.int32()


def tokens(count):
    rows = [[number] * (number * 7 % 23) for number in range(count)]
    tables = [pa.table({"input_ids": pa.array(rows[i : i + 700], pa.list_(pa.int32()))}) for i in range(0, count, 700)]
    return IterableDataset.from_tables(tables)


@pytest.mark.parametrize("mode", ["concat", "best_fit"])
def test_a_packed_stream_goes_on_at_every_sequence(mode):
    def make():
        return pack_stream(tokens(2500).shuffle(1, buffer_size=50), 512, mode=mode)

    whole = list(make())
    if mode == "concat":
        assert len(whole) == -(-sum(number * 7 % 23 for number in range(2500)) // 512)
    for place in (0, 1, 2, len(whole) // 2, len(whole) - 1, len(whole)):
        stream = make()
        rows = iter(stream)
        head = [next(rows) for _ in range(place)]
        later = make()
        later.load_state_dict(json.loads(json.dumps(stream.state_dict())))
        assert head + list(later) == whole


def test_ranks_share_the_sequences_of_a_packed_stream():
    stream = pack_stream(tokens(900), 64).with_format("numpy")
    plan = FeedPlan.of(stream, global_batch_size=10, end_of_epoch="uneven")
    found = {}
    for rank in range(3):
        for batch in rank_batches(plan.epoch(0), Share(rank, 3, 1, 10)):
            rows = [] if batch.rows is None else batch.rows.column("input_ids").to_pylist()
            found |= dict(zip(batch.positions.tolist(), rows, strict=True))
    whole = [row["input_ids"].tolist() for row in stream]
    assert [found[position] for position in range(len(whole))] == whole
    assert np.array(whole).shape[1] == 64


def test_what_cannot_be_packed_is_named():
    with pytest.raises(ValueError, match="seq_length is 0"):
        pack(0)
    with pytest.raises(ValueError, match="mode is 'first'"):
        pack(4, mode="first")
    with pytest.raises(SchemaError, match="no column 'input_ids'"):
        list(pack_stream(IterableDataset.from_tables([pa.table({"x": [1]})]), 4))
    with pytest.raises(SchemaError, match="is int64; to be packed"):
        list(pack_stream(IterableDataset.from_tables([pa.table({"input_ids": [1]})]), 4))


@pytest.mark.parametrize("mode", ["concat", "best_fit"])
def test_tokens_that_are_not_integers_or_a_pad_that_they_cannot_be_are_refused(mode):
    for documents in ([[1, None, 3]], [["a"]], [[0.5]]):
        with pytest.raises(SchemaError, match=r"'input_ids' are .*; they must be integers without nulls"):
            pack(4, mode=mode)({"input_ids": documents})
        with pytest.raises(SchemaError, match="must be integers without nulls"):
            list(pack_stream(IterableDataset.from_tables([pa.table({"input_ids": documents})]), 4, mode=mode))
    small = np.array([1, 2, 3], np.uint16)
    with pytest.raises(SchemaError, match="pad is -1, which tokens of type uint16 cannot be"):
        pack(4, mode=mode, pad=-1)({"input_ids": [small]})
    [sequence] = pack(4, mode=mode, pad=65535)({"input_ids": [small]})["input_ids"]
    assert (sequence.dtype, sequence.tolist()) == (np.uint16, [1, 2, 3, 65535])


@pytest.mark.parametrize("mode", ["concat", "best_fit"])
def test_documents_without_tokens_leave_no_trace(mode):
    documents = [[], [1, 2, 3, 4, 5, 6], None, [7]]
    whole = pack(4, mode=mode)({"input_ids": [[1, 2, 3, 4, 5, 6], [7]]})
    found = pack(4, mode=mode)({"input_ids": documents})
    streamed = list(pack_stream(IterableDataset.from_tables([pa.table({"input_ids": documents})]), 4, mode=mode))
    for name, values in whole.items():
        expected = [sequence.tolist() for sequence in values]
        assert [sequence.tolist() for sequence in found[name]] == expected
        assert [row[name] for row in streamed] == expected
    assert pack(4, mode=mode)({"input_ids": [[], None]}) == {"input_ids": [], "document_ids": []}
    assert not list(pack_stream(IterableDataset.from_tables([pa.table({"input_ids": [[], []]})]), 4, mode=mode))
