r"""A source and a target text, line by line, as token numbers: what fairseq's preprocessing makes of one split.

Lines end at `\n` bytes alone on both sides. That both have as many is checked all the same, since a missing line puts
all that follow beside the wrong translation.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from raydata_ext.errors import ReadError
from raydata_ext.text.arrow_token_dataset import ArrowTokenDataset
from raydata_ext.text.binarizer import Binarized, Binarizer
from raydata_ext.text.language_pair_dataset import LanguagePairDataset
from raydata_ext.text.tokenizer import tokenize_line

if TYPE_CHECKING:
    import os

    from raydata_ext.dataset import Dataset
    from raydata_ext.engine import Workers
    from raydata_ext.sources import Paths
    from raydata_ext.text.dictionary import Dictionary
    from raydata_ext.text.word_counts import Tokenizer


@dataclass(frozen=True)
class ParallelCorpus:
    """Both sides of a corpus, row by row.

    Attributes:
        source: the sources.
        target: the targets.
        src_dict: dictionary of the sources.
        tgt_dict: dictionary of the targets.
        alignments: the words that belong together, see `Binarizer.binarize_alignments`; None where none were given.
    """

    source: Binarized
    target: Binarized
    src_dict: Dictionary
    tgt_dict: Dictionary
    alignments: Dataset | None = None

    @property
    def summary(self) -> str:
        """How much there is of each side, and how much of it its dictionary lacks."""
        return f"source: {self.source.summary}\ntarget: {self.target.summary}"

    def pairs(self, **options: Any) -> LanguagePairDataset:
        """The rows for a translation model.

        Args:
            options: of `LanguagePairDataset`.
        """
        source, target = (ArrowTokenDataset(side.dataset, side.column) for side in (self.source, self.target))
        if self.alignments is not None:
            options["align_dataset"] = ArrowTokenDataset(self.alignments)
        return LanguagePairDataset(source, None, self.src_dict, target, None, self.tgt_dict, **options)

    def write_indexed(
        self, directory: str | os.PathLike[str], source_lang: str, target_lang: str, split: str = "train"
    ) -> None:
        """Write the files that fairseq's preprocessing writes: dictionaries, `.bin` and `.idx` of both sides, and of
        the alignments if there are any.

        Args:
            directory: gets `dict.LANG.txt` and `SPLIT.SOURCE-TARGET.LANG.bin` and `.idx`.
            source_lang: name of the sources' language.
            target_lang: name of the targets' language.
            split: name of the part of the corpus.
        """
        place = Path(directory)
        place.mkdir(parents=True, exist_ok=True)
        pair = f"{source_lang}-{target_lang}"
        for lang, side, dictionary in (
            (source_lang, self.source, self.src_dict),
            (target_lang, self.target, self.tgt_dict),
        ):
            dictionary.save(place / f"dict.{lang}.txt")
            side.write_indexed(place / f"{split}.{pair}.{lang}")
        if self.alignments is not None:
            self.alignments.to_fairseq(place / f"{split}.align.{pair}", dtype=np.int32)


def binarize_parallel(
    source: Paths,
    target: Paths,
    src_dict: Dictionary,
    tgt_dict: Dictionary,
    *,
    alignments: Paths | None = None,
    tokenize: Tokenizer = tokenize_line,
    cache_dir: str | os.PathLike[str] | None = None,
    executor: str | None = None,
    workers: Workers | int | None = None,
) -> ParallelCorpus:
    """Encode a source and a target text.

    Args:
        source: text files of the sources.
        target: text files of the targets, with as many lines.
        src_dict: dictionary of the sources.
        tgt_dict: dictionary of the targets.
        alignments: text files with the words that belong together, with as many lines.
        tokenize: gives the words of a line.
        cache_dir: where results are kept.
        executor: see `LazyDataset.collect`, as for `workers`.
        workers: size of the pool on Ray.

    Raises:
        ReadError: there are not as many lines on all sides; the message gives files and counts.
    """
    run: dict[str, Any] = {"cache_dir": cache_dir, "executor": executor, "workers": workers}
    sources = Binarizer.binarize(source, src_dict, tokenize=tokenize, **run)
    targets = Binarizer.binarize(target, tgt_dict, tokenize=tokenize, **run)
    aligned = None if alignments is None else Binarizer.binarize_alignments(alignments, **run)
    _require_same_count(source, sources.nseq, target, targets.nseq)
    if aligned is not None:
        _require_same_count(source, sources.nseq, alignments, len(aligned))
    return ParallelCorpus(sources, targets, src_dict, tgt_dict, aligned)


def _require_same_count(source: Paths, lines: int, other: Paths | None, other_lines: int) -> None:
    if lines != other_lines:
        raise ReadError(
            f"{source} has {lines:,} lines, but {other} has {other_lines:,}; line by line they cannot belong together. "
            "Find where one was lost or split, for all that follow stand beside the wrong ones"
        )
