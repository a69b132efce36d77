"""How the values of each Arrow type lie in memory: where to find a row by address, and how to put rows together again.

A layout describes a type. `addresses` condenses an array of that type to a short vector of addresses, one for each
buffer (children included), with the offset of the array folded in. `gather` takes such a vector for every row wanted,
whatever array the row is in, and builds one contiguous array. The layouts follow the Arrow columnar format
(https://arrow.apache.org/docs/format/Columnar.html).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyarrow import types
from typing_extensions import override

from raydata_ext.errors import CorruptFileError
from raydata_ext.table.address_space import NOWHERE, join_ranges, read_bits, read_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

MAX_OFFSET = 2**31 - 1
"""Most bytes or items that an array with 32-bit offsets can hold."""

_NO_BITMAP = 0  # stands for the bit address of a validity bitmap that is absent: all values are valid


class OffsetOverflowError(Exception):
    """The rows asked for do not fit one array with 32-bit offsets; the caller gathers them in several."""


@lru_cache(maxsize=4096)
def layout_of(data_type: pa.DataType) -> Layout | None:
    """Return the layout of a type, or None for a type whose rows cannot be found by address alone."""
    for is_type, make_layout in _LAYOUTS:
        if is_type(data_type):
            return make_layout(data_type)
    return None


class Layout(ABC):
    """Where the values of one type lie.

    Args:
        data_type: the type.
        size: how many addresses describe an array.
    """

    def __init__(self, data_type: pa.DataType, size: int) -> None:
        self.data_type = data_type
        self.size = size

    @abstractmethod
    def addresses(self, array: pa.Array) -> list[int]:
        """Return the addresses of an array of this type, `size` of them; valid while the array is alive."""

    @abstractmethod
    def gather(self, addresses: NDArray[np.int64], rows: NDArray[np.int64], max_offset: int) -> pa.Array:
        """Build one array of rows that lie in many.

        Args:
            addresses: for each row the addresses of the array that it is in; int64, shape (n, size).
            rows: for each row its place in that array; int64, shape (n,).
            max_offset: most bytes or items that an array with 32-bit offsets may hold.

        Raises:
            OffsetOverflowError: the result would need a greater offset.
        """

    def gather_ranges(
        self,
        addresses: NDArray[np.int64],
        starts: NDArray[np.int64],
        lengths: NDArray[np.int64],
        max_offset: int,
    ) -> pa.Array:
        """Build one array of ranges of rows: `lengths[i]` rows from `starts[i]` on of the array at `addresses[i]`."""
        ends = np.cumsum(lengths)
        total = int(ends[-1]) if len(ends) else 0
        rows = np.repeat(starts - (ends - lengths), lengths) + np.arange(total)
        return self.gather(np.repeat(addresses, lengths, axis=0), rows, max_offset)


class _NullLayout(Layout):
    def __init__(self, data_type: pa.DataType) -> None:
        super().__init__(data_type, 0)

    @override
    def addresses(self, array: pa.Array) -> list[int]:
        return []

    @override
    def gather(self, addresses: NDArray[np.int64], rows: NDArray[np.int64], max_offset: int) -> pa.Array:
        return pa.nulls(len(rows), self.data_type)


class _FixedWidthLayout(Layout):
    def __init__(self, data_type: pa.DataType) -> None:
        super().__init__(data_type, 2)
        self._width = data_type.bit_width // 8

    @override
    def addresses(self, array: pa.Array) -> list[int]:
        validity, values = array.buffers()
        return [_bit_address(validity, array.offset), _address(values) + array.offset * self._width]

    @override
    def gather(self, addresses: NDArray[np.int64], rows: NDArray[np.int64], max_offset: int) -> pa.Array:
        values = read_words(addresses[:, 1] + rows * self._width, self._width)
        validity, _ = _gather_validity(addresses[:, 0], rows)
        return pa.Array.from_buffers(self.data_type, len(rows), [validity, pa.py_buffer(values)])

    @override
    def gather_ranges(
        self,
        addresses: NDArray[np.int64],
        starts: NDArray[np.int64],
        lengths: NDArray[np.int64],
        max_offset: int,
    ) -> pa.Array:
        if addresses[:, 0].any():
            return super().gather_ranges(addresses, starts, lengths, max_offset)
        values = join_ranges(addresses[:, 1] + starts * self._width, lengths * self._width)
        return pa.Array.from_buffers(self.data_type, int(lengths.sum()), [None, values])


class _BooleanLayout(Layout):
    def __init__(self, data_type: pa.DataType) -> None:
        super().__init__(data_type, 2)

    @override
    def addresses(self, array: pa.Array) -> list[int]:
        validity, values = array.buffers()
        return [_bit_address(validity, array.offset), _address(values) * 8 + array.offset]

    @override
    def gather(self, addresses: NDArray[np.int64], rows: NDArray[np.int64], max_offset: int) -> pa.Array:
        values = _pack_bits(read_bits(addresses[:, 1] + rows))
        validity, _ = _gather_validity(addresses[:, 0], rows)
        return pa.Array.from_buffers(self.data_type, len(rows), [validity, values])


class _OffsetLayout(Layout):
    """What strings and lists have in common: a validity bitmap, and offsets into something else.

    The addresses are that of the bitmap, that of the offsets, how far offsets may reach, and then those of the rest.
    """

    def __init__(self, data_type: pa.DataType, rest: int, *, large: bool) -> None:
        super().__init__(data_type, 3 + rest)
        self._large = large
        self._offset_width = 8 if large else 4
        self._offset_dtype = np.dtype(np.int64 if large else np.int32)

    def _offset_addresses(self, array: pa.Array, reach: int) -> list[int]:
        validity, offsets = array.buffers()[:2]
        return [_bit_address(validity, array.offset), _address(offsets) + array.offset * self._offset_width, reach]

    def _gather_offsets(
        self, addresses: NDArray[np.int64], rows: NDArray[np.int64], max_offset: int
    ) -> tuple[pa.Buffer | None, pa.Buffer, NDArray[np.int64], NDArray[np.int64]]:
        """Return validity and offsets of the result, and the ranges to copy: starts and lengths, shape (n,)."""
        offset_addresses = addresses[:, 1] + rows * self._offset_width
        both = np.concatenate((offset_addresses, offset_addresses + self._offset_width))
        bounds = read_words(both, self._offset_width).astype(np.int64, copy=False)
        starts, ends = bounds[: len(rows)], bounds[len(rows) :]
        lengths = ends - starts
        if ((starts | ends | lengths | (addresses[:, 2] - ends)) < 0).any():  # a sign bit: one of them is negative
            raise CorruptFileError(
                f"offsets of type {self.data_type} point outside of their data: the file that these rows are mapped "
                "from is damaged; verify it and make it anew"
            )
        validity, valid = _gather_validity(addresses[:, 0], rows)
        if valid is not None:
            lengths = np.where(valid, lengths, 0)  # what lies hidden under a null is not carried along
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        if not self._large and offsets[-1] > max_offset:
            raise OffsetOverflowError
        return validity, pa.py_buffer(offsets.astype(self._offset_dtype, copy=False)), starts, lengths


class _BinaryLayout(_OffsetLayout):
    def __init__(self, data_type: pa.DataType, *, large: bool) -> None:
        super().__init__(data_type, 1, large=large)

    @override
    def addresses(self, array: pa.Array) -> list[int]:
        values = array.buffers()[2]
        return [*self._offset_addresses(array, 0 if values is None else values.size), _address(values)]

    @override
    def gather(self, addresses: NDArray[np.int64], rows: NDArray[np.int64], max_offset: int) -> pa.Array:
        validity, offsets, starts, lengths = self._gather_offsets(addresses, rows, max_offset)
        values = join_ranges(addresses[:, 3] + starts, lengths)
        return pa.Array.from_buffers(self.data_type, len(rows), [validity, offsets, values])


class _ListLayout(_OffsetLayout):
    def __init__(self, data_type: pa.DataType, item: Layout, *, large: bool) -> None:
        super().__init__(data_type, item.size, large=large)
        self._item = item

    @override
    def addresses(self, array: pa.Array) -> list[int]:
        items = array.values
        return [*self._offset_addresses(array, len(items)), *self._item.addresses(items)]

    @override
    def gather(self, addresses: NDArray[np.int64], rows: NDArray[np.int64], max_offset: int) -> pa.Array:
        validity, offsets, starts, lengths = self._gather_offsets(addresses, rows, max_offset)
        items = self._item.gather_ranges(addresses[:, 3:], starts, lengths, max_offset)
        return pa.Array.from_buffers(self.data_type, len(rows), [validity, offsets], children=[items])


class _FixedSizeListLayout(Layout):
    def __init__(self, data_type: pa.DataType, item: Layout) -> None:
        super().__init__(data_type, 1 + item.size)
        self._item = item
        self._length = data_type.list_size

    @override
    def addresses(self, array: pa.Array) -> list[int]:
        items = array.values.slice(array.offset * self._length)  # `values` leaves the offset of the list out
        return [_bit_address(array.buffers()[0], array.offset), *self._item.addresses(items)]

    @override
    def gather(self, addresses: NDArray[np.int64], rows: NDArray[np.int64], max_offset: int) -> pa.Array:
        validity, _ = _gather_validity(addresses[:, 0], rows)
        lengths = np.full(len(rows), self._length, np.int64)
        items = self._item.gather_ranges(addresses[:, 1:], rows * self._length, lengths, max_offset)
        return pa.Array.from_buffers(self.data_type, len(rows), [validity], children=[items])


class _StructLayout(Layout):
    def __init__(self, data_type: pa.DataType, fields: list[Layout]) -> None:
        super().__init__(data_type, 1 + sum(field.size for field in fields))
        self._fields = fields

    @override
    def addresses(self, array: pa.Array) -> list[int]:
        found = [_bit_address(array.buffers()[0], array.offset)]
        for i, field in enumerate(self._fields):
            found.extend(field.addresses(array.field(i)))  # `field` has the offset of the struct applied
        return found

    @override
    def gather(self, addresses: NDArray[np.int64], rows: NDArray[np.int64], max_offset: int) -> pa.Array:
        validity, _ = _gather_validity(addresses[:, 0], rows)
        children = []
        first = 1
        for field in self._fields:
            children.append(field.gather(addresses[:, first : first + field.size], rows, max_offset))
            first += field.size
        return pa.Array.from_buffers(self.data_type, len(rows), [validity], children=children)


class _ExtensionLayout(Layout):
    def __init__(self, data_type: pa.DataType, storage: Layout) -> None:
        super().__init__(data_type, storage.size)
        self._storage = storage

    @override
    def addresses(self, array: pa.Array) -> list[int]:
        return self._storage.addresses(array.storage)

    @override
    def gather(self, addresses: NDArray[np.int64], rows: NDArray[np.int64], max_offset: int) -> pa.Array:
        return pa.ExtensionArray.from_storage(self.data_type, self._storage.gather(addresses, rows, max_offset))


def _gather_validity(
    bit_addresses: NDArray[np.int64], rows: NDArray[np.int64]
) -> tuple[pa.Buffer | None, NDArray[np.bool_] | None]:
    """Return the validity of rows as a bitmap and as bool, shape (n,); None and None where all are valid."""
    with_bitmap = bit_addresses != _NO_BITMAP
    if not with_bitmap.any():
        return None, None
    valid = np.ones(len(rows), bool)
    valid[with_bitmap] = read_bits((bit_addresses + rows)[with_bitmap])
    return _pack_bits(valid), valid


def _pack_bits(bits: NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(bits, bitorder="little"))


def _address(buffer: pa.Buffer | None) -> int:
    return int(buffer.address) if buffer is not None and buffer.address else NOWHERE


def _bit_address(validity: pa.Buffer | None, offset: int) -> int:
    return _NO_BITMAP if validity is None else int(validity.address) * 8 + offset


def _fixed_width_layout(data_type: pa.DataType) -> Layout | None:
    return _FixedWidthLayout(data_type) if data_type.bit_width and data_type.bit_width % 8 == 0 else None


def _list_layout(data_type: pa.DataType) -> Layout | None:
    item = layout_of(data_type.value_type)
    return item and _ListLayout(data_type, item, large=types.is_large_list(data_type))


def _map_layout(data_type: pa.DataType) -> Layout | None:
    entry = layout_of(pa.struct([data_type.key_field, data_type.item_field]))
    return entry and _ListLayout(data_type, entry, large=False)


def _fixed_size_list_layout(data_type: pa.DataType) -> Layout | None:
    item = layout_of(data_type.value_type)
    return item and _FixedSizeListLayout(data_type, item)


def _struct_layout(data_type: pa.DataType) -> Layout | None:
    fields = [layout_of(data_type.field(i).type) for i in range(data_type.num_fields)]
    found = [field for field in fields if field is not None]
    return _StructLayout(data_type, found) if len(found) == len(fields) else None


def _extension_layout(data_type: pa.DataType) -> Layout | None:
    storage = layout_of(data_type.storage_type)
    return storage and _ExtensionLayout(data_type, storage)


_LAYOUTS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.DataType], Layout | None]], ...] = (
    (lambda data_type: isinstance(data_type, pa.BaseExtensionType), _extension_layout),
    (types.is_null, _NullLayout),
    (types.is_boolean, _BooleanLayout),
    (types.is_string, lambda data_type: _BinaryLayout(data_type, large=False)),
    (types.is_binary, lambda data_type: _BinaryLayout(data_type, large=False)),
    (types.is_large_string, lambda data_type: _BinaryLayout(data_type, large=True)),
    (types.is_large_binary, lambda data_type: _BinaryLayout(data_type, large=True)),
    (types.is_list, _list_layout),
    (types.is_large_list, _list_layout),
    (types.is_map, _map_layout),
    (types.is_fixed_size_list, _fixed_size_list_layout),
    (types.is_struct, _struct_layout),
    (types.is_fixed_size_binary, _fixed_width_layout),
    (types.is_decimal, _fixed_width_layout),
    (types.is_primitive, _fixed_width_layout),
)
