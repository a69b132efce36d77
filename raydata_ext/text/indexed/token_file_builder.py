"""Writing a `.bin` file and the `.idx` file beside it: what the builders of all indexed formats have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from raydata_ext.sources.token_types import code
from raydata_ext.table import temporary_name

if TYPE_CHECKING:
    import os

    from numpy.typing import DTypeLike
    from typing_extensions import Self


class TokenFileBuilder(ABC):
    """Writes items to a `.bin` file and what is to be known of them to an `.idx` file.

    Neither file is there before `finalize`. As a context manager it leaves nothing behind where an exception passes.

    Args:
        out_file: the `.bin` file; its directory is made where it is missing.
        dtype: type of the tokens in it.

    Raises:
        ValueError: tokens cannot be stored as this type.
    """

    def __init__(self, out_file: str | os.PathLike[str], dtype: DTypeLike) -> None:
        self._path = Path(out_file)
        self._dtype = np.dtype(dtype)
        code(self._dtype)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._temporary = temporary_name(self._path)
        self._file = self._temporary.open("xb")

    def finalize(self, index_file: str | os.PathLike[str] | None = None) -> None:
        """Let both files appear.

        Args:
            index_file: the `.idx` file; None is beside the `.bin` file.
        """
        self._file.close()
        index = Path(index_file) if index_file is not None else self._path.with_suffix(".idx")
        # An old index must not be seen beside the new tokens.
        index.unlink(missing_ok=True)
        self._temporary.replace(self._path)
        self._write_index(index)

    def discard(self) -> None:
        """Leave nothing behind; without effect after `finalize`."""
        self._file.close()
        self._temporary.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        self.discard()

    @abstractmethod
    def _write_index(self, path: Path) -> None:
        """Write the index of all items."""

    def _require_same_type(self, other: str, dtype: np.dtype[np.generic]) -> None:
        if dtype != self._dtype:
            raise ValueError(f"{other} holds {dtype}, which cannot be merged into {self._path} of {self._dtype}")
