"""A plan with the words of a data frame: nothing is read before `collect`, and then only what is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from raydata_ext.dataset.features import as_schema
from raydata_ext.dataset.output_formats import require_options, write_as
from raydata_ext.engine import Engine, ErrorPolicy, Program, RunProgress, ShardResult, Worker, Workers, preview, run_all
from raydata_ext.plan import (
    Cache,
    Cast,
    Chain,
    Explanation,
    Filter,
    Map,
    Plan,
    RemoveColumns,
    RenameColumns,
    SelectColumns,
    Step,
    UserFunction,
    Workspace,
    explain,
)
from raydata_ext.plan.steps import names
from raydata_ext.streaming import IterableDataset
from raydata_ext.streaming.nodes.transform import Transform

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa

    from raydata_ext.dataset.dataset import Dataset
    from raydata_ext.dataset.output_formats import OutputFormat
    from raydata_ext.engine import OnError
    from raydata_ext.plan.steps import BatchFormat, Columns


@dataclass(frozen=True, eq=False, repr=False)
class LazyDataset:
    """Shards and steps that have not run. Each method gives a new one; none reads rows but `head` and `collect`.

    Consecutive steps are fused: a shard is read once, passes all steps batch by batch, and is written once. Where a
    function has other workers than the one before, all that is before it is computed and stored first, as at a mark of
    `cache`. Workers are no part of a key: where only they change, nothing is computed again.

    Attributes:
        plan: the shards and steps.
        workspace: the cache directory.
        make_dataset: what `collect` turns results into.
    """

    plan: Plan
    workspace: Workspace
    make_dataset: Callable[[Sequence[ShardResult], Workspace], Dataset]

    def map(
        self,
        function: Callable[..., Any],
        *,
        with_indices: bool = False,
        with_rank: bool = False,
        input_columns: Columns | None = None,
        batched: bool = False,
        batch_size: int | None = 1000,
        drop_last_batch: bool = False,
        remove_columns: Columns | None = None,
        schema: pa.Schema | Mapping[str, Any] | None = None,
        fn_kwargs: Mapping[str, Any] | None = None,
        constructor_kwargs: Mapping[str, Any] | None = None,
        batch_format: BatchFormat = "python",
        version: str | None = None,
        exclude: Columns = (),
        desc: str | None = None,
        workers: Workers | int | None = None,
    ) -> LazyDataset:
        """Give every row or batch to a function and merge what it returns into the row or batch.

        Args:
            function: takes a row (a mapping of column to value) or a batch (of column to list) and returns a mapping,
                or None for no change; a batch may also be returned as an Arrow table or a DataFrame, in place of all
                columns. A class is built once a worker and its instance is called. `Counted` sets counts for the report
                beside any of these.
            with_indices: also give the global row number (a list of them for a batch).
            with_rank: also give the number of the shard.
            input_columns: give the values of these columns as positional arguments in place of the row or batch.
            batched: give batches; their result may have another number of rows if no column stays.
            batch_size: rows of a batch, counted within a shard; None is the whole shard.
            drop_last_batch: leave out the last batch of a shard where it is shorter.
            remove_columns: columns that go before the result is merged.
            schema: schema of the result, or types by name, see `scan_dataset`; None is what the values say, unified
                over all shards.
            fn_kwargs: keyword arguments of each call.
            constructor_kwargs: keyword arguments of the class.
            batch_format: what a batch is given as.
            version: stands for the code in the key of the result; set it where the code cannot be hashed.
            exclude: attributes, closure variables and globals that do not count when the code is hashed, bare or as
                `"Owner.name"`: a lock or a logger, say.
            desc: name of the step in progress and reports.
            workers: what the step runs on, on Ray; None is the workers of the run. See `collect`.
        """
        step = Map(
            function=UserFunction.of(function, fn_kwargs, constructor_kwargs, version, exclude),
            batched=batched,
            batch_size=batch_size,
            input_columns=None if input_columns is None else names(input_columns),
            with_indices=with_indices,
            batch_format=batch_format,
            desc=desc,
            workers=None if workers is None else Workers.of(workers),
            drop_last_batch=drop_last_batch,
            remove_columns=names(remove_columns or ()),
            with_rank=with_rank,
            schema=None if schema is None else as_schema(schema),
        )
        return self._then(step)

    def filter(
        self,
        function: Callable[..., Any],
        *,
        with_indices: bool = False,
        input_columns: Columns | None = None,
        batched: bool = False,
        batch_size: int | None = 1000,
        fn_kwargs: Mapping[str, Any] | None = None,
        constructor_kwargs: Mapping[str, Any] | None = None,
        batch_format: BatchFormat = "python",
        version: str | None = None,
        exclude: Columns = (),
        desc: str | None = None,
        workers: Workers | int | None = None,
    ) -> LazyDataset:
        """Keep the rows for which a function says so.

        Args:
            function: takes a row or batch as in `map` and returns a bool, or `(False, "reason")`, for the row, or one
                for each row of the batch. Reasons are counted in the report.
            with_indices: also give the global row number (a list of them for a batch).
            input_columns: give the values of these columns as positional arguments in place of the row or batch.
            batched: give batches.
            batch_size: rows of a batch, counted within a shard; None is the whole shard.
            fn_kwargs: keyword arguments of each call.
            constructor_kwargs: keyword arguments of the class.
            batch_format: what a batch is given as.
            version: stands for the code in the key of the result; set it where the code cannot be hashed.
            exclude: attributes, closure variables and globals that do not count when the code is hashed, bare or as
                `"Owner.name"`: a lock or a logger, say.
            desc: name of the step in progress and reports.
            workers: what the step runs on, on Ray; None is the workers of the run. See `collect`.
        """
        step = Filter(
            function=UserFunction.of(function, fn_kwargs, constructor_kwargs, version, exclude),
            batched=batched,
            batch_size=batch_size,
            input_columns=None if input_columns is None else names(input_columns),
            with_indices=with_indices,
            batch_format=batch_format,
            desc=desc,
            workers=None if workers is None else Workers.of(workers),
        )
        return self._then(step)

    def select_columns(self, columns: Columns) -> LazyDataset:
        """Keep these columns, in this order."""
        return self._then(SelectColumns(names(columns)))

    def remove_columns(self, columns: Columns) -> LazyDataset:
        """Leave these columns out."""
        return self._then(RemoveColumns(names(columns)))

    def rename_column(self, original_column_name: str, new_column_name: str) -> LazyDataset:
        """Give a column another name."""
        return self.rename_columns({original_column_name: new_column_name})

    def rename_columns(self, names: Mapping[str, str]) -> LazyDataset:
        """Give columns other names, old to new."""
        return self._then(RenameColumns(tuple(names.items())))

    def cast(self, schema: pa.Schema | Mapping[str, Any]) -> LazyDataset:
        """Bring the columns to a schema, or types by name; columns that rows lack become null."""
        return self._then(Cast(as_schema(schema)))

    def cache(self) -> LazyDataset:
        """Keep the result up to here, so that a later change of what follows starts from it."""
        return self._then(Cache())

    def head(self, n: int = 5) -> list[dict[str, Any]]:
        """The first rows, computed here and now; nothing beyond them is read and nothing is stored.

        A batched function sees batches that run over the borders of shards, which `collect` cuts there.
        """
        with Worker(Program(Chain.of(self.plan.steps), self.workspace.store)) as worker:
            rows: list[dict[str, Any]] = preview(self.plan, worker, n).to_pylist() if n > 0 else []
        return rows

    def explain(self) -> Explanation:
        """Which shards have a result and which do not; print it. Runs nothing."""
        return explain(self.plan, self.workspace)

    def collect(
        self,
        *,
        executor: str | None = None,
        workers: Workers | int | None = None,
        progress: RunProgress | None = None,
        on_error: OnError = "raise",
        max_errors: float | None = None,
    ) -> Dataset:
        """Compute what is missing and open the result.

        Args:
            executor: `"ray"`, `"inline"` or None, see `Engine`.
            workers: the pool on Ray of all steps that have no workers of their own. Pools follow one another: each ends
                its actors before the next one asks for places in the cluster.
            progress: is told how far the run is.
            on_error: `"raise"` ends the run at the first row that cannot be read or that a step fails on;
                `"quarantine"` sets such rows aside, each with a record of why, and goes on as if they had never been
                there. Results that lack rows are taken from the cache only with `"quarantine"`. On Ray, this holds also
                for rows that kill their process.
            max_errors: rows that may be set aside: a number of them, or a share of all as a float; None is no limit.

        Raises:
            QuarantineError: more rows were set aside than `max_errors`.
            StepError: a function raised; the message gives step, file, row, and the function's traceback.
            ReadError: an input is not what it should be.
        """
        with Engine(executor, workers) as engine:
            return self._collected(engine, progress, ErrorPolicy(on_error, max_errors))

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        format: OutputFormat = "arrow",  # noqa: A002 - the word for it
        executor: str | None = None,
        workers: Workers | int | None = None,
        progress: RunProgress | None = None,
        on_error: OnError = "raise",
        max_errors: float | None = None,
        **options: Any,
    ) -> list[str]:
        """Compute what is missing and write the result, on one pool of workers.

        Args:
            path: a directory or file, or its URL, as the method of the format takes it.
            format: `"arrow"` for `Dataset.save_to_disk`, `"parquet"` for `to_parquet`, and so on: `"json"`, `"csv"`,
                `"megatron"`, `"fairseq"`, `"mds"`.
            executor: see `collect`, as for all others up to `max_errors`.
            workers: the pool on Ray.
            progress: is told how far the run is.
            on_error: what happens to bad rows.
            max_errors: rows that may be set aside.
            options: further arguments of the method, such as `column` of `to_megatron`.

        Returns:
            The paths of the files that hold the rows.

        Raises:
            ValueError: there is no such format or option; nothing was computed.
        """
        require_options(format, options)
        with Engine(executor, workers) as engine:
            dataset = self._collected(engine, progress, ErrorPolicy(on_error, max_errors))
            return write_as(dataset, format, path, engine, progress, options)

    def stream(self) -> IterableDataset:
        """The same rows as a stream: read and computed as they are asked for, and nothing is stored.

        A batched function sees batches that run over the borders of shards, which `collect` cuts there. Marks of
        `cache` mean nothing here.
        """
        stream = IterableDataset.from_shards(self.plan.shards)
        for step in self.plan.steps:
            if not isinstance(step, Cache):
                stream = stream.over(Transform(stream.node, step))
        return stream

    def __repr__(self) -> str:
        steps = " -> ".join(step.label for step in self.plan.steps) or "rows as they are read"
        return f"LazyDataset({len(self.plan.shards)} shards, {self.plan.num_bytes / 1e6:.1f} MB; {steps})"

    def _collected(self, engine: Engine, progress: RunProgress | None, errors: ErrorPolicy) -> Dataset:
        results = run_all(self.plan, self.workspace, engine, progress, errors)
        return self.make_dataset(results[-1], self.workspace)

    def _then(self, step: Step) -> LazyDataset:
        return LazyDataset(self.plan.then(step), self.workspace, self.make_dataset)
