"""A job from its file to its output and report."""

from __future__ import annotations

import importlib
import sys
import time
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raydata_ext.dataset import Dataset, LazyDataset, scan_dataset, write_output
from raydata_ext.engine import Engine, ErrorPolicy, RunProgress, Workers, run_all
from raydata_ext.engine.quarantine_files import write_quarantine_files
from raydata_ext.engine.report import Report
from raydata_ext.engine.report_page import write_report_page
from raydata_ext.errors import JobFileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from raydata_ext.job.schema import FunctionSection, JobFile, StepSection


def plan_of(job: JobFile) -> LazyDataset:
    """The job's source and steps.

    Raises:
        NoMatchError: a pattern of the source matches no file.
        JobFileError: a function cannot be imported.
    """
    source = job.source
    lazy = scan_dataset(
        source.paths,
        format=source.format,
        columns=source.columns,
        cache_dir=job.run.cache_dir,
        max_shard_bytes=int(source.max_shard_bytes),
        exclude=source.exclude,
        **source.options,
    )
    for number, step in enumerate(job.steps):
        lazy = _with_step(lazy, step, f"steps[{number}]")
    return lazy


def run_job(
    job: JobFile, *, workers: int | None = None, address: str | None = None, progress: RunProgress | None = None
) -> Report:
    """Run a job: compute what is missing, write the output directory and the report.

    The report is written also where the job fails, and says why.

    Args:
        job: the job.
        workers: size of the pool, in place of the job's own.
        address: of the Ray cluster to join; None is the one that `RAY_ADDRESS` names, or an embedded one.
        progress: is told how far it is.

    Returns:
        The report, which is also in `report.json` and `report.html`.
    """
    report = Report(job.name, time.time())
    with _reported(report, report_directory(job)):
        with _timed(report, "planning"):
            lazy = plan_of(job)
            report.source = _describe_source(job, lazy)
        pool = Workers.of(workers) if workers is not None else _workers(job)
        with Engine(job.run.executor, pool, address) as engine:
            with _timed(report, "computing"):
                errors = ErrorPolicy(job.run.on_error, job.run.max_errors)
                *report.earlier, results = run_all(lazy.plan, lazy.workspace, engine, progress, errors)
                report.results = results
                report.quarantine_samples = write_quarantine_files(
                    [*report.earlier, results], lazy.workspace.store, report_directory(job)
                )
            with _timed(report, "writing"):
                dataset = Dataset.from_results(results, lazy.workspace)
                report.output = _write(job, dataset, engine, lazy, progress)
            report.executors = tuple(engine.used)
    return report


def report_directory(job: JobFile) -> Path:
    """Where the report of a job goes: a local directory, that of the job's name where the output is under a URL."""
    output = job.output.path.rstrip("/")
    return Path(job.run.report_dir or f"{job.name if '://' in output else output}.run")


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


def _with_step(lazy: LazyDataset, step: StepSection, place: str) -> LazyDataset:
    if step.map is not None:
        return lazy.map(**_function_arguments(step.map, f"{place}.map"))
    if step.filter is not None:
        return lazy.filter(**_function_arguments(step.filter, f"{place}.filter"))
    if step.select_columns is not None:
        return lazy.select_columns(step.select_columns)
    if step.remove_columns is not None:
        return lazy.remove_columns(step.remove_columns)
    if step.rename_columns is not None:
        return lazy.rename_columns(step.rename_columns)
    return lazy.cache()


def _function_arguments(section: FunctionSection, place: str) -> dict[str, Any]:
    arguments = section.model_dump()
    arguments["function"] = import_function(section.function, f"{place}.function")
    arguments["fn_kwargs"] = arguments.pop("kwargs")
    return arguments


def _workers(job: JobFile) -> Workers | int | None:
    section = job.run.workers
    return section if section is None or isinstance(section, int) else Workers(**section.model_dump())


def _describe_source(job: JobFile, lazy: LazyDataset) -> dict[str, Any]:
    pieces = [piece for shard in lazy.plan.shards for piece in shard.pieces]
    return {
        "paths": job.source.paths,
        "format": job.source.format,
        "files": len({piece.file.path for piece in pieces}),
        "bytes": lazy.plan.num_bytes,
        "shards": len(lazy.plan.shards),
    }


def _write(
    job: JobFile, dataset: Dataset, engine: Engine, lazy: LazyDataset, progress: RunProgress | None
) -> dict[str, Any]:
    output = write_output(
        job.output.path,
        dataset.shards,
        dataset.schema,
        dataset.fingerprint,
        engine,
        lazy.workspace.store,
        int(job.output.max_shard_bytes),
        lineage={"job": job.name, "paths": job.source.paths, "steps": [step.label for step in lazy.plan.steps]},
        progress=progress,
    )
    directory = output.directory
    return {
        "path": directory.path,
        "files": len(directory.files),
        "rows": dataset.num_rows,
        "bytes": sum(file.num_bytes for file in directory.files),
        "tokens": output.tokens,
        "fingerprint": directory.fingerprint,
        "written": output.written,
    }


@contextmanager
def _timed(report: Report, phase: str) -> Iterator[None]:
    started = time.perf_counter()
    try:
        yield
    finally:
        report.seconds[phase] = time.perf_counter() - started


@contextmanager
def _reported(report: Report, directory: Path) -> Iterator[None]:
    """Write the report however the run ends."""
    started = time.perf_counter()
    try:
        yield
        report.status = "complete"
    except BaseException as error:
        report.status = "failed"
        report.error = "".join(traceback.format_exception_only(error)).strip()
        raise
    finally:
        report.seconds["total"] = time.perf_counter() - started
        report.write_json(directory)
        write_report_page(report.as_dict(), directory)
