"""Every error that this package raises on its own account: one family, one class per cause.

A message says what was wrong, where (path, shard, row), and what to do. Invalid arguments raise `ValueError`,
`TypeError` or `IndexError`, as Python users expect; all else derives from `RaydataError`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raydata_ext.redaction import readable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class RaydataError(Exception):
    """Base of all errors of this package. A message shows no password of a URL, and is Unicode, whatever it quotes."""

    def __init__(self, *args: object) -> None:
        super().__init__(*(readable(one) if isinstance(one, str) else one for one in args))


class NoMatchError(RaydataError, FileNotFoundError):
    """A path or pattern of a source matches no file."""


class ReadError(RaydataError):
    """An input file cannot be read as the format it should have; the message gives the file and the position."""


class DamagedInputError(ReadError):
    """The content of an input file is not what its format asks for: a bad row, or all from some position on.

    Args:
        message: gives the file and the position.
        byte_offset: where the bad part begins in the (decompressed) file; None where that is not known.
    """

    def __init__(self, message: str, byte_offset: int | None = None) -> None:
        super().__init__(message)
        self.byte_offset = byte_offset


class CorruptFileError(RaydataError):
    """An Arrow file is truncated, damaged, or no Arrow file at all."""


class WriteError(RaydataError, OSError):
    """A file cannot be written: the disk is full or fails; `errno` and `filename` are set as in any `OSError`."""


class StaleFileError(RaydataError):
    """A file is not the one that a recipe (path and replays) was made for."""


class SchemaError(RaydataError, ValueError):
    """Schemas or types that do not go together; the message gives the column path and both types."""


class FingerprintError(RaydataError, TypeError):
    """A value has no stable fingerprint; the message gives the way from the function to the culprit."""


class StoreError(RaydataError):
    """The cache directory or a dataset directory cannot be used as asked."""


class NoRoomError(StoreError):
    """The copies of remote files that are in use leave no room for one more on this machine.

    Args:
        message: gives the directory of the copies, and their sizes.
        may_pass: whether there would be room if other processes used none.
    """

    def __init__(self, message: str, *, may_pass: bool = False) -> None:
        super().__init__(message)
        self.may_pass = may_pass


class PlanError(RaydataError, ValueError):
    """A chain of steps that cannot be run as written."""


class JobFileError(RaydataError, ValueError):
    """A job file is not valid; the message gives the key and what is expected there."""


class StepError(RaydataError):
    """A user's function raised, or returned something that cannot be a row or a batch."""


class QuarantineError(RaydataError):
    """More rows were set aside than `max_errors` allows.

    Args:
        message: says how many, and shows one of them.
        records: of the rows that were set aside from the shard at which the run ended, since no result keeps them.
    """

    def __init__(self, message: str, records: Sequence[Mapping[str, Any]] = ()) -> None:
        super().__init__(message)
        self.records = records


class WorkerLostError(RaydataError):
    """A shard could not be computed because its worker died each time it was tried."""


class SubmissionError(RaydataError):
    """A job could not be handed to a cluster, or did not succeed there."""


class StateError(RaydataError, ValueError):
    """A saved state does not belong to this stream, feed or iterator."""


class StaleFeedError(StateError):
    """A feed asked for rows after it was replaced: by ranks of another number, or by another feed of its rank."""


class CoordinatorLostError(RaydataError):
    """The coordinator of a feed is gone and does not come back."""
