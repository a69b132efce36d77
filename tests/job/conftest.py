"""A small job over a corpus of text files, with steps in a module of its own."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest
import yaml

if TYPE_CHECKING:
    from pathlib import Path

STEPS = '''
"""Steps of a test job."""

import numpy as np

LIMIT = 70


def long_enough(row, limit=LIMIT):
    # a comment
    return len(row["text"]) >= limit, "too short"


class Tokenize:
    def __init__(self):
        self.shift = 3

    def __call__(self, batch):
        return {"input_ids": [np.frombuffer(t.encode(), np.uint8).astype(np.int32) + self.shift for t in batch["text"]]}
'''


class JobDirectory:
    """A working directory with a job file `job.yaml` and the module of its steps."""

    def __init__(self, path: Path, module: str, corpus: Path) -> None:
        self.path, self.module, self.corpus = path, module, corpus
        self.steps_file = path / f"{module}.py"
        self.write_steps(STEPS)
        self.settings = {
            "name": "small",
            "source": {
                "paths": [str(corpus / "**" / "*.txt")],
                "format": "text",
                "max_shard_bytes": "20KB",
                "options": {"unit": "file", "path_column": "path"},
            },
            "steps": [
                {"filter": {"function": f"{module}:long_enough"}},
                {
                    "map": {
                        "function": f"{module}:Tokenize",
                        "batched": True,
                        "batch_size": 4,
                        "remove_columns": ["text"],
                    }
                },
            ],
            "output": {"path": str(path / "out")},
            "run": {"cache_dir": str(path / "cache"), "executor": "inline"},
        }
        self.write_job()

    @property
    def job_file(self) -> Path:
        return self.path / "job.yaml"

    @property
    def output(self) -> Path:
        return self.path / "out"

    @property
    def cache(self) -> Path:
        return self.path / "cache"

    @property
    def report(self) -> Path:
        return self.path / "out.run"

    def write_steps(self, text: str) -> None:
        self.steps_file.write_text(textwrap.dedent(text), encoding="utf8")

    def write_job(self) -> None:
        self.job_file.write_text(yaml.safe_dump(self.settings, sort_keys=False), encoding="utf8")


@pytest.fixture
def job(tmp_path: Path, corpus: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> JobDirectory:
    path = tmp_path / "work"
    path.mkdir()
    monkeypatch.chdir(path)
    return JobDirectory(path, f"steps_{abs(hash(request.node.nodeid))}", corpus)
