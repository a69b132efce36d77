"""Memory stays bounded however large the corpus is."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import pytest

DRIVER = """
import json, resource, sys
import raydata_ext as rdx
from raydata_ext.engine import Engine, Workers, run_all

def length(batch):
    return {"length": [len(text) for text in batch["text"]]}

lazy = rdx.scan_dataset(sys.argv[1], format="jsonl", cache_dir=sys.argv[2])
lazy = lazy.map(length, batched=True, remove_columns="text")
with Engine("ray", workers=2) as engine:
    results = run_all(lazy.plan, lazy.workspace, engine)[-1]
print(json.dumps({
    "rows": sum(result.receipt.rows for result in results),
    "worker": max(result.done.memory_high_water for result in results),
    "driver": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
}))
"""


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_four_gigabytes_pass_through_two_workers_of_less_than_one(tmp_path):
    lines = [
        json.dumps({"id": number, "text": f"{number} " + "words and more words " * 50}) for number in range(10_000)
    ]
    block = "\n".join(lines) + "\n"
    copies = 4_000_000_000 // len(block) + 1
    with (tmp_path / "big.jsonl").open("w") as file:
        for _ in range(copies):
            file.write(block)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(DRIVER), str(tmp_path / "big.jsonl"), str(tmp_path / "cache")],
        capture_output=True, text=True, timeout=1100, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures["rows"] == copies * 10_000
    assert figures["worker"] < 1_000_000_000
    assert figures["driver"] < 500_000_000
