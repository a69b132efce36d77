"""Feeding distributed trainers: one order, cut into lanes, dealt to any number of ranks, and resumed exactly.

Order
    By arithmetic on references, without Ray: `lanes` cuts a stream into equal runs of rows, each of which is a stream
    of its own, and `layout` says which row of which lane has which global position; `lane_rounds` reads lanes in turn.
    `plan` is all that together with the global batch: what is delivered, as a value. `share` says which part of a step
    is a rank's. `mixture` mixes sources by weights that change at steps.
Rows
    `rank_rows` takes the references of a rank out of the lanes, `rank_reads` reads them, for which `copies_ahead`
    copies remote files to the node, and `rank_batches` does what is done to each row and cuts the result at steps; it
    is the one way from plan to rows, whoever runs it. What is found out on the way stands in an `epoch_log`. `batch` is
    what a trainer is given.
Position
    `feed_state` is one as JSON, which fits any number of ranks. `order_tracker` finds where all lanes stand at a step,
    on references.
Processes
    `coordinator` is the user's handle on `coordinator_actor` (`coordinator_call` waits for its answers), which keeps
    track of the ranks (`progress`), writes that down (`books`), and never sees a row. `trainer_feed` runs in the
    trainer's process: it joins the coordinator, makes batches in a thread (`prefetch`) or lets reader actors make them
    (`reader_pool`, `reader_actor`), and tells how far it is in another thread (`reporter`). `figures` is what it
    measures. `torch_feed` is the feed as torch wants it.
Beside that
    `packing` lays documents into sequences of equal length, as a step of a plan; `pack_node` does so in a stream.
    `shuffle_quality` measures and draws how well an epoch is shuffled. `status_view` shows a running feed in a
    terminal. `buffer_states` keeps saved positions small.

The path of a row: lane -> reference -> (rank of its global position) -> gathered from a mapped table with the others of
its step -> the row-by-row steps of the stream -> the format of the stream -> the trainer.
"""

from __future__ import annotations

from raydata_ext.errors import CoordinatorLostError, StaleFeedError
from raydata_ext.feed.batch import FeedBatch
from raydata_ext.feed.coordinator import StreamingCoordinator
from raydata_ext.feed.feed_state import merge_states
from raydata_ext.feed.mixture import mix
from raydata_ext.feed.pack_node import pack_stream
from raydata_ext.feed.packing import Pack, pack
from raydata_ext.feed.shuffle_quality import ShuffleQuality, shuffle_quality
from raydata_ext.feed.status_view import watch
from raydata_ext.feed.trainer_feed import TrainerFeed

__all__ = [
    "CoordinatorLostError",
    "FeedBatch",
    "Pack",
    "ShuffleQuality",
    "StaleFeedError",
    "StreamingCoordinator",
    "TrainerFeed",
    "merge_states",
    "mix",
    "pack",
    "pack_stream",
    "shuffle_quality",
    "watch",
]
