"""What the tests of streams share: the slow, plain order to compare with, and streams of every kind."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest


def _load(name):
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def oracle():
    """The reference order, one row at a time."""
    return _load("reference_order")


@pytest.fixture(scope="session")
def kinds(tmp_path_factory):
    """Name of a stream -> function that makes it anew."""
    module = _load("pipelines")
    root = tmp_path_factory.mktemp("corpus")
    module.write_corpus(root)
    return module.pipelines(root)


@pytest.fixture(scope="session")
def kinds_elsewhere(tmp_path_factory):
    """The program that goes on with states in another process."""
    return str(Path(__file__).with_name("pipelines.py"))
