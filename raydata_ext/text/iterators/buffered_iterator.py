"""`BufferedIterator`: reads ahead in a thread."""

from __future__ import annotations

import queue
import threading
import weakref
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T")

_Message = tuple[bool, Any]
"""Whether it is an element, and the element, or the error that ended the iterable (None where it just ended)."""


class BufferedIterator(Iterator[T], Generic[T]):
    """The elements of an iterable, up to `size` of them read before they are asked for.

    The thread starts with the first element that is asked for, and ends with the iterable, or when the iterator is
    closed or forgotten. An exception of the iterable is raised where its element would have come.

    Args:
        size: how many elements are held at most.
        iterable: the elements.

    Raises:
        ValueError: `size` is not positive.
    """

    def __init__(self, size: int, iterable: Iterable[T]) -> None:
        if size < 1:
            raise ValueError(f"size is {size}; a buffer holds at least 1 element")
        self.iterable = iterable
        self._thread: threading.Thread | None = None
        self._messages: queue.SimpleQueue[_Message] | None = None
        self._room = threading.Semaphore(size)
        self._closed = threading.Event()
        self._ended = False

    def __len__(self) -> int:
        """The length of the iterable."""
        return len(self.iterable)  # type: ignore[arg-type]  # raises what an iterable without length raises

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        if self._ended or self._closed.is_set():
            raise StopIteration
        if self._messages is None:
            self._messages = self._start()
        is_element, content = self._messages.get()
        if is_element:
            self._room.release()
            element: T = content
            return element
        self._ended = True
        raise StopIteration if content is None else content

    def close(self) -> None:
        """Read no further.

        An element that is being read is waited for, so that what gives the elements can be iterated over anew.
        """
        _close(self._closed, self._room)
        if self._thread is not None:
            self._thread.join()

    def _start(self) -> queue.SimpleQueue[_Message]:
        messages: queue.SimpleQueue[_Message] = queue.SimpleQueue()
        arguments = (iter(self.iterable), messages, self._room, self._closed)
        self._thread = threading.Thread(target=_read, args=arguments, name="BufferedIterator", daemon=True)
        self._thread.start()
        # The thread knows nothing of this object, so that it can be forgotten while the thread waits for room.
        weakref.finalize(self, _close, self._closed, self._room)
        return messages


_END = object()


def _close(closed: threading.Event, room: threading.Semaphore) -> None:
    closed.set()
    room.release()


def _read(
    elements: Iterator[Any],
    messages: queue.SimpleQueue[_Message],
    room: threading.Semaphore,
    closed: threading.Event,
) -> None:
    error: BaseException | None = None
    try:
        while room.acquire() and not closed.is_set():
            element = next(elements, _END)
            if element is _END:
                break
            messages.put((True, element))
    except BaseException as raised:  # noqa: BLE001
        error = raised
    messages.put((False, error))
