"""Rows as a stream: read front to back, in an order that can be resumed at any row.

A stream is a tree of nodes, each an immutable value (`nodes/`, one a file; `nodes.base` is their one protocol). Opening
a node gives a cursor: it hands out pieces of rows, says where it stands, and goes to where it stood.

The way of a row
    A source refers to it (`table_source`, eight bytes a row; `arrow_files` maps files so that it can) or reads it
    (`shard_source`, over `shards`; `file_units` says where files can be cut and what need not be read, `read_ahead`
    reads while one works). Nodes that choose and order rows, such as `interleave` or `buffer_shuffle`, do the same to
    references as to record batches (`rows`); the arithmetic of it is in `order`, the random numbers in `seeds`, and
    what all mixtures do in `mixing`. Where something needs the rows themselves, a `gather` reads those that are
    referred to, and only those; for who reads batches, `cursor_ahead` has the next ones copied meanwhile. `transform`
    does the engine's steps on record batches. Python rows are made last, as a view of a record batch (`delivery`).
The way of a position
    It is always (shard, unit, row), and a little for each node; a unit can be read without those before it. Pieces are
    as large as is fast; a `row_reader` makes a position exact to the row, as a piece and the rows of it that are done.
    What waits in a shuffle is saved as references. Rows that are read front to back are kept while they wait
    (`kept_rows`): in a `shard_memory`, whose references are the places of rows, so that only units in which rows wait
    are read again; or, where steps made the rows, in a `row_memory`, which reads again from the oldest of them on.
    `state` makes a position JSON and binds it to the tree, and through `identity` to its data.
The faces
    `iterable_dataset`, with the steps of `stream_steps` (`cast_column` is one that plans do not have), over sources
    that `make_source` makes; `combine` joins streams and splits them; `absent` answers for what is not there.
    `known` is what can be told of a stream before it is read. `torch_side` and `shared_epoch` are what loader processes
    need.
"""

from __future__ import annotations

from raydata_ext.streaming.combine import concatenate_datasets, interleave_datasets, split_dataset_by_node
from raydata_ext.streaming.iterable_dataset import IterableDataset

__all__ = ["IterableDataset", "concatenate_datasets", "interleave_datasets", "split_dataset_by_node"]
