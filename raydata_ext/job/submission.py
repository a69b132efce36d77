"""Handing a job to a Ray cluster: the working directory travels, the driver runs there."""

from __future__ import annotations

import os
import shlex
import time
from typing import TYPE_CHECKING, Any

from raydata_ext.errors import SubmissionError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

POLL_SECONDS = 1.0
START_WAIT_SECONDS = 60.0
STOP_WAIT_SECONDS = 20
"""How long Ray waits after SIGTERM before it kills the driver; a run needs some of it to end its workers and say so."""


def submit_job(
    job_file: str,
    address: str,
    *,
    working_dir: str = ".",
    settings: Sequence[str] = (),
    submission_id: str | None = None,
    wait: bool = True,
    show: Callable[[str], None] = print,
) -> str:
    """Submit `raydata-ext run JOB_FILE` to a cluster.

    Args:
        job_file: path of the job file, relative to the working directory.
        address: of the cluster's dashboard, as in `http://HEAD:8265`.
        working_dir: what travels to the cluster, without what `.gitignore` and `.rayignore` name; the job runs in a
            copy of it.
        settings: as `--set` takes them.
        submission_id: names the submission; the same twice is refused by Ray. None is a fresh one.
        wait: follow the job to its end, in place of leaving once it is accepted.
        show: is given the job's output, as it comes.

    Returns:
        The submission's id.

    Raises:
        SubmissionError: the cluster cannot be reached or refuses the job, or the job did not succeed.
    """
    client = _client(address)
    options = [word for setting in settings for word in ("--set", setting)]
    command = shlex.join(["python", "-m", "raydata_ext", "run", os.fspath(job_file), *options])
    environment = {"env_vars": {"RAY_JOB_STOP_WAIT_TIME_S": str(STOP_WAIT_SECONDS)}, "working_dir": working_dir}
    arguments = {"entrypoint": command, "submission_id": submission_id, "runtime_env": environment}
    try:
        identity = _submitted(client, arguments)
    except (RuntimeError, ValueError) as error:
        raise SubmissionError(f"{address} refuses {job_file}: {error}") from error
    if wait:
        _follow(client, identity, job_file, show)
    return identity


def _client(address: str) -> Any:
    try:
        from ray.job_submission import JobSubmissionClient  # noqa: PLC0415 - needs what only ray[default] brings
    except ImportError as error:
        raise SubmissionError(
            f"submitting needs Ray's job client ({error}); pip install 'raydata_ext[cluster]'"
        ) from error
    try:
        return JobSubmissionClient(address)
    except (ConnectionError, RuntimeError) as error:
        raise SubmissionError(f"cannot reach a Ray dashboard at {address}: {error}") from error


def _submitted(client: Any, arguments: dict[str, Any]) -> str:
    """Submit; a cluster that has just started answers for a while that none of its agents is there yet."""
    deadline = time.monotonic() + START_WAIT_SECONDS
    while True:
        try:
            return str(client.submit_job(**arguments))
        except RuntimeError as error:
            if "No available agent" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(POLL_SECONDS)


def _follow(client: Any, identity: str, job_file: str, show: Callable[[str], None]) -> None:
    """Show the output until the job ends; Ray's own commands take a stopped job for a success, this does not."""
    shown = 0
    while True:
        status = client.get_job_status(identity)
        output = client.get_job_logs(identity)
        if len(output) > shown:
            show(output[shown:].rstrip("\n"))
            shown = len(output)
        if status.is_terminal():
            break
        time.sleep(POLL_SECONDS)
    if str(status.value) != "SUCCEEDED":
        code = client.get_job_info(identity).driver_exit_code
        raise SubmissionError(f"job {identity} ({job_file}) ended as {status.value}, exit status {code}")
