"""A feed as torch knows data: an iterable data set whose items are whole batches of tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import torch
from torch.utils.data import IterableDataset, get_worker_info

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from raydata_ext.feed.batch import FeedBatch
    from raydata_ext.feed.trainer_feed import TrainerFeed


class TorchFeed(IterableDataset):  # type: ignore[misc]  # torch is not seen by the type checker
    """Batches as dicts of tensors, for a loop or for `DataLoader(feed.to_torch(), batch_size=None)`.

    Columns of numbers become tensors, whatever the format of the stream: without a copy where they lie contiguous in
    writable memory, and pinned ones where there is a GPU. Others, such as text, lists of different lengths, and columns
    in which a value is null, stay as the format of the stream has them. Added are `positions` (int64, shape (rows,))
    and, where rows fill up the last step, `mask` (bool, True for rows that count).

    In a training loop of Ray Train, whose checkpoints hold the state of the feed, too:

    ```python
    def train_loop(config):
        context = ray.train.get_context()
        feed = config["coordinator"].feed(context.get_world_rank(), context.get_world_size()).to_torch()
        if (checkpoint := ray.train.get_checkpoint()) is not None:
            feed.load_state_dict(...)  # what feed.state_dict() gave on any rank of any world size, as JSON
        for batch in feed:
            ...
    ```

    Args:
        feed: the feed of the rank.
    """

    def __init__(self, feed: TrainerFeed) -> None:
        super().__init__()
        self.feed = feed

    def __iter__(self) -> Iterator[dict[str, Any]]:
        if get_worker_info() is not None:
            raise RuntimeError(
                "a feed reads ahead in its own thread, and would be read once by each process of a DataLoader: use"
                " num_workers=0, and feed(..., readers=N) for more processes"
            )
        pin = torch.cuda.is_available()
        for batch in self.feed:
            yield _tensors(batch, pin=pin)

    def set_epoch(self, epoch: int) -> None:
        """See `TrainerFeed.set_epoch`."""
        self.feed.set_epoch(epoch)

    def state_dict(self) -> dict[str, Any]:
        """See `TrainerFeed.state_dict`."""
        return self.feed.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """See `TrainerFeed.load_state_dict`."""
        self.feed.load_state_dict(state)


def _tensors(batch: FeedBatch, *, pin: bool) -> dict[str, Any]:
    columns: dict[str, Any] = dict(batch)
    extra = {"positions": batch.positions} | ({} if batch.mask is None else {"mask": batch.mask})
    twice = sorted(set(columns) & set(extra))
    if twice:
        raise ValueError(f"columns {twice} have the names of what a feed adds; rename them (`rename_columns`)")
    return {name: _tensor(values, pin=pin) for name, values in {**columns, **extra}.items()}


def _tensor(values: Any, *, pin: bool) -> Any:
    numbers = _numbers(values)
    if numbers is not None:
        values = torch.from_numpy(numbers if numbers.flags.writeable else numbers.copy())
    return values.pin_memory() if pin and isinstance(values, torch.Tensor) else values


def _numbers(values: Any) -> NDArray[Any] | None:
    """The values of a column, of any format but torch, as an array of numbers; None where they are none, or null."""
    if isinstance(values, list):
        found = np.asarray(values) if values and isinstance(values[0], int | float) else None
    elif isinstance(values, pa.Array):
        found = None if values.null_count else values.to_numpy(zero_copy_only=False)
    elif isinstance(values, np.ma.MaskedArray):
        found = None if values.mask.any() else values.data
    elif hasattr(values, "hasnans"):  # a column of a DataFrame, in which a null of a number type of numpy is a nan
        found = values.to_numpy() if isinstance(values.dtype, np.dtype) or not values.hasnans else None
    else:
        found = values
    return found if isinstance(found, np.ndarray) and found.dtype.kind in "biuf" else None
