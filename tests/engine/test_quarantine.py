"""Bad rows are set aside, and the others come out as if these had never been there."""

from __future__ import annotations

import asyncio
import json
import os

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import raydata_ext as rdx
from raydata_ext.engine import Engine, ErrorPolicy, run_all
from raydata_ext.engine.quarantine import records_of
from raydata_ext.errors import PlanError, QuarantineError, ReadError, SchemaError, StepError
from raydata_ext.plan import quarantine_key
from raydata_ext.store import collect_garbage

QUARANTINE = ErrorPolicy("quarantine")


@pytest.fixture
def numbered(tmp_path):
    """A lazy data set of rows `{"n": number, "tags": [number]}`, read from a file of JSON lines in one shard."""

    def make(numbers, name="rows.jsonl"):
        path = tmp_path / name
        path.write_text("".join(json.dumps({"n": n, "tags": [n]}) + "\n" for n in numbers))
        os.utime(path, (1_700_000_000, 1_700_000_000))  # old enough for its time stamp to be trusted
        return rdx.scan_dataset(str(path), cache_dir=tmp_path / f"cache of {name}")

    return make


def run(lazy, errors=QUARANTINE):
    """The rows, the records, and the receipts of the last part."""
    with Engine("inline") as engine:
        parts = run_all(lazy.plan, lazy.workspace, engine, errors=errors)
    receipts = [result.receipt for part in parts for result in part]
    dataset = lazy.make_dataset(parts[-1], lazy.workspace)
    return dataset, list(records_of(lazy.workspace.store, receipts)), [result.receipt for result in parts[-1]]


def checksum_of_rows(receipt, lazy):
    """Of the file as it would be without its own key in it."""
    table = lazy.workspace.store.table(receipt).table.replace_schema_metadata(None)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return hash(sink.getvalue().to_pybytes())


def rows_of_records(records):
    return [record["row"] for record in records]


class Failing:
    """Raises for some numbers, and changes what it was given before it does."""

    def __init__(self, bad):
        self.bad = frozenset(bad)

    def check(self, n):
        if n in self.bad:
            raise ValueError(f"{n} is bad")


class RowMap(Failing):
    def __call__(self, row):
        row["tags"].append(-1)
        row["seen"] = True
        self.check(row["n"])
        return {"double": 2 * row["n"]}


class BatchMap(Failing):
    def __call__(self, batch):
        for tags in batch["tags"]:
            tags.append(-1)
        batch["size"] = [len(batch["n"])] * len(batch["n"])
        for n in batch["n"]:
            self.check(n)
        return {"first": [batch["n"][0]] * len(batch["n"])}


class RowFilter(Failing):
    def __call__(self, row):
        self.check(row["n"])
        return row["n"] % 3 > 0, "third"


class BatchFilter(Failing):
    def __call__(self, batch):
        for n in batch["n"]:
            self.check(n)
        return [(n % 3 > 0, "third") for n in batch["n"]]


class Repeat(Failing):
    """Another number of rows: each as often as its number says, up to three times."""

    def __call__(self, batch):
        for n in batch["n"]:
            self.check(n)
        return {"n": [n for n in batch["n"] for _ in range(n % 4)]}


class NumpyMap(Failing):
    """Changes numbers in place, and raises afterwards."""

    def __call__(self, batch):
        numbers = batch["n"].copy()
        batch["n"] = numbers
        numbers += 1000
        for n in numbers.tolist():
            self.check(n - 1000)


class AsyncMap(Failing):
    async def __call__(self, row):
        await asyncio.sleep(0)
        self.check(row["n"])
        return {"double": 2 * row["n"]}


STEPS = {
    "row map": lambda lazy, bad: lazy.map(RowMap, constructor_kwargs={"bad": bad}),
    "batch map": lambda lazy, bad: lazy.map(BatchMap, constructor_kwargs={"bad": bad}, batched=True, batch_size=7),
    "whole shard": lambda lazy, bad: lazy.map(BatchMap, constructor_kwargs={"bad": bad}, batched=True, batch_size=None),
    "row filter": lambda lazy, bad: lazy.filter(RowFilter, constructor_kwargs={"bad": bad}),
    "batch filter": lambda lazy, bad: lazy.filter(
        BatchFilter, constructor_kwargs={"bad": bad}, batched=True, batch_size=7
    ),
    "more rows": lambda lazy, bad: lazy.map(
        Repeat, constructor_kwargs={"bad": bad}, batched=True, batch_size=7, remove_columns=["tags"]
    ),
    "numpy": lambda lazy, bad: lazy.map(
        NumpyMap, constructor_kwargs={"bad": bad}, batched=True, batch_size=5, batch_format="numpy"
    ),
    "coroutines": lambda lazy, bad: lazy.map(AsyncMap, constructor_kwargs={"bad": bad}),
}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("bad", [[], [0], [39], [3, 4, 5, 6, 20], list(range(40)), list(range(0, 40, 2))])
def test_the_good_rows_are_those_of_a_corpus_without_the_bad_ones(numbered, step, bad):
    """Byte for byte: batches are formed as if the bad rows had never been there."""
    with_bad = STEPS[step](numbered(range(40)), bad)
    without = STEPS[step](numbered([n for n in range(40) if n not in bad], "good.jsonl"), bad)
    dataset, records, (receipt,) = run(with_bad)
    expected, _, (other,) = run(without, ErrorPolicy())
    assert len(dataset) == len(expected)
    if len(bad) < 40:  # a file without lines has no columns
        assert dataset.to_dict() == expected.to_dict()
        assert dataset.schema == expected.schema
        assert checksum_of_rows(receipt, with_bad) == checksum_of_rows(other, without)
    assert sorted(rows_of_records(records)) == bad
    assert receipt.quarantined == len(bad)
    assert receipt.rows_in == other.rows_in + len(bad) == 40
    assert receipt.filtered == other.filtered
    for count in receipt.steps:
        went = count["rows_out"] + sum(count["filtered"].values()) + count["quarantined"]
        assert count["rows_in"] + count["rows_added"] == went
        assert count["rows_added"] == 0 or step == "more rows"


@settings(max_examples=60, deadline=None)
@given(
    rows=st.integers(1, 60),
    size=st.integers(1, 17),
    drop_last=st.booleans(),
    data=st.data(),
)
def test_batches_are_formed_of_the_good_rows_alone(tmp_path_factory, rows, size, drop_last, data):
    bad = data.draw(st.sets(st.integers(0, rows - 1)))

    def record(batch):
        if not bad.isdisjoint(batch["n"]):
            raise ValueError("bad")
        return {"batch": [batch["n"][0]] * len(batch["n"]), "size": [len(batch["n"])] * len(batch["n"])}

    dataset = rdx.Dataset.from_dict({"n": list(range(rows))}, cache_dir=tmp_path_factory.mktemp("cache"))
    lazy = dataset.lazy().map(
        record, batched=True, batch_size=size, drop_last_batch=drop_last, version=f"{sorted(bad)}"
    )
    result, records, (receipt,) = run(lazy)
    good = [n for n in range(rows) if n not in bad]
    batches = [good[start : start + size] for start in range(0, len(good), size)]
    if drop_last and batches and len(batches[-1]) < size:
        batches.pop()
    assert [(row["n"], row["batch"], row["size"]) for row in result] == [
        (n, batch[0], len(batch)) for batch in batches for n in batch
    ]
    found = set(rows_of_records(records))
    assert found <= bad if drop_last else found == bad  # the function is not called on a last batch that is left out
    assert receipt.rows_in == rows == receipt.rows + sum(receipt.filtered.values()) + receipt.quarantined


def test_a_row_that_was_set_aside_keeps_its_number(tmp_path):
    dataset = rdx.Dataset.from_dict({"n": list(range(30))}, cache_dir=tmp_path)

    def number(batch, indices):
        return {"index": indices}

    lazy = dataset.lazy().map(RowMap2, constructor_kwargs={"bad": [3, 17]})
    lazy = lazy.map(number, batched=True, batch_size=4, with_indices=True)
    result, _, _ = run(lazy)
    assert result["index"] == result["n"] == [n for n in range(30) if n not in {3, 17}]


class RowMap2(Failing):
    def __call__(self, row):
        self.check(row["n"])


def test_numbers_of_rows_are_the_same_where_a_kept_result_lacks_rows(tmp_path):
    dataset = rdx.Dataset.from_dict({"n": list(range(30))}, cache_dir=tmp_path)
    kept = dataset.lazy().map(RowMap2, constructor_kwargs={"bad": [3]}).cache()
    run(kept)
    result, records, _ = run(kept.map(lambda row, index: {"index": index}, with_indices=True))
    assert result["index"] == result["n"]
    assert rows_of_records(records) == [3]


def test_a_record_says_where_what_and_why(numbered, tmp_path):
    _, (record,), _ = run(numbered(range(5)).map(RowMap, constructor_kwargs={"bad": [3]}))
    assert record["source"] == str(tmp_path / "rows.jsonl")
    assert record["row"] == 3
    assert record["step"] == "step 1 `RowMap`"
    assert (record["exception"], record["message"]) == ("ValueError", "3 is bad")
    assert record["traceback"].endswith("ValueError: 3 is bad")
    assert json.loads(record["row_json"]) == {"n": 3, "tags": [3]}


def test_a_row_is_shown_in_bounded_json(tmp_path):
    row = {"text": ["x" * 1_000_000], "list": [list(range(100_000))], "bytes": [b"\xff" * 50], "nan": [float("nan")]}
    dataset = rdx.Dataset.from_dict(row, cache_dir=tmp_path)

    def fail(row):
        raise KeyError("\udcff" * 3 + "y" * 1_000_000)

    _, (record,), _ = run(dataset.lazy().map(fail))
    assert len(record["row_json"]) <= 10_000
    assert set(json.loads(record["row_json"])) == set(row)
    assert len(record["message"]) < 5_000


def test_a_result_that_does_not_fit_its_schema_is_the_failure_of_its_row(numbered):
    schema = pa.schema({"n": pa.int64()})
    lazy = numbered(range(20)).map(
        lambda row: {"n": "x" if row["n"] in {4, 11} else row["n"]}, schema=schema, remove_columns=["n", "tags"]
    )
    dataset, records, _ = run(lazy)
    assert dataset["n"] == [n for n in range(20) if n not in {4, 11}]
    assert rows_of_records(records) == [4, 11]
    assert {record["exception"] for record in records} == {"SchemaError"}


def test_a_result_that_is_no_row_is_the_failure_of_its_row(numbered):
    dataset, records, _ = run(numbered(range(9)).map(lambda row: 5 if row["n"] == 4 else {"m": 1}))
    assert len(dataset) == 8
    assert "the function returned int" in records[0]["message"]


def test_a_value_that_a_cast_refuses_is_the_failure_of_its_row(tmp_path):
    dataset = rdx.Dataset.from_dict({"n": ["1", "x", "3"]}, cache_dir=tmp_path)
    result, records, _ = run(dataset.lazy().cast(pa.schema({"n": pa.int64()})))
    assert result["n"] == [1, 3]
    assert rows_of_records(records) == [1]


def test_rows_that_only_fail_together_are_nobodys_fault(numbered):
    def few(batch):
        if len(batch["n"]) > 1:
            raise MemoryError("too many")

    with pytest.raises(StepError, match=r"rows 0 to 1: the step fails on these rows together.*MemoryError: too many"):
        run(numbered(range(8)).map(few, batched=True))


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
@pytest.mark.parametrize("batched", [False, True])
def test_who_stops_the_run_stops_it(numbered, error, batched):
    def stop(row):
        raise error

    with pytest.raises(type(error)):
        run(numbered(range(8)).map(stop, batched=batched, version=repr(error)))


def test_a_missing_column_is_the_fault_of_the_plan(numbered):
    with pytest.raises(PlanError, match="there is no column 'missing'"):
        run(numbered(range(8)).remove_columns(["missing"]))


def test_a_class_that_cannot_be_built_is_the_fault_of_no_row(numbered):
    with pytest.raises(StepError, match="building"):
        run(numbered(range(8)).map(RowMap))


def test_a_run_that_set_rows_aside_says_so(numbered, caplog):
    run(numbered(range(20)).map(RowMap, constructor_kwargs={"bad": [3, 5]}))
    assert "2 rows were set aside (10.00% of 20), the first of them: " in caplog.text


def test_without_quarantine_a_result_that_lacks_rows_is_missing_and_the_error_comes_again(numbered):
    lazy = numbered(range(20)).map(RowMap, constructor_kwargs={"bad": [3]})
    lazy.collect(executor="inline", on_error="quarantine")
    with pytest.raises(StepError, match="3 is bad"):
        lazy.collect(executor="inline")
    assert lazy.explain().hits == 0
    assert 'lacks 1 rows that were set aside; on_error="quarantine" takes it' in str(lazy.explain())


def test_a_result_that_lacks_rows_is_there_with_quarantine_and_its_records_too(numbered):
    lazy = numbered(range(20)).map(RowMap, constructor_kwargs={"bad": [3]})
    first, records, (receipt,) = run(lazy)
    second, again, (same,) = run(lazy)
    assert (second.to_dict(), again) == (first.to_dict(), records)
    assert same.created == receipt.created


def test_a_result_whose_records_are_gone_is_computed_again(numbered):
    lazy = numbered(range(20)).map(RowMap, constructor_kwargs={"bad": [3]})
    _, _, (receipt,) = run(lazy)
    lazy.workspace.store.discard(quarantine_key(receipt.key))
    _, records, _ = run(lazy)
    assert rows_of_records(records) == [3]


def test_a_result_without_bad_rows_serves_both_ways_and_has_no_records(numbered):
    lazy = numbered(range(20)).map(RowMap, constructor_kwargs={"bad": []})
    _, _, (receipt,) = run(lazy)
    _, _, (same,) = run(lazy, ErrorPolicy())
    assert same.created == receipt.created
    assert lazy.workspace.store.get(quarantine_key(receipt.key)) is None


def test_data_sets_of_one_key_and_other_rows_have_other_fingerprints(numbered, tmp_path):
    switch = tmp_path / "switch"

    def flaky(row):
        if row["n"] == 3 and not switch.exists():
            raise ConnectionError("service away")

    lazy = numbered(range(9)).map(flaky, version="1")
    lacking, _, _ = run(lazy)
    switch.touch()
    whole, _, _ = run(lazy, ErrorPolicy())
    assert (len(lacking), len(whole)) == (8, 9)
    assert lacking.fingerprint != whole.fingerprint


def test_a_chain_that_goes_on_from_a_kept_result_counts_its_bad_rows_too(numbered):
    kept = numbered(range(20)).map(RowMap, constructor_kwargs={"bad": [3]}).cache()
    run(kept)
    dataset, records, (receipt,) = run(kept.filter(RowFilter, constructor_kwargs={"bad": [5]}))
    assert receipt.quarantined == 2
    assert [record["step"] for record in records] == ["step 1 `RowMap`", "step 2 `RowFilter`"]
    assert receipt.rows_in == 20 == len(dataset) + sum(receipt.filtered.values()) + 2


def test_each_kept_result_counts_the_bad_rows_up_to_there(numbered):
    lazy = numbered(range(20)).map(RowMap, constructor_kwargs={"bad": [3]}).cache()
    _, records, (last,) = run(lazy.filter(RowFilter, constructor_kwargs={"bad": [5]}))
    _, earlier, (first,) = run(lazy)
    assert (first.quarantined, last.quarantined) == (1, 2)
    assert (rows_of_records(earlier), rows_of_records(records)) == ([3], [3, 5])


@pytest.mark.parametrize(("limit", "fails"), [(4, True), (5, False), (0.049, True), (0.05, False), (0, True)])
def test_the_limit_is_a_number_or_a_share_of_all_rows(numbered, limit, fails):
    lazy = numbered(range(100)).map(RowMap, constructor_kwargs={"bad": [3, 4, 5, 6, 7]})
    for _ in range(2):  # computed, then cached
        if fails:
            with pytest.raises(
                QuarantineError, match=rf"rows were set aside.*max_errors is {limit}.*row 3: .*3 is bad"
            ):
                lazy.collect(executor="inline", on_error="quarantine", max_errors=limit)
        else:
            assert len(lazy.collect(executor="inline", on_error="quarantine", max_errors=limit)) == 95


def test_a_limit_that_a_shard_passes_ends_it_at_once(numbered, tmp_path):
    log = tmp_path / "log"

    def fail(row):
        with log.open("a") as file:
            file.write("x")
        raise ValueError("bad")

    lazy = numbered(range(5000)).map(fail, version="1")
    with pytest.raises(QuarantineError, match="3 rows were set aside, and max_errors is 2"):
        lazy.collect(executor="inline", on_error="quarantine", max_errors=2)
    assert len(log.read_text()) <= 1000


def test_the_limit_holds_for_all_parts_of_a_plan_together(numbered):
    lazy = numbered(range(20)).map(RowMap, constructor_kwargs={"bad": [3]})
    lazy = lazy.map(lambda row, index: {"q": 1 / (row["n"] - 7)}, with_indices=True)
    assert len(lazy.collect(executor="inline", on_error="quarantine", max_errors=2)) == 18
    with pytest.raises(QuarantineError, match=r"2 rows were set aside, 10\.00% of 20"):
        lazy.collect(executor="inline", on_error="quarantine", max_errors=1)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"on_error": "ignore"}, ValueError),
        ({"max_errors": 3}, ValueError),
        ({"on_error": "quarantine", "max_errors": -1}, ValueError),
        ({"on_error": "quarantine", "max_errors": 1.5}, ValueError),
        ({"on_error": "quarantine", "max_errors": True}, TypeError),
        ({"on_error": "quarantine", "max_errors": "1%"}, TypeError),
    ],
)
def test_settings_that_mean_nothing_are_refused(numbered, arguments, error):
    with pytest.raises(error):
        numbered(range(3)).collect(executor="inline", **arguments)


def test_collection_keeps_the_records_that_a_report_names(numbered, tmp_path):
    lazy = numbered(range(20)).map(RowMap, constructor_kwargs={"bad": [3]})
    _, _, (receipt,) = run(lazy)
    report = tmp_path / "run"
    report.mkdir()
    keys = [receipt.key, quarantine_key(receipt.key)]
    (report / "report.json").write_text(json.dumps(keys))
    much_later = receipt.created + 10_000_000
    kept = collect_garbage(lazy.workspace.store, older_than=1, keep=[report], dry_run=False, now=much_later)
    assert not [garbage for garbage in kept.removed if any(key in name for key in keys for name in garbage.names)]
    assert set(lazy.workspace.store.find(keys)) == set(keys)


def test_bad_lines_are_set_aside_before_steps_see_them(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"n": 0}\n{"n": \n\n[1]\n{"n": 3}\nnull\n{"n": "x"}\n{"n": 6}\n')
    lazy = rdx.scan_dataset(str(path), cache_dir=tmp_path / "cache")
    dataset, records, (receipt,) = run(lazy.map(RowMap2, constructor_kwargs={"bad": [3]}))
    assert dataset["n"] == [0, 6]
    assert [(record["row"], record["byte_offset"], record["step"]) for record in records] == [
        (1, 9, "reading"),
        (2, 17, "reading"),
        (4, 30, "reading"),
        (5, 35, "reading"),
        (3, None, "step 1 `RowMap2`"),
    ]
    assert json.loads(records[0]["row_json"]) == {"raw": '{"n": '}
    assert (receipt.rows_in, receipt.rows, receipt.quarantined) == (7, 2, 5)
    with pytest.raises(ReadError, match=r"rows\.jsonl: line"):
        run(lazy, ErrorPolicy())


def test_types_are_told_by_the_rows_that_are_good(tmp_path):
    schema = {"n": pa.int64()}
    (tmp_path / "rows.jsonl").write_text('{"n": 1}\n{"n": 2, "m": }\n{"n": 3}\n')
    dataset, _, _ = run(rdx.scan_dataset(str(tmp_path / "rows.jsonl"), cache_dir=tmp_path / "cache"))
    assert dict(zip(dataset.schema.names, dataset.schema.types, strict=True)) == schema


def test_rows_that_do_not_go_together_over_a_whole_shard_are_an_error(numbered):
    with pytest.raises(SchemaError, match="does not go with the rows before"):
        run(numbered(range(2000)).map(lambda row: {"v": row["n"] if row["n"] < 1000 else "x"}))
