"""A data set in words, and as a page in a notebook."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raydata_ext.remote import is_url

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from raydata_ext.store import FormatState

_LONGEST_VALUE = 120
_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def describe(num_rows: int, schema: pa.Schema, format_: FormatState) -> str:
    """One line: rows, columns with types, and the format where there is one; touches no file.

    Args:
        num_rows: rows.
        schema: columns.
        format_: how rows are handed out.
    """
    columns = ", ".join(f"{field.name}: {field.type}" for field in schema)
    kind = f"; format {format_.type or 'python'}{_columns_of(format_)}" if _has_format(format_) else ""
    return f"Dataset({num_rows:,} rows; {columns or 'no columns'}{kind})"


def describe_in_html(
    num_rows: int,
    schema: pa.Schema,
    format_: FormatState,
    cache_files: Sequence[Mapping[str, str]],
    head: Sequence[Mapping[str, Any]],
) -> str:
    """Rows, size, and a table of the columns, their types and the first rows.

    Args:
        num_rows: rows.
        schema: columns.
        format_: how rows are handed out.
        cache_files: the mapped files.
        head: the first rows.
    """
    facts = [f"{num_rows:,} rows", f"{len(schema)} columns", _size(cache_files)]
    if _has_format(format_):
        facts.append(f"format {format_.type or 'python'}{_columns_of(format_)}")
    names = "".join(f"<th>{escape(field.name)}</th>" for field in schema)
    types = "".join(f"<td><i>{escape(_shortened(str(field.type)))}</i></td>" for field in schema)
    rows = "".join(f"<tr>{_cells(row, schema.names)}</tr>" for row in head)
    more = f"<tr>{'<td>&hellip;</td>' * len(schema)}</tr>" if num_rows > len(head) else ""
    return (
        f"<div><p><b>Dataset</b>: {escape(', '.join(facts))}</p>"
        f"<table><thead><tr>{names}</tr><tr>{types}</tr></thead><tbody>{rows}{more}</tbody></table></div>"
    )


def _cells(row: Mapping[str, Any], names: Sequence[str]) -> str:
    return "".join(f"<td>{escape(_shortened(_text(row[name])))}</td>" for name in names)


def _text(value: object) -> str:
    return value if isinstance(value, str) else repr(value)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def _size(cache_files: Sequence[Mapping[str, str]]) -> str:
    if not cache_files:
        return "in memory"
    if any(is_url(file["filename"]) for file in cache_files):
        return f"{len(cache_files)} files under URLs"
    paths = [Path(file["filename"]) for file in cache_files]
    size = float(sum(path.stat().st_size for path in paths if path.exists()))
    unit = 0
    while size >= 1000 and unit < len(_UNITS) - 1:  # noqa: PLR2004 - of the decimal units
        size /= 1000
        unit += 1
    missing = sum(not path.exists() for path in paths)
    gone = f", {missing} of them missing" if missing else ""
    return f"{size:.3g} {_UNITS[unit]} in {len(paths)} files{gone}"


def _has_format(format_: FormatState) -> bool:
    return format_.type not in (None, "python") or format_.columns is not None


def _columns_of(format_: FormatState) -> str:
    return "" if format_.columns is None else f" of {', '.join(format_.columns)}"
