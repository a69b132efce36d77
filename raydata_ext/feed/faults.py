"""What can go wrong with a feed that is nobody's argument."""

from __future__ import annotations

from raydata_ext.errors import RaydataError, StateError


class StaleFeedError(StateError):
    """A feed asked for rows after it was replaced: by ranks of another number, or by another feed of its rank."""


class CoordinatorLostError(RaydataError):
    """The coordinator of a feed is gone and does not come back."""
