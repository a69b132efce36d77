"""Steps from message catalogues (`.mo` files) to the tokens of sentence pairs, and the dataset that is made of them.

A pair is an English message and its translation. Words are counted first, over all pairs, to a dictionary for each
side; then both sides are encoded with these.
"""

from __future__ import annotations

import gettext
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import raydata_ext as rdx
from raydata_ext.errors import StaleFileError
from raydata_ext.text.binarizer import Binarized
from raydata_ext.text.dictionary import Dictionary
from raydata_ext.text.line_encoding import DICTIONARY_KEY, dictionary_hash, encode_columns
from raydata_ext.text.parallel_corpus import ParallelCorpus
from raydata_ext.text.word_counts import shard_counts, total_counts

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from raydata_ext.dataset import Dataset, LazyDataset

SIDES = ("source", "target")
CONTEXT_END = "\x04"


def is_readable(row: Mapping[str, Any]) -> tuple[bool, str]:
    """Keep the catalogues that Python's `gettext` can read; it fails for headers in old encodings, for one."""
    try:
        _read_catalogue(row["text"])
    except (OSError, UnicodeDecodeError, IndexError, ValueError) as error:
        return False, f"not readable by gettext ({type(error).__name__})"
    return True, ""


def messages(batch: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Give the messages of catalogues and their translations, on a line each; of plural forms the first."""
    pairs = [pair for content in batch["text"] for pair in _pairs(_read_catalogue(content))]
    return {"source": [source for source, _ in pairs], "target": [target for _, target in pairs]}


def is_sentence_pair(row: Mapping[str, Any], max_words: int) -> tuple[bool, str]:
    """Keep pairs of two texts that are not the same, of up to `max_words` words."""
    source, target = row["source"], row["target"]
    if not source or not target:
        return False, "empty"
    if source == target:
        return False, "not translated"
    return max(len(split_words(source)), len(split_words(target))) <= max_words, f"more than {max_words} words"


def split_words(line: str) -> list[str]:
    """Words, numbers and signs, in lower case."""
    return re.findall(r"\w+|[^\w\s]", line.lower())


def tokens(
    pairs: LazyDataset, collect: Callable[[LazyDataset], Dataset], *, dictionaries: str, threshold: int
) -> LazyDataset:
    """Count the words of both sides, and encode both with the dictionaries that this gives.

    Args:
        pairs: a plan with columns `source` and `target`.
        collect: computes a plan.
        dictionaries: the directory that gets `dict.source.txt` and `dict.target.txt`.
        threshold: how often a word must be seen to be in a dictionary.
    """
    kept = pairs.cache()
    counted = {}
    for side in SIDES:
        counted[side] = Dictionary()
        counted[side].add_counts(total_counts(collect(shard_counts(kept, tokenize=split_words, column=side))))
        counted[side].finalize(threshold=threshold)
        counted[side].save(_dictionary_path(dictionaries, side))
    return encode_columns(kept, counted, tokenize=split_words)


def open_pairs(
    output: str | os.PathLike[str] = "out/binarize_pairs",
    dictionaries: str | os.PathLike[str] = "out/binarize_pairs.dictionaries",
) -> ParallelCorpus:
    """Open what the job made: `.pairs()` is for training, `.write_indexed()` writes it for fairseq.

    `.summary` says which share of the words of each side its dictionary lacks; `.source.replaced` counts these words.

    Args:
        output: the output directory.
        dictionaries: the directory of the dictionaries.

    Raises:
        StaleFileError: a dictionary is not the one that the tokens were made with.
    """
    dataset = rdx.load_from_disk(output)
    found = [Dictionary.load(_dictionary_path(dictionaries, side)) for side in SIDES]
    for side, dictionary in zip(SIDES, found, strict=True):
        if dataset.schema.field(side).metadata[DICTIONARY_KEY] != dictionary_hash(dictionary):
            raise StaleFileError(
                f"{output}: its column {side!r} was not encoded with {_dictionary_path(dictionaries, side)}, which a "
                "later run may have counted anew; run the job to its end"
            )
    source, target = (
        Binarized.of(dataset, len(dictionary), side) for side, dictionary in zip(SIDES, found, strict=True)
    )
    return ParallelCorpus(source, target, *found)


def _dictionary_path(directory: str | os.PathLike[str], side: str) -> Path:
    return Path(directory) / f"dict.{side}.txt"


def _read_catalogue(content: str) -> gettext.GNUTranslations:
    return gettext.GNUTranslations(io.BytesIO(content.encode("latin-1")))


def _pairs(catalogue: gettext.GNUTranslations) -> Iterator[tuple[str, str]]:
    texts: Mapping[str | tuple[str, int], str] = vars(catalogue)["_catalog"]  # there is no public way to list them
    for key, translation in texts.items():
        message, plural = key if isinstance(key, tuple) else (key, 0)
        if message and plural == 0:  # the message "" is the header
            yield _one_line(message.rpartition(CONTEXT_END)[2]), _one_line(translation)


def _one_line(text: str) -> str:
    return " ".join(text.split())
