"""Values of numpy, torch and pandas as the plain Python values that Arrow knows."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa


def is_tensor(value: object) -> bool:
    """Whether this is a torch tensor; torch is not imported for the question."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_series(value: object) -> bool:
    """Whether this is a pandas Series, index or array; pandas is not imported for the question."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, (pandas.Series, pandas.Index, pandas.api.extensions.ExtensionArray))


def tensor_to_numpy(tensor: Any) -> np.ndarray[Any, np.dtype[Any]]:
    """The values of a torch tensor, uncopied where it lives on the CPU; bfloat16, which numpy lacks, as float32.

    Args:
        tensor: A torch tensor of any shape, device and dtype.
    """
    tensor = tensor.detach().cpu()
    if str(tensor.dtype) == "torch.bfloat16":
        tensor = tensor.float()
    return tensor.numpy()  # type: ignore[no-any-return]  # torch passes as Any


def plain_value(value: Any) -> Any:
    """The value with all tensors, arrays, scalars and pandas' missing values in it replaced, at any depth.

    Args:
        value: Anything. What is not known here is returned as it is.
    """
    if is_tensor(value):
        value = tensor_to_numpy(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain_numpy(value)
    if isinstance(value, pa.Scalar):
        return value.as_py()
    if isinstance(value, (pa.Array, pa.ChunkedArray)):
        return value.to_pylist()
    if isinstance(value, Mapping):
        return {key: plain_value(item) for key, item in value.items()}
    if isinstance(value, (Sequence, set, frozenset)) and not isinstance(value, (str, bytes, bytearray)):
        return [plain_value(item) for item in value]
    return _plain_pandas(value)


def _plain_numpy(value: np.ndarray[Any, np.dtype[Any]] | np.generic) -> Any:
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return pa.array(np.array([value]))[0]  # `item()` makes integers of nanoseconds
    if isinstance(value, np.ndarray) and value.ndim and value.dtype.kind in "mMO":
        return [plain_value(item) for item in value]
    return value.tolist()


def _plain_pandas(value: Any) -> Any:
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return value
    if value is pandas.NA or value is pandas.NaT:
        return None
    return plain_value(value.tolist()) if isinstance(value, pandas.Series) else value
