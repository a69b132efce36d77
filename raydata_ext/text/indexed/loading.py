"""Finding and opening token datasets by their path, whatever their format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from raydata_ext.sources.index_layout import MAGIC as MMAP_MAGIC
from raydata_ext.sources.token_types import best_fitting_int_dtype
from raydata_ext.text.indexed.indexed_dataset import MAGIC as LEGACY_MAGIC
from raydata_ext.text.indexed.indexed_dataset import IndexedDataset, IndexedDatasetBuilder
from raydata_ext.text.indexed.mmap_builder import MMapIndexedDatasetBuilder
from raydata_ext.text.indexed.mmap_indexed_dataset import MMapIndexedDataset
from raydata_ext.text.indexed.token_file import exists, index_path
from raydata_ext.text.raw_text_dataset import IndexedRawTextDataset
from raydata_ext.text.wrappers.concat_dataset import ConcatDataset

if TYPE_CHECKING:
    import os

    from raydata_ext.text.contract.fairseq_dataset import FairseqDataset
    from raydata_ext.text.dictionary import Dictionary

_MIN_PARTS = len(("split", "de-en", "suffix"))
IMPLEMENTATIONS = ("raw", "lazy", "cached", "mmap")


def load_indexed_dataset(
    path: str | os.PathLike[str],
    dictionary: Dictionary | None = None,
    dataset_impl: str | None = None,
    combine: bool = False,
    default: str = "cached",
) -> FairseqDataset | None:
    """Open a dataset, or several that are numbered.

    Args:
        path: of the files, without suffix.
        dictionary: encodes raw text.
        dataset_impl: "raw", "lazy", "cached" or "mmap"; None is what the files are.
        combine: also open `path1`, `path2`, ... as far as there are any, and put them one after the other.
        default: what files are taken for that do not say what they are.

    Returns:
        The dataset; None where there is none.

    Raises:
        DamagedInputError: files are damaged.
        ValueError: raw text without a dictionary, or an unknown `dataset_impl`.
    """
    datasets: list[FairseqDataset] = []
    while True:
        part = f"{path}{len(datasets) or ''}"
        dataset = make_dataset(part, dataset_impl or infer_dataset_impl(part) or default, True, dictionary)
        if dataset is None:
            break
        datasets.append(dataset)
        if not combine:
            break
    if not datasets:
        return None
    return datasets[0] if len(datasets) == 1 else ConcatDataset(datasets)


def make_dataset(
    path: str | os.PathLike[str], impl: str, fix_lua_indexing: bool = False, dictionary: Dictionary | None = None
) -> FairseqDataset | None:
    """Open a dataset of a given format; None where there is none.

    Args:
        path: of the files, without suffix.
        impl: one of `IMPLEMENTATIONS`.
        fix_lua_indexing: see `IndexedDataset`.
        dictionary: encodes raw text.
    """
    if not dataset_exists(path, impl):
        return None
    if impl == "mmap":
        return MMapIndexedDataset(path)
    if impl != "raw":
        return IndexedDataset(path, fix_lua_indexing)
    if dictionary is None:
        raise ValueError(f"{path} is raw text, which takes a dictionary to become tokens; give one")
    return IndexedRawTextDataset(path, dictionary)


def make_builder(
    out_file: str | os.PathLike[str], impl: str, vocab_size: int | None = None
) -> MMapIndexedDatasetBuilder | IndexedDatasetBuilder:
    """A builder of a format, for `.bin` files.

    Args:
        out_file: the `.bin` file.
        impl: "mmap", or "lazy" or "cached" for the older format.
        vocab_size: symbols of the dictionary, for the smallest type that holds them.
    """
    _require_known(impl)
    if impl == "mmap":
        return MMapIndexedDatasetBuilder(out_file, best_fitting_int_dtype(vocab_size))
    if impl == "raw":
        raise ValueError('impl="raw" is text, which is not built; write it as it is')
    return IndexedDatasetBuilder(out_file, np.int32)


def dataset_exists(path: str | os.PathLike[str], impl: str) -> bool:
    """Whether the files of a dataset are there."""
    _require_known(impl)
    return IndexedRawTextDataset.exists(path) if impl == "raw" else exists(str(path))


def infer_dataset_impl(path: str | os.PathLike[str]) -> str | None:
    """What the files of a dataset are: "cached" for the older format, "mmap", "raw"; None where they do not say."""
    name = str(path)
    if exists(name):
        with Path(index_path(name)).open("rb") as file:
            magic = file.read(len(MMAP_MAGIC))
        if magic.startswith(LEGACY_MAGIC):
            return "cached"
        return "mmap" if magic == MMAP_MAGIC else None
    return "raw" if Path(name).is_file() else None


def infer_language_pair(path: str | os.PathLike[str]) -> tuple[str, str] | tuple[None, None]:
    """The languages of the first file of a directory, in the order of names, that is named like `train.de-en.de.idx`.

    Returns:
        Source and target language; (None, None) where no file is named so.
    """
    for name in sorted(entry.name for entry in Path(path).iterdir()):
        parts = name.split(".")
        source, dash, target = parts[1].partition("-") if len(parts) >= _MIN_PARTS else ("", "", "")
        if dash and "-" not in target:
            return source, target
    return None, None


def _require_known(impl: str) -> None:
    if impl not in IMPLEMENTATIONS:
        raise ValueError(f"dataset_impl is {impl!r}; it must be one of {list(IMPLEMENTATIONS)}")
