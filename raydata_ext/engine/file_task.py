"""What tasks that write files have in common: no user's function runs, and after a death the work is done again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from typing_extensions import override

from raydata_ext.redaction import readable
from raydata_ext.table.cast import cast_batch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from typing_extensions import Self

    from raydata_ext.engine.watch import Watch
    from raydata_ext.engine.worker import Program
    from raydata_ext.plan import InputShard
    from raydata_ext.store.directory_files import DirectoryFiles

Outcome = TypeVar("Outcome")


class RepeatableTask(Generic[Outcome]):
    """A task in which no user's function runs, and which is simply done again where its worker died."""

    def recover(self, program: Program) -> Outcome | None:  # noqa: ARG002 - what every task is asked with
        """Nothing: the work is done again."""
        return None

    def watched(self, watch: Watch) -> Self:  # noqa: ARG002 - what every task is asked with
        """Itself: no user's function runs."""
        return self


class ReadingTask(RepeatableTask[Outcome], ABC):
    """A task that reads shards."""

    @property
    @abstractmethod
    def inputs(self) -> Sequence[InputShard]:
        """What it reads."""

    @property
    def num_bytes(self) -> int:
        """Bytes of input."""
        return sum(shard.num_bytes for shard in self.inputs)

    @property
    def home(self) -> str:
        """The host that is likely to have copies of most of the input; empty where any host is as good."""
        num_bytes: Counter[str] = Counter()
        for shard in self.inputs:
            if shard.home:
                num_bytes[shard.home] += shard.num_bytes
        return max(num_bytes, key=num_bytes.__getitem__, default="")


@dataclass(frozen=True, eq=False)
class FileTask(ReadingTask[Outcome]):
    """One file: some shards, one after the other, under the schema of the whole.

    Attributes:
        directory: where the file goes.
        name: of the file.
        shards: what goes into it.
        schema: of the rows.
    """

    directory: DirectoryFiles
    name: str
    shards: tuple[InputShard, ...]
    schema: pa.Schema

    @property
    def path(self) -> str:
        """The file's absolute path, or URL."""
        return f"{self.directory.path}/{self.name}"

    @property
    def label(self) -> str:
        """The file as messages name it."""
        return readable(self.path)

    @property
    @override
    def inputs(self) -> Sequence[InputShard]:
        return self.shards

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows; no batch is empty."""
        return batches_of(self.shards, self.schema)


def batches_of(shards: Sequence[InputShard], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of shards, one after the other, under one schema.

    No batch is empty: one without rows may have columns that no function has removed.
    """
    for shard in shards:
        for _, batch in shard.read():
            if batch.num_rows:
                yield cast_batch(batch, schema, add_missing=True)
