"""Rows as a stream: read front to back, in an order that can be resumed at any row.

A stream is a tree of nodes, each an immutable value (`nodes/`, one a file; `nodes.base` is their one protocol). Opening
a node gives a cursor: it hands out pieces of rows, says where it stands, and goes to where it stood. `iterable_dataset`
is the face of a tree, `combine` joins several.

A row's path: a source refers to it (`table_source`, eight bytes a row) or reads it (`shard_source`, over the shards of
`shards`). Nodes that choose and order rows, such as `skip`, `interleave` or `buffer_shuffle`, do the same to
references as to record batches (`rows`); the arithmetic of it is in `order`, the random numbers in `seeds`. Where
something needs the rows themselves, a `gather` reads those referred to, and only those. `transform` does the engine's
steps on record batches, and Python rows are made last, as a view of a record batch.

A position is always (shard, row), and a little for each node. Pieces are as large as is fast; a `row_reader` makes
positions exact to the row, as a piece and the rows of it that are done. What waits in a shuffle is saved as references;
where rows have none, a `row_memory` lends them some, and on resuming reads them again. `state` makes a position JSON
and binds it to the tree and its data.
"""

from __future__ import annotations

from raydata_ext.streaming.combine import concatenate_datasets, interleave_datasets, split_dataset_by_node
from raydata_ext.streaming.iterable_dataset import IterableDataset

__all__ = ["IterableDataset", "concatenate_datasets", "interleave_datasets", "split_dataset_by_node"]
