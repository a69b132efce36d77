"""The fingerprint of a data set."""

from __future__ import annotations

import os

import pyarrow as pa
import pytest

from raydata_ext.dataset import Dataset, load_from_disk
from raydata_ext.dataset.lineage import Lineage
from raydata_ext.sources import IdentityIndex


@pytest.fixture
def index(tmp_path):
    return IdentityIndex(tmp_path / "identity")


def test_steps_and_their_arguments_count_in_their_order(index):
    start = Lineage("start")
    made = [
        start,
        start.then("a"),
        start.then("a", 1),
        start.then("a", "1", ""),
        start.then("a").then("b"),
        start.then("b").then("a"),
        Lineage("other").then("a"),
        Lineage.joined("below", [start, start.then("a")]),
        Lineage.joined("below", [start.then("a"), start]),
        Lineage.joined("beside", [start, start.then("a")]),
    ]
    assert len({one.fingerprint(index) for one in made}) == len(made)
    assert start.then("a").fingerprint(index) == Lineage("start").then("a").fingerprint(index)


def test_it_does_not_matter_when_one_asks(index):
    asked = Lineage("start").then("a")
    asked.fingerprint(index)
    assert asked.then("b").fingerprint(index) == Lineage("start").then("a").then("b").fingerprint(index)


def test_a_very_long_chain_has_a_fingerprint(index):
    lineage = Lineage("start")
    for number in range(5000):
        lineage = lineage.then("select", number)
    assert len(lineage.fingerprint(index)) == 32


def test_the_fingerprint_of_files_is_that_of_their_content(make_files, tmp_path):
    paths = make_files()
    first = Dataset.from_files(paths, cache_dir=tmp_path / "a").fingerprint
    moved = [path.rename(path.with_name(f"moved-{path.name}")) for path in paths]
    for path in moved:
        os.utime(path, ns=(0, 1))
    assert Dataset.from_files(moved, cache_dir=tmp_path / "b").fingerprint == first
    assert Dataset.from_files(moved[:2], cache_dir=tmp_path / "b").fingerprint != first


def test_files_are_not_read_to_change_order_and_columns(dataset, tmp_path):
    dataset.shuffle(seed=1).rename_column("id", "n").sort("n")[0]
    assert not (tmp_path / "cache" / "identity").exists()
    assert len(dataset.fingerprint) == 32
    assert (tmp_path / "cache" / "identity").exists()


def test_equal_rows_in_memory_have_equal_fingerprints_however_they_are_chunked():
    first = Dataset.from_arrow(pa.table({"a": pa.chunked_array([[1], [2, 3]])}))
    assert first.fingerprint == Dataset.from_dict({"a": [1, 2, 3]}).fingerprint
    assert first.fingerprint != Dataset.from_dict({"a": [1, 2, 4]}).fingerprint


def test_saving_and_loading_keeps_the_fingerprint(any_dataset, tmp_path):
    for number, dataset in enumerate((any_dataset, any_dataset.shuffle(seed=1), any_dataset.map(lambda row: {"n": 1}))):
        dataset.save_to_disk(tmp_path / "out" / str(number))
        assert load_from_disk(tmp_path / "out" / str(number)).fingerprint == dataset.fingerprint
