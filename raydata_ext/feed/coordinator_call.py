"""Answers of a coordinator, with its errors as they were raised and its end as an error of its own."""

from __future__ import annotations

from typing import Any

import ray
from ray.exceptions import RayActorError, RayTaskError

from raydata_ext.errors import CoordinatorLostError, RaydataError


def answer(reference: Any, coordinator: str) -> Any:
    """Wait for what a call to a coordinator returns.

    Args:
        reference: of the result.
        coordinator: what it is called in messages.

    Raises:
        CoordinatorLostError: it is gone.
        RaydataError: what the call raised.
        ValueError: likewise.
    """
    try:
        return ray.get(reference)
    except RayActorError as error:
        raise CoordinatorLostError(
            f"the coordinator {coordinator} is gone; create it with a checkpoint_dir to have it restarted, and go on"
            f" from the last state: {error}"
        ) from error
    except RayTaskError as error:
        if isinstance(error.cause, RaydataError | ValueError):
            raise error.cause from None
        raise
