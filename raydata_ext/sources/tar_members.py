"""The members of a tar file, in one pass, strictly.

Python's `tarfile` takes a damaged header, and a file that is cut off between two members, for the end.
"""

from __future__ import annotations

import tarfile
from contextlib import closing
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, cast

from raydata_ext.errors import DamagedInputError
from raydata_ext.sources.compression import DecompressedStream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from raydata_ext.sources.input_file import InputFile

_BUFFER_BYTES = 1 << 16
_NO_MEMBER = bytes(tarfile.BLOCKSIZE)


@dataclass(frozen=True, slots=True)
class TarMember:
    """A file in a tar file; its bytes can be read until the next member is asked for.

    Attributes:
        name: path in the tar file.
        place: the member as messages name it.
        byte_offset: where it begins in the (decompressed) tar file.
    """

    name: str
    place: str
    byte_offset: int
    _tar: tarfile.TarFile
    _info: tarfile.TarInfo

    def read(self) -> bytes:
        """All bytes.

        Raises:
            DamagedInputError: the tar file is cut off.
        """
        stream = self._tar.extractfile(self._info)
        assert stream is not None  # it is a regular file
        try:
            return stream.read()
        except (tarfile.TarError, EOFError) as error:
            message = f"{self.place}: the tar file is cut off ({error}); make or copy it again"
            raise DamagedInputError(message, self.byte_offset) from error


def tar_members(file: InputFile) -> Iterator[TarMember]:
    """Go through the regular files of a tar file, which may be compressed.

    Raises:
        DamagedInputError: it is no tar file, or cut off or damaged; the members before that come first.
    """
    with closing(DecompressedStream(file)) as stream:
        watched = _Watched(stream)
        try:
            with tarfile.open(fileobj=cast("IO[bytes]", watched), mode="r|", bufsize=_BUFFER_BYTES) as tar:
                while (info := tar.next()) is not None:
                    if info.isfile():
                        name = info.name.encode(errors="surrogateescape").decode(errors="backslashreplace")
                        yield TarMember(
                            name, f"{file.path}: {name!r} (from byte {info.offset})", info.offset, tar, info
                        )
                    tar.members.clear()  # type: ignore[attr-defined]  # else it remembers all of them
                _require_end(file, tar.offset, watched)
        except (tarfile.TarError, EOFError) as error:
            raise DamagedInputError(f"{file.path}: not a tar file, or cut off or damaged ({error})") from error


@dataclass
class _Watched:
    """A stream that remembers what was read last."""

    stream: DecompressedStream
    position: int = 0
    _last: tuple[bytes, bytes] = field(default=(b"", b""))

    def read(self, size: int) -> bytes:
        data = self.stream.read(size)
        if data:
            self._last = (self._last[1], data)
            self.position += len(data)
        return data

    def read_last(self, offset: int) -> bytes:
        """What was read from an offset on, which lies in the last two blocks."""
        last = b"".join(self._last)
        return last[offset - (self.position - len(last)) :]


def _require_end(file: InputFile, offset: int, watched: _Watched) -> None:
    """Check that the tar file ends as one does, at the block where no member was found."""
    block = watched.read_last(offset)[: tarfile.BLOCKSIZE]
    if block != _NO_MEMBER:
        problem = "cut off" if len(block) < tarfile.BLOCKSIZE else "damaged"
        message = f"{file.path}: byte {offset}: {problem}, for neither a member nor the end mark is there"
        raise DamagedInputError(message, offset)
