"""Directories that `save_to_disk` wrote."""

from __future__ import annotations

import json
from pathlib import Path

import datasets
import pytest

from raydata_ext.errors import NoMatchError
from raydata_ext.sources import scan_files


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    data = datasets.Dataset.from_dict({"n": list(range(10)), "text": [f"row {n}" for n in range(10)]})
    data.select(range(9, -1, -1)).save_to_disk(tmp_path / "saved", num_shards=3)
    return tmp_path / "saved"


def numbers(path: object, **options: object) -> list[int]:
    source = scan_files(path, **options)
    assert source.reader.format == "arrow"
    return [row["n"] for shard in source.shards for _, batch in shard.read() for row in batch.to_pylist()]


def test_a_saved_dataset_is_read_through_its_state(saved: Path) -> None:
    assert numbers(saved) == list(range(9, -1, -1))
    assert numbers(saved, max_shard_bytes=1) == list(range(9, -1, -1))


def test_files_come_in_the_order_of_the_state_and_others_are_left_out(saved: Path) -> None:
    state = json.loads((saved / "state.json").read_text())
    state["_data_files"] = state["_data_files"][::-1][:2]
    (saved / "state.json").write_text(json.dumps(state))
    assert numbers(saved) == [2, 1, 0, 5, 4, 3]


def test_the_splits_of_a_dataset_dict_are_named(tmp_path: Path, saved: Path) -> None:
    data = datasets.load_from_disk(saved)
    datasets.DatasetDict({"train": data, "test": data}).save_to_disk(tmp_path / "both")
    with pytest.raises(NoMatchError, match=r"a DatasetDict with the splits train, test; give .*both/train'"):
        scan_files(tmp_path / "both")
    assert len(numbers([tmp_path / "both" / "train", tmp_path / "both" / "test"])) == 20


def test_a_file_that_is_missing_is_named(saved: Path) -> None:
    next(saved.glob("data-00001*")).unlink()
    with pytest.raises(
        NoMatchError, match=r"data-00001-of-00003\.arrow', which state\.json beside it names, is missing"
    ):
        scan_files(saved)


def test_a_damaged_state_is_an_error(saved: Path) -> None:
    (saved / "state.json").write_text("{}")
    with pytest.raises(NoMatchError, match=r"state\.json: damaged"):
        scan_files(saved)


def test_a_saved_dataset_may_be_remote(saved: Path, memory) -> None:
    for path in saved.iterdir():
        memory.pipe(f"/saved/{path.name}", Path(path).read_bytes())
    assert numbers("memory://saved") == list(range(9, -1, -1))
