"""The steps of a stream that change rows, under the names that `LazyDataset` has for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from raydata_ext.plan import Cast, Filter, Map, RemoveColumns, RenameColumns, SelectColumns, UserFunction
from raydata_ext.plan.steps import names
from raydata_ext.streaming.cast_column import CastColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pyarrow as pa
    from typing_extensions import Self

    from raydata_ext.plan import Step
    from raydata_ext.plan.steps import BatchFormat, Columns


class StreamSteps(ABC):
    """A stream to which steps can be added; each method gives a new one."""

    @abstractmethod
    def _then(self, step: Step) -> Self:
        """The stream with one more step."""

    @property
    @abstractmethod
    def _schema_at_hand(self) -> pa.Schema | None:
        """Schema of the rows, where no file must be opened to know it."""

    @property
    @abstractmethod
    def _own_batch_format(self) -> BatchFormat:
        """What a batched function is given where its step does not say."""

    def map(
        self,
        function: Callable[..., Any],
        *,
        with_indices: bool = False,
        input_columns: Columns | None = None,
        batched: bool = False,
        batch_size: int | None = 1000,
        drop_last_batch: bool = False,
        remove_columns: Columns | None = None,
        schema: pa.Schema | None = None,
        fn_kwargs: Mapping[str, Any] | None = None,
        constructor_kwargs: Mapping[str, Any] | None = None,
        batch_format: BatchFormat | None = None,
        desc: str | None = None,
    ) -> Self:
        """Give every row or batch to a function and merge what it returns into the row or batch.

        Args:
            function: as in `LazyDataset.map`; may be a coroutine function, whose calls run side by side.
            with_indices: also give the number of the row among those of this reader (a list of them for a batch).
            input_columns: give the values of these columns in place of the row or batch.
            batched: give batches.
            batch_size: rows of a batch; None is all rows.
            drop_last_batch: leave out the last batch where it is shorter.
            remove_columns: columns that go before the result is merged; None is none of them, also where it is the
                `column_names` of a stream that does not know them.
            schema: schema of the result; None is what the values say.
            fn_kwargs: keyword arguments of each call.
            constructor_kwargs: keyword arguments of the class, where `function` is one.
            batch_format: what a batch is given as; None is the format of the stream.
            desc: name of the step in messages.
        """
        step = Map(
            function=UserFunction.of(function, fn_kwargs, constructor_kwargs),
            batched=batched,
            batch_size=batch_size,
            input_columns=None if input_columns is None else names(input_columns),
            with_indices=with_indices,
            batch_format=self._given_as(batch_format, batched=batched),
            desc=desc,
            drop_last_batch=drop_last_batch,
            remove_columns=names(remove_columns or ()),
            schema=schema,
        )
        return self._then(step)

    def filter(
        self,
        function: Callable[..., Any],
        *,
        with_indices: bool = False,
        input_columns: Columns | None = None,
        batched: bool = False,
        batch_size: int | None = 1000,
        fn_kwargs: Mapping[str, Any] | None = None,
        constructor_kwargs: Mapping[str, Any] | None = None,
        batch_format: BatchFormat | None = None,
        desc: str | None = None,
    ) -> Self:
        """Keep the rows for which a function says so: a bool for a row, or a bool for each row of a batch.

        Args:
            function: as in `LazyDataset.filter`.
            with_indices: as in `map`, as all others.
            input_columns: see there.
            batched: see there.
            batch_size: see there.
            fn_kwargs: see there.
            constructor_kwargs: see there.
            batch_format: see there.
            desc: see there.
        """
        step = Filter(
            function=UserFunction.of(function, fn_kwargs, constructor_kwargs),
            batched=batched,
            batch_size=batch_size,
            input_columns=None if input_columns is None else names(input_columns),
            with_indices=with_indices,
            batch_format=self._given_as(batch_format, batched=batched),
            desc=desc,
        )
        return self._then(step)

    def select_columns(self, columns: Columns) -> Self:
        """Keep these columns, in this order."""
        return self._then(SelectColumns(_known_names(columns)))

    def remove_columns(self, columns: Columns) -> Self:
        """Leave these columns out."""
        return self._then(RemoveColumns(_known_names(columns)))

    def rename_column(self, old: str, new: str) -> Self:
        """Give a column another name."""
        return self.rename_columns({old: new})

    def rename_columns(self, names: Mapping[str, str]) -> Self:
        """Give columns other names, old to new."""
        return self._then(RenameColumns(tuple(names.items())))

    def cast(self, schema: pa.Schema) -> Self:
        """Bring the columns to a schema; columns that rows lack become null."""
        return self._then(Cast(schema))

    def cast_column(self, column: str, type: pa.DataType) -> Self:  # noqa: A002 - as in Arrow's fields
        """Give one column another type.

        Args:
            column: its name.
            type: the type.

        Raises:
            PlanError: (as rows are read) there is no such column.
            SchemaError: (as rows are read) values cannot be cast.
        """
        known = self._schema_at_hand
        if known is not None and column in known.names:
            place = known.get_field_index(column)
            return self.cast(known.set(place, known.field(place).with_type(type)))
        cast = UserFunction(CastColumn(column, type))
        return self._then(Map(function=cast, batched=True, batch_format="arrow", desc=f"cast_column({column})"))

    def _given_as(self, asked: BatchFormat | None, *, batched: bool) -> BatchFormat:
        if asked is not None:
            return asked
        return self._own_batch_format if batched else "python"


def _known_names(columns: Columns | None) -> tuple[str, ...]:
    if columns is None:
        raise ValueError(
            "the columns are None, as are `column_names` of a stream that does not know them before rows are read; name"
            " them, or take those of the first row, [*next(iter(stream))]"
        )
    return names(columns)
