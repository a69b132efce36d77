"""Numbers of bytes as users write them."""

from __future__ import annotations

from pydantic import ByteSize, TypeAdapter


def parse_bytes(value: int | str) -> int:
    """A number of bytes, given as such or as in `"256MB"` (10**6) or `"256MiB"` (2**20).

    Raises:
        ValueError: it is neither.
    """
    return int(TypeAdapter(ByteSize).validate_python(value))
