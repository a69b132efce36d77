"""The books of a coordinator on disk: where the run is and which ranks take part, in one file replaced as a whole."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from raydata_ext.errors import StateError, WriteError
from raydata_ext.feed.feed_state import load_position
from raydata_ext.redaction import redacted
from raydata_ext.remote import is_url
from raydata_ext.store.atomic_files import write_file_atomically

if TYPE_CHECKING:
    from collections.abc import Mapping

    from raydata_ext.feed.plan import FeedPlan


@dataclass(frozen=True)
class RankEntry:
    """How far a rank is.

    Attributes:
        rank: the rank.
        token: of its feed.
        epoch: epoch of the step that it receives next.
        step: that step.
    """

    rank: int
    token: str
    epoch: int
    step: int


@dataclass(frozen=True)
class Books:
    """What a coordinator that is started again goes on from.

    Attributes:
        state: what comes next for all ranks, from `save_position`.
        generation: how often the ranks have begun anew together.
        world_size: number of ranks; None where none has joined yet.
        ranks: those that have joined.
    """

    state: Mapping[str, Any]
    generation: int
    world_size: int | None
    ranks: tuple[RankEntry, ...]


def books_file(directory: str | os.PathLike[str]) -> Path:
    """The file of the books in a `checkpoint_dir`."""
    return Path(directory).resolve() / "coordinator.json"


def prepare_books(directory: str | os.PathLike[str]) -> Path:
    """Make a `checkpoint_dir` and try whether books can be written to it, so that a run does not end at its first ones.

    Returns:
        The file of the books.

    Raises:
        WriteError: they cannot.
        ValueError: it is a URL.
    """
    if is_url(os.fspath(directory)):
        raise ValueError(
            f"checkpoint_dir is the URL {redacted(os.fspath(directory))}; books are kept in a directory: choose one on"
            " a file system that all nodes see"
        )
    file = books_file(directory)
    trial = file.with_suffix(".trial")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_file_atomically(trial, b"{}")
        trial.unlink()
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        raise WriteError(
            error.errno,
            f"checkpoint_dir cannot be written to ({reason}); choose a directory that this process and all nodes can"
            " write to, or give none",
            str(file.parent),
        ) from error
    return file


def write_books(file: Path, books: Books) -> None:
    """Write the books, atomically.

    Raises:
        WriteError: they cannot be written.
    """
    write_file_atomically(file, orjson.dumps(asdict(books)))


def read_books(file: Path, plan: FeedPlan) -> Books | None:
    """The books that were written, None where there are none.

    Raises:
        StateError: they are damaged, or are those of another feed; says what is wrong, and where.
    """
    try:
        found = orjson.loads(file.read_bytes())
        books = Books(**{**found, "ranks": tuple(RankEntry(**entry) for entry in found["ranks"])})
        load_position(plan, books.state)
    except FileNotFoundError:
        return None
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise StateError(
            f"the books of a coordinator in {file} cannot be read ({type(error).__name__}: {error}); remove the file to"
            " begin anew, or pass `state` to begin where a checkpoint of the training run is"
        ) from error
    except StateError as error:
        raise StateError(f"{file} holds the books of another feed; use another checkpoint_dir: {error}") from error
    return books
