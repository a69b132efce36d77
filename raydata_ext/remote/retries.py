"""Do again what failed for a passing reason, with growing pauses."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from raydata_ext.errors import RaydataError, StoreError
from raydata_ext.redaction import redact_error, redacted

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger(__name__)

Result = TypeVar("Result")

_LASTING = (
    FileExistsError,
    FileNotFoundError,
    IsADirectoryError,
    NotADirectoryError,
    NotImplementedError,
    ImportError,
    AttributeError,
    TypeError,
    ValueError,
    RaydataError,
)

_NOT_LET_IN = (401, 403)  # statuses of HTTP
_NOT_THERE = (404, 410)


@dataclass(frozen=True)
class Retries:
    """How often, and after which pauses, something is tried.

    Args:
        attempts: Number of tries, at least 1.
        first_pause: Seconds before the second try; each further pause is twice as long.
        longest_pause: Seconds that no pause exceeds.
    """

    attempts: int = 6
    first_pause: float = 0.2
    longest_pause: float = 10.0

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ValueError(f"attempts must be at least 1, got {self.attempts}")

    def run(self, what: str, action: Callable[[], Result], failure: type[RaydataError] = StoreError) -> Result:
        """Return what the action returns.

        Args:
            what: What is done, for messages: "reading s3://bucket/x".
            action: Called again if it fails for a reason that may pass. A missing file or a wrong argument does not
                pass, and goes through as it is, but for the passwords of URLs in its text.
            failure: The error if all tries failed, or we are not let in.

        Raises:
            RaydataError: Of the class `failure`.
        """
        attempt = 1
        while True:
            try:
                return action()
            except Exception as error:
                redact_error(error)
                if isinstance(error, PermissionError):
                    raise _not_let_in(what, error, failure) from error
                if not may_pass(error):
                    raise
                if _is_about_credentials(error):
                    raise _not_let_in(what, error, failure) from error
                if attempt >= self.attempts:
                    raise failure(
                        f"{what} failed {attempt} times, last with {_said(error)}; try again later"
                    ) from error
                pause = self._pause(attempt)
                logger.warning("%s failed (%s), trying again in %.1f s", redacted(what), _said(error), pause)
            time.sleep(pause)
            attempt += 1

    def _pause(self, attempt: int) -> float:
        """Return the pause after an attempt, shortened at random so that many workers do not come back at once."""
        full: float = min(self.longest_pause, self.first_pause * 2.0 ** (attempt - 1))
        return full * random.uniform(0.5, 1.0)  # noqa: S311  no secret depends on it


def may_pass(error: Exception) -> bool:
    """Tell whether what failed may succeed when it is done again.

    The client for HTTP calls a file not found whatever kept it from asking; the cause of the error says what did.

    Args:
        error: what was raised.
    """
    if not isinstance(error, FileNotFoundError):
        return not isinstance(error, _LASTING)
    cause = error.__cause__
    is_of_line = (
        isinstance(cause, OSError | asyncio.TimeoutError) or type(cause).__module__.partition(".")[0] == "aiohttp"
    )
    return is_of_line and not isinstance(cause, FileNotFoundError) and getattr(cause, "status", None) not in _NOT_THERE


def _said(error: Exception) -> str:
    """The error without its `repr`, in which HTTP clients show the headers of the request, secret ones among them."""
    return f"{type(error).__name__}: {error}"


def _is_about_credentials(error: BaseException | None) -> bool:
    """Whether there are no credentials, or no valid ones; each store's library has its own errors for that.

    As in `may_pass`, what the client for HTTP calls a file not found has the real reason as its cause.
    """
    if isinstance(error, FileNotFoundError):
        error = error.__cause__
    status = getattr(error, "status", None) or getattr(error, "code", None)  # of aiohttp, of gcsfs
    return "Credential" in type(error).__name__ or status in _NOT_LET_IN


def _not_let_in(what: str, error: Exception, failure: type[RaydataError]) -> RaydataError:
    return failure(f"{what}: not allowed ({error}); check the credentials, and what they give the right to")
