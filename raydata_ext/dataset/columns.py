"""Choosing, naming and changing columns. Files are mapped as before, and the change is replayed on what they hold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import types

from raydata_ext.dataset.features import as_schema, declared_features, flat_features, with_features, with_type
from raydata_ext.dataset.ordering import comparable
from raydata_ext.dataset.transforms import Transforms
from raydata_ext.fingerprint import hash_value
from raydata_ext.formatting import array_from_values
from raydata_ext.table import InMemoryTable, Table, cast_array, concat_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from typing_extensions import Self


class Columns(Transforms):
    """The same rows with other columns."""

    def select_columns(self, column_names: str | Sequence[str]) -> Self:
        """Keep these columns, in this order.

        Raises:
            ValueError: there is no such column.
        """
        names = self._names(column_names)
        return self._with_columns(
            self.parts.table.select(names), {name: name for name in names}, "select_columns", *names
        )

    def remove_columns(self, column_names: str | Sequence[str]) -> Self:
        """Leave these columns out.

        Raises:
            ValueError: there is no such column.
        """
        names = self._names(column_names)
        kept = {name: name for name in self.column_names if name not in names}
        return self._with_columns(self.parts.table.drop(names), kept, "select_columns", *kept)

    def rename_column(self, original_column_name: str, new_column_name: str) -> Self:
        """Give a column another name.

        Raises:
            ValueError: there is no such column, or there is one of the new name.
        """
        return self.rename_columns({original_column_name: new_column_name})

    def rename_columns(self, column_mapping: Mapping[str, str]) -> Self:
        """Give columns other names.

        Args:
            column_mapping: old name to new name.

        Raises:
            ValueError: there is no such column, or two would have one name, or a name is empty.
        """
        self._require_columns(list(column_mapping))
        renamed = {name: column_mapping.get(name, name) for name in self.column_names}
        _require_distinct(list(renamed.values()))
        table = self.parts.table.rename_columns(list(renamed.values()))
        features = declared_features(self.schema)
        if features is not None:
            table = with_features(table, {renamed[name]: feature for name, feature in features.items()})
        pairs = [part for pair in column_mapping.items() for part in pair]
        return self._with_columns(table, renamed, "rename_columns", *pairs)

    def cast(self, schema: pa.Schema | Mapping[str, Any]) -> Self:
        """Give the columns other types; values are converted when they are read.

        Args:
            schema: the types, or Hugging Face's features, of all columns.

        Raises:
            SchemaError: the columns are not those of the schema, or cannot be cast. Where a file has not been opened
                yet, a value that does not fit is found when it is.
        """
        target = as_schema(schema)
        lineage = self.parts.lineage.then("cast", hash_value(target.serialize().to_pybytes()))
        return self._with(lineage=lineage, table=self.parts.table.cast(target))

    def cast_column(self, column: str, feature: pa.DataType | Mapping[str, Any]) -> Self:
        """Give one column another type; see `cast`.

        Args:
            column: its name.
            feature: the type, or Hugging Face's feature, such as `{"_type": "ClassLabel", "names": ["no", "yes"]}`.

        Raises:
            ValueError: there is no such column.
            SchemaError: see `cast`.
        """
        self._require_columns([column])
        return self.cast(with_type(self.schema, column, feature))

    def add_column(self, name: str, column: Any, feature: pa.DataType | None = None) -> Self:
        """One more column, at the end. Under an indices mapping the rows are written out first, see `flatten_indices`.

        Args:
            name: its name.
            column: one value for each row: a list, an array of numpy, torch, pandas or Arrow.
            feature: its type; None is what the values say.

        Raises:
            ValueError: there is a column of that name, or not one value for each row.
            SchemaError: the values do not go together, or not with the type.
        """
        _require_distinct([*self.column_names, name])
        values = array_from_values(column, name=name, hint=feature)
        if feature is not None:
            values = cast_array(values, feature, name)
        if len(values) != self.num_rows:
            raise ValueError(f"column {name!r} has {len(values)} values for {self.num_rows} rows")
        lineage = self.parts.lineage.then("add_column", name, hash_value(values))
        added = InMemoryTable(pa.table({name: values}))
        in_order = self.flatten_indices().parts
        table = concat_tables([in_order.table, added], axis=1)
        shown = self.parts.format.columns
        format_ = replace(self.parts.format, columns=None if shown is None else (*shown, name))
        return type(self)(replace(in_order, lineage=lineage, table=table, format=format_))

    def class_encode_column(self, column: str, include_nulls: bool = False) -> Self:  # positional as in Hugging Face
        """The numbers of classes in place of the values of a column: a `ClassLabel` of all values, sorted as text.

        Args:
            column: its name.
            include_nulls: whether null is a class (`"None"`); else it stays null.

        Raises:
            ValueError: there is no such column.
            TypeError: values of its type cannot be compared.
        """
        found = [str(value) for value in self.unique(column) if include_nulls or value is not None]
        names = sorted(set(found))
        return self.map(
            with_class_numbers,
            batched=True,
            batch_format="arrow",
            fn_kwargs={"column": column, "names": names, "include_nulls": include_nulls},
            schema=with_type(self.schema, column, {"_type": "ClassLabel", "names": names}),
        )

    def flatten(self, max_depth: int = 16) -> Self:
        """Each struct column becomes a column for each of its fields, `"struct.field"`, to some depth.

        Args:
            max_depth: how many levels.

        Raises:
            ValueError: the depth is not at least 1, or two columns would have one name.
        """
        if max_depth < 1:
            raise ValueError(f"max_depth is {max_depth}; it must be at least 1")
        table, features = self.parts.table, declared_features(self.schema)
        for _ in range(max_depth):
            if not any(types.is_struct(kind) for kind in table.schema.types):
                break
            features = None if features is None else flat_features(features, table.schema)
            table = table.flatten()
        _require_distinct(table.column_names)
        if features is not None:
            table = with_features(table, features)
        kept = {name: name for name in self.column_names if name in table.column_names}
        return self._with_columns(table, kept, "flatten", max_depth)

    def _with_columns(self, table: Table, names: Mapping[str, str], *step: str | int) -> Self:
        """Other columns; the format shows those that it showed, by their new names."""
        format_ = self.parts.format
        if format_.columns is not None:
            format_ = replace(format_, columns=tuple(names[name] for name in format_.columns if name in names))
        name, *arguments = map(str, step)
        return self._with(lineage=self.parts.lineage.then(name, *arguments), table=table, format=format_)

    def _names(self, names: str | Iterable[str]) -> list[str]:
        listed = [names] if isinstance(names, str) else list(names)
        self._require_columns(listed)
        _require_distinct(listed)
        return listed


def with_class_numbers(batch: pa.Table, column: str, names: Sequence[str], include_nulls: bool) -> pa.Table:
    """A batch with the position of each value of a column among `names` in place of the value."""
    numbers = {name: number for number, name in enumerate(names)}
    encoded = comparable(batch.column(column)).combine_chunks().dictionary_encode("encode" if include_nulls else "mask")
    of_values = [numbers[str(value)] for value in encoded.dictionary.to_pylist()]
    labels = pa.array(of_values, pa.int64()).take(encoded.indices)
    return batch.set_column(batch.schema.get_field_index(column), column, labels)


def _require_distinct(names: Sequence[str]) -> None:
    if "" in names:
        raise ValueError("the name of a column must not be empty")
    twice = [name for position, name in enumerate(names) if name in names[:position]]
    if twice:
        raise ValueError(f"there would be two columns {twice[0]!r}, in {list(names)}")
