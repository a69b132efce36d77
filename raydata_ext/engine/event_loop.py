"""An asyncio loop for the coroutines of a user's function.

It runs in a thread of its own, so that it works also where the caller is in a running loop already, as in a notebook,
and lives as long as the worker, so that what a callable holds on to (a client session) stays usable.
"""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence


@dataclass(frozen=True)
class Outcome:
    """What became of a coroutine: what it returned, or what it raised."""

    value: Any = None
    error: BaseException | None = None

    def get(self) -> Any:
        """Return what it returned, or raise what it raised."""
        if self.error is not None:
            raise self.error
        return self.value


class EventLoop:
    """A running loop."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="raydata_ext coroutines", daemon=True)
        self._thread.start()

    def run(self, coroutines: Sequence[Coroutine[Any, Any, Any]]) -> list[Outcome]:
        """Run coroutines side by side and wait for all.

        Returns:
            Their outcomes, in the order of the coroutines.
        """
        return asyncio.run_coroutine_threadsafe(_outcomes(coroutines), self._loop).result()

    def close(self) -> None:
        """End the loop and cancel what still runs in it."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        self._loop.run_forever()
        pending = asyncio.all_tasks(self._loop)
        for task in pending:
            task.cancel()
        if pending:
            self._loop.run_until_complete(asyncio.wait(pending))
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()


async def _outcomes(coroutines: Sequence[Coroutine[Any, Any, Any]]) -> list[Outcome]:
    return await asyncio.gather(*map(_outcome, coroutines))


async def _outcome(coroutine: Coroutine[Any, Any, Any]) -> Outcome:
    try:
        return Outcome(value=await coroutine)
    except BaseException as error:  # noqa: BLE001 - raised again by `get`; SystemExit here would end the loop's thread
        return Outcome(error=error)
