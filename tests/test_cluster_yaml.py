"""`cluster.yaml` is one that Ray takes, and right in what Ray does not check."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def config() -> dict:
    return yaml.safe_load((ROOT / "cluster.yaml").read_text())


def test_rays_own_validator_accepts_it(config):
    from ray.autoscaler._private.util import prepare_config, validate_config

    full = prepare_config(copy.deepcopy(config))
    validate_config(full)
    assert full["max_workers"] == config["max_workers"]


def test_it_asks_for_no_more_workers_of_a_type_than_in_all(config):
    types = config["available_node_types"].values()
    assert all(kind["max_workers"] <= config["max_workers"] for kind in types)


def test_what_it_mounts_exists_and_what_is_generated_stays_here(config):
    for local in config["file_mounts"].values():
        assert (ROOT / local / "pyproject.toml").is_file()
    ignored = (ROOT / ".gitignore").read_text()
    for pattern in config["rsync_exclude"]:
        name = pattern.removeprefix("**/")
        assert name == ".git" or f"{name}/" in ignored


def test_it_pins_ray_so_that_all_nodes_run_the_same(config):
    assert any("ray[default]==" in command for command in config["setup_commands"])
