"""From message catalogues (`.mo` files) to token files for translation.

The job file says how catalogues become pairs of sentences. Two dictionaries are counted from the pairs, and both sides
are encoded with them, as Arrow and as `.bin` and `.idx`. All of it is kept in the job's cache: a run after a change
computes what the change concerns.
"""

from __future__ import annotations

import argparse
import gettext
import io
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import raydata_ext as rdx
from raydata_ext.errors import NoMatchError
from raydata_ext.job import plan_of, read_job_file
from raydata_ext.text.arrow_token_dataset import ArrowTokenDataset
from raydata_ext.text.binarizer import Binarizer
from raydata_ext.text.dictionary import Dictionary
from raydata_ext.text.indexed.loading import infer_language_pair
from raydata_ext.text.language_pair_dataset import LanguagePairDataset
from raydata_ext.text.word_counts import count_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from raydata_ext.dataset import LazyDataset

JOB_FILE = Path(__file__).with_suffix(".yaml")
PLACES = (
    Path("/usr/share/locale"),
    *(Path(directory) for directory in sorted({sys.prefix, sys.base_prefix, *sys.path})),
)
SOURCE_LANGUAGE = "en"
CONTEXT_END = "\x04"


# -- steps of the job file ---------------------------------------------------------------------------------------------


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


# -- the job after the job file ----------------------------------------------------------------------------------------


def binarize_pairs(pairs: LazyDataset, directory: Path, target_language: str, executor: str | None = None) -> str:
    """Make dictionaries and token files.

    Args:
        pairs: a plan with columns `source` and `target`.
        directory: gets `dict.LANGUAGE.txt`, `train.en-LANGUAGE.LANGUAGE.bin` and `.idx`, and a directory of Arrow
            files, for each of the two languages.
        target_language: name of the target's language.
        executor: see `LazyDataset.collect`.

    Returns:
        What was done, in words.
    """
    kept = pairs.cache()
    done = []
    for side, language in (("source", SOURCE_LANGUAGE), ("target", target_language)):
        dictionary = Dictionary()
        dictionary.add_counts(count_words(kept, tokenize=split_words, column=side, executor=executor))
        dictionary.finalize(threshold=2)
        dictionary.save(directory / f"dict.{language}.txt")
        tokens = Binarizer.binarize(kept, dictionary, tokenize=split_words, column=side, executor=executor)
        tokens.write_indexed(directory / f"train.{SOURCE_LANGUAGE}-{target_language}.{language}")
        tokens.dataset.save_to_disk(directory / language, executor=executor)
        done.append(f"{language}: {len(dictionary)} symbols, {tokens.summary}")
    return "\n".join(done)


def open_pairs(directory: Path) -> LanguagePairDataset:
    """Open what `binarize_pairs` wrote."""
    languages = infer_language_pair(directory)
    source, target = (ArrowTokenDataset(rdx.load_from_disk(directory / str(language))) for language in languages)
    source_dict, target_dict = (Dictionary.load(directory / f"dict.{language}.txt") for language in languages)
    return LanguagePairDataset(source, source.sizes, source_dict, target, target.sizes, target_dict)


def find_catalogues(language: str | None = None, places: Sequence[Path] = PLACES) -> tuple[str, list[str]]:
    """Look for catalogues on this machine.

    Args:
        language: of the translations; None is the one with most bytes.
        places: directories to look in.

    Returns:
        The language, and patterns of its catalogues.

    Raises:
        NoMatchError: there are none.
    """
    found: dict[str, dict[Path, int]] = {}
    for place in places:
        for path in place.glob("**/LC_MESSAGES/*.mo") if place.is_dir() else ():
            sizes = found.setdefault(path.parent.parent.name, {})
            sizes[path.parent] = sizes.get(path.parent, 0) + path.stat().st_size
    chosen = language or max(sorted(found), key=lambda name: sum(found[name].values()), default="")
    if chosen not in found:
        raise NoMatchError(
            f"no message catalogues LC_MESSAGES/*.mo of language {language or 'any'} in {[str(p) for p in places]};"
            " Debian's packages libc-l10n and git have some"
        )
    return chosen, [str(directory / "*.mo") for directory in sorted(found[chosen])]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m jobs.binarize_pairs", description=__doc__)
    parser.add_argument("--language", help="of the translations; by default the one this machine has most of")
    parser.add_argument("--set", action="append", default=[], help="a setting of the job file, as key.path=value")
    parser.add_argument("--catalogues", action="append", type=Path, help="a directory to look in for catalogues")
    options = parser.parse_args(arguments)
    language, patterns = find_catalogues(options.language, options.catalogues or PLACES)
    job = read_job_file(JOB_FILE, [f"source.paths={patterns}", *options.set])
    directory = Path(f"{job.output.path}.{SOURCE_LANGUAGE}-{language}")
    done = binarize_pairs(plan_of(job), directory, language, job.run.executor)
    sys.stdout.write(f"{done}\n{directory}: {len(open_pairs(directory))} pairs\n")
    return 0


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


if __name__ == "__main__":
    sys.exit(main())
