"""Streams of every kind, by name, for the tests of resuming.

Run as a program of its own, `pipelines.py DIRECTORY FILE`, it goes on in a new process where the states in a JSON file
(name -> state) were saved, and prints (name -> rows) as JSON.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import raydata_ext.streaming as rs
from raydata_ext.sources import scan_files
from raydata_ext.table import InMemoryTable, MemoryMappedTable, ShardWriter

SIZES = (4, 0, 6, 2, 3)
ROWS = sum(SIZES)


def columns(first, count):
    numbers = list(range(first, first + count))
    return {
        "x": numbers,
        "text": [f"row {n} " + "y" * (n % 5) for n in numbers],
        "ids": [[n] * (n % 3) for n in numbers],
    }


def shard_tables(sizes=SIZES):
    first = 0
    for size in sizes:
        schema = pa.schema([("x", pa.int64()), ("text", pa.string()), ("ids", pa.list_(pa.int64()))])
        yield pa.table(columns(first, size), schema=schema)
        first += size


def write_corpus(root):
    """The same rows in files of each format; files of five shards, with small record batches and row groups."""
    for number, table in enumerate(shard_tables()):
        rows = table.to_pylist()
        (root / f"{number}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (root / f"{number}.txt").write_text("".join(f"{row['x']}\n" for row in rows))
        pq.write_table(table, root / f"{number}.parquet", row_group_size=4)
        with pa.OSFile(str(root / f"{number}.feather"), "wb") as file:
            options = pa.ipc.IpcWriteOptions(compression="lz4")
            with pa.ipc.new_file(file, table.schema, options=options) as writer:
                writer.write_table(table, 2)
        with ShardWriter(root / f"{number}.arrow", table.schema, batch_rows=2) as writer:
            for batch in table.to_batches():
                writer.write(batch)


def generate(bounds):
    for low, high in bounds:
        for number in range(low, high):
            yield {key: values[0] for key, values in columns(number, 1).items()}


def sources(root):
    """Name -> function that makes a stream of the same rows from another kind of source."""
    ends = [sum(SIZES[:i]) for i in range(len(SIZES) + 1)]
    bounds = list(itertools.pairwise(ends))
    tables = [InMemoryTable(table) for table in shard_tables()]
    mapped = [MemoryMappedTable.from_file(root / f"{i}.arrow") for i in range(len(SIZES))]
    shards = {suffix: _files(root, suffix) for suffix in ("jsonl", "parquet", "arrow", "feather", "txt")}
    return {
        "tables": lambda: rs.IterableDataset.from_tables(tables),
        "mapped": lambda: rs.IterableDataset.from_tables(mapped),
        "jsonl": lambda: rs.IterableDataset.from_shards(shards["jsonl"]),
        "parquet": lambda: rs.IterableDataset.from_shards(shards["parquet"]),
        "arrow": lambda: rs.IterableDataset.from_shards(shards["arrow"]),
        "compressed arrow": lambda: rs.IterableDataset.from_shards(shards["feather"]),
        "text": lambda: rs.IterableDataset.from_shards(shards["txt"]).map(_parsed),
        "generator": lambda: rs.IterableDataset.from_generator(generate, {"bounds": bounds}),
        "one generator": lambda: rs.IterableDataset.from_generator(generate, {"bounds": [(0, ROWS)]}),
    }


def _files(root, suffix):
    return [shard for i in range(len(SIZES)) for shard in scan_files(str(root / f"{i}.{suffix}")).shards]


def _parsed(row):
    return {"x": int(row["text"]), "ids": [int(row["text"])]}


def _twice(row):
    return {"y": row["x"] * 2}


def _batch_sums(batch):
    return {"x": batch["x"], "sum": [sum(batch["x"])] * len(batch["x"])}


def _more_rows(batch):
    return {"x": [x for x in batch["x"] for _ in range(x % 3)]}


async def _later(row):
    await asyncio.sleep(0)
    return {"z": row["x"] + 1}


class _Scale:
    def __init__(self, by):
        self.by = by

    def __call__(self, row, index):
        return {"scaled": row["x"] * self.by, "index": index}


STEPS = {
    "map": lambda s: s.map(_twice),
    "map with indices": lambda s: s.map(lambda row, i: {"i": i}, with_indices=True),
    "map of columns": lambda s: s.map(lambda x: {"y": -x}, input_columns="x", remove_columns="text"),
    "map by batches": lambda s: s.map(_batch_sums, batched=True, batch_size=4),
    "map to other counts": lambda s: s.map(_more_rows, batched=True, batch_size=3, remove_columns=["text", "ids"]),
    "map without last batch": lambda s: s.map(_batch_sums, batched=True, batch_size=5, drop_last_batch=True),
    "map of all rows": lambda s: s.map(_batch_sums, batched=True, batch_size=None),
    "map of coroutines": lambda s: s.map(_later),
    "map by a class": lambda s: s.map(_Scale, constructor_kwargs={"by": 3}, with_indices=True),
    "filter": lambda s: s.filter(lambda row: row["x"] % 3 != 0),
    "filter by batches": lambda s: s.filter(lambda b: [x % 2 == 0 for x in b["x"]], batched=True, batch_size=5),
    "filter of nothing": lambda s: s.filter(lambda x: x < 0, input_columns="x"),
    "shuffle": lambda s: s.shuffle(3, buffer_size=7),
    "shuffle of one group": lambda s: s.shuffle(4, buffer_size=5, max_buffer_input_shards=1),
    "shuffle in a large buffer": lambda s: s.shuffle(5, buffer_size=100, max_buffer_input_shards=3),
    "skip": lambda s: s.skip(4),
    "take": lambda s: s.take(9),
    "repeat": lambda s: s.repeat(2),
    "batch": lambda s: s.batch(4),
    "batch and unbatch": lambda s: s.batch(5).unbatch(),
    "columns": lambda s: s.select_columns(["x", "ids"]).rename_column("x", "number").remove_columns("ids"),
    "cast": lambda s: s.select_columns(["x"]).cast(pa.schema([("x", pa.int32()), ("more", pa.string())])),
    "shard": lambda s: s.shard(2, 1),
    "shard of rows": lambda s: s.shard(7, 2),
    "reshard": lambda s: s.reshard(11),
    "rows of a node": lambda s: rs.split_dataset_by_node(s, 1, 3, strategy="rows"),
    "padded rows of a node": lambda s: rs.split_dataset_by_node(s, 2, 5, strategy="rows", remainder="pad"),
    "shards of a node": lambda s: rs.split_dataset_by_node(s, 1, 2, strategy="shards"),
}

CHAINS = {
    "shuffle, map, take": lambda s: s.shuffle(1, buffer_size=6).map(_twice).take(8),
    "map, shuffle, batch": lambda s: s.map(_batch_sums, batched=True, batch_size=4).shuffle(1, buffer_size=6).batch(3),
    "filter, shuffle, skip": lambda s: s.filter(lambda r: r["x"] % 4 != 0).shuffle(2, buffer_size=4).skip(3),
    "skip, shuffle, map": lambda s: s.skip(4).shuffle(2, buffer_size=4).map(lambda r, i: {"i": i}, with_indices=True),
    "shuffle, shuffle, shuffle": lambda s: (
        s.shuffle(1, buffer_size=3).shuffle(2, buffer_size=9).shuffle(3, buffer_size=4)
    ),
    "take, repeat, shuffle": lambda s: s.take(4).repeat(3).shuffle(9, buffer_size=5),
    "maps of batches": lambda s: (
        s.map(_more_rows, batched=True, batch_size=4, remove_columns=["text", "ids"])
        .map(_batch_sums, batched=True, batch_size=3)
        .filter(lambda b: [x % 2 == 1 for x in b["x"]], batched=True, batch_size=2)
    ),
    "shuffle, node, batch": lambda s: rs.split_dataset_by_node(
        s.shuffle(1, buffer_size=9), 0, 2, strategy="rows"
    ).batch(2),
    "node of a node": lambda s: rs.split_dataset_by_node(rs.split_dataset_by_node(s, 0, 2), 1, 2),
}

MIXTURES = {
    "concatenated": lambda a, b: rs.concatenate_datasets([a, b]),
    "of different columns, shuffled": lambda a, b: rs.concatenate_datasets(
        [a.select_columns("x"), b.map(_batch_sums, batched=True).select_columns(["text", "sum"])]
    ).shuffle(8, buffer_size=6),
    "concatenated and shuffled": lambda a, b: rs.concatenate_datasets([a, b]).shuffle(8, buffer_size=6),
    "side by side": lambda a, b: rs.concatenate_datasets(
        [a.select_columns("x"), b.select_columns("text")], axis=1
    ).shuffle(3, buffer_size=4),
    "in turn": lambda a, b: rs.interleave_datasets([a, b.take(5)]),
    "in turn, all": lambda a, b: rs.interleave_datasets([a, b.take(5)], stopping_strategy="all_exhausted"),
    "in turn, each once": lambda a, b: rs.interleave_datasets(
        [a.take(4), b], stopping_strategy="all_exhausted_without_replacement"
    ),
    "by chance": lambda a, b: rs.interleave_datasets([a, b], [0.3, 0.7], seed=1),
    "by chance, all": lambda a, b: rs.interleave_datasets(
        [a.shuffle(2, buffer_size=3), b.take(3)], [0.6, 0.4], seed=2, stopping_strategy="all_exhausted"
    ),
    "by chance, each once": lambda a, b: rs.interleave_datasets(
        [a, b, a.skip(11)], [0.2, 0.5, 0.3], seed=3, stopping_strategy="all_exhausted_without_replacement"
    ),
    "mixed, then shuffled": lambda a, b: rs.interleave_datasets([a, b], [0.5, 0.5], seed=4).shuffle(5, buffer_size=8),
}


SOURCES = ("tables", "mapped", "jsonl", "parquet", "arrow", "compressed arrow", "text", "generator", "one generator")
ON_ALL_SOURCES = ("map by batches", "filter", "shuffle", "batch", "rows of a node", "shard of rows")
ON_FILES_TOO = ("shuffle, map, take", "map, shuffle, batch", "shuffle, shuffle, shuffle", "filter, shuffle, skip")
PAIRS = (("tables", "mapped"), ("jsonl", "generator"), ("tables", "parquet"))


def names():
    """The kinds of streams."""
    return list(_recipes())


def pipelines(root):
    """Kind -> function that makes the stream anew."""
    made = sources(root)
    return {kind: _recipe(step, [made[name] for name in of]) for kind, (of, step) in _recipes().items()}


def _recipes():
    found = {}
    for source in SOURCES:
        found[source] = ((source,), lambda s: s)
        for name in ON_ALL_SOURCES:
            found[f"{source}: {name}"] = ((source,), STEPS[name])
    for source in ("tables", "generator"):
        found |= {f"{source}: {name}": ((source,), step) for name, step in {**STEPS, **CHAINS}.items()}
    for source in ("jsonl", "parquet"):
        found |= {f"{source}: {name}": ((source,), CHAINS[name]) for name in ON_FILES_TOO}
    for pair in PAIRS:
        found |= {f"{' and '.join(pair)}: {name}": (pair, mix) for name, mix in MIXTURES.items()}
    return found


def _recipe(step, of):
    return lambda: step(*(make() for make in of))


def main(directory, path):
    states = json.loads(Path(path).read_text())
    makers = pipelines(Path(directory))
    rests = {}
    for name, state in states.items():
        stream = makers[name]()
        stream.load_state_dict(state)
        rests[name] = list(stream)
    sys.stdout.write(json.dumps(rests))


if __name__ == "__main__":
    main(*sys.argv[1:])
