"""What a user's generator gives, as shards that a plan starts from: their results are kept like any other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from raydata_ext.errors import RaydataError, SchemaError, StepError
from raydata_ext.fingerprint import combine
from raydata_ext.formatting import batch_from_rows
from raydata_ext.plan import UserFunction
from raydata_ext.table import cast_batch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from raydata_ext.sources import BadRow, Piece

_BATCH_ROWS = 1000


@dataclass(frozen=True, eq=False)
class GeneratorShard:
    """Rows that a function gives for some arguments.

    Attributes:
        function: the function and its keyword arguments; it returns an iterable of rows, the same for the same
            arguments.
        number: of the shard, for messages.
        schema: of the rows; None is what the values say.
    """

    function: UserFunction
    number: int
    schema: pa.Schema | None = None

    @property
    def label(self) -> str:
        """The shard as messages name it."""
        return f"{self.function.name}[{self.number}]"

    @property
    def sources(self) -> Sequence[str]:
        """The function."""
        return (self.label,)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """None: nothing is known of what the function reads."""
        return ()

    @property
    def num_bytes(self) -> int:
        """Not known."""
        return 0

    @property
    def num_rows(self) -> None:
        """Not known."""
        return

    @property
    def home(self) -> str:
        """None: the rows are made wherever they are asked for."""
        return ""

    @property
    def digest(self) -> str:
        """Hash of the schema that the rows are brought to."""
        schema = b"" if self.schema is None else self.schema.serialize().to_pybytes()
        return combine("generator", schema)

    def identity(self, hash_piece: Callable[[Piece], str | None]) -> str:  # noqa: ARG002 - there are no pieces
        """Hash of the function's code and arguments."""
        return combine("generator", *(print_.digest for print_ in self.function.fingerprints().values()))

    def hash_piece(self, piece: Piece) -> str:
        """Never asked for: there are no pieces."""
        raise RaydataError(f"{self.label} is not made of files, such as {piece.label}")

    def read(
        self,
        on_bad_row: Callable[[str, BadRow], None] | None = None,  # noqa: ARG002 - a generator that raises has no next row
    ) -> Iterator[tuple[str, pa.RecordBatch]]:
        """The rows.

        Raises:
            StepError: the function raised.
            SchemaError: rows do not go together, or not with the schema.
        """
        rows = self._rows()
        first = 0
        while batch := list(islice(rows, _BATCH_ROWS)):
            yield self.label, self._batch(batch, first)
            first += len(batch)
        if not first and self.schema is not None:
            yield self.label, self._batch([], 0)

    def _rows(self) -> Iterator[Mapping[str, Any]]:
        try:
            yield from self.function.build()()
        except RaydataError:
            raise
        except Exception as error:
            raise StepError(f"generator {self.label}: {type(error).__name__}: {error}") from error

    def _batch(self, rows: list[Mapping[str, Any]], first: int) -> pa.RecordBatch:
        try:
            batch = batch_from_rows(rows, self.schema)
            return batch if self.schema is None else cast_batch(batch, self.schema, add_missing=True)
        except (SchemaError, TypeError, AttributeError) as error:
            raise SchemaError(f"generator {self.label}: rows from {first} on: {error}") from error


def shards_of_generator(
    function: Callable[..., Iterable[Mapping[str, Any]]],
    gen_kwargs: Mapping[str, Any],
    schema: pa.Schema | None,
    version: str | None,
) -> tuple[GeneratorShard, ...]:
    """One shard for each item of the lists among the arguments, whose call is given lists of that one item.

    Args:
        function: returns an iterable of rows.
        gen_kwargs: its keyword arguments; lists are of one length.
        schema: of the rows.
        version: stands for the function's code.

    Raises:
        ValueError: the lists differ in length, or are empty.
    """
    lengths = {name: len(value) for name, value in gen_kwargs.items() if isinstance(value, list)}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"lists in gen_kwargs are lists of shards and must be of one length, not {lengths}")
    count = next(iter(lengths.values()), 1)
    if not count:
        raise ValueError(f"the lists of shards in gen_kwargs are empty: {sorted(lengths)}")
    arguments = [
        {name: [value[number]] if name in lengths else value for name, value in gen_kwargs.items()}
        for number in range(count)
    ]
    return tuple(
        GeneratorShard(UserFunction(function, own, version=version), number, schema)
        for number, own in enumerate(arguments)
    )
