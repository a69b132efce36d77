"""From row numbers to batches: in the calling process, or in the workers of torch's `DataLoader`."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

from raydata_ext.text.contract import children

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


class BatchLoader:
    """Makes the batches of one epoch after the other.

    Args:
        dataset: rows by number.
        collate_fn: merges a list of items to a batch.
        num_workers: processes that do it; 0, or where torch is missing, is the calling process.
        timeout: seconds to wait for a worker; 0 is for ever.
        reuse: whether to keep the loader from epoch to epoch.
        persistent_workers: whether to keep the workers, too.
    """

    def __init__(
        self,
        dataset: Any,
        collate_fn: Callable[[list[Any]], Any],
        *,
        num_workers: int = 0,
        timeout: float = 0,
        reuse: bool = False,
        persistent_workers: bool = False,
    ) -> None:
        self._rows = _RowsToBatch(dataset, collate_fn)
        self._num_workers = num_workers if importlib.util.find_spec("torch") is not None else 0
        self._timeout = timeout
        self._reuse = reuse or persistent_workers
        self._persistent_workers = persistent_workers
        self._requests = _Requests()
        self._loader: Any = None

    def load(self, epoch: int, batches: Sequence[Sequence[int]]) -> Iterable[Any]:
        """The batches of an epoch.

        Args:
            epoch: is told to the dataset in each worker, also to one that was there in earlier epochs.
            batches: row numbers of each batch.
        """
        if not self._num_workers:
            return _Here(self._rows, batches)
        self._requests.set(epoch, batches)
        if self._loader is not None and self._reuse:
            return self._loader  # type: ignore[no-any-return]  # torch has no types here
        from torch.utils.data import DataLoader  # noqa: PLC0415 - optional

        self._loader = DataLoader(
            self._rows,
            sampler=self._requests if self._reuse else _Requests(epoch, batches),
            batch_size=None,  # the dataset gives whole batches
            collate_fn=_unchanged,
            num_workers=self._num_workers,
            timeout=self._timeout,
            persistent_workers=self._persistent_workers,
        )
        return self._loader  # type: ignore[no-any-return]  # torch has no types here


class _RowsToBatch:
    """A dataset, as torch sees it, in which a request (epoch, rows) has a batch as its item."""

    def __init__(self, dataset: Any, collate_fn: Callable[[list[Any]], Any]) -> None:
        self._dataset = dataset
        self._collate = collate_fn
        self._epoch: int | None = None

    def __getitem__(self, request: tuple[int, Sequence[int]]) -> Any:
        epoch, rows = request
        if epoch != self._epoch:
            children.set_epoch(self._dataset, epoch)
            self._epoch = epoch
        return self.batch(rows)

    def batch(self, rows: Sequence[int]) -> Any:
        """The batch of some rows."""
        numbers = _plain(rows)
        return self._collate(children.items_of(self._dataset, numbers) if numbers else [])


class _Requests:
    """What workers are asked for, in order; torch calls it a sampler."""

    def __init__(self, epoch: int = 0, batches: Sequence[Sequence[int]] = ()) -> None:
        self.set(epoch, batches)

    def set(self, epoch: int, batches: Sequence[Sequence[int]]) -> None:
        """Ask for the batches of an epoch."""
        self._epoch = epoch
        self._batches = batches

    def __iter__(self) -> Iterator[tuple[int, Sequence[int]]]:
        for rows in self._batches:
            yield self._epoch, rows

    def __len__(self) -> int:
        return len(self._batches)


class _Here:
    """Batches made in this process, as they are asked for."""

    def __init__(self, rows: _RowsToBatch, batches: Sequence[Sequence[int]]) -> None:
        self._rows = rows
        self._batches = batches

    def __iter__(self) -> Iterator[Any]:
        return map(self._rows.batch, self._batches)

    def __len__(self) -> int:
        return len(self._batches)


def _plain(rows: Any) -> list[int]:
    """Row numbers as Python ints, which every dataset takes."""
    return list(rows.tolist() if hasattr(rows, "tolist") else rows)


def _unchanged(batch: Any) -> Any:
    return batch
