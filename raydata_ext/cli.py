"""The command `raydata-ext`. It exits with 0 for complete success and nothing else."""

from __future__ import annotations

import re
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid

from raydata_ext.dataset import DatasetDict, load_from_disk, parse_bytes
from raydata_ext.engine import progress_for
from raydata_ext.engine.amounts import readable_bytes
from raydata_ext.engine.quarantine_files import DIRECTORY_NAME
from raydata_ext.engine.ray_cluster import RayCluster
from raydata_ext.engine.report import read_report
from raydata_ext.errors import CoordinatorLostError, RaydataError
from raydata_ext.feed import StreamingCoordinator, watch
from raydata_ext.job import plan_of, read_job_file, read_storage_options, report_directory, run_job, submit_job
from raydata_ext.plan import explain as explain_plan
from raydata_ext.redaction import redacted
from raydata_ext.remote import absolute_place
from raydata_ext.store import Store, collect_garbage, fetched_file, is_file, verify_place
from raydata_ext.table import MemoryMappedTable, Table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FrameType


app = typer.Typer(
    name="raydata-ext",
    help="Preprocess corpora into Arrow shards on Ray, and look at the results.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

JobPath = Annotated[Path, typer.Argument(help="Job file (YAML).", show_default=False)]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="Replace a setting of the job: key.path=value.", show_default=False)
]
StorageOption = Annotated[
    list[str] | None,
    typer.Option(help="Option of the file system of a URL: key=value, or s3.key=${NAME}.", show_default=False),
]


class Terminated(BaseException):
    """SIGTERM, as an exception that leaves through all `finally` clauses."""


@app.command()
def run(
    job: JobPath,
    settings: Settings = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Workers on Ray.", show_default=False)] = None,
    address: Annotated[str | None, typer.Option(help="Ray cluster to join.", show_default=False)] = None,
) -> None:
    """Run a job: compute what is missing, write the output and a report."""
    out, log = Console(), Console(stderr=True)
    loaded = read_job_file(job, settings or ())
    try:
        done = run_job(loaded, workers=workers, address=address, progress=progress_for(log))
    except (KeyboardInterrupt, Terminated):
        log.print(f"Stopped. Finished shards are kept: run the same command again to go on. ({job})", style="yellow")
        raise
    _print_summary(out, done.as_dict(), report_directory(loaded))


@app.command()
def explain(job: JobPath, settings: Settings = None) -> None:
    """Say which shards of a job have a result and which would be computed; run nothing."""
    loaded = read_job_file(job, settings or ())
    lazy = plan_of(loaded)
    pipe = next((step.pipe for step in loaded.steps if step.pipe is not None), None)
    quarantine = loaded.run.on_error == "quarantine"
    print(explain_plan(lazy.plan, lazy.workspace, quarantine=quarantine, is_whole=pipe is None))
    if pipe is not None:
        print(f"This is up to `{pipe.function}`; the steps from there on are made when it runs.")


@app.command()
def submit(
    job: JobPath,
    address: Annotated[str, typer.Option(help="Ray dashboard, as in http://HEAD:8265.", show_default=False)],
    settings: Settings = None,
    working_dir: Annotated[Path, typer.Option(help="What travels to the cluster.")] = Path(),
    submission_id: Annotated[str | None, typer.Option(help="Name of the submission.", show_default=False)] = None,
    wait: Annotated[bool, typer.Option(help="Follow the job to its end.")] = True,
) -> None:
    """Run a job on a cluster: the working directory travels there, and the driver with it."""
    read_job_file(job, settings or ())
    identity = submit_job(
        str(job), address, working_dir=str(working_dir), settings=settings or (), submission_id=submission_id, wait=wait
    )
    print(identity)


@app.command()
def report(run: Annotated[Path, typer.Argument(help="Report directory of a run.", show_default=False)]) -> None:
    """Show the report of a run again."""
    loaded = read_report(run)
    _print_summary(Console(), loaded, run)
    if loaded["status"] != "complete":
        print(loaded["error"])
        raise typer.Exit(1)


@app.command()
def feed_status(
    name: Annotated[str, typer.Argument(help="Name of the coordinator.", show_default=False)],
    address: Annotated[str, typer.Option(help="Ray cluster that it runs in.")] = "auto",
) -> None:
    """Watch a feed of trainers: ranks, queues, waits, and the sources of a mixture."""
    RayCluster(address)
    try:
        coordinator = StreamingCoordinator.attach(name)
    except ValueError as error:
        raise CoordinatorLostError(f"there is no coordinator {name!r} in the cluster at {address}: {error}") from error
    watch(coordinator)


@app.command()
def inspect(
    path: Annotated[str, typer.Argument(help="Dataset directory or Arrow file, or its URL.", show_default=False)],
    rows: Annotated[int, typer.Option(min=0, help="Rows to show.")] = 3,
    storage_option: StorageOption = None,
) -> None:
    """Show what a dataset directory or an Arrow file holds."""
    out, place, options = Console(), absolute_place(path), read_storage_options(storage_option or ())
    if is_file(place, options):
        with fetched_file(place, options) as local:
            _print_table(out, path, MemoryMappedTable.from_file(local), rows)
        return
    dataset = load_from_disk(place, storage_options=options)
    if isinstance(dataset, DatasetDict):
        out.print(repr(dataset), highlight=False)
        return
    out.print(f"{len(dataset.cache_files)} files, fingerprint {dataset.fingerprint}", highlight=False)
    _print_table(out, path, dataset.table, rows)


@app.command()
def verify(
    path: Annotated[
        str,
        typer.Argument(help="Dataset directory, cache directory or Arrow file, or its URL.", show_default=False),
    ],
    storage_option: StorageOption = None,
) -> None:
    """Read everything under a path and check structure and checksums; exit with 1 if anything is damaged."""
    problems = list(verify_place(path, read_storage_options(storage_option or ())))
    for problem in problems:
        print(problem)
    if problems:
        raise typer.Exit(1)
    print(redacted(f"{path}: sound"))


@app.command()
def gc(
    cache_dir: Annotated[str, typer.Argument(help="Cache directory, or its URL.", show_default=False)],
    max_size: Annotated[str | None, typer.Option(help="Size to shrink to, as in 200GB.", show_default=False)] = None,
    older_than: Annotated[
        str | None, typer.Option(help="Remove what was not used for so long, as in 30d or 12h.", show_default=False)
    ] = None,
    keep: Annotated[
        list[str] | None, typer.Option(help="Report directory whose results stay.", show_default=False)
    ] = None,
    delete: Annotated[bool, typer.Option("--delete", help="Remove; without it, only say what would be.")] = False,
    storage_option: StorageOption = None,
) -> None:
    """Remove results that are old or too much, and what dead processes left behind."""
    report = collect_garbage(
        Store.open(cache_dir, storage_options=read_storage_options(storage_option or ())),
        max_size=None if max_size is None else parse_bytes(max_size),
        older_than=None if older_than is None else _parse_seconds(older_than),
        keep=keep or (),
        dry_run=not delete,
    )
    for garbage in report.removed:
        print(f"{garbage.num_bytes:>15,}  {garbage.names[-1]}  ({garbage.reason})")
    verb = "would be removed; add --delete to do it" if report.dry_run else "removed"
    print(f"{len(report.removed)} entries and files, {report.bytes_freed:,} bytes: {verb}")
    print(f"{report.entries_left} entries, {report.bytes_left:,} bytes stay")
    if report.bytes_over_limit:
        print(f"{report.bytes_over_limit:,} bytes above the limit are in use, recent, or kept")


def main() -> None:
    """Run the command; errors of this package are one message and exit status 1."""
    signal.signal(signal.SIGTERM, _raise_terminated)
    try:
        app()
    except Terminated:
        sys.exit(143)
    except (RaydataError, ValueError, OSError) as error:
        print(redacted(f"raydata-ext: {error}"), file=sys.stderr)
        sys.exit(1)


def _parse_seconds(text: str) -> float:
    """`"90s"`, `"12h"` or `"30d"` in seconds."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhd])", text)
    if found is None:
        raise ValueError(f"{text!r} is no time: expected is a number with s, m, h or d, as in 30d")
    return float(found[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[found[2]]


def _print_summary(out: Console, report: Mapping[str, Any], directory: Path) -> None:
    source, totals, output, seconds = (report[name] for name in ("source", "totals", "output", "seconds"))
    grid = Grid(title=f"{report['name']}: {report['status']}", show_header=False, title_justify="left")
    if source:
        grid.add_row("files", f"{source['files']:,} ({readable_bytes(source['bytes'])})")
    reasons = _listed({reason: count for reason, count in totals["filtered_by"].items() if reason})
    grid.add_row("rows in", f"{totals['rows_in']:,}")
    if totals["rows_added"]:
        grid.add_row("rows added", f"{totals['rows_added']:,}, by steps that make several of one")
    grid.add_row("rows out", f"{totals['rows_out']:,}")
    grid.add_row("filtered", f"{totals['filtered']:,}{reasons}")
    for step in report["steps"]:
        if counts := step.get("counts"):
            grid.add_row("counted", f"by {escape(step['step'])}{_listed(counts)}")
    if totals["quarantined"]:
        grid.add_row("quarantined", f"{totals['quarantined']:,}\n  see {directory / DIRECTORY_NAME}")
    if output.get("tokens"):
        grid.add_row("tokens", f"{output['tokens']:,}")
    grid.add_row("shards", f"{totals['computed']:,} computed, {totals['cached']:,} cached")
    phases = ", ".join(f"{name} {value:.1f} s" for name, value in seconds.items() if name != "total")
    rate = readable_bytes(totals["bytes_in"] / max(seconds.get("computing", 0.0), 1e-9))
    work = f"{seconds['total']:.1f} s" + (f", {rate}/s" if totals["computed"] else "")
    grid.add_row("time", f"{work} ({phases})")
    if output:
        grid.add_row("output", f"{output['path']}{'' if output['written'] else ' (unchanged)'}")
    grid.add_row("report", str(directory / "report.html"))
    out.print(grid)


def _listed(counts: Mapping[str, int]) -> str:
    """Names as users chose them, and how often; a line each."""
    return "".join(f"\n  {count:,} {escape(name)}" for name, count in counts.items())


def _print_table(out: Console, name: str, table: Table, rows: int) -> None:
    out.print(redacted(f"{name}: {table.num_rows:,} rows"), highlight=False)
    grid = Grid("column", "type")
    for field in table.schema:
        grid.add_row(field.name, str(field.type))
    out.print(grid)
    for row in table.slice(0, rows).to_pylist():
        out.print({name: _shortened(value) for name, value in row.items()})


def _shortened(value: object, width: int = 200) -> object:
    text = repr(value)
    return value if len(text) <= width else text[:width] + "..."


def _raise_terminated(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 - the signature of a handler
    raise Terminated
