"""Whether bytes are UTF-8, at memory speed."""

from __future__ import annotations

import numpy as np
import pyarrow as pa


def utf8_error(data: bytes) -> UnicodeDecodeError | None:
    """What is wrong with `data` as UTF-8, or None."""
    offsets = pa.py_buffer(np.array([0, len(data)], np.int64))
    try:
        pa.Array.from_buffers(pa.large_binary(), 1, [None, offsets, pa.py_buffer(data)]).cast(pa.large_string())
    except pa.ArrowInvalid:
        try:
            data.decode()
        except UnicodeDecodeError as error:
            return error
    return None
