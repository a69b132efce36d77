"""The formats that a plan or job may write its result in, by name.

Behind each is a method of `Dataset`, which says so where it is defined; its keyword arguments are the options.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

from raydata_ext.store import DatasetDirectory

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from raydata_ext.dataset.dataset import Dataset
    from raydata_ext.engine import Engine, RunProgress

    Method = TypeVar("Method", bound=Callable[..., Any])

OutputFormat = Literal["arrow", "parquet", "json", "csv", "megatron", "fairseq", "mds"]
"""`arrow` is a dataset directory; for the others see `Dataset.to_parquet` and so on."""

_EXECUTION = ("executor", "workers", "num_proc", "progress")
_PAIR_SUFFIXES = (".bin", ".idx")
_methods: dict[str, Callable[..., Any]] = {}


def writes(format_: OutputFormat) -> Callable[[Method], Method]:
    """Let a method of `Dataset` be the one behind a format."""

    def marked(method: Method) -> Method:
        _methods[format_] = method
        return method

    return marked


def write_as(
    dataset: Dataset,
    format_: OutputFormat,
    path: str | os.PathLike[str],
    engine: Engine,
    progress: RunProgress | None,
    options: Mapping[str, Any],
) -> list[str]:
    """Write a data set.

    Args:
        dataset: the rows.
        format_: the format.
        path: where the method of the format puts its files.
        engine: does the work.
        progress: is told how far it is.
        options: further arguments of the method.

    Returns:
        The paths of the data files.
    """
    written = _methods[format_](dataset, path, executor=engine, progress=progress, **options)
    if isinstance(written, DatasetDirectory):
        return [written.file_path(file) for file in written.files]
    suffixes = _PAIR_SUFFIXES if format_ in {"megatron", "fairseq"} else ("",)
    return [one + suffix for one in written for suffix in suffixes]


def require_options(format_: str, options: Mapping[str, Any]) -> None:
    """See whether a format has these options, before anything is computed.

    Raises:
        ValueError: there is no such format, or it has no such option.
    """
    if format_ not in _methods:
        raise ValueError(f"format is {format_!r}; it must be one of {list(get_args(OutputFormat))}")
    parameters = inspect.signature(_methods[format_]).parameters
    known = [name for name, one in parameters.items() if one.kind is one.KEYWORD_ONLY and name not in _EXECUTION]
    takes_others = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    unknown = [name for name in options if name in _EXECUTION or (name not in known and not takes_others)]
    if unknown:
        raise ValueError(f"format {format_!r} has no option {unknown[0]!r}; its options are {known}")
