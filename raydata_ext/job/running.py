"""A job from its file to its output and report."""

from __future__ import annotations

import importlib
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raydata_ext.dataset import Dataset, ExportRun, LazyDataset, groups_of, scan_dataset, write_as, write_output
from raydata_ext.engine import Engine, ErrorPolicy, Named, RunProgress, Silent, Workers, run_all
from raydata_ext.engine.quarantine_files import write_quarantine_files
from raydata_ext.engine.report import Report
from raydata_ext.engine.report_page import write_report_page
from raydata_ext.errors import JobFileError, QuarantineError
from raydata_ext.job.schema import WorkersSection
from raydata_ext.plan import Workspace
from raydata_ext.redaction import redacted
from raydata_ext.remote import is_url, without_local_scheme
from raydata_ext.store import open_directory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from raydata_ext.engine import ShardResult
    from raydata_ext.job.schema import FunctionSection, JobFile, PipeSection, StepSection


Collect = Callable[[LazyDataset], Dataset]
"""Computes a plan, as the job says: by its executor, and with its answer to bad rows."""

Piping = Callable[[str], AbstractContextManager[Collect]]
"""Is given the name of a `pipe` step, entered while the step is made, and gives what it computes plans with."""


def plan_of(job: JobFile, piping: Piping | None = None) -> LazyDataset:
    """The job's source and steps.

    Args:
        job: the job.
        piping: what `pipe` steps compute with that they have to know; None ends the plan in front of the first of them.

    Raises:
        NoMatchError: a pattern of the source matches no file.
        JobFileError: a function cannot be imported.
    """
    source = job.source
    lazy = scan_dataset(
        source.paths,
        format=source.format,
        columns=source.columns,
        schema=source.types,
        cache_dir=Workspace(job.run.cache_dir, job.run.storage_options, job.run.local_dir, job.run.max_local_bytes),
        max_shard_bytes=int(source.max_shard_bytes),
        exclude=source.exclude,
        **source.options,
    )
    for number, step in enumerate(job.steps):
        place = f"steps[{number}]"
        if step.pipe is None:
            lazy = _with_step(lazy, step, place)
        elif piping is None:
            break
        else:
            with piping(step.pipe.function.rpartition(":")[2]) as collect:
                lazy = _piped(lazy, collect, step.pipe, f"{place}.pipe")
    return lazy


def run_job(
    job: JobFile, *, workers: int | None = None, address: str | None = None, progress: RunProgress | None = None
) -> Report:
    """Run a job: compute what is missing, write the output directory and the report.

    The report is written also where the job fails, and says why.

    Args:
        job: the job.
        workers: size of the pool, in place of that of the `run` section; steps with workers of their own keep them.
        address: of the Ray cluster to join; None is the one that `RAY_ADDRESS` names, or an embedded one.
        progress: is told how far it is.

    Returns:
        The report, which is also in `report.json` and `report.html`.
    """
    report = Report(job.name, time.time())
    with _reported(report, report_directory(job)):
        pool = Workers.of(workers) if workers is not None else _workers(job.run.workers)
        errors = ErrorPolicy(job.run.on_error, job.run.max_errors)
        with Engine(job.run.executor, pool, address) as engine:
            report.executors = engine.used
            with _timed(report, "planning"):
                lazy = plan_of(job, partial(_piping, report, engine, progress or Silent(), errors))
                report.source = _describe_source(job, lazy)
            with _timed(report, "computing"):
                results = _compute(report, lazy, engine, progress, errors, report_directory(job))
            with _timed(report, "writing"):
                dataset = Dataset.from_results(results, lazy.workspace)
                report.output = _write(job, dataset, engine, lazy, progress)
    return report


def report_directory(job: JobFile) -> Path:
    """Where the report of a job goes: a local directory, that of the job's name where the output is under a URL."""
    output = without_local_scheme(job.output.path).rstrip("/")
    return Path(job.run.report_dir or f"{job.name if is_url(output) else output}.run")


def import_function(reference: str, place: str) -> Callable[..., Any]:
    """Import what `"module:name"` names; modules are also looked for in the working directory.

    Args:
        reference: module and name; the name may be dotted.
        place: the key of the job file, for messages.

    Raises:
        JobFileError: there is no such module or name.
    """
    module_name, colon, name = reference.partition(":")
    if not colon or not name:
        raise JobFileError(f'{place}: {reference!r} must be "module:name", as in "jobs.quickstart:Tokenize"')
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module_name)
    except ImportError as error:
        raise JobFileError(
            f"{place}: cannot import module {module_name!r} ({error}); looked for in {here} and where Python looks"
        ) from error
    for part in name.split("."):
        if not hasattr(found, part):
            raise JobFileError(f"{place}: {found.__name__} has no {part!r}")
        found = getattr(found, part)
    if not callable(found):
        raise JobFileError(f"{place}: {reference!r} is {type(found).__name__}, which cannot be called")
    return found  # type: ignore[no-any-return]  # anything that can be called


@contextmanager
def _piping(report: Report, engine: Engine, progress: RunProgress, errors: ErrorPolicy, name: str) -> Iterator[Collect]:
    shown = Named(name, progress)

    def collect(lazy: LazyDataset) -> Dataset:
        return Dataset.from_results(run_all(lazy.plan, lazy.workspace, engine, shown, errors)[-1], lazy.workspace)

    with _timed(report, "pipe steps"):
        yield collect


def _piped(lazy: LazyDataset, collect: Collect, section: PipeSection, place: str) -> LazyDataset:
    plan = import_function(section.function, f"{place}.function")(lazy, collect, **section.kwargs)
    if not isinstance(plan, LazyDataset):
        raise JobFileError(
            f"{place}: {section.function!r} returned {type(plan).__name__}; it must return a LazyDataset"
        )
    return plan


def _with_step(lazy: LazyDataset, step: StepSection, place: str) -> LazyDataset:
    if step.map is not None:
        return lazy.map(**_function_arguments(step.map, f"{place}.map"))
    if step.filter is not None:
        return lazy.filter(**_function_arguments(step.filter, f"{place}.filter"))
    for name in ("select_columns", "remove_columns", "rename_columns", "cast"):
        columns = getattr(step, name)
        if columns is not None:
            changed: LazyDataset = getattr(lazy, name)(columns)
            return changed
    return lazy.cache()


def _function_arguments(section: FunctionSection, place: str) -> dict[str, Any]:
    arguments = section.model_dump(by_alias=True)
    arguments["function"] = import_function(section.function, f"{place}.function")
    arguments["fn_kwargs"] = arguments.pop("kwargs")
    arguments["workers"] = _workers(section.workers)
    return arguments


def _workers(section: WorkersSection | int | None) -> Workers | int | None:
    return Workers(**section.model_dump()) if isinstance(section, WorkersSection) else section


def _compute(
    report: Report,
    lazy: LazyDataset,
    engine: Engine,
    progress: RunProgress | None,
    errors: ErrorPolicy,
    directory: Path,
) -> Sequence[ShardResult]:
    """Compute the plan; the report has what there is of it also where this fails."""
    parts: list[Sequence[ShardResult]] = []
    unpublished: Sequence[Mapping[str, Any]] = ()
    try:
        return run_all(lazy.plan, lazy.workspace, engine, progress, errors, parts)[-1]
    except QuarantineError as error:
        unpublished = error.records
        raise
    finally:
        *report.earlier, report.results = parts or [()]
        report.quarantine_samples = write_quarantine_files(parts, lazy.workspace.store, directory, unpublished)


def _describe_source(job: JobFile, lazy: LazyDataset) -> dict[str, Any]:
    pieces = [piece for shard in lazy.plan.shards for piece in shard.pieces]
    return {
        "paths": _shown_paths(job),
        "format": job.source.format,
        "files": len({piece.file.path for piece in pieces}),
        "bytes": lazy.plan.num_bytes,
        "shards": len(lazy.plan.shards),
    }


def _shown_paths(job: JobFile) -> str | list[str]:
    """The paths of the source, without passwords."""
    paths = job.source.paths
    return redacted(paths) if isinstance(paths, str) else [redacted(path) for path in paths]


def _write(
    job: JobFile, dataset: Dataset, engine: Engine, lazy: LazyDataset, progress: RunProgress | None
) -> dict[str, Any]:
    if job.output.format != "arrow":
        return _write_for_others(job, dataset, engine, progress)
    max_bytes = int(job.output.max_shard_bytes)
    output = write_output(
        open_directory(job.output.path, lazy.workspace.storage_options),
        groups_of(dataset.shards, max_bytes),
        dataset.schema,
        dataset.fingerprint,
        ExportRun(engine, lazy.workspace.store, progress or Silent()),
        cut=max_bytes,
        lineage={"job": job.name, "paths": _shown_paths(job), "steps": [step.label for step in lazy.plan.steps]},
    )
    directory = output.directory
    return {
        "path": redacted(directory.path),
        "files": len(directory.files),
        "rows": dataset.num_rows,
        "bytes": sum(file.num_bytes for file in directory.files),
        "tokens": output.tokens,
        "fingerprint": directory.fingerprint,
        "written": output.written,
    }


def _write_for_others(job: JobFile, dataset: Dataset, engine: Engine, progress: RunProgress | None) -> dict[str, Any]:
    output = job.output
    options = dict(output.options)
    if output.format in {"parquet", "json", "csv"}:
        options.setdefault("max_file_bytes", int(output.max_shard_bytes))
    paths = write_as(dataset, output.format, output.path, engine, progress, options)
    directory = open_directory(paths[0].rpartition("/")[0], dataset.parts.workspace.storage_options)
    return {
        "path": redacted(output.path),
        "files": len(paths),
        "rows": dataset.num_rows,
        "bytes": sum(directory.sizes([path.rpartition("/")[2] for path in paths]).values()),
        "fingerprint": dataset.fingerprint,
        "written": True,
    }


@contextmanager
def _timed(report: Report, phase: str) -> Iterator[None]:
    """Add to the time of a phase, but for that of phases within it."""
    report.seconds.setdefault(phase, 0.0)
    others = sum(report.seconds.values())
    started = time.perf_counter()
    try:
        yield
    finally:
        within = sum(report.seconds.values()) - others
        report.seconds[phase] += time.perf_counter() - started - within


@contextmanager
def _reported(report: Report, directory: Path) -> Iterator[None]:
    """Write the report however the run ends."""
    started = time.perf_counter()
    try:
        yield
        report.status = "complete"
    except BaseException as error:
        report.status = "failed" if isinstance(error, Exception) else "cancelled"
        report.error = redacted("".join(traceback.format_exception_only(error)).strip())
        raise
    finally:
        report.seconds["total"] = time.perf_counter() - started
        write_report_page(report.write_json(directory), directory)
