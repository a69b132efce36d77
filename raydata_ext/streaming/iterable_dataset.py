"""The face of a stream: rows one after the other, in an order that can be resumed at any row."""

from __future__ import annotations

import pickle
from functools import cached_property
from multiprocessing.context import get_spawning_popen
from typing import TYPE_CHECKING, Any

import cloudpickle
import numpy as np
import pyarrow as pa
from typing_extensions import override

from raydata_ext.errors import StateError
from raydata_ext.formatting import get_formatter
from raydata_ext.streaming.absent import AbsentFromStreams
from raydata_ext.streaming.delivery import Delivery
from raydata_ext.streaming.make_source import source_of_generator, source_of_shards, source_of_tables
from raydata_ext.streaming.nodes.batch import Batch
from raydata_ext.streaming.nodes.buffer_shuffle import BufferShuffle, can_read_again
from raydata_ext.streaming.nodes.repeat import Repeat
from raydata_ext.streaming.nodes.side_by_side import SideBySide
from raydata_ext.streaming.nodes.skip_take import Skip, Take
from raydata_ext.streaming.nodes.transform import Transform, below_row_steps
from raydata_ext.streaming.nodes.unbatch import Unbatch
from raydata_ext.streaming.seeds import Seed
from raydata_ext.streaming.shared_epoch import SharedEpoch
from raydata_ext.streaming.state import VERSION, decode, describe, encode, require_same
from raydata_ext.streaming.stream_steps import StreamSteps
from raydata_ext.streaming.torch_side import class_for_torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from raydata_ext.formatting import Format
    from raydata_ext.plan import InputShard, Step
    from raydata_ext.plan.steps import BatchFormat
    from raydata_ext.streaming.nodes.base import Node
    from raydata_ext.streaming.shards import StreamShard
    from raydata_ext.table import Table

_PLAIN: Mapping[str, Any] = {"name": None, "columns": None}


class IterableDataset(AbsentFromStreams, StreamSteps):
    """Rows as a stream. Each method gives a new stream; nothing is read before one iterates.

    It is a `torch.utils.data.IterableDataset` as soon as torch is imported: each process of a loader reads its part.

    Args:
        node: where the rows come from, and what is done to them.
        epoch: the epoch.
        format_options: keyword arguments of `get_formatter`.
    """

    def __init__(self, node: Node, *, epoch: int = 0, format_options: Mapping[str, Any] = _PLAIN) -> None:
        self._node = node
        self._epoch = SharedEpoch(epoch)
        self._format_options = dict(format_options)
        self._pass: Delivery | None = None
        self._pending: dict[str, Any] | None = None

    # -- where rows come from -----------------------------------------------------------------------------------------

    @classmethod
    def from_shards(cls, shards: Iterable[InputShard | StreamShard]) -> IterableDataset:
        """Stream the shards of a plan or source."""
        return cls(source_of_shards(shards))

    @classmethod
    def from_tables(cls, tables: Sequence[Table | pa.Table], *, fingerprint: str | None = None) -> IterableDataset:
        """Stream tables, each a shard.

        Args:
            tables: one at least.
            fingerprint: hash of what the rows are, if there is one.
        """
        return cls(source_of_tables(tables, identity=fingerprint))

    @classmethod
    def from_generator(
        cls,
        function: Callable[..., Iterable[Mapping[str, Any]]],
        gen_kwargs: Mapping[str, Any] | None = None,
        *,
        schema: pa.Schema | None = None,
    ) -> IterableDataset:
        """Stream what a generator function gives.

        Args:
            function: returns an iterable of rows, the same each time it is called with the same arguments.
            gen_kwargs: its keyword arguments. Lists among them are lists of shards, all of one length: the function is
                called once a shard with lists of one item.
            schema: schema of the rows; None is what the values say, batch by batch.

        Raises:
            ValueError: the lists in `gen_kwargs` differ in length.
        """
        return cls(source_of_generator(function, gen_kwargs or {}, schema))

    def over(self, node: Node) -> IterableDataset:
        """A stream of another node, in the format and epoch of this one."""
        return IterableDataset(node, epoch=self.epoch, format_options=self._format_options)

    # -- what it is ---------------------------------------------------------------------------------------------------

    @property
    def node(self) -> Node:
        """The root of the tree of nodes."""
        return self._node

    @property
    def num_shards(self) -> int:
        """Shards that readers can share without cutting any."""
        return self._node.num_shards

    @cached_property
    def schema(self) -> pa.Schema | None:
        """Schema of the rows, unified over all files; None where only the rows tell it.

        Parquet and Arrow files tell theirs beside the rows: they are opened when it is first asked for, many at a time.

        Raises:
            SchemaError: columns of files are of types that do not go together.
            ReadError: a file cannot be opened, or is damaged.
        """
        known = self._schema_at_hand
        return self._node.typed().schema if known is None else known

    @property
    def column_names(self) -> list[str] | None:
        """Names of the columns; None where only the rows tell them: `[*next(iter(stream))]` are those of the first."""
        return None if self.schema is None else list(self.schema.names)

    @property
    def format_options(self) -> Mapping[str, Any]:
        """The format of rows and batches, as keyword arguments of `get_formatter`."""
        return self._format_options

    @property
    def epoch(self) -> int:
        """The epoch that the next pass is of."""
        return self._epoch.get()

    def __len__(self) -> int:
        if self._num_rows is None:
            raise TypeError(
                "the number of rows of this stream is not known before it is read; count them as they come, or compute"
                " the stream's data set first"
            )
        return self._num_rows

    def __bool__(self) -> bool:
        return True  # whether there are rows shows when one reads

    def __repr__(self) -> str:
        schema = self._schema_at_hand
        columns = "columns not known" if schema is None else f"columns {schema.names}"
        return f"IterableDataset({columns}, {self.num_shards} shards, epoch {self.epoch})"

    # -- order --------------------------------------------------------------------------------------------------------

    def shuffle(
        self, seed: int | None = None, *, buffer_size: int = 1000, max_buffer_input_shards: int = 10
    ) -> IterableDataset:
        """Shuffle shards, and rows within the reach of a buffer.

        The order is that of Hugging Face `datasets` 5.0, row for row. Rows of tables are shuffled as references: a
        buffer of a million rows takes 8 MB.

        Args:
            seed: not negative; None is a random one, so that no saved state fits another process.
            buffer_size: rows of the buffer.
            max_buffer_input_shards: groups of shards that fill the buffer side by side.
        """
        _require_at_least(1, buffer_size=buffer_size, max_buffer_input_shards=max_buffer_input_shards)
        known = known_seed(seed)

        def shuffled(child: Node) -> Node:
            return BufferShuffle(child.shuffle_data_sources(known), buffer_size, known, max_buffer_input_shards)

        return self.over(below_row_steps(self._node, shuffled, only_if=can_read_again))

    def skip(self, n: int) -> IterableDataset:
        """Leave out the first `n` rows."""
        _require_at_least(0, n=n)
        return self.over(below_row_steps(self._node, lambda child: Skip(child, n)))

    def take(self, n: int) -> IterableDataset:
        """Only the first `n` rows."""
        _require_at_least(0, n=n)
        return self.over(below_row_steps(self._node, lambda child: Take(child, n)))

    def repeat(self, num_times: int | None = None) -> IterableDataset:
        """All rows `num_times` times, each time in the same order; None is without end."""
        if num_times is not None:
            _require_at_least(0, num_times=num_times)
        return self.over(Repeat(self._node, num_times))

    def batch(self, batch_size: int, *, drop_last_batch: bool = False) -> IterableDataset:
        """Put rows together: a row of the result holds the lists of the values of `batch_size` rows."""
        _require_at_least(1, batch_size=batch_size)
        return self.over(Batch(self._node, batch_size, drop_last_batch))

    def unbatch(self) -> IterableDataset:
        """Take rows of lists apart: a row of the result holds one element of each list."""
        return self.over(Unbatch(self._node))

    def add_column(self, name: str, column: Sequence[Any] | pa.Array) -> IterableDataset:
        """One more column: value i belongs to the i-th row as the stream is now, so shuffle after it, or never.

        The number of rows must be that of the values; that it is not shows at the end of a pass.

        Args:
            name: its name.
            column: the values.
        """
        values = source_of_tables([pa.table({name: column})])
        return self.over(SideBySide((self._node, values)))

    def shard(self, num_shards: int, index: int, *, contiguous: bool = True) -> IterableDataset:
        """One of `num_shards` parts; where there are not so many shards, they are cut.

        Args:
            num_shards: number of parts.
            index: number of the part.
            contiguous: whether a part is a run of shards; else it is every `num_shards`-th.
        """
        _require_at_least(1, num_shards=num_shards)
        if not 0 <= index < num_shards:
            raise ValueError(f"index is {index}; there are parts 0 to {num_shards - 1}")
        if num_shards > self.num_shards:
            return self.over(self._node.split(num_shards, index))
        return self.over(self._node.shard_data_sources(num_shards, index, contiguous=contiguous))

    def reshard(self, num_shards: int | None = None) -> IterableDataset:
        """The same rows in smaller shards, as far as sources can be cut.

        Args:
            num_shards: how many there should be at least; None is one for each row group or record batch.
        """
        if num_shards is not None:
            _require_at_least(1, num_shards=num_shards)
        return self.over(self._node.reshard_data_sources(num_shards))

    # -- reading ------------------------------------------------------------------------------------------------------

    def with_format(
        self,
        type: Format | None = None,  # noqa: A002 - as in Hugging Face `datasets`
        columns: Sequence[str] | None = None,
        **options: Any,
    ) -> IterableDataset:
        """Rows and batches as `"python"`, `"numpy"`, `"torch"`, `"pandas"` or `"arrow"`.

        Args:
            type: the format; None is `"python"`.
            columns: the columns to show; None is all.
            options: of the format, see `get_formatter`.
        """
        options = {"name": type, "columns": columns, **options}
        get_formatter(**options)  # raises what is wrong with them here and now
        return IterableDataset(self._node, epoch=self.epoch, format_options=options)

    def __iter__(self) -> Iterator[Any]:
        return self._begin(ahead=False).rows()

    def iter(self, batch_size: int, *, drop_last_batch: bool = False) -> Iterator[Any]:
        """Iterate over batches of `batch_size` rows; the last may be shorter."""
        _require_at_least(1, batch_size=batch_size)
        return self._begin(ahead=True).batches(batch_size, drop_last_batch=drop_last_batch)

    def set_epoch(self, epoch: int) -> None:
        """Shuffle the next pass for this epoch. Loader processes that live on see it, too.

        Raises:
            StateError: the state of another epoch was loaded, and was not read on from yet.
        """
        _require_at_least(0, epoch=epoch)
        if epoch == self.epoch:
            return
        state = self._pending
        if state is not None and state["position"] is not None and not state["ended"]:
            raise StateError(
                f"a state of epoch {self.epoch} was loaded and not read on from; set_epoch({epoch}) would lose the rest"
                " of that epoch: begin the loop at the epoch of the state"
            )
        self._pending, self._pass = None, None
        self._epoch.set(epoch)

    # -- state --------------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """The position after the last row that was delivered by the pass that was begun last; JSON.

        The pass is one of this process: where loader processes read, each has a position of its own.
        """
        if self._pass is None and self._pending is not None:
            return dict(self._pending)
        began = self._pass
        return {
            "version": VERSION,
            "epoch": self.epoch if began is None else began.epoch,
            "worker": None if began is None else began.worker,
            "stream": self._description,
            "ended": began is not None and began.ended,
            "position": None if began is None else encode(began.state()),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Let the next pass go on where a state was taken; nothing is read before.

        Raises:
            StateError: the state is not of this stream; names what differs.
        """
        if state.get("version") != VERSION:
            raise StateError(f"the state has version {state.get('version')}; this release reads version {VERSION}")
        require_same(state.get("stream", {}), self._description)
        self._epoch.set(state["epoch"])
        self._pending, self._pass = dict(state), None

    # -- inside -------------------------------------------------------------------------------------------------------

    @property  # type: ignore[misc]  # to the type checker it is an attribute
    def __class__(self) -> Any:
        """What `isinstance` sees: torch's class as well, once there is torch, without the cost of importing it."""
        return class_for_torch(IterableDataset)

    def __reduce__(self) -> tuple[Callable[..., IterableDataset], tuple[bytes, ...], dict[str, Any]]:
        state = {**self.__dict__, "_pass": None}  # pickle by itself would stumble over `__class__`
        if get_spawning_popen() is None:
            return _blank, (), state
        node = cloudpickle.dumps(state.pop("_node"))  # a loader process gets functions within functions, too, as by Ray
        return _blank, (node,), state

    def _begin(self, *, ahead: bool) -> Delivery:
        """A pass of the present epoch, or what is left of one where a state was loaded."""
        state, self._pending = self._pending, None
        self._pass = Delivery(self._node, self.epoch, self._format_options, ahead=ahead)
        if state is not None and state["position"] is not None:
            self._pass.load(decode(state["position"]), state["worker"])
        return self._pass

    @cached_property
    def _num_rows(self) -> int | None:
        known = self._node.num_rows
        return self._node.counted().num_rows if known is None else known

    @cached_property
    def _description(self) -> dict[str, Any]:
        return describe(self._node)

    @override
    def _then(self, step: Step) -> IterableDataset:
        return self.over(Transform(self._node, step))

    @property
    @override
    def _schema_at_hand(self) -> pa.Schema | None:
        return self._node.schema

    @property
    @override
    def _own_batch_format(self) -> BatchFormat:
        return self._format_options["name"] or "python"


def _blank(node: bytes | None = None) -> IterableDataset:
    stream = object.__new__(IterableDataset)
    if node is not None:
        stream._node = pickle.loads(node)  # noqa: S301 - it is a part of the pickle that is being loaded
    return stream


def known_seed(seed: int | None) -> Seed:
    """A user's seed, or a random one for None.

    Raises:
        ValueError: it is negative.
    """
    if seed is None:
        return Seed(int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(1)))
    _require_at_least(0, seed=seed)
    return Seed(seed)


def _require_at_least(least: int, **values: int) -> None:
    for name, value in values.items():
        if value < least:
            raise ValueError(f"{name} is {value}; it must be at least {least}")
