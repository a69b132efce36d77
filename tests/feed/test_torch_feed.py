"""A feed as a data set of torch."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from raydata_ext.feed import StreamingCoordinator
from raydata_ext.streaming import IterableDataset

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def feed(ray_session, numbered):
    stream = numbered([21], 1).map(lambda row: {"half": row["x"] / 2, "name": str(row["x"])}).with_format("torch")
    coordinator = StreamingCoordinator.create(stream, global_batch_size=8, num_lanes=4, end_of_epoch="pad")
    yield coordinator.feed(0, 1)
    coordinator.shutdown()


def test_a_loader_gives_whole_batches_of_tensors_and_the_state_goes_on(feed):
    stream = feed.to_torch()
    assert isinstance(stream, torch.utils.data.IterableDataset)
    batches = list(torch.utils.data.DataLoader(stream, batch_size=None))
    assert [batch["positions"].tolist() for batch in batches] == np.arange(24).reshape(3, 8).tolist()
    assert [batch["mask"].tolist() for batch in batches if "mask" in batch] == [[True] * 5 + [False] * 3]
    for batch in batches:
        assert batch["x"].dtype == torch.int64
        assert torch.equal(batch["half"], batch["x"] / 2)
        assert batch["name"] == [str(x) for x in batch["x"].tolist()]
    whole = [batch["x"].tolist() for batch in batches]
    state = stream.state_dict()
    assert (state["epoch"], state["step"]) == (1, 0)
    stream.set_epoch(0)
    loop = iter(stream)
    next(loop)
    state = stream.state_dict()
    loop.close()
    stream.load_state_dict(state)
    assert [batch["x"].tolist() for batch in stream] == whole[1:]


@pytest.mark.parametrize("format_name", [None, "numpy", "torch", "pandas", "arrow"])
def test_numbers_become_tensors_in_any_format_and_text_and_columns_with_nulls_do_not(ray_session, format_name):
    numbers = [5, 6, 7]
    columns = {"whole": numbers, "real": [0.5, 1.5, 2.5], "text": ["a", "b", "c"], "with_null": [5, None, 7]}
    stream = IterableDataset.from_tables([pa.table(columns)]).with_format(format_name)
    coordinator = StreamingCoordinator.create(stream, global_batch_size=3)
    [batch] = coordinator.feed(0, 1).to_torch()
    coordinator.shutdown()
    assert batch["whole"].tolist() == numbers
    assert torch.equal(batch["real"].double(), torch.tensor(columns["real"]).double())
    assert {name for name, values in batch.items() if isinstance(values, torch.Tensor)} == {
        "whole",
        "real",
        "positions",
    }
    assert [str(value) for value in batch["text"]] == columns["text"]


def test_processes_of_a_loader_are_refused_with_the_remedy(feed):
    loader = torch.utils.data.DataLoader(
        feed.to_torch(), batch_size=None, num_workers=1, multiprocessing_context="fork"
    )
    with pytest.raises(RuntimeError, match="num_workers=0"):
        next(iter(loader))


def test_tensors_are_pinned_where_there_is_a_gpu_and_only_there(feed, monkeypatch):
    stream, pinned = feed.to_torch(), []
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda tensor: pinned.append(tensor) or tensor)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert all(isinstance(batch["name"], list) for batch in stream)
    assert pinned == []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    batches = list(stream)
    tensors = [value for batch in batches for value in batch.values() if isinstance(value, torch.Tensor)]
    assert len(tensors) == 3 * 3 + 1  # two columns and positions of each batch, and the mask of the last one
    assert [id(tensor) for tensor in pinned] == [id(tensor) for tensor in tensors]
