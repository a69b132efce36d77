"""A shard from its input to file and receipt."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from raydata_ext.dataset import scan_dataset
from raydata_ext.engine import Engine, run_all
from raydata_ext.engine.shard_pass import require_balance
from raydata_ext.errors import RaydataError, SchemaError, StepError
from raydata_ext.store import Receipt
from raydata_ext.table.verify import verify_ipc_file


@pytest.fixture
def lazy(tmp_path):
    """One shard of 2,500 rows."""
    (tmp_path / "rows.jsonl").write_text(
        "".join(json.dumps({"n": n, "text": "x" * (n % 7)}) + "\n" for n in range(2500))
    )
    return scan_dataset(str(tmp_path / "rows.jsonl"), cache_dir=tmp_path / "cache")


def run(lazy):
    ((result,),) = run_all(lazy.plan, lazy.workspace, Engine("inline"))
    return result


def arrow_files(tmp_path):
    return sorted(path for path in (tmp_path / "cache").rglob("*") if path.suffix in {".arrow", ".tmp"})


def test_the_receipt_tells_what_the_file_is_and_what_became_of_the_rows(lazy, tmp_path):
    chain = lazy.filter(lambda row: (row["n"] % 2 == 0, "odd")).map(lambda row: {"m": len(row["text"])})
    receipt = run(chain).receipt
    (path,) = arrow_files(tmp_path)
    summary = verify_ipc_file(path, checksum=receipt.checksum, num_bytes=receipt.num_bytes)
    assert summary.rows == receipt.rows == 1250
    assert receipt.rows_in == receipt.rows + receipt.filtered["odd"] == 2500
    assert receipt.schema.names == ["n", "text", "m"]
    assert [(step["step"], step["rows_in"], step["rows_out"]) for step in receipt.steps] == [
        ("step 1 `<lambda>`", 2500, 1250),
        ("step 2 `<lambda>`", 1250, 1250),
    ]
    assert all(step["seconds"] > 0 for step in receipt.steps)
    assert [entry["path"] for entry in receipt.inputs] == [str(tmp_path / "rows.jsonl")]


def test_a_result_that_is_there_is_not_computed_again(lazy):
    assert not run(lazy).cached
    assert run(lazy).cached


def test_a_kept_result_is_where_the_next_chain_starts(lazy, tmp_path):
    kept = lazy.filter(lambda row: (row["n"] < 100, "large")).cache()
    first = run(kept.map(lambda row: {"m": 1})).receipt
    second = run(kept.map(lambda row: {"m": 2})).receipt
    assert len(arrow_files(tmp_path)) == 3
    for receipt in (first, second):
        assert receipt.rows_in == 2500
        assert receipt.rows == 100
        assert receipt.filtered == {"large": 2400}
        assert [step["rows_in"] for step in receipt.steps] == [2500, 100]


def test_a_failure_after_a_kept_result_names_the_source_and_the_step(lazy, tmp_path):
    kept = lazy.filter(lambda row: row["n"] >= 10).cache()
    run(kept)
    with pytest.raises(StepError, match=rf"^step 2 `<lambda>`: {tmp_path}/rows.jsonl after step 1: row 3: ValueError"):
        run(kept.map(lambda row: int("x") if row["n"] == 13 else None))


def test_a_failure_leaves_no_file(lazy, tmp_path):
    with pytest.raises(StepError, match=r"rows\.jsonl: row 2499: ZeroDivisionError"):
        run(lazy.cache().map(lambda row: {"m": 1 / (2499 - row["n"])}))
    assert arrow_files(tmp_path) == []


def test_types_that_change_along_the_way_make_one_file_of_the_common_type(lazy, tmp_path):
    result = run(lazy.map(lambda row: {"m": None if row["n"] < 1000 else 1 if row["n"] < 2000 else 2.5}))
    (path,) = arrow_files(tmp_path)
    with pa.memory_map(str(path)) as source:
        column = pa.ipc.open_stream(source).read_all().column("m")
    assert column.type == pa.float64()
    assert [column[i].as_py() for i in (0, 999, 1000, 1999, 2000)] == [None, None, 1.0, 1.0, 2.5]
    assert result.receipt.schema.field("m").type == pa.float64()


def test_types_that_cannot_be_one_name_file_rows_column_and_types(lazy, tmp_path):
    with pytest.raises(SchemaError) as caught:
        run(lazy.map(lambda row: {"m": "text" if row["n"] >= 2000 else 1}))
    text = str(caught.value)
    assert text.startswith(f"{tmp_path}/rows.jsonl: rows 2000 to ")
    assert "`m` is int64 in one place and string in another" in text


def test_the_bytes_of_a_result_do_not_depend_on_when_it_was_computed(lazy, tmp_path):
    chain = lazy.map(lambda row: {"m": len(row["text"])})
    (first,) = (run(chain).receipt.checksum,)
    for path in (tmp_path / "cache").rglob("*.*"):
        path.unlink()
    assert run(chain).receipt.checksum == first


@pytest.mark.parametrize(("rows", "filtered", "quarantined", "added"), [(9, 1, 1, 0), (10, 1, 0, 0), (20, 0, 0, 9)])
def test_a_result_that_does_not_account_for_every_row_is_an_error(rows, filtered, quarantined, added):
    receipt = Receipt(
        key="0" * 32, rows=rows, num_bytes=0, checksum="0" * 32, schema=pa.schema([]), rows_in=10,
        filtered={"why": filtered}, quarantined=quarantined, steps=({"rows_added": added},),
    )  # fmt: skip
    with pytest.raises(RaydataError, match="rows came and"):
        require_balance(receipt)
