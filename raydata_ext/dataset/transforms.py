"""Computing with rows: each is a plan of one step, collected, so it runs and is cached as any plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from raydata_ext.dataset.absent import require_known
from raydata_ext.dataset.base import Parts
from raydata_ext.dataset.features import as_schema
from raydata_ext.dataset.lazy_dataset import LazyDataset
from raydata_ext.dataset.lineage import Lineage, content_of
from raydata_ext.dataset.more_rows import MoreRows
from raydata_ext.dataset.shards import KnownFile, joined, size_of
from raydata_ext.engine import paused_collection
from raydata_ext.fingerprint import combine
from raydata_ext.plan import Chain, Plan, RowNumbers, TableShard
from raydata_ext.table import InMemoryTable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa
    from typing_extensions import Self

    from raydata_ext.dataset.dataset import Dataset
    from raydata_ext.engine import OnError, ShardResult, Workers
    from raydata_ext.plan import Workspace

MIN_ROW_BYTES_FOR_INDICES = 256
"""Rows of fewer bytes, on average, are written by `filter`, which takes hardly longer than the eight bytes of an
indices mapping, and are read faster afterwards."""


class Transforms(MoreRows):
    """Rows made of rows by functions."""

    @classmethod
    @paused_collection()
    def from_results(cls, results: Sequence[ShardResult], workspace: Workspace) -> Self:
        """The results of a run, shard after shard, under one schema.

        Args:
            results: of all shards.
            workspace: where they are.
        """
        receipts = [result.receipt for result in results]
        shards = [TableShard.of_receipt(workspace.store, receipt) for receipt in receipts]
        files = {path: KnownFile(sum_, shard.made_of, shard.home) for shard in shards for path, sum_ in shard.contents}
        fingerprint = combine("dataset", *(receipt.content_key for receipt in receipts))
        return cls(Parts(joined([shard.table for shard in shards]), Lineage(fingerprint), workspace, files))

    @paused_collection()
    def lazy(self) -> LazyDataset:
        """A plan that starts from these rows."""
        make: Any = self.from_results  # of a `Dataset`, in the end
        return LazyDataset(Plan(self.shards), self.parts.workspace, make)

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
        require_known(arguments)
        arguments = self._with_batch_format(arguments)
        run = _Run(load_from_cache_file, keep_in_memory, executor, pool_size(workers, num_proc), on_error, max_errors)
        return self._computed(lambda lazy: lazy.map(function, **arguments), run, new_fingerprint)

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

        Where rows are large (256 bytes and more, on average), none is written: the result is an indices mapping over
        the same files. Small rows are written, since that costs no more. `flatten_indices` writes them in any case.

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
        require_known(arguments)
        arguments = self._with_batch_format(arguments)
        run = _Run(load_from_cache_file, keep_in_memory, executor, pool_size(workers, num_proc), on_error, max_errors)
        if size_of(self.parts.table) < MIN_ROW_BYTES_FOR_INDICES * self.parts.table.num_rows:
            return self._computed(lambda lazy: lazy.filter(function, **arguments), run, new_fingerprint)

        def numbers_of_kept(lazy: LazyDataset) -> LazyDataset:
            kept = lazy.filter(function, **arguments)
            return replace(kept, plan=kept.plan.then(RowNumbers()), make_dataset=self._kept)

        return self._computed(numbers_of_kept, replace(run, in_memory=False), new_fingerprint)

    def flatten_indices(self, *, executor: str | None = None, workers: Workers | int | None = None) -> Self:
        """The rows of an indices mapping in files of their own, in order, so that neighbours lie together.

        Args:
            executor: `"ray"`, `"inline"` or None, see `Engine`.
            workers: size of the pool on Ray.

        Returns:
            This data set where it has no indices mapping.
        """
        if self.parts.indices is None:
            return self._with()
        return self._computed(lambda lazy: lazy, _Run(executor=executor, workers=workers), None)

    def _computed(self, with_steps: Callable[[LazyDataset], LazyDataset], run: _Run, fingerprint: str | None) -> Self:
        """Run a plan over these rows; the result has the format of this data set."""
        if not run.in_memory:
            result: Any = run.collect(with_steps(self.lazy()))
            return self._transmitted(result.parts, fingerprint)
        own = self.parts.workspace
        with own.temporary() as workspace:
            result = run.collect(with_steps(replace(self.lazy(), workspace=workspace)))
            table = joined([InMemoryTable.copy_of(shard.table) for shard in result.shards])
            return self._transmitted(Parts(table, Lineage(result.fingerprint), own), fingerprint)

    def _with_batch_format(self, arguments: dict[str, Any]) -> dict[str, Any]:
        if arguments.get("batched") and self.parts.format.type not in (None, "python", "custom"):
            return {"batch_format": self.parts.format.type, **arguments}
        return arguments

    def _kept(self, results: Sequence[ShardResult], workspace: Workspace) -> Any:
        """The rows whose numbers in their shards are the results."""
        first = 0
        kept = []
        for result in results:
            kept.append(workspace.store.table(result.receipt).column("row").to_numpy() + first)
            first += result.shard.num_rows or 0
        positions = np.concatenate(kept)
        lineage = self.parts.lineage.then("filter", *(result.receipt.content_key for result in results))
        return self._selected(positions, lineage)

    def _transmitted(self, result: Parts, fingerprint: str | None) -> Self:
        """A result with the format of this data set: it shows what this shows, and the columns that are new."""
        format_, names = self.parts.format, result.table.column_names
        if format_.columns is not None:
            hidden = set(self.column_names) - set(format_.columns)
            shown = [name for name in format_.columns if name in names]
            new = [name for name in names if name not in hidden and name not in shown]
            format_ = replace(format_, columns=(*shown, *new))
        lineage = result.lineage if fingerprint is None else Lineage(fingerprint)
        return type(self)(replace(result, lineage=lineage, format=format_))


@dataclass(frozen=True)
class _Run:
    """How a plan is run.

    Attributes:
        from_cache: take results that are in the cache; else they are computed anew.
        in_memory: read the result into memory, and leave nothing in the cache.
        executor: see `LazyDataset.collect`, as for the others.
        workers: size of the pool.
        on_error: what happens to bad rows.
        max_errors: how many there may be.
    """

    from_cache: bool = True
    in_memory: bool = False
    executor: str | None = None
    workers: Workers | int | None = None
    on_error: OnError = "raise"
    max_errors: float | None = None

    def collect(self, lazy: LazyDataset) -> Dataset:
        """Run the plan."""
        if not self.from_cache:
            _forget(lazy.plan, lazy.workspace)
        return lazy.collect(
            executor=self.executor, workers=self.workers, on_error=self.on_error, max_errors=self.max_errors
        )


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
