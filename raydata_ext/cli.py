"""The command `raydata-ext`. It exits with 0 for complete success and nothing else."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.console import Console
from rich.table import Table as Grid

from raydata_ext.dataset import load_from_disk
from raydata_ext.engine import progress_for
from raydata_ext.errors import RaydataError
from raydata_ext.job import plan_of, read_job_file, report_directory, run_job
from raydata_ext.table import MemoryMappedTable

if TYPE_CHECKING:
    from types import FrameType

    from raydata_ext.engine.report import Report

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


class Terminated(KeyboardInterrupt):
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
        report = run_job(loaded, workers=workers, address=address, progress=progress_for(log))
    except KeyboardInterrupt:
        log.print(f"Stopped. Finished shards are kept: run the same command again to go on. ({job})", style="yellow")
        raise
    _print_summary(out, report, report_directory(loaded))


@app.command()
def explain(job: JobPath, settings: Settings = None) -> None:
    """Say which shards of a job have a result and which would be computed; run nothing."""
    loaded = read_job_file(job, settings or ())
    print(plan_of(loaded).explain())


@app.command()
def inspect(
    path: Annotated[Path, typer.Argument(help="Dataset directory or Arrow file.", show_default=False)],
    rows: Annotated[int, typer.Option(min=0, help="Rows to show.")] = 3,
) -> None:
    """Show what a dataset directory or an Arrow file holds."""
    out = Console()
    if path.is_dir():
        dataset = load_from_disk(path)
        table, fingerprint, files = dataset.table, dataset.fingerprint, len(dataset.cache_files)
    else:
        table, fingerprint, files = MemoryMappedTable.from_file(path), None, 1
    out.print(f"{path}: {table.num_rows:,} rows in {files} files", highlight=False)
    if fingerprint:
        out.print(f"fingerprint {fingerprint}", highlight=False)
    grid = Grid("column", "type")
    for field in table.schema:
        grid.add_row(field.name, str(field.type))
    out.print(grid)
    for row in table.slice(0, rows).to_pylist():
        out.print({name: _shortened(value) for name, value in row.items()})


def main() -> NoReturn:
    """Run the command; errors of this package are one message and exit status 1."""
    signal.signal(signal.SIGTERM, _raise_terminated)
    try:
        app(standalone_mode=False)
    except typer.Exit as leaving:
        sys.exit(leaving.exit_code)
    except typer.Abort:
        sys.exit(130)
    except Terminated:
        sys.exit(143)
    except KeyboardInterrupt:
        sys.exit(130)
    except (RaydataError, ValueError, OSError) as error:
        print(f"raydata-ext: {error}", file=sys.stderr)
        sys.exit(1)
    sys.exit(0)


def _print_summary(out: Console, report: Report, directory: Path) -> None:
    totals, output, seconds = report.totals(), report.output, report.seconds
    rate = totals["bytes_in"] / 1e6 / max(seconds["computing"], 1e-9)
    reasons = "".join(f"\n  {count:,} {reason}" for reason, count in totals["filtered_by"].items() if reason)
    grid = Grid(title=f"{report.name}: {report.status}", show_header=False, title_justify="left")
    grid.add_row("files", f"{report.source['files']:,} ({report.source['bytes'] / 1e6:.1f} MB)")
    grid.add_row("rows in", f"{totals['rows_in']:,}")
    grid.add_row("rows out", f"{totals['rows_out']:,}")
    grid.add_row("filtered", f"{totals['filtered']:,}{reasons}")
    grid.add_row("tokens", f"{output['tokens']:,}")
    grid.add_row("shards", f"{totals['computed']:,} computed, {totals['cached']:,} cached")
    work = f"{seconds['total']:.1f} s" + (f", {rate:.1f} MB/s" if totals["computed"] else "")
    grid.add_row(
        "time", f"{work} ({', '.join(f'{name} {value:.1f} s' for name, value in seconds.items() if name != 'total')})"
    )
    state = "" if output["written"] else " (unchanged)"
    grid.add_row("output", f"{output['path']}{state}")
    grid.add_row("report", str(directory / "report.html"))
    out.print(grid)


def _shortened(value: object, width: int = 200) -> object:
    text = repr(value)
    return value if len(text) <= width else text[:width] + "..."


def _raise_terminated(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 - the signature of a handler
    raise Terminated
