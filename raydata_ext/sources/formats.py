"""The formats by name, and the format of a file by its suffix."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from raydata_ext.redaction import redacted
from raydata_ext.sources.arrow import ArrowReader
from raydata_ext.sources.compression import SUFFIXES as COMPRESSION_SUFFIXES
from raydata_ext.sources.csv_file import CsvReader, TsvReader
from raydata_ext.sources.json_array import JsonReader
from raydata_ext.sources.jsonl import JsonLinesReader
from raydata_ext.sources.parquet import ParquetReader
from raydata_ext.sources.text import TextReader
from raydata_ext.sources.token_file import TokenFileReader
from raydata_ext.sources.warc import WarcReader, WetReader
from raydata_ext.sources.webdataset import WebDatasetReader

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from raydata_ext.sources.input_file import InputFile
    from raydata_ext.sources.reader import Reader

FORMATS: Mapping[str, type[Reader]] = {
    reader.format: reader
    for reader in (
        TextReader,
        JsonLinesReader,
        JsonReader,
        CsvReader,
        TsvReader,
        ParquetReader,
        ArrowReader,
        WarcReader,
        WetReader,
        WebDatasetReader,
        TokenFileReader,
    )
}


def make_reader(name: str, options: Mapping[str, object]) -> Reader:
    """Make the reader of a format.

    Args:
        name: one of `FORMATS`.
        options: the reader's attributes by name.

    Raises:
        ValueError: an unknown format or option, or a wrong value; the message names it and what is allowed.
    """
    if name not in FORMATS:
        raise ValueError(f"unknown format {name!r}; the formats are {sorted(FORMATS)}")
    reader = FORMATS[name]
    try:
        return reader.model_validate(dict(options))
    except ValidationError as error:
        problems = "; ".join(_explain(problem) for problem in error.errors())
        raise ValueError(
            f"wrong options for format {name!r}: {problems}; the options are {sorted(reader.model_fields)}"
        ) from error


def infer_format(files: Sequence[InputFile]) -> str:
    """The one format that the suffixes of all files stand for.

    Raises:
        ValueError: no suffix is known, or they stand for several formats.
    """
    found: dict[str | None, str] = {}
    for file in files:
        found.setdefault(_format_of(file.name), redacted(file.path))
    if len(found) > 1:
        listed = ", ".join(f"{path} ({name or 'unknown'})" for name, path in found.items())
        raise ValueError(f"the files are of several formats: {listed}; narrow the pattern, or set format=")
    [(name, path)] = found.items()
    if name is None:
        raise ValueError(f"the suffix of {path!r} stands for no known format; set format= to one of {sorted(FORMATS)}")
    return name


def _explain(problem: Mapping[str, Any]) -> str:
    if problem["type"] == "extra_forbidden":
        return f"{problem['loc'][0]}: there is no such option"
    place = "".join(f"{part}: " for part in problem["loc"][:1])
    return place + str(problem["msg"]).removeprefix("Value error, ")


def _format_of(name: str) -> str | None:
    stem, suffix = posixpath.splitext(name.lower())
    if suffix in COMPRESSION_SUFFIXES:
        suffix = posixpath.splitext(stem)[1]
    return next((reader.format for reader in FORMATS.values() if suffix in reader.suffixes), None)
