"""The layout of the `.idx` file beside a `.bin` file of tokens, in fairseq's and in Megatron's format.

    magic     9 bytes  MMIDIDX, two zero bytes
    version   u64      1
    code      u8       type of the tokens
    items     u64
    borders   u64      in Megatron's files only
    sizes     i32[items]    tokens of each item
    pointers  i64[items]    first byte of each item in the .bin file
    borders   i64[borders]  in Megatron's files only: the first item of each document, then the number of items
    modes     i8[items]     in multimodal files of Megatron only

All is little-endian, and not aligned. Items lie without gaps, so the pointers follow from the sizes; those in a file
are not used, since files exist in which they overflowed. Both write version 1, so they are told apart by the size of
the file.

Source: fairseq `indexed_dataset.py`; Megatron-LM `core/datasets/indexed_dataset.py`.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from raydata_ext.errors import DamagedInputError
from raydata_ext.sources.token_types import code

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

Layout = Literal["fairseq", "megatron"]

MAGIC = b"MMIDIDX\x00\x00"
_HEADER = struct.Struct("<9sQBQ")
_MEGATRON_HEADER = struct.Struct("<9sQBQQ")
HEADER_BYTES = _MEGATRON_HEADER.size
"""What `IndexLayout.parse` looks at."""

_VERSION = 1
_INT32_BYTES, _INT64_BYTES = 4, 8


@dataclass(frozen=True, slots=True)
class IndexLayout:
    """Where the parts of an index lie, in bytes from its begin.

    Attributes:
        items: how many items there are.
        borders: how many borders of documents; None in fairseq's format.
        modal: whether a mode of each item follows.
    """

    items: int
    borders: int | None = None
    modal: bool = False

    @property
    def sizes(self) -> int:
        """Where the sizes begin."""
        return (_HEADER if self.borders is None else _MEGATRON_HEADER).size

    @property
    def pointers(self) -> int:
        """Where the pointers begin."""
        return self.sizes + _INT32_BYTES * self.items

    @property
    def documents(self) -> int:
        """Where the borders of documents begin."""
        return self.pointers + _INT64_BYTES * self.items

    @property
    def modes(self) -> int:
        """Where the modes begin."""
        return self.documents + _INT64_BYTES * (self.borders or 0)

    @property
    def num_bytes(self) -> int:
        """Size of the file."""
        return self.modes + self.items * self.modal

    def header(self, dtype: DTypeLike) -> bytes:
        """What stands before the sizes, for tokens of a type.

        Raises:
            ValueError: tokens cannot be of this type.
        """
        if self.borders is None:
            return _HEADER.pack(MAGIC, _VERSION, code(dtype), self.items)
        return _MEGATRON_HEADER.pack(MAGIC, _VERSION, code(dtype), self.items, self.borders)

    @classmethod
    def parse(cls, head: bytes, num_bytes: int, path: str) -> tuple[IndexLayout, int]:
        """Read the header of an index.

        Args:
            head: the first `HEADER_BYTES` of the file, or all of a shorter one.
            num_bytes: size of the file.
            path: of the file, for messages.

        Returns:
            The layout, and the code of the type of the tokens.

        Raises:
            DamagedInputError: it is no index, is cut off, or of another version.
        """
        if len(head) < _HEADER.size or not head.startswith(MAGIC):
            raise DamagedInputError(f"{path}: it does not begin with {MAGIC!r}, so it is no index of tokens")
        _, version, type_code, items = _HEADER.unpack_from(head)
        if version != _VERSION:
            raise DamagedInputError(f"{path}: version {version} of the format is not known, only {_VERSION}")
        layouts = [cls(items)]
        if len(head) >= _MEGATRON_HEADER.size:
            borders = _MEGATRON_HEADER.unpack_from(head)[-1]
            layouts += [cls(items, borders), cls(items, borders, modal=True)]
        for layout in layouts:
            if layout.num_bytes == num_bytes:
                return layout, type_code
        raise DamagedInputError(
            f"{path}: an index of {items} items has {layouts[0].num_bytes} bytes in fairseq's format, and more in"
            f" Megatron's; this one has {num_bytes}: it is cut off or damaged"
        )
