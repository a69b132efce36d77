"""Bytes to hash without ambiguity: every part goes in with its type and its length."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

import xxhash

if TYPE_CHECKING:
    from collections.abc import Callable

DIGEST_SIZE: Final = 16
_INLINE_BYTES: Final = 1024
_NAN: Final = struct.pack(">d", float("nan"))


def combine(*parts: str | bytes | int) -> str:
    """Hash parts into one key; `combine("ab", "c")` and `combine("a", "bc")` differ, as do `combine(1)` and
    `combine("1")`.

    Args:
        *parts: Strings, bytes and integers, in an order that counts.

    Returns:
        32 hexadecimal digits (xxh3, 128 bits).

    Raises:
        TypeError: A part is of another type.
    """
    return digest(*[_encode_part(part) for part in parts]).hex()


def _encode_part(part: str | bytes | int) -> bytes:
    if isinstance(part, str):
        return _encode_str(str.__str__(part))
    if isinstance(part, bytes):
        return _encode_bytes(part)
    if isinstance(part, int):
        return require_scalar(part if isinstance(part, bool) else int(part))
    raise TypeError(f"combine() takes str, bytes and int, not {type(part).__name__}: {part!r:.80}")


def digest(*parts: bytes) -> bytes:
    """Hash byte strings, each framed by its length, to 16 bytes."""
    framed = b"".join([piece for part in parts for piece in (len(part).to_bytes(8, "little"), part)])
    return xxhash.xxh3_128_digest(framed)


def encode_scalar(value: object) -> bytes | None:
    """Encode an immutable scalar of a built-in type, or return None for any other value.

    Equal values of different types differ (`1`, `1.0`, `True`; `"a"`, `b"a"`), `-0.0` and `0.0` differ, and all NaNs
    are one.
    """
    encoder = _ENCODERS.get(type(value))
    return None if encoder is None else encoder(value)


def require_scalar(value: object) -> bytes:
    """Encode a value that must be a scalar.

    Raises:
        TypeError: It is none.
    """
    encoded = encode_scalar(value)
    if encoded is None:
        raise TypeError(f"not a scalar: {value!r:.80} ({type(value).__name__})")
    return encoded


def is_scalar(value: object) -> bool:
    """Whether `encode_scalar` knows the type of the value."""
    return type(value) in _ENCODERS


def _encode_int(value: int) -> bytes:
    return b"i" + value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True)


def _encode_float(value: float) -> bytes:
    return b"f" + _float_bits(value)


def _encode_complex(value: complex) -> bytes:
    return b"c" + _float_bits(value.real) + _float_bits(value.imag)


def _float_bits(value: float) -> bytes:
    return struct.pack(">d", value) if value == value else _NAN  # noqa: PLR0124 (only NaN differs from itself)


def _encode_str(value: str) -> bytes:
    return _encode_bytes(value.encode("utf-8", "surrogatepass"), b"s")


def _encode_bytes(value: bytes, kind: bytes = b"b") -> bytes:
    if len(value) <= _INLINE_BYTES:
        return kind + value
    return kind.upper() + len(value).to_bytes(8, "little") + xxhash.xxh3_128_digest(value)


_ENCODERS: Final[dict[type, Callable[..., bytes]]] = {
    type(None): lambda _: b"N",
    bool: lambda value: b"T" if value else b"F",
    int: _encode_int,
    float: _encode_float,
    complex: _encode_complex,
    str: _encode_str,
    bytes: _encode_bytes,
    type(Ellipsis): lambda _: b"...",
    type(NotImplemented): lambda _: b"!",
}
