"""The nodes of a stream, one a file; `base` is what they all have in common.

Sources: `table_source`, `shard_source`. Order, on references or record batches: `concat`, `interleave`, `round_robin`
(`table_rounds` is its arithmetic over tables), `buffer_shuffle`, `skip_take`, `repeat`, `every_nth`, and `node_part`,
which is one of these or a part of the shards.
From references to record batches: `gather`. Record batches changed: `transform`, `batch`, `unbatch`, `side_by_side`.
"""
