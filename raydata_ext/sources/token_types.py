"""The types that tokens have in `.bin` files, and making sure that tokens fit them.

The codes are those of fairseq and Megatron. 6 and 7 are both double in fairseq, while Megatron writes 7 for single
precision; which of the two is meant is told by the size of the file.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from raydata_ext.errors import DamagedInputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import DTypeLike, NDArray

DTYPES: Mapping[int, np.dtype[Any]] = MappingProxyType(
    {
        1: np.dtype(np.uint8),
        2: np.dtype(np.int8),
        3: np.dtype(np.int16),
        4: np.dtype(np.int32),
        5: np.dtype(np.int64),
        6: np.dtype(np.float64),
        7: np.dtype(np.float64),
        8: np.dtype(np.uint16),
        9: np.dtype(np.uint32),
        10: np.dtype(np.uint64),
    }
)
FLOAT32_CODE = 7
SMALL_VOCABULARY = 65500


def best_fitting_int_dtype(max_int_to_represent: int | None) -> np.dtype[Any]:
    """The smallest type for a number of symbols: uint16 below 65500, else int32, which all readers know."""
    if max_int_to_represent is not None and max_int_to_represent < SMALL_VOCABULARY:
        return np.dtype(np.uint16)
    return np.dtype(np.int32)


def code(dtype: DTypeLike) -> int:
    """The code of a type.

    Raises:
        ValueError: there is none.
    """
    wanted = np.dtype(dtype)
    if wanted == np.float32:
        return FLOAT32_CODE
    for number, known in DTYPES.items():
        if known == wanted:
            return number
    raise ValueError(f"tokens cannot be stored as {wanted}; the types are {[str(known) for known in DTYPES.values()]}")


def dtype_of_code(number: int, elements: int, num_bytes: int, path: str) -> np.dtype[Any]:
    """The type that a code stands for, in a file of that many elements and bytes.

    Args:
        number: the code.
        elements: how many there are.
        num_bytes: size of the `.bin` file.
        path: the index, for messages.

    Raises:
        DamagedInputError: an unknown code, or a size that does not go with the type.
    """
    if number not in DTYPES:
        raise DamagedInputError(f"{path}: unknown type code {number}; the codes are {sorted(DTYPES)}")
    dtype = DTYPES[number]
    if number == FLOAT32_CODE and elements and num_bytes == np.dtype(np.float32).itemsize * elements:
        dtype = np.dtype(np.float32)
    if elements * dtype.itemsize != num_bytes:
        raise DamagedInputError(
            f"{path}: its index has {elements} elements of {dtype}, so the .bin file must have"
            f" {elements * dtype.itemsize} bytes; it has {num_bytes}. One of them is cut off, or belongs to another"
        )
    return little_endian(dtype)


def little_endian(dtype: DTypeLike) -> np.dtype[Any]:
    """A type as it stands in files."""
    stored: np.dtype[Any] = np.dtype(dtype).newbyteorder("<")
    return stored


def cast_tokens(values: NDArray[Any], dtype: np.dtype[Any], place: str) -> NDArray[Any]:
    """Bring tokens to a type that can hold all of them.

    Args:
        values: tokens, of any shape.
        dtype: the type.
        place: what they belong to, for messages.

    Raises:
        ValueError: a token does not fit; the message gives it.
    """
    if values.size and dtype.kind in "iu":
        if values.dtype.kind not in "iu":
            raise ValueError(f"{place}: tokens must be integers to be stored as {dtype}, not {values.dtype}")
        limits = np.iinfo(dtype)
        low, high = int(values.min()), int(values.max())
        if low < limits.min or high > limits.max:
            value = low if low < limits.min else high
            raise ValueError(
                f"{place}: token {value} does not fit {dtype} ({limits.min} to {limits.max}); write with a larger dtype"
            )
    return values.astype(dtype, copy=False)
