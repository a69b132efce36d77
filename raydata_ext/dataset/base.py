"""What a data set is: a table, which of its rows in which order, how they are handed out, and what they are made of."""

from __future__ import annotations

from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from raydata_ext.dataset.lineage import Lineage
from raydata_ext.dataset.shards import MAX_SHARD_BYTES, KnownFiles, shards_of
from raydata_ext.dataset.view import View
from raydata_ext.plan import Workspace
from raydata_ext.store import FormatState
from raydata_ext.table import InMemoryTable, features_from_schema, list_table_cache_files

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Self

    from raydata_ext.dataset.indices import Indices
    from raydata_ext.plan import InputShard
    from raydata_ext.table import Table

_KEEP: Any = object()
"""Stands for an argument that is not given where None says something."""


class DatasetBase:
    """The state of a data set. All but the format is never changed: other rows or columns are another data set.

    Pickling takes paths and operations along, and rows only where they are in memory.

    Args:
        table: rows.
        lineage: what the rows of the data set are made of, or the hash of it.
        workspace: the cache directory for what is computed from it.
        files: what is known of the mapped files.
        indices: which rows of the table, and in which order; None is all of them as they are.
        format: how rows are handed out.
    """

    def __init__(
        self,
        table: Table,
        lineage: Lineage | str,
        workspace: Workspace,
        *,
        files: KnownFiles = MappingProxyType({}),
        indices: Indices | None = None,
        format: FormatState | None = None,  # noqa: A002 - the word for it
    ) -> None:
        self._table = table
        self._lineage = Lineage(lineage) if isinstance(lineage, str) else lineage
        self._workspace = workspace
        self._files = files
        self._indices = indices
        self._format = format or FormatState()
        self._view = View(table, indices, self._format)

    @property
    def num_rows(self) -> int:
        """Rows."""
        return self._table.num_rows if self._indices is None else len(self._indices)

    @property
    def num_columns(self) -> int:
        """Columns."""
        return self._table.num_columns

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.num_rows, self.num_columns

    @property
    def column_names(self) -> list[str]:
        """Names of the columns, in order."""
        return self._table.column_names

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return self._table.schema

    @property
    def features(self) -> dict[str, Any]:
        """What the columns mean, as Hugging Face's `info.features` in JSON.

        Raises:
            SchemaError: a type has no feature.
        """
        return features_from_schema(self.schema)

    @property
    def fingerprint(self) -> str:
        """Hash of what the rows are. Files of which it is not known are read when it is first asked for."""
        return self._lineage.fingerprint(self._workspace.index)

    @property
    def cache_files(self) -> list[dict[str, str]]:
        """The mapped files, as `[{"filename": path}, ...]`, that of the indices mapping last."""
        paths = list_table_cache_files(self._table) + ([] if self._indices is None else self._indices.cache_files)
        return [{"filename": path} for path in paths]

    @property
    def table(self) -> Table:
        """The rows as a table: as it lies where there is no indices mapping, else gathered into memory."""
        return self._table if self._indices is None else InMemoryTable(self.to_arrow())

    @cached_property
    def shards(self) -> tuple[InputShard, ...]:
        """The rows as inputs of what follows, see `shards`."""
        return self._cut(MAX_SHARD_BYTES)

    @property
    def workspace(self) -> Workspace:
        """The cache directory for what is computed from it."""
        return self._workspace

    def to_arrow(self) -> pa.Table:
        """All columns and rows as an Arrow table: views of the mapped files, or copied by the indices mapping."""
        return View(self._table, self._indices, FormatState()).arrow_run(0, self.num_rows)

    def __len__(self) -> int:
        return self.num_rows

    def __getstate__(self) -> dict[str, Any]:
        return {
            "table": self._table,
            "lineage": self._lineage,
            "cache_dir": self._workspace.path,
            "files": dict(self._files),
            "indices": self._indices,
            "format": self._format,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        workspace = Workspace(state.pop("cache_dir"))
        DatasetBase.__init__(self, state.pop("table"), state.pop("lineage"), workspace, **state)

    def _cut(self, max_bytes: int) -> tuple[InputShard, ...]:
        return shards_of(self._table, self._files, self._indices, max_bytes)

    def _derived(
        self,
        lineage: Lineage | str,
        *,
        table: Table | None = None,
        indices: Indices | None = _KEEP,
        format: FormatState | None = None,  # noqa: A002 - the word for it
    ) -> Self:
        """A data set like this one but for what is given."""
        return type(self)(
            self._table if table is None else table,
            lineage,
            self._workspace,
            files=self._files,
            indices=self._indices if indices is _KEEP else indices,
            format=format or self._format,
        )
