"""Choosing how rows are handed out."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from raydata_ext.dataset.reading import Reading
from raydata_ext.dataset.view import View
from raydata_ext.store import FormatState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typing_extensions import Self

    from raydata_ext.formatting import Format


class Formats(Reading):
    """The format of a data set: the one thing of it that can be changed in place, as in Hugging Face `datasets`."""

    @property
    def format(self) -> dict[str, Any]:
        """The format, as keyword arguments of `with_format` give it, under the names that Hugging Face has for them."""
        return {
            "type": self._format.type,
            "format_kwargs": dict(self._format.kwargs),
            "columns": self.column_names if self._format.columns is None else list(self._format.columns),
            "output_all_columns": self._format.output_all_columns,
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
        return self._derived(self._lineage, format=format_)

    def set_format(
        self,
        type: Format | None = None,  # noqa: A002 - the name that it has in Hugging Face
        columns: Sequence[str] | str | None = None,
        output_all_columns: bool = False,  # positional as in Hugging Face
        **options: Any,
    ) -> None:
        """Change the format of this very data set; arguments as in `with_format`."""
        self._take_format(self.with_format(type, columns, output_all_columns, **options)._format)  # noqa: SLF001 - one of us

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
        before = self._format
        self.set_format(type, columns, output_all_columns, **options)
        try:
            yield
        finally:
            self._take_format(before)

    def _take_format(self, format_: FormatState) -> None:
        self._view = View(self._table, self._indices, format_)
        self._format = format_

    def _require_columns(self, names: Sequence[str]) -> None:
        missing = [name for name in names if name not in self.column_names]
        if missing:
            raise ValueError(f"there is no column {missing[0]!r}; the columns are {self.column_names}")
