"""What a filter may answer, and how what is left out is counted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from raydata_ext.dataset import Dataset
from raydata_ext.engine import Engine, run_all
from raydata_ext.errors import StepError


@pytest.fixture
def lazy(tmp_path):
    columns = {"n": [1, 2, None, 4], "text": ["a", "bb", "ccc", "dddd"]}
    return Dataset.from_dict(columns, cache_dir=tmp_path / "cache").lazy()


def receipt_of(lazy):
    ((result,),) = run_all(lazy.plan, lazy.workspace, Engine("inline"))
    return result.receipt


def kept(lazy, function, **arguments):
    return lazy.filter(function, **arguments).collect(executor="inline")["text"]


def test_reasons_are_counted_and_rows_add_up(lazy):
    def judge(row):
        if row["n"] is None:
            return False, "no number"
        return (False, "short") if len(row["text"]) < 3 else (True, "good")

    receipt = receipt_of(lazy.filter(judge))
    assert receipt.filtered == {"short": 2, "no number": 1}
    assert receipt.rows_in == receipt.rows + sum(receipt.filtered.values()) == 4


def test_rows_left_out_without_a_reason_are_counted_too(lazy):
    receipt = receipt_of(lazy.filter(lambda row: (False, "a") if row["text"] == "a" else row["text"] != "bb"))
    assert receipt.filtered == {"a": 1, "": 1}


def test_several_filters_count_together_and_apart(lazy):
    receipt = receipt_of(
        lazy.filter(lambda row: (row["n"] is not None, "null")).filter(lambda row: (row["n"] > 1, "one"))
    )
    assert receipt.filtered == {"null": 1, "one": 1}
    assert [step["filtered"] for step in receipt.steps] == [{"null": 1}, {"one": 1}]
    assert [(step["rows_in"], step["rows_out"]) for step in receipt.steps] == [(4, 3), (3, 2)]


def test_nothing_left_out_counts_nothing(lazy):
    assert receipt_of(lazy.filter(lambda row: True)).filtered == {}


@pytest.mark.parametrize(
    "answer",
    [
        bool,
        np.bool_,
        np.array,
        pa.scalar,
        lambda value: (value, "reason"),
        lambda value: (np.bool_(value), ""),
    ],
    ids=["bool", "numpy bool", "numpy array without dimension", "arrow", "with a reason", "numpy bool with a reason"],
)
def test_a_row_is_kept_for_any_kind_of_true(lazy, answer):
    assert kept(lazy, lambda row: answer(len(row["text"]) > 2)) == ["ccc", "dddd"]


def test_a_tensor_is_an_answer(lazy):
    torch = pytest.importorskip("torch")
    assert kept(lazy, lambda row: torch.tensor(len(row["text"])) > 2) == ["ccc", "dddd"]
    assert kept(lazy, lambda b: torch.tensor([len(t) for t in b["text"]]) > 2, batched=True) == ["ccc", "dddd"]


@pytest.mark.parametrize(
    "answers",
    [
        lambda mask: mask,
        tuple,
        np.array,
        pd.Series,
        pa.array,
        lambda mask: pa.chunked_array([mask]),
        lambda mask: [(one, "reason") for one in mask],
    ],
    ids=["list", "tuple", "numpy", "pandas", "arrow", "chunked arrow", "with reasons"],
)
def test_a_batch_is_answered_with_any_kind_of_mask(lazy, answers):
    assert kept(lazy, lambda b: answers([len(t) > 2 for t in b["text"]]), batched=True) == ["ccc", "dddd"]


def test_a_batched_filter_may_give_reasons(lazy):
    lazy = lazy.filter(lambda b: [(n is not None, "null") for n in b["n"]], batched=True, batch_size=3)
    assert receipt_of(lazy).filtered == {"null": 1}


@pytest.mark.parametrize(
    ("batch_format", "function"),
    [
        ("arrow", lambda table: pc.greater(pc.utf8_length(table["text"]), 2)),
        ("numpy", lambda batch: np.char.str_len(batch["text"].astype(str)) > 2),
        ("pandas", lambda frame: frame["text"].str.len() > 2),
    ],
)
def test_batches_come_in_the_format_asked_for(lazy, batch_format, function):
    assert kept(lazy, function, batched=True, batch_format=batch_format) == ["ccc", "dddd"]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (None, "NoneType"),
        (1, "int"),
        (np.int64(1), "int64"),
        ("yes", "str"),
        ([True], "list"),
        ((None, "reason"), "NoneType"),
        ((False, 3), "tuple"),
        (np.array([True]), "ndarray"),
    ],
)
def test_what_is_no_bool_is_an_error(lazy, answer, kind):
    with pytest.raises(
        StepError, match=rf"row 0: the function returned {kind}; a filter answers with a bool, or \(False"
    ):
        kept(lazy, lambda row: answer, version=repr(answer))


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (None, "the function returned NoneType; a filter answers"),
        (True, "the function returned bool; a filter answers"),
        ("abcd", "the function returned str; a filter answers"),
        ({"n": [True] * 4}, "the function returned dict; a filter answers"),
        (np.bool_(True), "the function returned bool"),
        ([True] * 3, "the function returned list; these are 3 answers for 4 rows"),
        ([], "the function returned list; these are 0 answers for 4 rows"),
        ([True, None, True, True], "row 1: the function returned NoneType"),
        (pa.array([True, None, True, True]), "row 1: the function returned NoneType"),
        (np.array([0, 1, 1, 1]), "row 0: the function returned int"),
        (np.ones((4, 1), bool), "row 0: the function returned list"),
    ],
)
def test_what_is_no_mask_is_an_error(lazy, answers, message):
    with pytest.raises(StepError, match=message):
        kept(lazy, lambda batch: answers, batched=True, version=repr(answers))


def test_what_a_filter_does_to_its_row_is_not_kept(lazy):
    def spoil(row):
        row["text"] = ""
        return True

    assert kept(lazy, spoil) == ["a", "bb", "ccc", "dddd"]


def test_no_rows_left_keep_the_schema(lazy):
    result = lazy.filter(lambda row: False).filter(lambda b: 1 / 0, batched=True).collect(executor="inline")
    assert len(result) == 0
    assert result.schema.remove_metadata() == pa.schema({"n": pa.int64(), "text": pa.string()})
