"""A step sees the columns of its shard, wherever blocks and files end."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

import raydata_ext as rdx
from raydata_ext.engine.uniform_rows import ColumnsGrewError, UniformRows, columns_of
from raydata_ext.errors import StepError

BLOCK_BYTES = 4 << 20


def batch(rows: list[dict[str, object]]) -> tuple[str, pa.RecordBatch]:
    return "file", pa.RecordBatch.from_pylist(rows)


def write(path, rows) -> str:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def shown(row) -> dict[str, str]:
    return {"seen": json.dumps(dict(row))}


def test_batches_get_all_columns_in_one_order_with_one_type_each():
    batches = [batch([{"a": 1}]), batch([{"b": [None], "a": 0.5}]), batch([{"b": ["x"]}])]
    columns = columns_of(batches)
    assert columns == {"a": pa.float64(), "b": pa.list_(pa.string())}
    found = [part.to_pylist() for _, part in UniformRows(batches, columns)]
    assert found == [[{"a": 1.0, "b": None}], [{"a": 0.5, "b": [None]}], [{"a": None, "b": ["x"]}]]
    assert len({part.schema for _, part in UniformRows(batches, columns)}) == 1


def test_the_columns_of_the_first_batch_are_trusted_until_there_are_more():
    fits = [batch([{"a": 0.5, "b": "x"}]), batch([{"b": "y"}]), batch([{"a": 1}])]
    assert [part.to_pylist() for _, part in UniformRows(fits, None)] == [
        [{"a": 0.5, "b": "x"}],
        [{"a": None, "b": "y"}],
        [{"a": 1.0, "b": None}],
    ]
    for more in ([{"c": 1}], [{"a": "x"}], [{"a": None, "b": {"x": 1}}]):
        rows = UniformRows([*fits, batch(more)], None)
        with pytest.raises(ColumnsGrewError):
            list(rows)


def test_types_that_do_not_go_together_stay_as_they_are():
    batches = [batch([{"a": 1}]), batch([{"a": "x"}]), batch([{"b": 1}])]
    found = [part.to_pylist() for _, part in UniformRows(batches, columns_of(batches))]
    assert found == [[{"a": 1, "b": None}], [{"a": "x", "b": None}], [{"a": None, "b": 1}]]


def test_batches_without_rows_pass_and_say_nothing_of_types():
    nothing = ("file", pa.RecordBatch.from_pylist([], pa.schema([("a", pa.string())])))
    batches = [nothing, batch([{"a": 1}]), nothing]
    assert columns_of(batches) == {"a": pa.int64()}
    assert [part.num_rows for _, part in UniformRows(batches, None)] == [0, 1, 0]


@pytest.mark.parametrize("large", [0, BLOCK_BYTES])
def test_what_a_function_sees_does_not_depend_on_where_blocks_end(tmp_path, large):
    """With large rows, each is a block of its own."""
    rows = [{"n": 1, "x" * 3: "y" * large}, {"n": 0.5, "late": [1]}, {"n": None, "late": []}]
    path = write(tmp_path / "rows.jsonl", [{**row, "pad": "z" * large} for row in rows])
    plan = rdx.scan_dataset(path, cache_dir=tmp_path / "cache").remove_columns(["xxx", "pad"]).map(shown)
    assert [json.loads(text) for text in plan.collect(executor="inline")["seen"]] == [
        {"n": 1.0, "late": None},
        {"n": 0.5, "late": [1]},
        {"n": None, "late": []},
    ]


def test_a_key_that_only_a_later_file_of_the_shard_has_is_null_before(tmp_path):
    write(tmp_path / "corpus" / "0.jsonl", [{"n": 0}])
    write(tmp_path / "corpus" / "1.jsonl", [{"n": 1, "tag": "a"}])
    plan = rdx.scan_dataset(tmp_path / "corpus", cache_dir=tmp_path / "cache")
    found = plan.filter(lambda row: row["tag"] is None).select_columns("tag").collect(executor="inline")
    assert found.to_list() == [{"tag": None}]
    with pytest.raises(StepError, match="KeyError: 'nothing'"):
        plan.map(lambda row: {"m": row["nothing"]}).collect(executor="inline")


def test_a_shard_whose_columns_grow_accounts_for_every_row_once(tmp_path):
    path = write(tmp_path / "rows.jsonl", [{"n": 1, "pad": "z" * BLOCK_BYTES}, {"n": 2, "late": 1}])
    with Path(path).open("a") as file:
        file.write('{"n": \n{"n": 3}\n')
    seen: list[int] = []

    def note(row) -> bool:
        seen.append(row["n"])
        return row["n"] < 3

    plan = rdx.scan_dataset(path, cache_dir=tmp_path / "cache").filter(note, version="1", exclude=["seen"])
    found = plan.collect(executor="inline", on_error="quarantine", max_errors=1)
    assert found.remove_columns("pad").to_list() == [{"n": 1, "late": None}, {"n": 2, "late": 1}]
    assert seen[-3:] == [1, 2, 3]


def test_a_schema_of_the_source_is_what_steps_see_without_a_second_pass(tmp_path):
    path = write(tmp_path / "rows.jsonl", [{"n": 1, "pad": "z" * BLOCK_BYTES}, {"n": 0.5}])
    schema = pa.schema([("n", pa.string()), ("pad", pa.string())])
    plan = rdx.scan_dataset(path, schema=schema, cache_dir=tmp_path / "cache").map(lambda row: {"m": row["n"]})
    assert plan.collect(executor="inline")["m"] == ["1", "0.5"]
