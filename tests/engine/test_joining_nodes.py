"""Nodes that join a cluster in mid-run get work, and shards are read on the nodes that have copies of them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

JOINING_NODES = Path(__file__).with_name("joining_nodes.py")

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def seen():
    done = subprocess.run(
        [sys.executable, str(JOINING_NODES)], capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def test_workers_that_wait_for_room_get_it_on_nodes_that_join(seen):
    assert sorted(Counter(seen["first"]).values()) == [4, 4, 4]


def test_a_pool_without_a_bound_grows_with_the_cluster(seen):
    assert sorted(Counter(seen["last"]).values()) == [3, 3, 3, 3]


def test_a_map_over_a_data_set_reads_each_shard_on_the_node_that_has_a_copy(seen):
    assert seen["second"] == seen["first"]
    assert seen["fetched of shards in place"] == {}


def test_an_export_writes_each_shard_on_the_node_that_has_a_copy(seen):
    assert seen["files written"] == 12
    assert seen["fetched of shards that are written"] == {}


def test_rows_of_all_shards_are_read_after_each_other_shard_is_fetched_once(seen):
    [host] = seen["shuffled"]
    [(fetcher, files)] = seen["fetched of shuffled rows"].items()
    assert (fetcher, len(files)) == (host, 8)
    assert len(set(files)) == 8
