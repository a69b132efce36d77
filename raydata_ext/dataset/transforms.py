"""Computing with rows: each is a plan of one step, collected, so it runs and is cached as any plan."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from raydata_ext.dataset.features import as_schema
from raydata_ext.dataset.lazy_dataset import LazyDataset
from raydata_ext.dataset.lineage import content_of
from raydata_ext.dataset.ordering import Ordering
from raydata_ext.dataset.shards import KnownFile, joined, size_of
from raydata_ext.fingerprint import combine
from raydata_ext.plan import Chain, Plan, RowNumbers, TableShard, Workspace
from raydata_ext.table import InMemoryTable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa
    from typing_extensions import Self

    from raydata_ext.engine import ShardResult, Workers
    from raydata_ext.engine.error_policy import OnError

    _Make: TypeAlias = Callable[[Sequence[ShardResult], Workspace], Any]

MIN_ROW_BYTES_FOR_INDICES = 256
"""Rows of fewer bytes, on average, are written by `filter`, which takes hardly longer than the eight bytes of an indices
mapping, and are read faster afterwards."""


class Transforms(Ordering):
    """Rows made of rows by functions."""

    @classmethod
    def from_results(cls, results: Sequence[ShardResult], workspace: Workspace) -> Self:
        """The results of a run, shard after shard, under one schema.

        Args:
            results: of all shards.
            workspace: where they are.
        """
        receipts = [result.receipt for result in results]
        shards = [TableShard.of_receipt(workspace.store, receipt) for receipt in receipts]
        files = {path: KnownFile(sum_, shard.made_of) for shard in shards for path, sum_ in shard.contents}
        fingerprint = combine("dataset", *(receipt.key for receipt in receipts))
        return cls(joined([shard.table for shard in shards]), fingerprint, workspace, files=files)

    def lazy(self) -> LazyDataset:
        """A plan that starts from these rows."""
        return self._plan_in(self._workspace, self.from_results)

    def map(
        self,
        function: Callable[..., Any],
        *,
        features: pa.Schema | Mapping[str, Any] | None = None,
        load_from_cache_file: bool = True,
        new_fingerprint: str | None = None,
        keep_in_memory: bool = False,
        workers: Workers | int | None = None,
        num_proc: int | None = None,
        executor: str | None = None,
        on_error: OnError = "raise",
        max_errors: float | None = None,
        **arguments: Any,
    ) -> Self:
        """Give every row or batch to a function and merge what it returns: `LazyDataset.map`, collected.

        The result has the format of this data set. A batched function is given batches in it too, unless `batch_format`
        says otherwise; a row is always given as plain Python.

        Args:
            function: takes a row or a batch; see `LazyDataset.map`, as for `arguments`.
            features: the result's types, as a schema or as Hugging Face's features; `schema=` is the same.
            load_from_cache_file: take results that are in the cache; else compute all anew and replace them there.
            new_fingerprint: of the result, in place of the one that follows from input and function.
            keep_in_memory: read the result into memory, and leave nothing in the cache.
            workers: size of the pool on Ray.
            num_proc: the same, under the name that it has in Hugging Face `datasets`.
            executor: `"ray"`, `"inline"` or None, see `Engine`.
            on_error: `"raise"` ends at the first bad row; `"quarantine"` sets it aside and goes on.
            max_errors: rows that may be set aside, see `LazyDataset.collect`.
            arguments: `with_indices`, `with_rank`, `input_columns`, `batched`, `batch_size`, `drop_last_batch`,
                `remove_columns`, `fn_kwargs`, `desc` and the others of `LazyDataset.map`.

        Raises:
            StepError: the function raised; the message gives the row and the function's traceback.
            TypeError: there is no such argument.
        """
        if features is not None:
            arguments["schema"] = as_schema(features)
        arguments = self._with_batch_format(arguments)

        def run(workspace: Workspace) -> Self:
            lazy = self._plan_in(workspace, self.from_results).map(function, **arguments)
            return self._collected(
                lazy, load_from_cache_file, executor, pool_size(workers, num_proc), on_error, max_errors
            )

        result = self._in_memory(run) if keep_in_memory else run(self._workspace)
        return result._transmitted(self, new_fingerprint)  # noqa: SLF001 - one of us

    def filter(
        self,
        function: Callable[..., Any],
        *,
        load_from_cache_file: bool = True,
        new_fingerprint: str | None = None,
        keep_in_memory: bool = False,
        workers: Workers | int | None = None,
        num_proc: int | None = None,
        executor: str | None = None,
        on_error: OnError = "raise",
        max_errors: float | None = None,
        **arguments: Any,
    ) -> Self:
        """Keep the rows for which a function says so: `LazyDataset.filter`, collected.

        Where rows are large (256 bytes and more, on average), none is written: the result is an indices mapping over the
        same files. Small rows are written, since that costs no more. `flatten_indices` writes them in any case.

        Args:
            function: takes a row or a batch; see `LazyDataset.filter`, as for `arguments`.
            load_from_cache_file: see `map`, as for all that follow.
            new_fingerprint: of the result.
            keep_in_memory: read the result into memory; an indices mapping leaves the rows where they are.
            workers: size of the pool on Ray.
            num_proc: the same, under the name that it has in Hugging Face `datasets`.
            executor: `"ray"`, `"inline"` or None.
            on_error: `"raise"` or `"quarantine"`.
            max_errors: rows that may be set aside.
            arguments: `with_indices`, `input_columns`, `batched`, `batch_size`, `fn_kwargs`, `desc` and the others of
                `LazyDataset.filter`.

        Raises:
            StepError: the function raised; the message gives the row and the function's traceback.
            TypeError: there is no such argument.
        """
        arguments = self._with_batch_format(arguments)
        only_indices = size_of(self._table) >= MIN_ROW_BYTES_FOR_INDICES * max(1, self._table.num_rows)

        def run(workspace: Workspace) -> Self:
            lazy = self._plan_in(workspace, self._kept if only_indices else self.from_results)
            lazy = lazy.filter(function, **arguments)
            if only_indices:
                lazy = replace(lazy, plan=lazy.plan.then(RowNumbers()))
            return self._collected(
                lazy, load_from_cache_file, executor, pool_size(workers, num_proc), on_error, max_errors
            )

        result = self._in_memory(run) if keep_in_memory and not only_indices else run(self._workspace)
        return result._transmitted(self, new_fingerprint)  # noqa: SLF001 - one of us

    def flatten_indices(self, *, executor: str | None = None, workers: Workers | int | None = None) -> Self:
        """The rows of an indices mapping in files of their own, in order, so that neighbours lie together.

        Args:
            executor: `"ray"`, `"inline"` or None, see `Engine`.
            workers: size of the pool on Ray.

        Returns:
            This data set where it has no indices mapping.
        """
        if self._indices is None:
            return self._derived(self._lineage)
        written = self._plan_in(self._workspace, self.from_results).collect(executor=executor, workers=workers)
        return written._transmitted(self, None)  # noqa: SLF001 - one of us

    def _plan_in(self, workspace: Workspace, make: _Make) -> LazyDataset:
        return LazyDataset(Plan(self.shards), workspace, make)

    def _with_batch_format(self, arguments: dict[str, Any]) -> dict[str, Any]:
        if arguments.get("batched") and self._format.type not in (None, "python"):
            return {"batch_format": self._format.type, **arguments}
        return arguments

    def _collected(
        self,
        lazy: LazyDataset,
        from_cache: bool,
        executor: str | None,
        workers: Workers | int | None,
        on_error: OnError,
        max_errors: float | None,
    ) -> Any:
        if not from_cache:
            _forget(lazy.plan, lazy.workspace)
        return lazy.collect(executor=executor, workers=workers, on_error=on_error, max_errors=max_errors)

    def _in_memory(self, run: Callable[[Workspace], Self]) -> Self:
        """A result that is computed in a cache of its own, which goes when its rows are in memory."""
        self._workspace.path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="in-memory-", dir=self._workspace.path) as directory:
            result = run(Workspace(directory))
            paths = [file["filename"] for file in result.cache_files]
            table = joined([InMemoryTable.from_file(path) for path in paths])
            return type(self)(table, result.fingerprint, self._workspace)

    def _kept(self, results: Sequence[ShardResult], workspace: Workspace) -> Self:
        """The rows whose numbers in their shards are the results."""
        first = 0
        kept = []
        for result in results:
            kept.append(workspace.store.table(result.receipt).column("row").to_numpy() + first)
            first += result.shard.num_rows or 0
        positions = np.concatenate(kept)
        lineage = self._lineage.then("filter", *(result.receipt.key for result in results))
        return self._selected(positions, lineage)

    def _transmitted(self, source: Transforms, fingerprint: str | None) -> Self:
        """The result with the format of what it was made of: it shows what that shows, and the columns that are new."""
        format_ = source._format
        if format_.columns is not None:
            hidden = set(source.column_names) - set(format_.columns)
            shown = [name for name in format_.columns if name in self.column_names]
            new = [name for name in self.column_names if name not in hidden and name not in shown]
            format_ = replace(format_, columns=(*shown, *new))
        return self._derived(fingerprint or self._lineage, format=format_)


def pool_size(workers: Workers | int | None, num_proc: int | None) -> Workers | int | None:
    """The size of the pool, under either of its names."""
    if workers is not None and num_proc is not None:
        raise ValueError(f"workers={workers} and num_proc={num_proc} mean the same; give one of them")
    return num_proc if workers is None else workers


def _forget(plan: Plan, workspace: Workspace) -> None:
    """Remove the results of a plan, so that they are computed anew."""
    chain = Chain.of(plan.steps)
    for shard, position in zip(plan.shards, plan.positions, strict=True):
        for key in chain.keys(shard, content_of(shard, workspace.index), position):
            workspace.store.discard(key)
