"""How a user's function is called, and what is said when it raises."""

from __future__ import annotations

import asyncio
import json
import sys

import pytest

from raydata_ext.dataset import Dataset, scan_dataset
from raydata_ext.errors import StepError


@pytest.fixture
def dataset(tmp_path):
    return lambda columns: Dataset.from_dict(columns, cache_dir=tmp_path / "cache")


@pytest.fixture
def corpus(tmp_path):
    """Two files of three rows in one shard."""
    for name in "ab":
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps({"name": name, "n": n}) + "\n" for n in range(3)))
    return scan_dataset(str(tmp_path / "*.jsonl"), cache_dir=tmp_path / "cache")


def helper(row):
    return 1 / (row["n"] - 2) if row["name"] == "b" else 0.0


def divide(row):
    return {"x": helper(row)}


def test_an_exception_names_step_file_row_and_the_users_own_traceback(corpus, tmp_path):
    lazy = corpus.select_columns(["n", "name"]).map(divide)
    with pytest.raises(StepError) as caught:
        lazy.collect(executor="inline")
    place, *traceback = str(caught.value).splitlines()
    assert place == f"step 2 `divide`: {tmp_path}/b.jsonl: row 2: ZeroDivisionError: division by zero"
    assert traceback[0] == "Traceback (most recent call last):"
    frames = [line for line in traceback if line.startswith("  File ")]
    assert [frame.rpartition(" in ")[2] for frame in frames] == ["divide", "helper"]
    assert all(__file__ in frame for frame in frames)
    assert traceback[-1].startswith("ZeroDivisionError: ")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_an_exception_for_a_batch_names_its_rows(corpus, tmp_path):
    lazy = corpus.map(lambda batch: batch["missing"], batched=True, batch_size=2)
    with pytest.raises(StepError, match=rf"^step 1 `<lambda>`: {tmp_path}/a.jsonl: rows 0 to 1: KeyError: 'missing'"):
        lazy.collect(executor="inline")


def test_an_exception_for_a_batch_over_two_files_names_both_ends(corpus, tmp_path):
    def second(batch):
        assert batch["name"][0] == batch["name"][-1], "mixed"

    place = rf"{tmp_path}/a.jsonl: row 2 to {tmp_path}/b.jsonl: row 0: AssertionError: mixed"
    with pytest.raises(StepError, match=place):
        corpus.map(second, batched=True, batch_size=2).collect(executor="inline")


def test_rows_keep_their_numbers_through_filters_and_other_steps(corpus, tmp_path):
    lazy = corpus.filter(lambda row: row["n"] > 0).map(lambda b: b, batched=True, batch_size=3)
    with pytest.raises(StepError, match=rf"step 3 .*{tmp_path}/b.jsonl: row 2: ZeroDivisionError"):
        lazy.map(divide).collect(executor="inline")


def test_rows_made_of_a_batch_are_named_by_its_first_row(corpus, tmp_path):
    lazy = corpus.map(lambda b: {"m": b["n"] * 5}, batched=True, batch_size=2, remove_columns=["name", "n"])
    with pytest.raises(StepError, match=rf"step 2 .*{tmp_path}/a.jsonl: row 2: ZeroDivisionError"):
        lazy.filter(lambda row: 1 / (row["m"] - 2) < 2).collect(executor="inline")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
@pytest.mark.parametrize("batched", [False, True])
def test_interrupts_are_not_taken_for_errors_of_the_function(dataset, error, batched):
    def interrupt(_):
        raise error

    with pytest.raises(type(error)):
        dataset({"n": [1]}).map(interrupt, batched=batched, executor="inline")


def test_a_function_that_ends_the_process_as_if_all_were_well_is_an_error(dataset):
    with pytest.raises(StepError, match="SystemExit: 0"):
        dataset({"n": [1]}).map(lambda row: sys.exit(0), executor="inline")


PanicException = type("PanicException", (BaseException,), {"__module__": "pyo3_runtime"})


@pytest.mark.parametrize("error", [asyncio.CancelledError("too late"), PanicException("index out of bounds")])
def test_a_cancelled_coroutine_and_a_panic_of_rust_are_errors_of_the_function(dataset, error):
    async def fail(_):
        raise error

    with pytest.raises(StepError, match=rf"row 0: {type(error).__name__}: {error}"):
        dataset({"n": [1]}).map(fail, version="1", executor="inline")


def test_stop_iteration_is_an_error_and_not_the_end_of_the_rows(dataset):
    with pytest.raises(StepError, match="row 0: StopIteration"):
        dataset({"n": [1, 2]}).map(lambda row: next(iter(())), executor="inline")


def test_coroutines_of_one_chunk_run_side_by_side_and_keep_their_order(dataset):
    class Rendezvous:
        """Each call waits for all others: that ends only where they run side by side."""

        def __init__(self):
            self.arrived = 0

        def setup(self):
            self.everyone = asyncio.Event()

        async def __call__(self, row):
            self.arrived += 1
            if self.arrived == 50:
                self.everyone.set()
            await self.everyone.wait()
            return {"double": row["n"] * 2}

    assert dataset({"n": range(50)}).map(Rendezvous, executor="inline")["double"] == list(range(0, 100, 2))


def test_coroutines_may_filter_and_take_batches(dataset):
    async def odd(row):
        await asyncio.sleep(0)
        return row["n"] % 2 == 1

    async def double(batch, indices):
        await asyncio.sleep(0)
        return {"m": [n * 2 for n in batch["n"]], "i": indices}

    lazy = dataset({"n": range(6)}).lazy().filter(odd).map(double, batched=True, with_indices=True, batch_size=2)
    assert lazy.collect(executor="inline").to_dict() == {"n": [1, 3, 5], "m": [2, 6, 10], "i": [0, 1, 2]}


def test_a_coroutine_that_raises_names_its_row(dataset):
    async def fail(row):
        await asyncio.sleep(0)
        if row["n"] >= 2:
            raise ValueError(f"bad {row['n']}")

    with pytest.raises(StepError, match=r"row 2: ValueError: bad 2") as caught:
        dataset({"n": range(5)}).map(fail, executor="inline")
    frames = [line for line in str(caught.value).splitlines() if line.startswith("  File ")]
    assert len(frames) == 1
    assert "in fail" in frames[0]


def test_what_a_client_session_holds_on_to_outlives_a_chunk(dataset):
    class Session:
        async def __call__(self, row):
            loop = asyncio.get_running_loop()
            self.loop = getattr(self, "loop", loop)
            return {"same": self.loop is loop}

    assert set(dataset({"n": range(2500)}).map(Session, executor="inline")["same"]) == {True}
