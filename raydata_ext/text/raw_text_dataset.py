"""A text file as tokens, encoded when it is opened: for tests and small corpora."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import TYPE_CHECKING, SupportsIndex

import numpy as np
from typing_extensions import override

from raydata_ext.errors import ReadError
from raydata_ext.text.contract.fairseq_dataset import FairseqDataset
from raydata_ext.text.contract.sizes import position

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from raydata_ext.text.dictionary import Dictionary


class IndexedRawTextDataset(FairseqDataset):
    r"""Lines of a text file, encoded with a dictionary; words that it lacks are unknown.

    Lines end at `\n` and nowhere else, so files that are parallel line by line stay parallel.

    Args:
        path: a UTF-8 text file, one sentence a line.
        dictionary: gives the tokens of a line.
        append_eos: end each line with the end of sentence.
        reverse_order: turn the words of each line round.

    Raises:
        ReadError: a line is not UTF-8.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        dictionary: Dictionary,
        append_eos: bool = True,
        reverse_order: bool = False,
    ) -> None:
        self.append_eos = append_eos
        self.reverse_order = reverse_order
        self.lines = _read_lines(Path(path))
        rows = [
            np.asarray(
                dictionary.encode_line(
                    line, add_if_not_exist=False, append_eos=append_eos, reverse_order=reverse_order
                ),
                np.int64,
            )
            for line in self.lines
        ]
        self._tokens = np.concatenate([np.empty(0, np.int64), *rows])
        self.sizes = np.array([len(row) for row in rows], np.int64)
        self._ends = np.cumsum(self.sizes, dtype=np.int64)

    @override
    def __len__(self) -> int:
        return len(self.lines)

    @override
    def __getitem__(self, index: SupportsIndex) -> NDArray[np.int64]:
        row = position(index, self)
        return self._tokens[self._ends[row - 1] if row else 0 : self._ends[row]]

    def get_original_text(self, index: SupportsIndex) -> str:
        """Return a line as it stands in the file."""
        return self.lines[position(index, self)]

    @staticmethod
    def exists(path: str | os.PathLike[str]) -> bool:
        """Tell whether there is such a file."""
        return Path(path).exists()


def _read_lines(path: Path) -> list[str]:
    lines = path.read_bytes().removeprefix(codecs.BOM_UTF8).split(b"\n")
    if not lines[-1]:
        lines.pop()
    decoded = []
    for number, line in enumerate(lines, start=1):
        try:
            decoded.append(line.decode())
        except UnicodeDecodeError as error:
            raise ReadError(f"{path}: line {number}: not UTF-8 at byte {error.start} of the line") from error
    return decoded
