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


PIPELINES = _load("pipelines")


def pytest_generate_tests(metafunc):
    """A test of `kind` is run for each kind of stream."""
    if "kind" in metafunc.fixturenames:
        metafunc.parametrize("kind", PIPELINES.names())


@pytest.fixture(scope="session")
def oracle():
    """The reference order, one row at a time."""
    return _load("reference_order")


@pytest.fixture(scope="session")
def stream_corpus(tmp_path_factory):
    """A directory with the same rows in files of each format."""
    root = tmp_path_factory.mktemp("corpus")
    PIPELINES.write_corpus(root)
    return root


@pytest.fixture(scope="session")
def kinds(stream_corpus):
    """Kind of a stream -> function that makes it anew."""
    return PIPELINES.pipelines(stream_corpus)


@pytest.fixture(scope="session")
def wholes(kinds):
    """Kind of a stream -> all its rows."""
    return {kind: list(make()) for kind, make in kinds.items()}
