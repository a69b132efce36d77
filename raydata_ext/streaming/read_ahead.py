"""Reading the next batch while the one before is worked on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

Batch = TypeVar("Batch")


def read_ahead(batches: Iterator[Batch]) -> Iterator[Batch]:
    """The same batches, each read on a thread as soon as the one before was.

    It begins with the second batch that is asked for: who wants only the first rows does not wait for more. At the
    end of the process the thread is waited for, so that none is within Arrow then.
    """
    first = next(batches, None)
    if first is None:
        return
    yield first
    with ThreadPoolExecutor(1, thread_name_prefix="raydata_ext read-ahead") as thread:
        coming = thread.submit(next, batches, None)
        while (batch := coming.result()) is not None:
            coming = thread.submit(next, batches, None)
            yield batch
