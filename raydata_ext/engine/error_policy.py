"""What happens to rows that cannot be read or that a step fails on: a setting of a run, never part of a key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from raydata_ext.errors import QuarantineError
from raydata_ext.plan import quarantine_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from raydata_ext.store import Receipt, Store

OnError = Literal["raise", "quarantine"]

_CERTAIN = 2.0
"""How far the share must be above the limit, on an estimated number of rows, for a run to end before all are read."""


@dataclass(frozen=True)
class ErrorPolicy:
    """The setting.

    Attributes:
        on_error: `"raise"` ends the run at the first bad row; `"quarantine"` sets it aside and goes on.
        max_errors: rows that may be set aside in the whole run: a number of them, or a float from 0 to 1, the share of
            the rows read; None is no limit.

    Raises:
        ValueError: one of them is none of these, or there is a limit and nothing is set aside.
        TypeError: the limit is no number.
    """

    on_error: OnError = "raise"
    max_errors: float | None = None

    def __post_init__(self) -> None:
        if self.on_error not in {"raise", "quarantine"}:
            raise ValueError(f"on_error is {self.on_error!r}; it must be 'raise' or 'quarantine'")
        limit = self.max_errors
        if limit is None:
            return
        if isinstance(limit, bool) or not isinstance(limit, int | float):
            raise TypeError(f"max_errors must be a number of rows or a share of them, got {limit!r}")
        if limit < 0 or (isinstance(limit, float) and not limit <= 1):
            raise ValueError(f"max_errors is {limit}; it must be a whole number from 0, or a share from 0.0 to 1.0")
        if not self.quarantines:
            raise ValueError("max_errors limits the rows that are set aside; it needs on_error='quarantine'")

    @property
    def quarantines(self) -> bool:
        """Whether bad rows are set aside."""
        return self.on_error == "quarantine"

    @property
    def max_rows(self) -> int | None:
        """The limit where it is a number of rows."""
        return self.max_errors if isinstance(self.max_errors, int) else None

    def exceeded(
        self,
        count: int,
        rows: int | None,
        first: Mapping[str, Any],
        unpublished: Sequence[Mapping[str, Any]] = (),
    ) -> QuarantineError:
        """What to raise where more rows were set aside than the limit allows.

        Args:
            count: how many were.
            rows: how many were read, as far as that is known.
            first: the record of one of them.
            unpublished: records that are in no store.
        """
        share = f", {count / rows:.2%} of {rows:,}" if rows else ""
        return QuarantineError(
            f"{count:,} rows were set aside{share}, and max_errors is {self.max_errors};"
            f" the first of them: {_shown(first)}",
            unpublished,
        )


class ErrorTally:
    """Rows set aside so far in a run, held against the limit, results that were cached included.

    Args:
        policy: has the limit.
        store: holds the records.

    Attributes:
        count: how many.
    """

    def __init__(self, policy: ErrorPolicy, store: Store) -> None:
        self.policy = policy
        self._store = store
        self.count = 0
        self._first = ""
        self._rows = 0
        self._parts = 0
        self._seen_bytes = 0
        self._all_bytes = 0

    def __str__(self) -> str:
        """How many of how many rows, and the first of them."""
        share = f"{self.count / max(self._rows, 1):.2%} of {self._rows:,}"
        return f"{self.count:,} rows were set aside ({share}), the first of them: {_shown(self._first_record())}"

    def begin(self, num_bytes: int) -> None:
        """A part of the plan begins, whose input has so many bytes. The rows are those that the first part reads."""
        self._parts += 1
        self._seen_bytes, self._all_bytes = 0, num_bytes

    def add(self, receipt: Receipt, num_bytes: int, before: Receipt | None = None) -> None:
        """Count a result, made of so many bytes.

        Args:
            receipt: of the result.
            num_bytes: of input.
            before: of the result that it goes on from, where that was counted.

        Raises:
            QuarantineError: the limit is passed, or sure to be: a share is judged on the rows that are to be expected,
                by bytes, as long as they are not all known.
        """
        if before is None:
            self._seen_bytes += num_bytes
            self._rows += receipt.rows_in if self._parts == 1 else 0
        new = receipt.quarantined - (before.quarantined if before is not None else 0)
        if new:
            self.count += new
            self._first = self._first or receipt.key
            self._check(margin=_CERTAIN, rows=self._rows * self._all_bytes / max(self._seen_bytes, 1))

    def end(self) -> None:
        """All results of a part are there.

        Raises:
            QuarantineError: the limit is passed.
        """
        self._check(margin=1.0, rows=self._rows)

    def _check(self, margin: float, rows: float) -> None:
        limit = self.policy.max_errors
        if limit is None or not self.count:
            return
        allowed = limit if isinstance(limit, int) else limit * margin * rows
        if self.count > allowed:
            raise self.policy.exceeded(self.count, self._rows, self._first_record())

    def _first_record(self) -> dict[str, Any]:
        records = self._store.get(quarantine_key(self._first))
        first = {} if records is None else self._store.table(records).row(0)
        return dict.fromkeys(("source", "row", "step", "exception", "message"), "unknown") | first


def _shown(record: Mapping[str, Any]) -> str:
    """One row that was set aside, in words."""
    return "{source}: row {row}: {step}: {exception}: {message}".format_map(record)
