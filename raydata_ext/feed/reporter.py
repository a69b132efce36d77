"""Tells the coordinator how far a rank is, beside the training loop and with at most one call under way."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from raydata_ext.feed.figures import Figures

Report: TypeAlias = "tuple[int, int, Figures]"
"""Epoch and step that come next, and the figures, which go on while the report waits to be sent."""

PACE_SECONDS = 0.02
"""Time between two reports that nobody waits for, so that telling takes little of what reading needs."""


class Reporter:
    """A thread that sends the latest report; those that it was too slow for are left out.

    Args:
        send: sends a report, and returns when it has arrived; may raise.
        credit: steps that may be reported ahead of what has arrived.
    """

    def __init__(self, send: Callable[[Report], None], credit: int) -> None:
        self._send = send
        self._credit = credit
        self._changed = threading.Condition()
        self._latest: Report | None = None
        self._made = 0
        self._is_urgent = False
        self._arrived = 0
        self._error: Exception | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="feed-reporter", daemon=True)
        self._thread.start()

    def report(self, latest: Report) -> None:
        """Send this in place of all that was not sent yet; waits only where the credit is used up.

        Raises:
            StaleFeedError: the feed was replaced. Whatever else `send` raised is raised, too.
        """
        self._latest = latest
        self._made += 1  # last, without a lock: what the thread counts as arrived is never newer than what it sends
        ahead = self._made - self._arrived
        if ahead == 1 or ahead > self._credit // 2:  # to wake the thread up each time costs the loop some microseconds
            with self._changed:
                self._is_urgent = self._is_urgent or ahead > self._credit // 2
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._made - self._arrived <= self._credit or self._error is not None)
        self.check()

    def check(self) -> None:
        """Raise what `send` raised."""
        if self._error is not None:
            raise self._error

    def flush(self) -> None:
        """Wait until everything that was reported has arrived, and raise what `send` raised."""
        with self._changed:
            self._is_urgent = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._arrived == self._made or self._error is not None)
        self.check()

    def close(self) -> None:
        """Send what is left and end the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._made > self._arrived or self._closed)
                made, latest, self._is_urgent = self._made, self._latest, False  # in this order: see `report`
                if made == self._arrived or latest is None:
                    return
            try:
                self._send(latest)
            except Exception as error:  # noqa: BLE001 - it is raised where the rows are used
                with self._changed:
                    self._error = error
                    self._changed.notify_all()
                return
            with self._changed:
                self._arrived = made
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._is_urgent or self._closed, PACE_SECONDS)
