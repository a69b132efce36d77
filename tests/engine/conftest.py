"""What the tests of the engine share: a plan over the corpus."""

from __future__ import annotations

import pytest

import raydata_ext as rdx


@pytest.fixture
def scan(corpus, tmp_path):
    """The documents of the corpus in some shards, with their paths, and no steps yet."""
    return rdx.scan_dataset(
        str(corpus / "**" / "*.txt"), format="text", unit="file", path_column="path",
        max_shard_bytes="20KB", cache_dir=tmp_path / "cache",
    )  # fmt: skip
