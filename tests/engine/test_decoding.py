"""One big compressed file keeps all workers busy, and gives what the same lines give where they are not compressed."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import random
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pyarrow as pa
import pytest
from rich.console import Console

from raydata_ext.engine import Engine, Silent, Workers, progress_for, run_all
from raydata_ext.engine.error_policy import ErrorPolicy
from raydata_ext.errors import ReadError, StepError
from raydata_ext.plan import Cache, Map, Plan, UserFunction, Workspace, explain, parts_key
from raydata_ext.sources import scan_files

PART_BYTES = 20_000
LINES = [json.dumps({"n": n, "text": f"{n:04d}" * (n % 40)}) + "\n" for n in range(5000)]
CONTENT = "".join(LINES).encode()
COMPRESSIONS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
    "lz4": lambda data: pa.compress(data, codec="lz4", asbytes=True),
}


def write(path, content):
    path.write_bytes(content)
    os.utime(path, ns=(0, 1_700_000_000_123_456_789))  # old enough for its time stamp to be trusted
    return path


@pytest.fixture
def packed(tmp_path):
    return write(tmp_path / "big.jsonl.gz", gzip.compress(CONTENT, 1))


@pytest.fixture
def workspace(tmp_path):
    return Workspace(tmp_path / "cache")


def plan_of(path, *steps, max_shard_bytes=PART_BYTES, **options):
    return Plan(scan_files(str(path), max_shard_bytes=max_shard_bytes, **options).shards, steps)


def step(function, **kwargs):
    return Map(UserFunction(function, version="1", fn_kwargs=kwargs))


def run(plan, workspace, executor="inline", workers=None, progress=None, **errors):
    with Engine(executor, workers) as engine:
        return run_all(plan, workspace, engine, progress, ErrorPolicy(**errors))[-1]


def contents(workspace, results):
    """The bytes of all results, in order."""
    return [Path(workspace.store.local_path(result.receipt)).read_bytes() for result in results]


def numbers(workspace, results):
    return [row["n"] for result in results for row in workspace.store.table(result.receipt).to_pylist()]


def computed(results):
    return sum(not result.cached for result in results)


def files_of(workspace):
    """Keys of all entries."""
    return set(workspace.store.keys())


def double(row):
    return {"double": row["n"] * 2}


def logged(row, log):
    with Path(log).open("a") as file:
        file.write(f"{row['n']}\n")
    return {"double": row["n"] * 2}


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_every_compression_gives_the_shards_of_the_plain_file(tmp_path, workspace, suffix):
    plain = write(tmp_path / "plain.jsonl", CONTENT)
    big = write(tmp_path / f"big.jsonl.{suffix}", COMPRESSIONS[suffix](CONTENT))
    expected = run(plan_of(plain, step(double)), Workspace(tmp_path / "other"))
    results = run(plan_of(big, step(double)), workspace)
    assert len(results) == len(expected) == -(-len(CONTENT) // PART_BYTES)
    assert contents(workspace, results) == contents(Workspace(tmp_path / "other"), expected)
    assert numbers(workspace, results) == list(range(5000))
    assert sum(result.shard.num_bytes for result in results) == big.stat().st_size
    assert all(result.receipt.rows == result.receipt.rows_in for result in results)


@pytest.mark.parametrize("workers", [1, 2])
def test_workers_on_ray_give_the_same_bytes(packed, workspace, tmp_path, ray_session, workers):
    plan = plan_of(packed, step(double))
    inline = Workspace(tmp_path / "inline")
    assert contents(workspace, run(plan, workspace, "ray", workers)) == contents(inline, run(plan, inline))


def test_decompressing_the_corpus_recomputes_nothing(packed, workspace, tmp_path):
    run(plan_of(packed, step(double)), workspace)
    plain = write(tmp_path / "big.jsonl", CONTENT)
    assert computed(run(plan_of(plain, step(double)), workspace)) == 0


def test_text_is_cut_at_lines_too(tmp_path, workspace):
    big = write(tmp_path / "big.txt.gz", gzip.compress(CONTENT, 1))
    results = run(plan_of(big, format="text"), workspace)
    assert len(results) > 10
    rows = [row["text"] + "\n" for result in results for row in workspace.store.table(result.receipt).to_pylist()]
    assert rows == LINES


def test_files_around_it_keep_their_place(tmp_path, packed, workspace):
    write(tmp_path / "a.jsonl", b'{"n": -1}\n')
    write(tmp_path / "z.jsonl", b'{"n": -2}\n')
    assert numbers(workspace, run(plan_of(tmp_path / "*.jsonl*", step(double)), workspace)) == [-1, *range(5000), -2]


def test_a_second_run_decompresses_nothing(packed, workspace):
    plan = plan_of(packed, step(double))
    run(plan, workspace)
    before = files_of(workspace)
    assert "not decoded" not in str(explain(plan, workspace))
    with Engine("inline") as engine:
        again = run_all(plan, workspace, engine)[-1]
        assert engine.used == []
    assert computed(again) == 0
    assert files_of(workspace) == before


def test_decompressed_lines_are_gone_when_the_run_is_over(packed, workspace):
    results = run(plan_of(packed, step(double)), workspace)
    parts = 1
    assert len(files_of(workspace)) == len(results) + parts


class MostLines(Silent):
    """Counts the entries of the store that are no results, whenever a part is done."""

    def __init__(self, workspace):
        self.workspace, self.done, self.most = workspace, 0, 0

    def advance(self, num_bytes, rows):
        self.done += 1
        self.most = max(self.most, len(files_of(self.workspace)) - self.done)


@pytest.mark.parametrize(("executor", "most"), [("inline", 1), ("ray", 10)])
def test_few_decompressed_lines_lie_about_at_a_time(packed, workspace, ray_session, executor, most):
    progress = MostLines(workspace)
    results = run(plan_of(packed, step(double)), workspace, executor, 2, progress)
    assert progress.done == len(results) > 2 * most
    assert progress.most <= most


def test_progress_counts_parts_as_they_show(packed, workspace):
    console = Console(file=io.StringIO(), width=200)
    results = run(plan_of(packed, step(double)), workspace, progress=progress_for(console))
    first, *_, last = console.file.getvalue().splitlines()
    assert first.startswith("computing: 1 shard,")
    assert last.startswith(f"computing: {len(results)}/{len(results)} shards, 5,000 rows")


def test_a_touched_file_is_hashed_and_not_decompressed(packed, workspace):
    run(plan_of(packed, step(double)), workspace)
    before = files_of(workspace)
    os.utime(packed)
    results = run(plan_of(packed, step(double)), workspace)
    assert computed(results) == 0
    assert files_of(workspace) == before


def test_another_step_decompresses_again_and_a_kept_result_does_not(packed, workspace):
    kept = plan_of(packed, step(double), Cache())
    run(kept, workspace)
    before = files_of(workspace)
    results = run(kept.then(step(double)), workspace)
    assert computed(results) == len(results)
    assert len(files_of(workspace) - before) == len(results)
    other = run(plan_of(packed, Map(UserFunction(double, version="2"))), workspace)
    assert numbers(workspace, other) == list(range(5000))
    assert len(files_of(workspace) - before) == 2 * len(results)


def test_only_parts_that_are_missing_are_computed(packed, workspace, tmp_path):
    log = tmp_path / "log"
    plan = plan_of(packed, step(logged, log=str(log)))
    results = run(plan, workspace)
    log.unlink()
    for lost in (3, 7):
        workspace.store.discard(results[lost].receipt.key)
    again = run(plan, workspace)
    assert [number for number, result in enumerate(again) if not result.cached] == [3, 7]
    assert numbers(workspace, again) == list(range(5000))
    assert len(log.read_text().splitlines()) == results[3].receipt.rows + results[7].receipt.rows


def test_a_file_that_is_appended_to_keeps_its_earlier_parts(tmp_path, workspace):
    path = tmp_path / "big.jsonl.gz"
    first = run(plan_of(write(path, gzip.compress(CONTENT, 1)), step(double)), workspace)
    path.write_bytes(gzip.compress(CONTENT, 1) + gzip.compress(CONTENT[: 2 * PART_BYTES].rpartition(b"\n")[0] + b"\n"))
    second = run(plan_of(path, step(double)), workspace)
    assert [result.receipt.key for result in second][: len(first) - 1] == [r.receipt.key for r in first][:-1]
    assert computed(second) == len(second) - len(first) + 1


def test_numbers_of_rows_and_shards_are_those_of_the_whole(packed, workspace):
    def place(row, index, rank):
        return {"index": index, "rank": rank}

    plan = plan_of(packed, Map(UserFunction(place), with_indices=True, with_rank=True))
    results = run(plan, workspace)
    rows = [row for result in results for row in workspace.store.table(result.receipt).to_pylist()]
    assert [row["index"] for row in rows] == list(range(5000))
    assert [row["rank"] for row in rows] == [
        rank for rank, result in enumerate(results) for _ in range(result.receipt.rows)
    ]


def test_a_bad_line_is_named_by_line_and_byte_of_the_decompressed_file(tmp_path, workspace):
    lines = [line.encode() for line in LINES]
    lines[3000] = b"{broken\n"
    packed = write(tmp_path / "big.jsonl.gz", gzip.compress(b"".join(lines), 1))
    offset = len(b"".join(lines[:3000]))
    with pytest.raises(ReadError, match=rf"big\.jsonl\.gz\[\d+:\d+\]: line 3001 \(from byte {offset}\)"):
        run(plan_of(packed), workspace)


def test_a_truncated_file_is_an_error_after_all_whole_parts(tmp_path, workspace):
    whole = gzip.compress(CONTENT, 1)
    packed = write(tmp_path / "big.jsonl.gz", whole[: len(whole) // 2])
    log = tmp_path / "log"
    plan = plan_of(packed, step(logged, log=str(log)))
    with pytest.raises(ReadError, match=r"big\.jsonl\.gz: byte \d+ of the decompressed data .*truncated or damaged"):
        run(plan, workspace)
    seen = len(log.read_text().splitlines())
    assert 1000 < seen < 4000
    with pytest.raises(ReadError, match="truncated or damaged"):
        run(plan, workspace)
    assert "not decoded" in str(explain(plan, workspace))


def test_what_comes_before_the_damage_can_be_had(tmp_path, workspace):
    whole = gzip.compress(CONTENT, 1)
    packed = write(tmp_path / "big.jsonl.gz", whole[: len(whole) // 2])
    results = run(plan_of(packed, step(double)), workspace, on_error="quarantine")
    found = numbers(workspace, results)
    assert found == list(range(len(found)))
    assert len(found) > 1000
    assert sum(result.receipt.quarantined for result in results) == 1
    assert results[-1].shard.label.endswith(":]")


def wait_for_another(row, seen, cache=None, key=None):
    """Begin with the first part only when another one is under way; note whether the file was decompressed by then."""
    if row["n"] == 0:
        deadline = time.monotonic() + 60
        while not any(Path(seen).glob("row-*")):
            assert time.monotonic() < deadline, "no other part was begun"
            time.sleep(0.01)
        if cache is not None:
            Path(seen, "open" if Workspace(cache).store.get(key) is None else "closed").touch()
    elif row["n"] % 100 == 0:
        Path(seen, f"row-{row['n']}").touch()
    return row


def test_parts_are_computed_side_by_side_while_the_file_is_decompressed(tmp_path, workspace, ray_session):
    content = "".join(LINES * 8).encode()
    packed = write(tmp_path / "big.jsonl.xz", lzma.compress(content, preset=0))
    plan = plan_of(packed)
    key = parts_key(plan.shards[0], plan.shards[0].hash_piece(plan.shards[0].pieces[0]))
    seen = tmp_path / "seen"
    seen.mkdir()
    plan = plan.then(step(wait_for_another, seen=str(seen), cache=str(workspace.path), key=key))
    results = run(plan, workspace, "ray", 2)
    assert (seen / "open").exists()
    assert len({result.receipt.worker for result in results}) == 2
    assert numbers(workspace, results) == [*range(5000)] * 8


class DieOnce:
    """Ends its process the first time it sees a row."""

    def __init__(self, marker):
        self.marker = Path(marker)

    def __call__(self, row):
        if row["n"] == 2500 and not self.marker.exists():
            self.marker.touch()
            os._exit(1)
        return double(row)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_worker_that_dies_with_the_file_open_is_replaced(packed, workspace, tmp_path, ray_session, workers):
    dying = Map(UserFunction(DieOnce, version="1", constructor_kwargs={"marker": str(tmp_path / "marker")}))
    results = run(plan_of(packed, dying), workspace, "ray", workers)
    assert (tmp_path / "marker").exists()
    assert numbers(workspace, results) == list(range(5000))
    assert len(files_of(workspace)) == len(results) + 1


class KillAllAtThird(Silent):
    """Kills every worker when the third part is done."""

    def __init__(self):
        self.done = 0

    def advance(self, num_bytes, rows):
        self.done += 1
        if self.done == 3:
            for process in psutil.Process().children(recursive=True):
                with suppress(psutil.Error):
                    if "ShardActor" in " ".join(process.cmdline()):
                        process.kill()


def test_workers_killed_while_they_decompress_cost_no_part_that_was_done(tmp_path, workspace, ray_session):
    packed = write(tmp_path / "big.jsonl.xz", lzma.compress("".join(LINES * 4).encode(), preset=0))
    log = tmp_path / "log"
    progress = KillAllAtThird()
    plan = plan_of(packed, step(logged, log=str(log)))
    results = run(plan, workspace, "ray", Workers(1, 2, max_attempts=5), progress)
    assert progress.done == len(results)
    assert numbers(workspace, results) == [*range(5000)] * 4
    again = len(log.read_text().splitlines()) - 20_000
    assert again <= 4 * max(result.receipt.rows for result in results)


def test_a_failed_run_goes_on_where_it_stopped(packed, workspace, tmp_path):
    def fail(row, marker):
        if row["n"] == 4000 and not Path(marker).exists():
            raise ValueError("not now")
        return row

    plan = plan_of(packed, step(fail, marker=str(tmp_path / "marker")))
    with pytest.raises(StepError, match=r"big\.jsonl\.gz\[\d+:\d+\]: row \d+: ValueError: not now"):
        run(plan, workspace)
    (tmp_path / "marker").touch()
    results = run(plan, workspace)
    assert 0 < computed(results) < len(results) / 2
    assert numbers(workspace, results) == list(range(5000))


def test_one_big_file_is_worth_starting_ray(tmp_path, workspace, ray_session, monkeypatch):
    monkeypatch.setattr("raydata_ext.engine.engine.SMALL_WORK_BYTES", 1000)
    packed = write(tmp_path / "big.jsonl.gz", gzip.compress(CONTENT, 1))
    with Engine(None, 1) as engine:
        run_all(plan_of(packed), workspace, engine)
        assert engine.used == ["ray"]


def test_one_plain_file_keeps_all_workers_busy(tmp_path, workspace, ray_session):
    plain = write(tmp_path / "plain.jsonl", CONTENT)
    (tmp_path / "seen").mkdir()
    before = ray_session.available_resources().get("object_store_memory")
    results = run(plan_of(plain, step(wait_for_another, seen=str(tmp_path / "seen"))), workspace, "ray", 2)
    assert before - ray_session.available_resources().get("object_store_memory") < 1_000_000
    assert numbers(workspace, results) == list(range(5000))
    assert len({result.receipt.worker for result in results}) == 2


DRIVER = """
import json, resource, sys
from raydata_ext.engine import Engine, run_all
from raydata_ext.plan import Map, Plan, UserFunction, Workspace
from raydata_ext.sources import scan_files

def length(batch):
    return {"length": [len(text) for text in batch["text"]]}

source = scan_files(sys.argv[1])
step = Map(UserFunction(length), batched=True, remove_columns=("text",))
with Engine("ray", workers=2) as engine:
    results = run_all(Plan(source.shards, (step,)), Workspace(sys.argv[2]), engine)[-1]
print(json.dumps({
    "parts": len(results),
    "rows": sum(result.receipt.rows for result in results),
    "worker": max(result.done.memory_high_water for result in results),
    "driver": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
}))
"""


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_gigabyte_of_zstd_passes_through_two_workers_in_bounded_memory(tmp_path):
    numbers = random.Random(0)
    lines = [json.dumps({"id": n, "text": numbers.randbytes(300).hex()}) + "\n" for n in range(100_000)]
    frame = pa.compress("".join(lines).encode(), codec="zstd", asbytes=True)
    copies = 1_000_000_000 // len(frame) + 1
    with (tmp_path / "big.jsonl.zst").open("wb") as file:
        for _ in range(copies):
            file.write(frame)
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, str(tmp_path / "big.jsonl.zst"), str(tmp_path / "cache")],
        capture_output=True, text=True, timeout=800, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures["rows"] == copies * 100_000
    assert figures["parts"] > 6
    assert figures["worker"] < 1_000_000_000
    assert figures["driver"] < 500_000_000
