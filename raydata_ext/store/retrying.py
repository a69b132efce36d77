"""Do again what failed for a passing reason, with growing pauses."""

from __future__ import annotations

import logging
import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from raydata_ext.errors import RaydataError, StoreError

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

    def run(self, what: str, action: Callable[[], Result]) -> Result:
        """Return what the action returns.

        Args:
            what: What is done, for messages: "reading s3://bucket/x".
            action: Called again if it fails for a reason that may pass. A missing file or a wrong argument does not
                pass, and goes through as it is.

        Raises:
            StoreError: If all tries failed, or the store does not let us in.
        """
        attempt = 1
        while True:
            try:
                return action()
            except PermissionError as error:
                raise _not_let_in(what, error) from error
            except _LASTING:
                raise
            except Exception as error:
                if _is_about_credentials(error):
                    raise _not_let_in(what, error) from error
                if attempt >= self.attempts:
                    raise StoreError(f"{what} failed {attempt} times, last with {error!r}; try again later") from error
                pause = self._pause(attempt)
                logger.warning("%s failed (%r), trying again in %.1f s", what, error, pause)
            time.sleep(pause)
            attempt += 1

    def _pause(self, attempt: int) -> float:
        """Return the pause after an attempt, shortened at random so that many workers do not come back at once."""
        full: float = min(self.longest_pause, self.first_pause * 2.0 ** (attempt - 1))
        return full * random.uniform(0.5, 1.0)  # noqa: S311  no secret depends on it


def _is_about_credentials(error: Exception) -> bool:
    """Whether there are no credentials, or no valid ones; each store's library has its own classes for that."""
    return "Credential" in type(error).__name__


def _not_let_in(what: str, error: Exception) -> StoreError:
    return StoreError(f"{what}: not allowed ({error}); check the credentials, and what they give the right to")
