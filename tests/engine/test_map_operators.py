"""What `map` does where others guess, lose or convert. What it has in common with others: `test_map_as_huggingface`."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from raydata_ext.dataset import Dataset, scan_dataset
from raydata_ext.engine import Engine, run_all
from raydata_ext.errors import SchemaError, StepError

MANY = 2500  # rows that pass a row-wise step in three parts


@pytest.fixture
def dataset(tmp_path):
    return lambda columns, schema=None: Dataset.from_dict(columns, schema=schema, cache_dir=tmp_path / "cache")


def mapped(dataset, function, **arguments):
    return dataset.map(function, executor="inline", **arguments)


def types(dataset):
    return {field.name: str(field.type) for field in dataset.schema}


def torch_tensor(array):
    return pytest.importorskip("torch").from_numpy(array)


# Rows that differ from one another


def test_none_for_some_rows_and_a_column_for_others_is_null_for_some(dataset):
    source = dataset({"n": range(4)})
    result = mapped(source, lambda row: {"half": row["n"] // 2} if row["n"] % 2 else None)
    assert result.to_dict() == {"n": [0, 1, 2, 3], "half": [None, 0, None, 1]}
    assert types(result)["half"] == "int64"


def test_rows_may_set_different_columns(dataset):
    result = mapped(dataset({"n": [0, 1, 2]}), lambda row: {"abc"[row["n"]]: row["n"]})
    assert result.to_dict() == {"n": [0, 1, 2], "a": [0, None, None], "b": [None, 1, None], "c": [None, None, 2]}


def test_an_old_column_that_only_some_rows_set_keeps_its_value_in_the_others(dataset):
    result = mapped(dataset({"n": [0, 1, 2]}), lambda row: {"n": 10} if row["n"] == 1 else {})
    assert result["n"] == [0, 10, 2]


def test_a_column_that_is_first_seen_late_is_null_before(dataset):
    result = mapped(dataset({"n": range(MANY)}), lambda row: {"late": row["n"]} if row["n"] == MANY - 1 else {})
    assert result["late"] == [None] * (MANY - 1) + [MANY - 1]


def test_a_column_of_nulls_takes_the_type_of_the_first_value(dataset):
    result = mapped(dataset({"n": range(MANY)}), lambda row: {"tag": None if row["n"] < MANY - 1 else "x"})
    assert types(result)["tag"] == "string"
    assert result["tag"][-2:] == [None, "x"]


def test_integers_and_floats_make_floats_within_a_batch_and_between_batches(dataset):
    source = dataset({"n": range(MANY)})
    assert mapped(source, lambda row: {"x": 1 if row["n"] % 2 else 0.5})["x"][:2] == [0.5, 1.0]
    result = mapped(source, lambda row: {"x": 0.5 if row["n"] == MANY - 1 else 1})
    assert types(result)["x"] == "double"
    assert result["x"][-2:] == [1.0, 0.5]


def test_struct_fields_of_all_rows_are_united(dataset):
    result = mapped(
        dataset({"n": range(MANY)}), lambda row: {"s": {"a": row["n"]} if row["n"] < MANY - 1 else {"b": "x"}}
    )
    assert result["s"][-2:] == [{"a": MANY - 2, "b": None}, {"a": None, "b": "x"}]


def test_types_without_a_common_one_name_column_types_and_rows(dataset):
    source = dataset({"n": range(MANY)})
    with pytest.raises(SchemaError, match=r"rows 2000 to 2499: .*`x` is int64 in one place and string in another"):
        mapped(source, lambda row: {"x": "text" if row["n"] >= 2000 else 1})


def test_types_without_a_common_one_in_one_batch_name_column_row_and_value(dataset):
    with pytest.raises(SchemaError, match=r"step 1 .*rows 0 to 2: column 'x', row 1: 'text' \(str\) cannot stand"):
        mapped(dataset({"n": [0, 1, 2]}), lambda row: {"x": "text" if row["n"] == 1 else 1})


def test_shards_whose_types_differ_are_read_as_the_common_type(tmp_path):
    for number, value in enumerate([1, 2.5, None]):
        (tmp_path / f"{number}.jsonl").write_text(json.dumps({"n": number, "value": value}) + "\n")
    lazy = scan_dataset(str(tmp_path / "*.jsonl"), cache_dir=tmp_path / "cache", max_shard_bytes=25)
    assert len(lazy.plan.shards) == 3
    result = lazy.map(lambda row: {"copy": row["value"]}).collect(executor="inline")
    assert result["copy"] == [1.0, 2.5, None]


# Types


def test_an_integer_column_that_becomes_text_is_text(dataset):
    result = mapped(dataset({"n": [1, 2]}), lambda row: {"n": str(row["n"])})
    assert types(result) == {"n": "string"}
    assert result["n"] == ["1", "2"]


def test_an_integer_column_that_becomes_float_or_bool_does(dataset):
    source = dataset({"n": [1, 2]})
    assert types(mapped(source, lambda row: {"n": row["n"] + 0.0})) == {"n": "double"}
    assert types(mapped(source, lambda row: {"n": row["n"] > 1})) == {"n": "bool"}


def test_a_small_type_stays_while_the_values_fit_and_widens_when_they_do_not(dataset):
    source = dataset({"n": range(100)}, pa.schema({"n": pa.int8()}))
    assert types(mapped(source, lambda row: {"n": row["n"] + 1})) == {"n": "int8"}
    widened = mapped(source, lambda row: {"n": row["n"] * 100})
    assert types(widened) == {"n": "int64"}
    assert widened["n"][-1] == 9900


@pytest.mark.parametrize("batch_format", ["python", "numpy", "pandas", "arrow", "torch"])
def test_integers_with_nulls_never_become_floats(dataset, batch_format):
    if batch_format == "torch":
        pytest.importorskip("torch")
    big = 2**60 + 1
    source = dataset({"n": [big, None, 3]})
    for function in (lambda b: {"copy": b["n"]}, lambda b: b):
        result = mapped(source, function, batched=True, batch_format=batch_format)
        assert set(types(result).values()) == {"int64"}
        assert all(column == [big, None, 3] for column in result.to_dict().values())


def test_columns_that_a_function_leaves_alone_are_exactly_what_they_were(dataset):
    schema = pa.schema(
        {
            "time": pa.timestamp("ns", "UTC"),
            "price": pa.decimal128(20, 3),
            "kind": pa.dictionary(pa.int8(), pa.string()),
            "pairs": pa.map_(pa.string(), pa.int16()),
            "half": pa.float16(),
            "blob": pa.large_binary(),
        }
    )
    columns = {
        "time": [1, 1234567890123456789],
        "price": [Decimal("1.005"), None],
        "kind": ["a", "b"],
        "pairs": [[("x", 1)], []],
        "half": np.array([1.5, 2.5], np.float16),
        "blob": [b"\x00\xff", None],
    }
    source = dataset(columns, schema)
    expected = source.table.table.to_pylist()
    for arguments in ({}, {"batched": True}, {"batched": True, "remove_columns": schema.names}):
        result = mapped(
            source, lambda given: {**given, "new": [1, 2] if isinstance(given["kind"], list) else 1}, **arguments
        )
        assert pa.schema(list(result.schema)[:-1]).equals(schema)
        assert result.table.table.drop(["new"]).to_pylist() == expected


def test_a_schema_is_what_the_result_has(dataset):
    schema = pa.schema({"n": pa.int16(), "x": pa.float32(), "missing": pa.string()})
    result = mapped(dataset({"n": [1, 2]}), lambda row: {"x": row["n"]}, schema=schema)
    assert result.schema.remove_metadata() == schema
    assert result.to_dict() == {"n": [1, 2], "x": [1.0, 2.0], "missing": [None, None]}


def test_a_value_that_does_not_fit_the_schema_names_step_rows_column_and_types(dataset):
    schema = pa.schema({"n": pa.int8()})
    with pytest.raises(SchemaError, match=r"step 1 `too_large`: .*rows 0 to 1: .*`n`.*int64.*int8"):
        mapped(dataset({"n": [1, 2]}), too_large, schema=schema)


def too_large(row):
    return {"n": row["n"] * 1000}


def test_a_column_that_shows_no_value_for_long_may_become_of_another_type(dataset):
    def spell(row):
        return {"n": row["n"] and str(row["n"]), "tags": [len(tag) for tag in row["tags"]]}

    source = dataset({"n": [None] * (MANY - 1) + [7], "tags": [[]] * (MANY - 1) + [["abc"]]})
    result = mapped(source, spell)
    assert types(result) == {"n": "string", "tags": "list<item: int64>"}
    assert result[-2:] == {"n": [None, "7"], "tags": [[], [3]]}

    then = source.lazy().map(spell).map(lambda b: {"rows": [len(b["n"])] * len(b["n"])}, batched=True, batch_size=None)
    assert then.collect(executor="inline")[-1] == {"n": "7", "tags": [3], "rows": MANY}


def test_a_shard_that_shows_no_value_may_become_of_another_type(tmp_path):
    for number, day in enumerate([None, "2020-01-02", None]):
        schema = pa.schema({"day": pa.string(), "tags": pa.list_(pa.string())})
        batch = pa.record_batch({"day": [day], "tags": [["ab"] if day else []]}, schema)
        with pa.OSFile(str(tmp_path / f"{number}.arrow"), "wb") as file, pa.ipc.new_stream(file, schema) as writer:
            writer.write_batch(batch)
    source = Dataset.from_files([tmp_path / f"{number}.arrow" for number in range(3)], cache_dir=tmp_path / "cache")
    result = mapped(
        source,
        lambda row: {
            "day": row["day"] and dt.date.fromisoformat(row["day"]),
            "tags": np.array([*map(len, row["tags"])]),
        },
    )
    assert result.to_dict() == {"day": [None, dt.date(2020, 1, 2), None], "tags": [[], [2], []]}
    assert types(result) == {"day": "date32[day]", "tags": "list<item: int64>"}


def test_times_of_several_zones_are_the_same_instants_in_utc_within_a_batch_and_between_batches(dataset):
    texts = ["2020-01-01T00:00+01:00"] * 2000 + ["2020-01-01T00:00+02:00"] * 500
    for source in (dataset({"text": texts}), dataset({"text": texts[1990:2010]})):
        result = mapped(source, lambda row: {"time": dt.datetime.fromisoformat(row["text"])})
        assert types(result)["time"] == "timestamp[us, tz=UTC]"
        assert [time.isoformat() for time in (result[0]["time"], result[-1]["time"])] == [
            "2019-12-31T23:00:00+00:00",
            "2019-12-31T22:00:00+00:00",
        ]


def test_a_schema_says_what_values_are_that_do_not_say_it_themselves(dataset):
    schema = pa.schema({"n": pa.int64(), "s": pa.struct({"a": pa.uint64(), "b": pa.int64()})})
    result = mapped(dataset({"n": [1]}), lambda row: {"s": {"a": 2**64 - 1, "b": -1}}, schema=schema)
    assert result["s"] == [{"a": 2**64 - 1, "b": -1}]


# Changes in place


def test_a_change_in_place_counts_without_being_returned(dataset):
    def lower(row):
        row["text"] = row["text"].lower()

    assert mapped(dataset({"text": ["A", "B"]}), lower)["text"] == ["a", "b"]


def test_a_change_in_place_of_one_row_does_not_reach_the_next(dataset):
    def grow(row):
        row["tags"].append(len(row["tags"]))

    assert mapped(dataset({"tags": [[], [7], []]}), grow)["tags"] == [[0], [7, 1], [0]]


@pytest.mark.parametrize(
    "value",
    [1000, 1.5, True, dt.date(2020, 1, 1), Decimal("1.5"), {"a": 1}, [1000], None],
    ids=lambda value: type(value).__name__,
)
def test_one_item_of_a_list_may_be_replaced_by_another(dataset, value):
    def swap(row):
        row["items"].reverse()

    def swap_all(batch):
        batch["items"].reverse()

    source = dataset({"items": [[value, None], [None, value]]})
    assert mapped(source, swap)["items"] == [[None, value], [value, None]]
    assert mapped(source, swap_all, batched=True)["items"] == [[None, value], [value, None]]


def test_one_number_of_a_batch_may_be_changed_in_place(dataset):
    def change(batch):
        batch["n"][0] += 1000

    assert mapped(dataset({"n": [1, 2]}), change, batched=True)["n"] == [1001, 2]


def test_a_removed_column_that_some_rows_delete_as_well_is_gone(dataset):
    def delete(row):
        if row["n"]:
            del row["text"]
        return row

    assert mapped(dataset({"n": [0, 1], "text": ["a", "b"]}), delete, remove_columns="text").to_dict() == {"n": [0, 1]}


def test_a_list_that_is_changed_in_place_and_removed_is_gone(dataset):
    def count(batch):
        batch["tags"].append([])
        batch["tags"].pop()
        return {"n": [len(tags) for tags in batch["tags"]]}

    result = mapped(dataset({"tags": [[1], [2, 3]]}), count, batched=True, remove_columns="tags")
    assert result.to_dict() == {"n": [1, 2]}


def test_the_row_before_may_be_returned(dataset):
    class Previous:
        def __init__(self):
            self.row = None

        def __call__(self, row):
            before, self.row = self.row or row, row
            return before

    assert mapped(dataset({"n": [1, 2, 3]}), Previous)["n"] == [1, 1, 2]


def test_a_mapping_that_the_function_keeps_is_not_written_to(dataset):
    constant = {"a": 1}
    mapped(dataset({"n": [0, 1]}), lambda row: constant if row["n"] else {"b": 2}, version="1")
    assert constant == {"a": 1}


@pytest.mark.parametrize("batch_format", ["numpy", "torch"])
def test_an_array_that_is_changed_in_place_counts(dataset, batch_format):
    if batch_format == "torch":
        pytest.importorskip("torch")

    def change(batch):
        if batch_format == "torch":
            batch["n"] += 1
        else:
            batch["text"][0] = "changed"
        return batch

    result = mapped(dataset({"n": [1, 2], "text": ["a", "b"]}), change, batched=True, batch_format=batch_format)
    assert result.to_dict() == (
        {"n": [2, 3], "text": ["a", "b"]} if batch_format == "torch" else {"n": [1, 2], "text": ["changed", "b"]}
    )


# Batches


@pytest.mark.parametrize("wrap", [np.asarray, torch_tensor, lambda array: pd.Series(array, copy=False)])
def test_a_function_may_use_its_array_again_for_the_next_batch(dataset, wrap):
    array = np.zeros(100, np.int64)
    result = wrap(array)

    def double(batch):
        array[:] = 2 * np.asarray(batch["n"])
        return {"twice": result}

    source = dataset({"n": range(1000)})
    assert mapped(source, double, batched=True, batch_size=100)["twice"] == list(range(0, 2000, 2))


def test_a_batch_may_become_more_fewer_or_no_rows(dataset):
    def repeat(batch):
        return {"k": [n for n in batch["n"] for _ in range(n)]}

    result = mapped(dataset({"n": [0, 0, 3, 1]}), repeat, batched=True, batch_size=2, remove_columns="n")
    assert result.to_dict() == {"k": [3, 3, 3, 1]}


def test_a_function_that_returns_no_rows_at_all_gives_no_rows_of_its_columns(dataset):
    result = mapped(dataset({"n": [1, 2]}), lambda b: {"k": pa.array([], pa.int16())}, batched=True, remove_columns="n")
    assert len(result) == 0
    assert types(result) == {"k": "int16"}


@pytest.mark.parametrize("batch_size", [2, 3, 7, 1000, None])
def test_the_batch_size_is_kept_whatever_came_before(dataset, batch_size):
    source = dataset({"n": range(20)}).lazy().filter(lambda row: row["n"] % 3 != 0)
    result = source.map(lambda b: {"size": [len(b["n"])] * len(b["n"])}, batched=True, batch_size=batch_size)
    sizes = result.collect(executor="inline")["size"]
    size, rows = batch_size or 13, 13
    assert sizes == [min(size, rows - row // size * size) for row in range(rows)]


def test_a_last_batch_that_is_dropped_is_counted(dataset):
    lazy = dataset({"n": range(5)}).lazy().map(lambda b: b, batched=True, batch_size=2, drop_last_batch=True)
    assert lazy.collect(executor="inline")["n"] == [0, 1, 2, 3]
    ((result,),) = run_all(lazy.plan, lazy.workspace, Engine("inline"))
    assert (result.receipt.rows_in, result.receipt.rows, result.receipt.filtered) == (5, 4, {"drop_last_batch": 1})


def test_dropping_the_only_batch_leaves_no_rows(dataset):
    result = mapped(dataset({"n": [1]}), lambda b: b, batched=True, batch_size=2, drop_last_batch=True)
    assert len(result) == 0
    assert types(result) == {"n": "int64"}


@pytest.mark.parametrize("rows", [0, 3])
def test_columns_of_unequal_length_are_an_error_that_names_them(dataset, rows):
    source = dataset({"n": [1, 2]})
    with pytest.raises(StepError, match=rf"returned {rows} rows for a batch of 2, in \['x'\], but column 'n' stays"):
        mapped(source, lambda b: {"x": [0] * rows}, batched=True)
    with pytest.raises(SchemaError, match=r"step 1 .*rows 0 to 1: columns of unequal length: 'x' has \d.*'y' has 1"):
        mapped(source, lambda b: {"x": [0] * rows, "y": [1]}, batched=True, remove_columns="n")


def test_removing_all_columns_keeps_the_number_of_rows(dataset):
    source = dataset({"n": [1, 2, 3]})
    assert len(mapped(source, lambda row: None, remove_columns="n")) == 3
    assert len(mapped(source, lambda b: {}, batched=True, remove_columns="n")) == 3


@pytest.mark.parametrize(
    "make",
    [
        lambda b: pa.table({"q": b["n"]}),
        lambda b: pa.record_batch({"q": b["n"]}),
        lambda b: pd.DataFrame({"q": b["n"]}),
    ],
    ids=["table", "record batch", "data frame"],
)
def test_a_table_stands_in_place_of_all_columns(dataset, make):
    result = mapped(dataset({"n": [1, 2, 3], "m": [4, 5, 6]}), make, batched=True, batch_size=2)
    assert result.to_dict() == {"q": [1, 2, 3]}


# Formats of batches


def test_arrow_batches_are_tables_that_share_memory_with_the_source(dataset):
    source = dataset({"text": ["a", "bb"], "n": [1, 2]})
    address = source.table.table.column("n").chunk(0).buffers()[1].address
    seen = []

    def lengths(table):
        assert isinstance(table, pa.Table)
        seen.append(table.column("n").chunk(0).buffers()[1].address)
        return {"length": pc.utf8_length(table["text"])}

    result = mapped(source, lengths, batched=True, batch_format="arrow", version="1")
    assert seen == [address]
    assert result.to_dict() == {"text": ["a", "bb"], "n": [1, 2], "length": [1, 2]}
    assert types(result)["length"] == "int32"


def test_numpy_batches_are_views_and_convert_only_what_is_asked_for(dataset):
    def double(batch):
        assert not batch["n"].flags.writeable
        assert batch.touched == {"n"}
        return {"double": batch["n"] * 2}

    result = mapped(dataset({"text": ["a", "bb"], "n": [1, 2]}), double, batched=True, batch_format="numpy")
    assert result["double"] == [2, 4]


@pytest.mark.parametrize(
    ("batch_format", "kind"),
    [("python", list), ("numpy", np.ndarray), ("pandas", pd.Series), ("arrow", pa.ChunkedArray)],
)
def test_input_columns_are_given_in_the_format(dataset, batch_format, kind):
    def check(n, text):
        assert isinstance(n, kind)
        return {"rows": [len(text)] * len(n)}

    source = dataset({"text": ["a", "b"], "unused": [None, None], "n": [1, 2]})
    result = mapped(source, check, batched=True, batch_format=batch_format, input_columns=["n", "text"])
    assert result["rows"] == [2, 2]


# Positions


@pytest.mark.parametrize("shard_bytes", [1, 100, 10_000])
@pytest.mark.parametrize("batched", [False, True])
def test_indices_are_global_for_any_split_and_after_a_filter(tmp_path, shard_bytes, batched):
    for number in range(3):
        rows = [json.dumps({"n": number * 10 + row}) for row in range(10)]
        (tmp_path / f"{number}.jsonl").write_text("\n".join(rows) + "\n")
    lazy = scan_dataset(str(tmp_path / "*.jsonl"), cache_dir=tmp_path / "cache", max_shard_bytes=shard_bytes)
    arguments = {"with_indices": True, "batched": batched, "batch_size": 4}
    result = lazy.map(lambda row, i: {"i": i}, **arguments).filter(lambda row: row["n"] % 2 == 1)
    result = result.map(lambda row, j: {"j": j}, **arguments).collect(executor="inline")
    assert result["i"] == list(range(1, 30, 2)) == result["n"]
    assert result["j"] == list(range(15))


def test_the_rank_is_the_number_of_the_shard(tmp_path):
    for number in range(3):
        (tmp_path / f"{number}.jsonl").write_text(json.dumps({"n": number}) + "\n")
    lazy = scan_dataset(str(tmp_path / "*.jsonl"), cache_dir=tmp_path / "cache", max_shard_bytes=9)
    for arguments in ({}, {"batched": True}):
        one_or_all = (lambda value, n: [value] * len(n)) if arguments else (lambda value, n: value)
        result = lazy.map(
            lambda row, i, rank, f=one_or_all: {"r": f(rank, row["n"])}, with_indices=True, with_rank=True, **arguments
        )
        assert result.collect(executor="inline")["r"] == [0, 1, 2]


# No rows


def test_no_rows_call_no_function_and_keep_the_schema(dataset):
    source = dataset({"n": [], "text": []}, pa.schema({"n": pa.int16(), "text": pa.string()}))
    for arguments in ({}, {"batched": True}):
        result = mapped(source, lambda row: 1 / 0, **arguments)
        assert types(result) == {"n": "int16", "text": "string"}
        assert types(mapped(source, lambda row: 1 / 0, remove_columns="n", **arguments)) == {"text": "string"}
        schema = pa.schema({"other": pa.int8()})
        assert mapped(source, lambda row: 1 / 0, schema=schema, **arguments).schema.remove_metadata() == schema


# What a function returns and cannot be used


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (lambda row: 3, {}, r"row 0: the function returned int; a row is a mapping of column to value"),
        (lambda row: [row], {}, r"row 0: the function returned list; a row is a mapping"),
        (lambda row: pa.table({"a": [1]}), {}, r"row 0: the function returned Table; a row is a mapping"),
        (lambda row: {1: 2}, {}, r"rows 0 to 1: column names must be strings, not 1 \(int\)"),
        (lambda b: 3, {"batched": True}, r"rows 0 to 1: the function returned int; a batch is a mapping"),
        (lambda b: [{}, {}], {"batched": True}, r"rows 0 to 1: the function returned list; a batch is a mapping"),
        (lambda b: {"x": 3}, {"batched": True}, r"rows 0 to 1: column 'x': a column must be a list.* not 3 \(int\)"),
        (lambda b: pd.DataFrame([[1]]), {"batched": True}, r"rows 0 to 1: column names must be strings, not 0 \(int\)"),
        (lambda b: pa.table([[1], [2]], names=["a", "a"]), {"batched": True}, "rows 0 to 1: two columns of the table"),
        (lambda b: {"x": "ab"}, {"batched": True}, r"rows 0 to 1: column 'x': a column must be a list.* not 'ab'"),
    ],
)
def test_what_is_no_row_or_batch_is_an_error_that_says_what_would_be(dataset, function, arguments, message):
    with pytest.raises(StepError, match=r"^step 1 `<lambda>`: table of 2 rows in memory: " + message):
        mapped(dataset({"n": [1, 2]}), function, **arguments)


def test_a_row_wise_step_holds_few_rows_however_large_the_batch_before_it_was(dataset):
    class Result(dict):
        """A row that knows how many of its kind there are."""

        alive = most = 0

        def __init__(self, **columns):
            super().__init__(columns)
            Result.alive += 1
            Result.most = max(Result.most, Result.alive)

        def __del__(self):
            Result.alive -= 1

    whole = dataset({"n": range(5 * MANY)}).lazy().map(lambda batch: batch, batched=True, batch_size=None)
    result = whole.map(lambda row: Result(m=row["n"]), version="1").collect(executor="inline")
    assert result["m"] == list(range(5 * MANY))
    assert Result.most <= 2000
    assert Result.alive == 0
