"""Steps that touch columns only, in a chain with others."""

from __future__ import annotations

import pyarrow as pa
import pytest

from raydata_ext.dataset import Dataset, scan_dataset
from raydata_ext.errors import PlanError, SchemaError


@pytest.fixture
def lazy(tmp_path):
    return Dataset.from_dict({"a": [1, 2], "b": ["x", "y"], "c": [True, None]}, cache_dir=tmp_path).lazy()


def collected(lazy):
    return lazy.collect(executor="inline")


def test_selecting_keeps_the_order_that_was_asked_for(lazy):
    assert collected(lazy.select_columns(["c", "a"])).to_dict() == {"c": [True, None], "a": [1, 2]}


def test_removing_leaves_the_rest(lazy):
    assert collected(lazy.remove_columns("b")).column_names == ["a", "c"]


def test_renaming_keeps_places_and_may_swap(lazy):
    assert collected(lazy.rename_columns({"a": "b", "b": "a"})).to_dict() == {
        "b": [1, 2],
        "a": ["x", "y"],
        "c": [True, None],
    }


def test_casting_adds_columns_of_nulls(lazy):
    schema = pa.schema({"b": pa.large_string(), "a": pa.int8(), "c": pa.bool_(), "d": pa.float32()})
    result = collected(lazy.cast(schema))
    assert result.schema.remove_metadata() == schema
    assert result[1] == {"b": "y", "a": 2, "c": None, "d": None}


def test_without_any_column_the_number_of_rows_stays(lazy):
    assert len(collected(lazy.remove_columns(["a", "b", "c"]))) == 2


@pytest.mark.parametrize(
    "step",
    [
        lambda lazy: lazy.select_columns(["a", "zz"]),
        lambda lazy: lazy.remove_columns("zz"),
        lambda lazy: lazy.rename_columns({"zz": "a"}),
        lambda lazy: lazy.map(len, remove_columns="zz"),
        lambda lazy: lazy.map(len, input_columns="zz"),
        lambda lazy: lazy.map(len, input_columns="zz", batched=True),
        lambda lazy: lazy.filter(len, input_columns="zz"),
        lambda lazy: lazy.filter(len, input_columns="zz", batched=True),
    ],
)
def test_a_column_that_is_not_there_is_an_error_that_lists_those_that_are(lazy, step):
    with pytest.raises(PlanError, match=r"step 1 .*rows 0 to 1: there is no column 'zz'.*\['a', 'b', 'c'\]"):
        collected(step(lazy))


def test_two_columns_of_one_name_are_an_error(lazy):
    with pytest.raises(PlanError, match=r"same name.*\['b', 'b', 'c'\]"):
        collected(lazy.rename_columns({"a": "b"}))


def test_a_value_that_does_not_fit_the_schema_is_an_error_with_file_column_and_types(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text('{"n": "12"}\n{"n": "twelve"}\n')
    with pytest.raises(SchemaError, match=r"step 1 `cast`: .*rows\.jsonl.*: rows 0 to 1: .*`n`.*string.*int64"):
        collected(scan_dataset(str(file), schema=pa.schema({"n": pa.int64()}), cache_dir=tmp_path / "cache"))


def test_a_column_that_no_row_was_left_to_make_is_no_error(tmp_path):
    """The second shard loses all its rows before a function could add `n`; what follows takes `n` for granted."""
    for number, word in enumerate(["long enough", "no"]):
        (tmp_path / f"{number}.jsonl").write_text(f'{{"text": "{word}"}}\n')
    lazy = scan_dataset(str(tmp_path / "*.jsonl"), cache_dir=tmp_path / "cache", max_shard_bytes=24)
    lazy = lazy.filter(lambda row: len(row["text"]) > 3).map(lambda row: {"n": len(row["text"])})
    assert len(lazy.plan.shards) == 2
    for changed in (
        lazy.rename_columns({"n": "length"}).select_columns("length"),
        lazy.remove_columns("text").rename_columns({"n": "length"}),
        lazy.rename_columns({"n": "length"}).cast(pa.schema({"length": pa.int64(), "text": pa.string()})),
    ):
        result = collected(changed)
        assert result["length"] == [11]
        result.save_to_disk(tmp_path / "out" / "-".join(result.column_names), executor="inline")
