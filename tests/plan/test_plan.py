"""Plans: positions, and what has to run first."""

from __future__ import annotations

import pyarrow as pa

from raydata_ext.plan import Filter, Map, Plan, Position, TableShard, UserFunction
from raydata_ext.sources import scan_files
from raydata_ext.table import InMemoryTable


def same(row, *rest):
    return row


def tables(*lengths):
    return tuple(TableShard(InMemoryTable(pa.table({"a": list(range(n))}))) for n in lengths)


INDEXED = Map(UserFunction(same), with_indices=True)
ROW_MAP = Map(UserFunction(same))
BATCH_MAP = Map(UserFunction(same), batched=True)
FILTER = Filter(UserFunction(same))


def test_rows_before_a_shard_are_counted_where_all_before_are_known():
    assert Plan(tables(3, 0, 5)).positions == [Position(0, 0), Position(1, 3), Position(2, 3)]


def test_a_step_that_keeps_the_count_runs_with_the_one_that_needs_it():
    plan = Plan(tables(3, 5), (ROW_MAP, INDEXED))
    assert plan.head() == (plan, ())


def test_what_changes_the_count_runs_before_the_step_that_needs_it():
    for changing in (FILTER, BATCH_MAP):
        now, later = Plan(tables(3, 5), (ROW_MAP, changing, INDEXED, ROW_MAP)).head()
        assert now.steps == (ROW_MAP, changing)
        assert later == (INDEXED, ROW_MAP)


def test_files_are_read_once_before_rows_can_be_counted(corpus):
    source = scan_files(str(corpus), format="text")
    now, later = Plan(source.shards, (INDEXED,)).head()
    assert now.steps == ()
    assert later == (INDEXED,)
