"""Choosing how rows are handed out."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from raydata_ext.dataset.base import DatasetBase
from raydata_ext.dataset.reading import Reading
from raydata_ext.formatting import Format
from raydata_ext.store import FormatState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from typing_extensions import Self


logger = logging.getLogger(__name__)


class Formats(Reading):
    """The format of a data set: the one thing of it that can be changed in place, as in Hugging Face `datasets`."""

    @property
    def format(self) -> dict[str, Any]:
        """The format, as keyword arguments of `with_format` give it, under the names that Hugging Face has for them."""
        return {
            "type": self.parts.format.type,
            "format_kwargs": dict(self.parts.format.kwargs),
            "columns": self.column_names if self.parts.format.columns is None else list(self.parts.format.columns),
            "output_all_columns": self.parts.format.output_all_columns,
        }

    def with_format(
        self,
        type: Format | None = None,  # noqa: A002 - the name that it has in Hugging Face
        columns: Sequence[str] | str | None = None,
        output_all_columns: bool = False,  # positional as in Hugging Face
        **options: Any,
    ) -> Self:
        """The same data set, whose rows are handed out in a format.

        Args:
            type: `"numpy"`, `"torch"`, `"pandas"`, `"arrow"`, or `"python"` or None for plain Python.
            columns: the columns that rows and batches show, in this order; None is all.
            output_all_columns: show the others too, after these and as plain Python.
            options: those of the format: `dtype`; for torch also `device`.

        Raises:
            ValueError: there is no such format or column.
            TypeError: the format has no such option.
            ImportError: the library of the format is not installed.
        """
        named = (columns,) if isinstance(columns, str) else columns
        if named is not None:
            self._require_columns(named)
        format_ = FormatState(
            None if type == "python" else type, None if named is None else tuple(named), options, output_all_columns
        )
        return self._with(format=format_)

    def set_format(
        self,
        type: Format | None = None,  # noqa: A002 - the name that it has in Hugging Face
        columns: Sequence[str] | str | None = None,
        output_all_columns: bool = False,  # positional as in Hugging Face
        **options: Any,
    ) -> None:
        """Change the format of this very data set; arguments as in `with_format`."""
        self._take_format(self.with_format(type, columns, output_all_columns, **options).parts.format)

    def with_transform(
        self,
        transform: Callable[[dict[str, list[Any]]], Mapping[str, Any]],
        columns: Sequence[str] | str | None = None,
        output_all_columns: bool = False,  # positional as in Hugging Face
    ) -> Self:
        """The same data set, whose rows and batches a function makes each time they are looked at.

        It does for rows that are read once, such as images that are augmented anew in each epoch; what is computed
        once and kept is `map`. A column that is asked for by its name is handed out as it is, and `map` is given rows
        as they are.

        Args:
            transform: takes a batch as a dictionary of lists (of one, for a row) and returns a mapping of column to
                values, one for each row.
            columns: the columns that it is given; None is all.
            output_all_columns: show the others too.

        Raises:
            ValueError: there is no such column.
        """
        return self.with_format("custom", columns, output_all_columns, transform=transform)

    def set_transform(
        self,
        transform: Callable[[dict[str, list[Any]]], Mapping[str, Any]],
        columns: Sequence[str] | str | None = None,
        output_all_columns: bool = False,  # positional as in Hugging Face
    ) -> None:
        """Change what rows of this very data set are; arguments as in `with_transform`."""
        self._take_format(self.with_transform(transform, columns, output_all_columns).parts.format)

    def reset_format(self) -> None:
        """Hand out all columns of this very data set as plain Python again."""
        self._take_format(FormatState())

    @contextmanager
    def formatted_as(
        self,
        type: Format | None = None,  # noqa: A002 - the name that it has in Hugging Face
        columns: Sequence[str] | str | None = None,
        output_all_columns: bool = False,  # positional as in Hugging Face
        **options: Any,
    ) -> Iterator[None]:
        """Change the format of this very data set within a `with` block; arguments as in `with_format`."""
        before = self.parts.format
        self.set_format(type, columns, output_all_columns, **options)
        try:
            yield
        finally:
            self._take_format(before)

    def _take_format(self, format_: FormatState) -> None:
        DatasetBase.__init__(self, replace(self.parts, format=format_))

    def _require_columns(self, names: Sequence[str]) -> None:
        missing = [name for name in names if name not in self.column_names]
        if missing:
            raise ValueError(f"there is no column {missing[0]!r}; the columns are {self.column_names}")


def storable_format(format_: FormatState) -> FormatState:
    """The format with options that JSON knows, which functions are not.

    Raises:
        ValueError: an option has no name that could be stored.
    """
    return replace(format_, kwargs={name: _storable(name, value) for name, value in format_.kwargs.items()})


def known_format(format_: FormatState) -> FormatState:
    """The format of a stored data set; where that is one of Hugging Face's alone, none, with a warning in the log."""
    if format_.type is None or format_.type in get_args(Format):
        return format_
    logger.warning("there is no format %r; rows are handed out as plain Python", format_.type)
    return FormatState()


def _storable(name: str, value: Any) -> Any:
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return np.dtype(value).name
    raise ValueError(f"the option {name}={value!r} of the format cannot be stored; call reset_format() before saving")
