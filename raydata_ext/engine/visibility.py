"""Does a worker see the files that the driver speaks of? Asked at its start, so that no shard fails to find out."""

from __future__ import annotations

import contextlib
import secrets
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from raydata_ext.errors import PlanError, WriteError
from raydata_ext.store.orphans import is_orphan
from raydata_ext.table.ipc_writer import temporary_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True)
class Sight:
    """Paths that each worker must see.

    Attributes:
        mark: a file that the driver wrote into the cache directory; empty where that is no directory.
        token: what is in it: a directory of the same name on another disk does not count.
        inputs: some of the input files.
    """

    mark: str = ""
    token: str = ""
    inputs: tuple[str, ...] = ()

    def check(self) -> None:
        """Look for all of them.

        Raises:
            PlanError: one cannot be seen from here; names node and path.
        """
        if self.mark:
            mark = Path(self.mark)
            try:
                same = mark.read_text(encoding="ascii") == self.token
            except OSError as error:
                raise _blind(str(mark.parent), error.strerror or str(error)) from error
            if not same:
                raise _blind(str(mark.parent), "it is another directory of that name")
        for path in self.inputs:
            if not Path(path).exists():
                raise _blind(path, "no such file")


@contextlib.contextmanager
def sight_of(cache_dir: str, inputs: Iterable[str]) -> Iterator[Sight]:
    """Put a mark into the cache directory for as long as workers may look for it.

    Args:
        cache_dir: a local directory; empty where results go to an object store, which all nodes reach alike.
        inputs: local input files.

    Raises:
        WriteError: nothing can be written into the cache directory.
    """
    if not cache_dir:
        yield Sight(inputs=tuple(inputs))
        return
    directory, token = Path(cache_dir), secrets.token_hex(16)
    mark = temporary_name(directory / "sight")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        _remove_marks_of_the_dead(directory)
        mark.write_text(token, encoding="ascii")
    except OSError as error:
        raise WriteError(
            error.errno, f"cannot write into the cache directory ({error.strerror}); check it", str(directory)
        ) from error
    try:
        yield Sight(str(mark), token, tuple(inputs))
    finally:
        mark.unlink(missing_ok=True)


def _remove_marks_of_the_dead(directory: Path) -> None:
    for mark in directory.glob(".sight.*"):
        with contextlib.suppress(FileNotFoundError):  # another driver removes it, too
            if is_orphan(mark.name, mark.stat().st_mtime, time.time()):
                mark.unlink()


def _blind(path: str, reason: str) -> PlanError:
    return PlanError(
        f"node {socket.gethostname()} does not see {path} ({reason}); put cache_dir and inputs on a file system that"
        " all nodes mount, use an object store, or keep the run to nodes that see them with Workers(resources=...)"
    )
