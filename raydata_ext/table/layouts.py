"""How the values of each Arrow type lie in memory: where to find a row by address, and how to put rows together again.

`addresses` condenses an array to a short vector of addresses, one for each buffer (children included), with the offset
of the array folded in. The layouts follow the Arrow columnar format
(https://arrow.apache.org/docs/format/Columnar.html).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyarrow import types
from typing_extensions import override

from raydata_ext.errors import CorruptFileError
from raydata_ext.table.address_space import NOWHERE, join_ranges, read_bits, read_words
from raydata_ext.table.layout import FoundValues, Layout, OffsetOverflowError, Values

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

MAX_OFFSET = 2**31 - 1
"""Most bytes or items that an array with 32-bit offsets can hold."""

_ADDRESS_BYTES = 8

_NO_BITMAP = 0  # stands for the bit address of a validity bitmap that is absent: all values are valid


@lru_cache(maxsize=4096)
def layout_of(data_type: pa.DataType) -> Layout | None:
    """Return the layout of a type, or None for a type whose rows cannot be found by address alone."""
    for is_type, make_layout in _LAYOUTS:
        if is_type(data_type):
            return make_layout(data_type)
    return None


class _NullLayout(Layout):
    def __init__(self, data_type: pa.DataType) -> None:
        super().__init__(data_type, 0)

    @override
    def addresses(self, array: pa.Array) -> list[int]:
        return []

    @override
    def find(self, values: Values) -> FoundValues:
        return FoundValues(lambda start, stop, _: pa.nulls(stop - start, self.data_type), lambda: 0)

    @override
    def bytes_of_ranges(self, starts: Values, lengths: NDArray[np.int64]) -> int:
        return 0


class _FixedWidthLayout(Layout):
    def __init__(self, data_type: pa.DataType) -> None:
        super().__init__(data_type, 2)
        self._width = data_type.bit_width // 8

    @override
    def addresses(self, array: pa.Array) -> list[int]:
        validity, values = array.buffers()
        return [_bit_address(validity, array.offset), _address(values) + array.offset * self._width]

    @override
    def find(self, values: Values) -> FoundValues:
        where = values.addresses_at(1) + values.rows * self._width
        valid = _validity(values)

        def copy(start: int, stop: int, _: int) -> pa.Array:
            read = pa.py_buffer(read_words(where[start:stop], self._width))
            return pa.Array.from_buffers(self.data_type, stop - start, [_bitmap(valid, start, stop), read])

        if self._width > _ADDRESS_BYTES:
            return FoundValues(copy, lambda: self._width)
        whole = copy(0, len(where), 0)  # it takes no more memory than the addresses
        return FoundValues(lambda start, stop, _: whole.slice(start, stop - start), lambda: self._width)

    @override
    def bytes_of_ranges(self, starts: Values, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        num_bytes: NDArray[np.int64] = lengths * self._width
        return num_bytes

    @override
    def copy_ranges(self, starts: Values, lengths: NDArray[np.int64], max_offset: int) -> pa.Array:
        if starts.addresses_at(0).any():
            return super().copy_ranges(starts, lengths, max_offset)
        values = join_ranges(starts.addresses_at(1) + starts.rows * self._width, lengths * self._width)
        return pa.Array.from_buffers(self.data_type, int(lengths.sum()), [None, values])


class _BooleanLayout(Layout):
    def __init__(self, data_type: pa.DataType) -> None:
        super().__init__(data_type, 2)

    @override
    def addresses(self, array: pa.Array) -> list[int]:
        validity, values = array.buffers()
        return [_bit_address(validity, array.offset), _address(values) * 8 + array.offset]

    @override
    def find(self, values: Values) -> FoundValues:
        where = values.addresses_at(1) + values.rows
        valid = _validity(values)

        def copy(start: int, stop: int, _: int) -> pa.Array:
            read = _pack_bits(read_bits(where[start:stop]))
            return pa.Array.from_buffers(self.data_type, stop - start, [_bitmap(valid, start, stop), read])

        return FoundValues(copy, lambda: 1)

    @override
    def bytes_of_ranges(self, starts: Values, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        return -(-lengths // 8)


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

    def _read_offsets(self, starts: Values, lengths: NDArray[np.int64] | int) -> tuple[NDArray[np.int64], ...]:
        """Return where in the rest runs of values begin, and how far each of them reaches; int64, shape (n,)."""
        where = starts.addresses_at(1) + starts.rows * self._offset_width
        begins = read_words(where, self._offset_width).astype(np.int64, copy=False)
        ends = read_words(where + lengths * self._offset_width, self._offset_width).astype(np.int64, copy=False)
        sizes = ends - begins
        # a sign bit says that one of them is negative
        if len(ends) and (begins | ends | sizes | (starts.addresses_at(2) - ends)).min() < 0:
            raise CorruptFileError(
                f"offsets of type {self.data_type} point outside of their data: the file that these rows are mapped "
                "from is damaged; verify it and make it anew"
            )
        return begins, sizes

    def _new_offsets(self, sizes: NDArray[np.int64], max_offset: int) -> pa.Buffer:
        offsets = np.zeros(len(sizes) + 1, np.int64)
        np.cumsum(sizes, out=offsets[1:])
        if not self._large and offsets[-1] > max_offset:
            raise OffsetOverflowError
        return pa.py_buffer(offsets.astype(self._offset_dtype, copy=False))


class _BinaryLayout(_OffsetLayout):
    def __init__(self, data_type: pa.DataType, *, large: bool) -> None:
        super().__init__(data_type, 1, large=large)

    @override
    def addresses(self, array: pa.Array) -> list[int]:
        values = array.buffers()[2]
        return [*self._offset_addresses(array, 0 if values is None else values.size), _address(values)]

    @override
    def find(self, values: Values) -> FoundValues:
        where, sizes = self._read_offsets(values, 1)
        where += values.addresses_at(3)
        valid = _validity(values)
        sizes = _of_valid(sizes, valid)

        def copy(start: int, stop: int, max_offset: int) -> pa.Array:
            offsets = self._new_offsets(sizes[start:stop], max_offset)
            copied = join_ranges(where[start:stop], sizes[start:stop])
            return pa.Array.from_buffers(self.data_type, stop - start, [_bitmap(valid, start, stop), offsets, copied])

        return FoundValues(copy, lambda: sizes)

    @override
    def bytes_of_ranges(self, starts: Values, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        _, sizes = self._read_offsets(starts, lengths)
        return sizes + lengths * self._offset_width


class _ListLayout(_OffsetLayout):
    def __init__(self, data_type: pa.DataType, item: Layout, *, large: bool) -> None:
        super().__init__(data_type, item.size, large=large)
        self._item = item

    @override
    def addresses(self, array: pa.Array) -> list[int]:
        items = array.values
        return [*self._offset_addresses(array, len(items)), *self._item.addresses(items)]

    @override
    def find(self, values: Values) -> FoundValues:
        begins, sizes = self._read_offsets(values, 1)
        valid = _validity(values)
        sizes = _of_valid(sizes, valid)
        items = values.within(3).at(begins)

        def copy(start: int, stop: int, max_offset: int) -> pa.Array:
            offsets = self._new_offsets(sizes[start:stop], max_offset)
            copied = self._item.copy_ranges(items.between(start, stop), sizes[start:stop], max_offset)
            buffers = [_bitmap(valid, start, stop), offsets]
            return pa.Array.from_buffers(self.data_type, stop - start, buffers, children=[copied])

        return FoundValues(copy, lambda: self._item.bytes_of_ranges(items, sizes))

    @override
    def bytes_of_ranges(self, starts: Values, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        begins, sizes = self._read_offsets(starts, lengths)
        return self._item.bytes_of_ranges(starts.within(3).at(begins), sizes) + lengths * self._offset_width


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
    def find(self, values: Values) -> FoundValues:
        valid = _validity(values)
        items = values.within(1).at(values.rows * self._length)
        sizes = np.full(len(values.rows), self._length, np.int64)

        def copy(start: int, stop: int, max_offset: int) -> pa.Array:
            copied = self._item.copy_ranges(items.between(start, stop), sizes[start:stop], max_offset)
            buffers = [_bitmap(valid, start, stop)]
            return pa.Array.from_buffers(self.data_type, stop - start, buffers, children=[copied])

        return FoundValues(copy, lambda: self._item.bytes_of_ranges(items, sizes))

    @override
    def bytes_of_ranges(self, starts: Values, lengths: NDArray[np.int64]) -> NDArray[np.int64] | int:
        return self._item.bytes_of_ranges(starts.within(1).at(starts.rows * self._length), lengths * self._length)


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
    def find(self, values: Values) -> FoundValues:
        valid = _validity(values)
        found = [field.find(part) for field, part in self._parts(values)]

        def copy(start: int, stop: int, max_offset: int) -> pa.Array:
            children = [field.copy(start, stop, max_offset) for field in found]
            buffers = [_bitmap(valid, start, stop)]
            return pa.Array.from_buffers(self.data_type, stop - start, buffers, children=children)

        return FoundValues(copy, lambda: sum(field.num_bytes() for field in found))

    @override
    def bytes_of_ranges(self, starts: Values, lengths: NDArray[np.int64]) -> NDArray[np.int64] | int:
        return sum(field.bytes_of_ranges(part, lengths) for field, part in self._parts(starts))

    def _parts(self, values: Values) -> list[tuple[Layout, Values]]:
        """Return each field with its values."""
        parts = []
        first = 1
        for field in self._fields:
            parts.append((field, values.within(first, first + field.size)))
            first += field.size
        return parts


class _ExtensionLayout(Layout):
    def __init__(self, data_type: pa.DataType, storage: Layout) -> None:
        super().__init__(data_type, storage.size)
        self._storage = storage

    @override
    def addresses(self, array: pa.Array) -> list[int]:
        return self._storage.addresses(array.storage)

    @override
    def find(self, values: Values) -> FoundValues:
        found = self._storage.find(values)

        def copy(start: int, stop: int, max_offset: int) -> pa.Array:
            return pa.ExtensionArray.from_storage(self.data_type, found.copy(start, stop, max_offset))

        return FoundValues(copy, found.num_bytes)

    @override
    def bytes_of_ranges(self, starts: Values, lengths: NDArray[np.int64]) -> NDArray[np.int64] | int:
        return self._storage.bytes_of_ranges(starts, lengths)


def _validity(values: Values) -> NDArray[np.bool_] | None:
    """Return which values are valid, shape (n,), or None where all are; the first address is that of the bitmap."""
    if not values.addresses[0].any():
        return None
    bits = values.addresses_at(0)
    with_bitmap = bits != _NO_BITMAP
    if not with_bitmap.any():
        return None
    valid = np.ones(len(bits), np.bool_)
    valid[with_bitmap] = read_bits((bits + values.rows)[with_bitmap])
    return valid


def _of_valid(sizes: NDArray[np.int64], valid: NDArray[np.bool_] | None) -> NDArray[np.int64]:
    """Return sizes, 0 where a value is null: what lies hidden under it is not carried along."""
    return sizes if valid is None else np.where(valid, sizes, 0)


def _bitmap(valid: NDArray[np.bool_] | None, start: int, stop: int) -> pa.Buffer | None:
    return None if valid is None else _pack_bits(valid[start:stop])


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
