"""What a data set is: a table, which of its rows in which order, how they are handed out, and what they are made of."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from raydata_ext.dataset.absent import AbsentAttributes
from raydata_ext.dataset.features import features_of
from raydata_ext.dataset.shards import MAX_SHARD_BYTES, KnownFile, shards_of
from raydata_ext.dataset.view import View
from raydata_ext.errors import SchemaError
from raydata_ext.store import FormatState
from raydata_ext.table import InMemoryTable, list_table_cache_files

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from typing_extensions import Self

    from raydata_ext.dataset.indices import Indices
    from raydata_ext.dataset.lineage import Lineage
    from raydata_ext.plan import InputShard, Workspace
    from raydata_ext.table import Table


@dataclass(frozen=True, eq=False)
class Parts:
    """All that a data set is made of.

    Attributes:
        table: rows.
        lineage: what the rows of the data set are made of.
        workspace: the cache directory for what is computed from it.
        files: what is known of the mapped files, by path.
        indices: which rows of the table, and in which order; None is all of them as they are.
        format: how rows are handed out.

    Raises:
        SchemaError: two columns have one name, so that a row, which is a dict, could not hold both.
    """

    table: Table
    lineage: Lineage
    workspace: Workspace
    files: Mapping[str, KnownFile] = field(default_factory=dict)
    indices: Indices | None = None
    format: FormatState = field(default_factory=FormatState)

    def __post_init__(self) -> None:
        names = self.table.column_names
        if len(set(names)) < len(names):
            twice = next(name for position, name in enumerate(names) if name in names[:position])
            raise SchemaError(f"more than one column is named {twice!r}, in {names}; rename or drop one of them first")

    @property
    def plain_view(self) -> View:
        """All columns as plain Python or Arrow, whatever the format."""
        return View(self.table, self.indices, FormatState())


class DatasetBase(AbsentAttributes):
    """A data set and what it says of itself. All but its format stays as it is: other rows are another data set.

    Pickling takes paths and operations along, and rows only where they are in memory.

    Args:
        parts: what it is made of.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._view = View(parts.table, parts.indices, parts.format)

    @property
    def parts(self) -> Parts:
        """What it is made of."""
        return self._parts

    @property
    def num_rows(self) -> int:
        """Rows."""
        return self._view.num_rows

    @property
    def num_columns(self) -> int:
        """Columns."""
        return self.parts.table.num_columns

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.num_rows, self.num_columns

    @property
    def column_names(self) -> list[str]:
        """Names of the columns, in order."""
        return self.parts.table.column_names

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return self.parts.table.schema

    @property
    def features(self) -> dict[str, Any]:
        """What the columns mean, as Hugging Face's `info.features` in JSON, see `Feature`.

        Raises:
            SchemaError: a type has no feature.
        """
        return features_of(self.schema)

    @property
    def fingerprint(self) -> str:
        """Hash of what the rows are. Files of which it is not known are read when it is first asked for."""
        return self.parts.lineage.fingerprint(self.parts.workspace.index)

    @property
    def cache_files(self) -> list[dict[str, str]]:
        """The mapped files, as `[{"filename": path}, ...]`, that of the indices mapping last.

        A file in an object store is given by its URL; what is mapped is a copy of it on whatever machine reads it.
        """
        indices = self.parts.indices
        paths = list_table_cache_files(self.parts.table) + ([] if indices is None else indices.cache_files)
        return [{"filename": path} for path in paths]

    @property
    def table(self) -> Table:
        """The rows as a table: mapped where there is no indices mapping, else gathered into memory."""
        return self.parts.table if self.parts.indices is None else InMemoryTable(self.to_arrow())

    @cached_property
    def shards(self) -> tuple[InputShard, ...]:
        """The rows as inputs of what follows, see the module `shards`."""
        return self._cut(MAX_SHARD_BYTES)

    def to_arrow(self) -> pa.Table:
        """All columns and rows as an Arrow table: views of the mapped files, or copied by the indices mapping."""
        return self.parts.plain_view.arrow_run(0, self.num_rows)

    def __len__(self) -> int:
        return self.num_rows

    def __getstate__(self) -> dict[str, Any]:
        return {"parts": self.parts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        DatasetBase.__init__(self, state["parts"])

    def _cut(self, max_bytes: int) -> tuple[InputShard, ...]:
        return shards_of(self.parts.table, self.parts.files, self.parts.indices, max_bytes)

    def _with(self, **changes: Any) -> Self:
        """A data set like this one but for some of its parts."""
        return type(self)(replace(self.parts, **changes))
