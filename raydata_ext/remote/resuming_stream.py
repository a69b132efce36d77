"""A file under a URL that is read on from where it broke off."""

from __future__ import annotations

import contextlib
import io
from functools import partial
from typing import IO, TYPE_CHECKING, Any

from typing_extensions import override

from raydata_ext.redaction import redacted
from raydata_ext.remote.retries import Retries

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Buffer

    from raydata_ext.errors import RaydataError

_SKIPPED_BYTES = 1 << 20


class ResumingStream(io.RawIOBase):
    """The bytes of a file; where a request fails, or ends too early, the rest is asked for again from the last byte.

    A server that gives a file only from its beginning is read again up to that byte.

    Args:
        url: what messages call the file.
        open_file: opens it, at its beginning.
        size: bytes of the file; None is what the opened file says, if it knows.
        retries: how often something is tried.
        failure: the error when that was often enough.

    Raises:
        RaydataError: of the class `failure`, if the file cannot be opened. What does not pass, such as that there is
            no such file, goes through as it is.
    """

    def __init__(
        self,
        url: str,
        open_file: Callable[[], IO[bytes]],
        size: int | None,
        failure: type[RaydataError],
        retries: Retries | None = None,
    ) -> None:
        super().__init__()
        self._url = redacted(url)
        self._open_file = open_file
        self._failure = failure
        self._retries = retries or Retries()
        self._position = 0
        self._file: Any = None
        self._try("opening", self._reopen)
        self._size = getattr(self._file, "size", None) if size is None else size

    @override
    def readable(self) -> bool:
        return True

    @override
    def seekable(self) -> bool:
        return bool(self._file.seekable()) if self._file is not None else True

    @override
    def tell(self) -> int:
        return self._position

    @override
    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        if whence == io.SEEK_END:
            if self._size is None:
                raise io.UnsupportedOperation(f"{self._url}: its size is not known, so it has no end to seek from")
            offset += self._size
        elif whence == io.SEEK_CUR:
            offset += self._position
        self._position = max(0, offset)
        return self._position

    @override
    def read(self, size: int | None = -1, /) -> bytes:
        """Read so many bytes, fewer only at the end of the file; None or a negative number is all that is left."""
        missing = -1 if size is None or size < 0 else size
        pieces: list[bytes] = []
        while missing:
            piece = self._try("reading", partial(self._read_some, missing))
            if not piece:
                break
            pieces.append(piece)
            self._position += len(piece)
            missing -= len(piece) if missing > 0 else 0
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    @override
    def readinto(self, buffer: Buffer, /) -> int:
        view = memoryview(buffer).cast("B")
        content = self.read(len(view))
        view[: len(content)] = content
        return len(content)

    @override
    def close(self) -> None:
        self._drop()
        super().close()

    def _read_some(self, size: int) -> bytes:
        """Read from the position on; no bytes are the end, and an end that comes too early is a failure."""
        if self.closed:
            raise ValueError(f"{self._url}: it is closed")
        if self._size is not None and self._position >= self._size:
            return b""
        try:
            return self._read_on(size)
        except Exception:
            self._drop()
            raise

    def _read_on(self, size: int) -> bytes:
        self._go_to_position()
        piece: bytes = self._file.read(size)
        if not piece and self._size is not None:
            raise ConnectionError(f"it ends after {self._position} of {self._size} bytes")
        return piece

    def _go_to_position(self) -> None:
        if self._file is None:
            self._reopen()
        if self._file.tell() == self._position:
            return
        try:
            self._file.seek(self._position)
        except ValueError:  # a server that gives no ranges
            if self._file.tell() > self._position:
                self._reopen()
            self._skip_to_position()

    def _skip_to_position(self) -> None:
        while (before := self._file.tell()) < self._position:
            if not self._file.read(min(_SKIPPED_BYTES, self._position - before)):
                raise ConnectionError(f"it ends after {before} bytes")

    def _reopen(self) -> None:
        self._drop()
        self._file = self._open_file()

    def _drop(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(Exception):  # it broke: whatever else is wrong with it does not matter
                file.close()

    def _try(self, doing: str, action: Callable[[], Any]) -> Any:
        what = f"{doing} {self._url}" + (f" at byte {self._position}" if self._position else "")
        return self._retries.run(what, action, self._failure)
