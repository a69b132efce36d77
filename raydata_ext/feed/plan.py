"""What a feed delivers, as a value: a stream, cut into lanes, in steps of a global batch."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from raydata_ext.feed.lanes import is_shuffled, lane_limit, lane_nodes, table_sources
from raydata_ext.feed.layout import Layout
from raydata_ext.feed.mixture import Mixture, Stage
from raydata_ext.streaming.nodes.gather import table_bases
from raydata_ext.streaming.nodes.transform import Transform
from raydata_ext.streaming.row_reader import RowReader
from raydata_ext.streaming.state import describe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from raydata_ext.streaming import IterableDataset
    from raydata_ext.streaming.nodes.base import Bases, Node
    from raydata_ext.table import Table

EndOfEpoch: TypeAlias = Literal["drop", "pad", "uneven"]

DEFAULT_LANES = 64

_NOT_CUT = (
    "this stream counts, makes or leaves out rows as it is read, and so cannot be cut into runs of rows",
    "compute its rows first (`LazyDataset.collect`), or use num_lanes=1",
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class FeedPlan:
    """A stream and how it is dealt.

    Attributes:
        node: the whole stream.
        format_options: of the batches, keyword arguments of `get_formatter`.
        num_lanes: number of lanes, as many as the stream can be cut into at most.
        global_batch_size: rows of a step, over all ranks.
        end_of_epoch: what becomes of a last step that is not full: `"drop"` leaves it out, `"pad"` fills it with the
            first rows of the epoch again, `"uneven"` delivers what there is.
    """

    node: Node
    format_options: Mapping[str, Any]
    num_lanes: int
    global_batch_size: int
    end_of_epoch: EndOfEpoch

    @classmethod
    def of(
        cls,
        stream: IterableDataset,
        *,
        global_batch_size: int,
        num_lanes: int | None = None,
        end_of_epoch: EndOfEpoch = "drop",
    ) -> FeedPlan:
        """Check the arguments and choose the number of lanes; see `StreamingCoordinator.create`.

        Raises:
            ValueError: an argument is out of range, or the stream cannot be cut into lanes and more than one was
                asked for.
        """
        for name, value in {"global_batch_size": global_batch_size, "num_lanes": num_lanes}.items():
            if value is not None and value < 1:
                raise ValueError(f"{name} is {value}; it must be at least 1")
        if end_of_epoch not in get_args(EndOfEpoch):
            raise ValueError(f"end_of_epoch is {end_of_epoch!r}; choose one of {get_args(EndOfEpoch)}")
        node = stream.node
        limit = lane_limit(node)
        if limit is None and num_lanes is None:
            logger.warning("%s: it has one lane, and each rank reads all of it to keep its part; %s", *_NOT_CUT)
        if num_lanes is None:
            num_lanes = DEFAULT_LANES if limit is not None and is_shuffled(node) else 1
        if limit is None and num_lanes > 1:
            raise ValueError(f"num_lanes is {num_lanes}, but {_NOT_CUT[0]}; {_NOT_CUT[1]}")
        return cls(node, stream.format_options, min(num_lanes, limit or 1), global_batch_size, end_of_epoch)

    @property
    def binding(self) -> dict[str, Any]:
        """What a saved state is bound to."""
        return {
            "num_lanes": self.num_lanes,
            "global_batch_size": self.global_batch_size,
            "end_of_epoch": self.end_of_epoch,
            **describe(self.node),
        }

    def epoch(self, number: int) -> EpochOrder:
        """The order of an epoch."""
        steps, lowest = _row_steps(self.node)
        lanes = lane_nodes(lowest, number, self.num_lanes)
        size, count = self.global_batch_size, self.num_lanes
        lanes = [_with_stages_in_rows(node, lane, size, count) for lane, node in enumerate(lanes)]
        lengths = [_length(lane) for lane in lanes]
        known = [length for length in lengths if length is not None]
        layout = Layout(known) if len(known) == len(lengths) else None
        return EpochOrder(self, tuple(steps), lowest.tables, tuple(lanes), layout)


@dataclass(frozen=True, eq=False)
class EpochOrder:
    """The lanes of one epoch.

    Attributes:
        plan: what it is an epoch of.
        row_steps: what is done to each row at last, the first step first.
        tables: the tables that references refer to.
        lanes: the rows of each lane.
        layout: where positions lie; None where the number of rows is not known before they are read, and then there is
            one lane.
    """

    plan: FeedPlan
    row_steps: tuple[Transform, ...]
    tables: tuple[Table, ...]
    lanes: tuple[Node, ...]
    layout: Layout | None

    @property
    def indexed(self) -> bool:
        """Whether the order can be computed on references, without reading rows."""
        return all(lane.indexed for lane in self.lanes)

    @property
    def mixture_names(self) -> tuple[str, ...]:
        """Names of the sources, where the lanes are mixtures."""
        return self.lanes[0].names if isinstance(self.lanes[0], Mixture) else ()

    @property
    def bases(self) -> Bases | None:
        """Which references stand for which rows; the same for all readers of the epoch. None where there are none."""
        return table_bases(self.tables) if self.indexed else None

    @property
    def shard_starts(self) -> NDArray[np.int64]:
        """First reference of each shard of the tables, ascending; int64, shape (shards,)."""
        bases = table_bases(self.tables)
        starts = [source.runs[:, 0] + bases[id(source.table)] for source in table_sources(self.plan.node)]
        return np.unique(np.concatenate([np.empty(0, np.int64), *starts]))

    @property
    def steps(self) -> int | None:
        """Steps of the epoch; None where it is not known, or there is no end."""
        if self.layout is None or self.layout.is_endless:
            return None
        return steps_of(self.layout.total, self.plan)


def steps_of(total: int, plan: FeedPlan) -> int:
    """Steps of an epoch of so many rows."""
    full, rest = divmod(total, plan.global_batch_size)
    return full + (rest > 0 and plan.end_of_epoch != "drop")


def _row_steps(node: Node) -> tuple[list[Transform], Node]:
    """The steps on top that treat each row for itself, and what lies below them."""
    steps: list[Transform] = []
    while isinstance(node, Transform) and node.is_row_by_row:
        steps.insert(0, node)
        node = node.child
    return steps, node


def _with_stages_in_rows(node: Node, lane: int, global_batch_size: int, num_lanes: int) -> Node:
    """A mixture's stages begin at steps; a lane counts its own rows."""
    node = node.with_children(
        [_with_stages_in_rows(child, lane, global_batch_size, num_lanes) for child in node.children]
    )
    if not isinstance(node, Mixture):
        return node
    stages = []
    for stage in node.stages:
        full, rest = divmod(stage.start * global_batch_size, num_lanes)
        stages.append(Stage(full + (lane < rest), stage.weights))
    return replace(node, stages=tuple(stages))


def _length(lane: Node) -> int | None:
    """Rows of a lane; counted on references where no formula gives them."""
    if lane.num_rows is not None:
        return lane.num_rows
    order = _without_row_steps(lane)
    if not order.indexed:
        return None
    reader, rows = RowReader(order.open(table_bases(order.tables))), 0
    while found := reader.available():
        reader.start += found
        rows += found
    return rows


def _without_row_steps(node: Node) -> Node:
    if isinstance(node, Transform) and node.is_row_by_row:
        return _without_row_steps(node.child)
    return node.with_children([_without_row_steps(child) for child in node.children])
