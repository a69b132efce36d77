"""What is remembered of big compressed files, and how a plan sees them."""

from __future__ import annotations

import gzip
import os

import pytest

from raydata_ext.plan import FilePart, Map, Plan, UserFunction, Workspace, explain, parts_key, remember_parts, resolve
from raydata_ext.sources import Sighting, scan_files

PARTS = (FilePart(0, 1000, "a" * 32, 30), FilePart(1000, 1900, "b" * 32, 20))


@pytest.fixture
def plan(tmp_path):
    """A plain file and a big compressed one, in this order, with time stamps that are trusted."""
    (tmp_path / "a.txt").write_text("line\n")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"line\n" * 380) + b"\0" * 1000)
    for path in tmp_path.iterdir():
        os.utime(path, ns=(0, 1_700_000_000_123_456_789))
    return Plan(scan_files(str(tmp_path / "*.*"), format="text", max_shard_bytes=1000).shards)


@pytest.fixture
def workspace(tmp_path):
    return Workspace(tmp_path / "cache")


@pytest.fixture
def remembered(plan, workspace):
    plain, packed = plan.shards
    workspace.index.add([Sighting(plain.pieces[0], "p" * 32, 2**62), Sighting(packed.pieces[0], "c" * 32, 2**62)])
    remember_parts(workspace.store, parts_key(packed, "c" * 32), PARTS)


def test_a_file_that_was_not_decompressed_has_one_state(plan, workspace):
    states = resolve(plan, workspace).states
    assert [(state.shard, state.is_cut) for state in states] == [(plan.shards[0], True), (plan.shards[1], False)]
    assert "b.txt.gz: compressed file, not decoded yet" in str(explain(plan, workspace))


@pytest.mark.usefixtures("remembered")
def test_the_parts_of_a_known_file_are_shards_in_its_place(plan, workspace, tmp_path):
    _, first, second = resolve(plan, workspace).states
    assert first.shard.label == f"{tmp_path}/b.txt.gz[0:1000]"
    assert second.shard.label == f"{tmp_path}/b.txt.gz[1000:1900]"
    assert [state.shard.num_bytes for state in (first, second)] == [30, 20]
    assert first.whole == second.whole == plan.shards[1]
    assert first.is_cut
    assert len({*first.keys, *second.keys}) == 2
    assert "not decoded" not in str(explain(plan, workspace))


@pytest.mark.usefixtures("remembered")
def test_other_cuts_are_not_known(tmp_path, workspace):
    plan = Plan(scan_files(str(tmp_path / "*.*"), format="text", max_shard_bytes=900).shards)
    assert len(resolve(plan, workspace).states) == 2


def test_a_step_that_sees_numbers_of_shards_waits_until_they_are_known(plan):
    plan = plan.then(Map(UserFunction(len))).then(Map(UserFunction(len), with_rank=True))
    now, later = plan.head()
    assert (now.steps, later) == (plan.steps[:1], plan.steps[1:])
    plain = Plan(plan.shards[:1], plan.steps)
    assert plain.head() == (plain, ())
