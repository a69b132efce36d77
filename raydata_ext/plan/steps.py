"""The steps of a plan, as values: what is done to rows, and nothing of how, where or by how many."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from typing_extensions import override

from raydata_ext.errors import FingerprintError, PlanError
from raydata_ext.fingerprint import Fingerprint, combine, fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa

    from raydata_ext.plan.workers import Workers

BatchFormat = Literal["python", "numpy", "torch", "pandas", "arrow"]
Columns: TypeAlias = "str | Sequence[str]"
"""Names of columns, as users give them."""


class Step(ABC):
    """One step. Two steps with the same fingerprint give the same rows for the same rows."""

    @property
    @abstractmethod
    def label(self) -> str:
        """The step as messages name it."""

    @property
    @abstractmethod
    def fingerprint(self) -> Fingerprint:
        """What the result depends on, and nothing else."""

    @property
    def keeps_row_count(self) -> bool:
        """Whether the number of rows out is that of the rows in, for certain."""
        return True

    @property
    def needs_positions(self) -> bool:
        """Whether the step sees global row numbers."""
        return False

    @property
    def needs_rank(self) -> bool:
        """Whether the step sees the number of its shard."""
        return False


@dataclass(frozen=True, eq=False)
class UserFunction:
    """A function, or a class that is built once a worker and called like one.

    Attributes:
        target: the function or class.
        fn_kwargs: keyword arguments of every call.
        constructor_kwargs: keyword arguments of the class; only where `target` is a class.
        version: stands for the code in keys, in place of its hash; None is the hash.
        exclude: attributes, closure variables and globals that do not count in the hash, bare or as `"Owner.name"`.
    """

    target: Callable[..., Any]
    fn_kwargs: Mapping[str, Any] = field(default_factory=dict)
    constructor_kwargs: Mapping[str, Any] = field(default_factory=dict)
    version: str | None = None
    exclude: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        target: Callable[..., Any],
        fn_kwargs: Mapping[str, Any] | None,
        constructor_kwargs: Mapping[str, Any] | None,
        version: str | None = None,
        exclude: Columns = (),
    ) -> UserFunction:
        """The function as users give it."""
        return cls(target, dict(fn_kwargs or {}), dict(constructor_kwargs or {}), version, names(exclude))

    def __post_init__(self) -> None:
        if not callable(self.target):
            raise TypeError(f"function must be callable, got {self.target!r} ({type(self.target).__name__})")
        if self.constructor_kwargs and not isinstance(self.target, type):
            raise PlanError(
                f"constructor_kwargs are given, but {self.name!r} is a function, not a class; use fn_kwargs"
            )

    @property
    def name(self) -> str:
        """The name as the user wrote it."""
        target = self.target
        while isinstance(target, functools.partial):
            target = target.func
        return str(getattr(target, "__qualname__", type(target).__qualname__)).rpartition("<locals>.")[2]

    def build(self) -> Callable[..., Any]:
        """The callable that is given rows or batches."""
        target = self.target(**self.constructor_kwargs) if isinstance(self.target, type) else self.target
        return functools.partial(target, **self.fn_kwargs) if self.fn_kwargs else target

    def fingerprints(self) -> dict[str, Fingerprint]:
        """Fingerprints of code and arguments by what they are."""
        code = fingerprint(self.version, "version") if self.version is not None else self._code_fingerprint()
        return {
            "function": code,
            "fn_kwargs": fingerprint(dict(sorted(self.fn_kwargs.items())), "argument"),
            "constructor_kwargs": fingerprint(dict(sorted(self.constructor_kwargs.items())), "constructor argument"),
        }

    def _code_fingerprint(self) -> Fingerprint:
        try:
            return fingerprint(self.target, self.name, exclude=self.exclude)
        except FingerprintError as error:
            raise FingerprintError(f"step `{self.name}`: {error}") from error


@dataclass(frozen=True, eq=False)
class _FunctionStep(Step):
    """What map and filter share: a user's function and what it is given.

    Attributes:
        function: what is called.
        batched: whether it is given batches.
        batch_size: rows of a batch; None is a whole shard.
        input_columns: given as positional arguments in place of the row or batch; None is the row or batch itself.
        with_indices: whether global row numbers follow (one int, or a list).
        batch_format: what a batch is given as; `"python"` is a mapping of column to list.
        desc: what the step is called in progress and reports; None is the function's name.
        workers: what the step is to run on; None is the workers of the run.
    """

    function: UserFunction
    batched: bool = False
    batch_size: int | None = 1000
    input_columns: tuple[str, ...] | None = None
    with_indices: bool = False
    batch_format: BatchFormat = "python"
    desc: str | None = None
    workers: Workers | None = None

    def __post_init__(self) -> None:
        if self.batch_size is not None and self.batch_size < 1:
            raise ValueError(f"batch_size is {self.batch_size}; it must be at least 1, or None for a whole shard")
        if self.batch_format != "python" and not self.batched:
            raise PlanError(f"step `{self.label}`: batch_format={self.batch_format!r} needs batched=True")

    @property
    def label(self) -> str:
        return self.desc or self.function.name

    @property
    def needs_positions(self) -> bool:
        return self.with_indices

    @functools.cached_property
    def fingerprint(self) -> Fingerprint:
        settings = self._settings()
        if self.batched:
            settings |= {"batch_size": self.batch_size, "batch_format": self.batch_format}
        return _step_fingerprint(type(self).__name__.lower(), settings, self.function.fingerprints())

    def _settings(self) -> dict[str, object]:
        return {"batched": self.batched, "input_columns": self.input_columns, "with_indices": self.with_indices}


@dataclass(frozen=True, eq=False)
class Map(_FunctionStep):
    """Give every row or batch to a function and merge what it returns into the row or batch.

    Attributes:
        drop_last_batch: leave out the last batch of a shard where it is shorter than `batch_size`.
        remove_columns: columns that go before the result is merged.
        with_rank: whether the number of the shard is the last argument.
        schema: the result's schema; None is what the values say.
    """

    drop_last_batch: bool = False
    remove_columns: tuple[str, ...] = ()
    with_rank: bool = False
    schema: pa.Schema | None = None

    @property
    @override
    def keeps_row_count(self) -> bool:
        return not self.batched

    @property
    @override
    def needs_rank(self) -> bool:
        return self.with_rank

    def _settings(self) -> dict[str, object]:
        return {
            **super()._settings(),
            "drop_last_batch": self.batched and self.drop_last_batch,
            "remove_columns": self.remove_columns,
            "with_rank": self.with_rank,
            "schema": None if self.schema is None else self.schema.serialize().to_pybytes(),
        }


@dataclass(frozen=True, eq=False)
class Filter(_FunctionStep):
    """Keep the rows for which a function says so: a bool a row, or a list of bools a batch."""

    @property
    @override
    def keeps_row_count(self) -> bool:
        return False


@dataclass(frozen=True)
class SelectColumns(Step):
    """Keep these columns, in this order."""

    columns: tuple[str, ...]

    @property
    @override
    def label(self) -> str:
        return f"select_columns({', '.join(self.columns)})"

    @property
    @override
    def fingerprint(self) -> Fingerprint:
        return _step_fingerprint("select_columns", {"columns": self.columns})


@dataclass(frozen=True)
class RemoveColumns(Step):
    """Leave these columns out."""

    columns: tuple[str, ...]

    @property
    @override
    def label(self) -> str:
        return f"remove_columns({', '.join(self.columns)})"

    @property
    @override
    def fingerprint(self) -> Fingerprint:
        return _step_fingerprint("remove_columns", {"columns": self.columns})


@dataclass(frozen=True)
class RenameColumns(Step):
    """Give columns other names, as (old, new) pairs; order and rows stay."""

    names: tuple[tuple[str, str], ...]

    @property
    @override
    def label(self) -> str:
        return f"rename_columns({', '.join(f'{old}={new}' for old, new in self.names)})"

    @property
    @override
    def fingerprint(self) -> Fingerprint:
        return _step_fingerprint("rename_columns", {"names": self.names})


@dataclass(frozen=True, eq=False)
class Cast(Step):
    """Bring the columns to a schema; columns that it names and rows lack become null, others are an error."""

    schema: pa.Schema

    @property
    @override
    def label(self) -> str:
        return "cast"

    @property
    @override
    def fingerprint(self) -> Fingerprint:
        return _step_fingerprint("cast", {"schema": self.schema.serialize().to_pybytes()})


@dataclass(frozen=True)
class RowNumbers(Step):
    """Put the number that each row had in its shard, from 0 on, in the place of its columns."""

    @property
    @override
    def label(self) -> str:
        return "row_numbers"

    @property
    @override
    def fingerprint(self) -> Fingerprint:
        return _step_fingerprint("row_numbers", {})


@dataclass(frozen=True)
class Cache(Step):
    """Marks a place in the chain whose result is kept; does nothing to rows."""

    @property
    @override
    def label(self) -> str:
        return "cache"

    @property
    @override
    def fingerprint(self) -> Fingerprint:
        raise PlanError("a cache mark is no part of a key")


def names(columns: Columns) -> tuple[str, ...]:
    """The names of columns, of which one may be given as it is."""
    return (columns,) if isinstance(columns, str) else tuple(columns)


def _step_fingerprint(
    kind: str, settings: Mapping[str, object], functions: Mapping[str, Fingerprint] | None = None
) -> Fingerprint:
    prints = {name: fingerprint(value, f"setting `{name}`") for name, value in settings.items()} | dict(functions or {})
    parts = {"kind": kind}
    for item in prints.values():
        parts.update(item.parts)
    framed = [text for name in sorted(prints) for text in (name, prints[name].digest)]
    return Fingerprint(digest=combine(kind, *framed), parts=parts)
