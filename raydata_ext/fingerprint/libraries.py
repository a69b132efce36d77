"""Objects of libraries that need not be installed, recognised by the names of their classes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from raydata_ext.fingerprint.arrays import hash_array
from raydata_ext.fingerprint.node import Node, Role, Scope, UnhashableError, named, placed

if TYPE_CHECKING:
    from collections.abc import Callable


def find_describer(cls: type) -> Callable[[Any, Scope], Node] | None:
    """The describer for a class or the nearest of its bases, if it is one of a known library."""
    names = (f"{base.__module__}.{base.__qualname__}" for base in cls.__mro__)
    return next((_FAMILIES[name] for name in names if name in _FAMILIES), None)


def _describe_tensor(tensor: Any, _scope: Scope) -> Node:
    """By type, shape and content; the device has no part."""
    head = (str(tensor.dtype).encode(), repr(tuple(tensor.shape)).encode())
    try:
        content = tensor.detach().cpu().contiguous().reshape(-1).view(_torch_bytes(tensor)).numpy()
    except (RuntimeError, TypeError, NotImplementedError) as error:  # sparse, quantised or without storage
        raise UnhashableError(str(error)) from error
    return Node("tensor", (*head, hash_array(content)))


def _torch_bytes(tensor: Any) -> Any:
    import torch  # noqa: PLC0415 (optional, and here: the tensor is one of its own)

    return torch.uint8 if tensor.numel() else tensor.dtype


def _describe_generator(generator: Any, _scope: Scope) -> Node:
    return Node("torch generator", (), [placed(Role.STATE, "state", generator.get_state())])


def _describe_compiled_module(module: Any, _scope: Scope) -> Node:
    original = module._orig_mod  # noqa: SLF001 (torch.compile gives no other way)
    return Node("compiled module", (), [placed(Role.ATTRIBUTE, "_orig_mod", original)])


def _describe_frame(frame: Any, _scope: Scope) -> Node:
    edges = [named(Role.ATTRIBUTE, "columns", frame.columns), named(Role.ATTRIBUTE, "index", frame.index)]
    edges += [placed(Role.ITEM, str(name), _column(frame.iloc[:, place])) for place, name in enumerate(frame.columns)]
    return Node("data frame", (), edges)


def _describe_series(series: Any, _scope: Scope) -> Node:
    return Node(
        "series",
        (),
        [*_named(series), named(Role.ATTRIBUTE, "index", series.index), placed(Role.ITEM, "values", _column(series))],
    )


def _describe_index(index: Any, _scope: Scope) -> Node:
    if hasattr(index, "levels"):
        return Node("multi-index", (), [placed(Role.ATTRIBUTE, "frame", index.to_frame(index=False))])
    return Node("index", (), [*_named(index), placed(Role.ITEM, "values", _column(index))])


def _named(value: Any) -> list[Any]:
    return [named(Role.ATTRIBUTE, "name", value.name)]


def _column(values: Any) -> object:
    """A column as something that is hashed at the speed of memory where it can be."""
    if isinstance(values.dtype, np.dtype):
        return values.to_numpy()
    categories = getattr(values.dtype, "categories", None)
    try:
        content = pa.array(values)
    except (pa.ArrowException, TypeError, NotImplementedError):
        content = list(values)
    return (str(values.dtype) if categories is None else (categories, values.dtype.ordered), content)


# What a tokenizer learns while it is used, where it was loaded from, and what each call sets anew.
_TOKENIZER_TRANSIENT: Final = frozenset(
    {
        "cache",
        "deprecation_warnings",
        "name_or_path",
        "init_inputs",
        "vocab_file",
        "merges_file",
        "tokenizer_file",
        "_tokenizer",
    }
)


def _describe_tokenizer(tokenizer: Any, scope: Scope) -> Node:
    state = {key: value for key, value in vars(tokenizer).items() if key not in _TOKENIZER_TRANSIENT}
    if isinstance(state.get("init_kwargs"), dict):
        state["init_kwargs"] = {
            key: value for key, value in state["init_kwargs"].items() if key not in _TOKENIZER_TRANSIENT
        }
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is not None:
        rules = json.loads(backend.to_str())
        state["rules"] = {key: value for key, value in rules.items() if key not in {"truncation", "padding"}}
    edges = [
        named(Role.ATTRIBUTE, key, state[key])
        for key in sorted(state)
        if not scope.excludes(type(tokenizer).__name__, key)
    ]
    return Node("tokenizer", (), [placed(Role.CLASS, type(tokenizer).__name__, type(tokenizer)), *edges])


_FAMILIES: Final[dict[str, Callable[[Any, Scope], Node]]] = {
    "torch.Tensor": _describe_tensor,
    "torch._C.Generator": _describe_generator,
    "torch._dynamo.eval_frame.OptimizedModule": _describe_compiled_module,
    "pandas.core.frame.DataFrame": _describe_frame,
    "pandas.core.series.Series": _describe_series,
    "pandas.core.indexes.base.Index": _describe_index,
    "pandas.DataFrame": _describe_frame,
    "pandas.Series": _describe_series,
    "pandas.Index": _describe_index,
    "transformers.tokenization_utils_base.PreTrainedTokenizerBase": _describe_tokenizer,
}
