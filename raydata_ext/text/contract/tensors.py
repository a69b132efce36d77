"""Arrays inside, tensors at the edge.

Items, and all that datasets hand to one another, are numpy arrays. A batch becomes torch tensors where it leaves
through `collater`, and only there. Values are equal, and memory is shared where torch can: uint16 and uint32, with
which it does not compute, become int64, and what is read-only (a view of a mapped file) or runs backwards is copied.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

TensorKind = Literal["np", "pt"]
"""What batches are made of: numpy arrays, or torch tensors."""


def tensor_kind(return_tensors: str | None) -> TensorKind:
    """Return the kind that an argument `return_tensors` asks for.

    Args:
        return_tensors: "np", "pt", or None for torch tensors where torch is installed, else numpy arrays.

    Raises:
        ValueError: it is something else.
    """
    if return_tensors is None:
        return _default_kind()
    if return_tensors not in {"np", "pt"}:
        raise ValueError(f'return_tensors is {return_tensors!r}; it must be "np", "pt" or None')
    return cast("TensorKind", return_tensors)


def to_tensors(batch: Any, kind: TensorKind) -> Any:
    """Return a batch with all arrays in it, at any depth, as the kind asked for; other values stay what they are."""
    if kind == "np":
        return to_arrays(batch)
    return _map_leaves(batch, lambda leaf: _tensor(leaf) if isinstance(leaf, np.ndarray) else leaf)


def to_arrays(batch: Any) -> Any:
    """Return a batch with all torch tensors in it, at any depth, as arrays."""
    return _map_leaves(batch, to_array) if "torch" in sys.modules else batch


def to_array(value: Any) -> Any:
    """Return a torch tensor as an array, and any other value as it is."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return value.detach().cpu().numpy()
    return value


def to_tokens(item: Any) -> NDArray[np.int64]:
    """Return an item as int64 tokens; copied only where it is of another type.

    Raises:
        TypeError: it does not hold integers.
    """
    tokens = np.asarray(to_array(item))
    if tokens.dtype.kind not in "iu":
        if tokens.size:
            raise TypeError(f"tokens must be integers, but are {tokens.dtype}")
        return np.empty(tokens.shape, np.int64)
    return tokens.astype(np.int64, copy=False)


def dtype_of_batch(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type in a batch of what has this one in items: int64 where torch would not compute with it."""
    return np.dtype(np.int64) if dtype in {np.dtype(np.uint16), np.dtype(np.uint32)} else dtype


def _tensor(array: NDArray[Any]) -> Any:
    import torch  # noqa: PLC0415 - optional

    array = array.astype(dtype_of_batch(array.dtype), copy=False)
    if not array.flags.writeable or min(array.strides, default=0) < 0:
        array = array.copy()
    return torch.from_numpy(array)


@lru_cache(maxsize=1)
def _default_kind() -> TensorKind:
    return "np" if find_spec("torch") is None else "pt"


def _map_leaves(batch: Any, function: Any) -> Any:
    if isinstance(batch, dict):
        return {key: _map_leaves(value, function) for key, value in batch.items()}
    if type(batch) in {list, tuple}:
        return type(batch)(_map_leaves(value, function) for value in batch)
    return function(batch)
