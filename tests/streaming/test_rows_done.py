"""A saved position tells how many rows lie before it, whatever the layout of the cursor's state."""

from __future__ import annotations

import pyarrow as pa
import pytest

from raydata_ext.streaming.make_source import source_of_tables
from raydata_ext.streaming.nodes.concat import Concat
from raydata_ext.streaming.nodes.gather import table_bases
from raydata_ext.streaming.nodes.round_robin import RoundRobin
from raydata_ext.streaming.row_reader import RowReader
from raydata_ext.streaming.rows_done import rows_read


def tables(*sizes):
    return source_of_tables([pa.table({"x": range(size)}) for size in sizes])


@pytest.mark.parametrize("tree", ["table", "concat", "round robin", "round robin of concats"])
def test_the_rows_before_each_position_are_those_that_were_read(tree):
    first, second, third = tables(7, 0, 9000), tables(12_000), tables(3, 5)
    node = {
        "table": first,
        "concat": Concat((first, second, third)),
        "round robin": RoundRobin((first, second, third)),
        "round robin of concats": RoundRobin((Concat((third, second)), Concat((first,)))),
    }[tree]
    reader, done = RowReader(node.open(table_bases(node.tables))), 0
    assert rows_read(node, reader.state()) == 0
    while (rows := reader.read(577)) is not None:
        done += len(rows)
        assert rows_read(node, reader.state()) == done
    assert done == sum(table.num_rows for table in node.tables)
