"""Datasets that can only be read from beginning to end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from raydata_ext.text.contract.fairseq_dataset import EpochListening

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Self


class FairseqIterableDataset(EpochListening, ABC):
    """Rows in a sequence. Where torch is installed, it is a `torch.utils.data.IterableDataset`."""

    def __new__(cls, *args: object, **kwargs: object) -> Self:  # noqa: ARG004 - these are for __init__
        """Make it known to torch, which is imported no earlier than there is something to make known."""
        _register_with_torch()
        return super().__new__(cls)

    @abstractmethod
    def __iter__(self) -> Iterator[Any]: ...


@lru_cache(maxsize=1)
def _register_with_torch() -> None:
    if find_spec("torch") is not None:
        from torch.utils.data import IterableDataset  # noqa: PLC0415 - optional

        IterableDataset.register(FairseqIterableDataset)
