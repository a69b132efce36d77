"""URLs with passwords: files are read and written with them, and nothing that is shown or stored has them."""

from __future__ import annotations

import base64
import http.server
import io
import json
import logging
import threading
import traceback

import fsspec
import pytest
import yaml
from fsspec.implementations.memory import MemoryFileSystem
from rich.console import Console

import raydata_ext as rdx
from raydata_ext.engine import progress_for
from raydata_ext.errors import NoMatchError, ReadError
from raydata_ext.job import read_job_file, run_job
from raydata_ext.sources import scan_files

ROWS = [{"n": number} for number in range(6)]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
PASSWORD = "hush-hush"


class VaultFileSystem(MemoryFileSystem):
    """Files of a host that asks for a password and, as FTP's do, have paths without host and user."""

    protocol = "vault"
    store = {}  # noqa: RUF012 - as in the base
    pseudo_dirs = [""]  # noqa: RUF012 - as in the base

    def __init__(self, host=None, username=None, password=None, **options):
        super().__init__(**options)
        if (host, username, password) != ("host", "user", PASSWORD):
            raise PermissionError(f"vault://{username}:{password}@{host}: wrong password")

    @classmethod
    def _strip_protocol(cls, path):
        if path.startswith("vault://"):
            path = path.removeprefix("vault://").partition("/")[2]
        return ("/" + path.strip("/")).rstrip("/")

    @staticmethod
    def _get_kwargs_from_urls(path):
        found = fsspec.utils.infer_storage_options(path)
        return {name: found[name] for name in ("host", "username", "password") if name in found}


@pytest.fixture
def vault(monkeypatch):
    """The URL of a host that holds a file, and what is stored there."""
    monkeypatch.setattr(VaultFileSystem, "store", {})
    monkeypatch.setattr(VaultFileSystem, "pseudo_dirs", [""])
    fsspec.register_implementation("vault", VaultFileSystem, clobber=True)
    url = f"vault://user:{PASSWORD}@host"
    with fsspec.open(f"{url}/in/a.jsonl", "wb") as file:
        file.write(LINES)
    return url


@pytest.fixture
def web():
    """The URL of a web server that asks for a password and serves one file."""
    expected = "Basic " + base64.b64encode(f"user:{PASSWORD}".encode()).decode()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.answer()

        def do_HEAD(self):
            self.answer()

        def answer(self):
            if self.headers.get("Authorization") != expected:
                self.send_error(401)
            elif self.path != "/a.jsonl":
                self.send_error(404)
            else:
                self.send_response(200)
                self.send_header("Content-Length", str(len(LINES)))
                self.end_headers()
                self.wfile.write(LINES if self.command == "GET" else b"")

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield f"http://user:{PASSWORD}@127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def contents(directory):
    """All files below a directory."""
    return [path.read_bytes() for path in directory.rglob("*") if path.is_file()]


def fail(row):
    raise ValueError(row["n"])


def test_a_job_reads_caches_and_writes_with_a_password_that_it_never_shows(vault, tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    settings = {
        "name": "secret",
        "source": {"paths": [f"{vault}/in/*.jsonl"]},
        "steps": [{"rename_columns": {"n": "number"}}],
        "output": {"path": f"{vault}/out"},
        "run": {"cache_dir": f"{vault}/cache", "executor": "inline", "report_dir": str(tmp_path / "report")},
    }
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(settings))
    shown = io.StringIO()
    report = run_job(read_job_file(tmp_path / "job.yaml"), progress=progress_for(Console(file=shown)))
    assert report.output["path"] == "vault://user:***@host/out"
    assert report.source["paths"] == ["vault://user:***@host/in/*.jsonl"]
    assert [shard["label"] for shard in report.shards()] == ["vault://user:***@host/in/a.jsonl"]
    assert rdx.load_from_disk(f"{vault}/out")["number"] == list(range(6))
    stored = {name: file.getvalue() for name, file in VaultFileSystem.store.items()}
    manifest = json.loads(stored["/out/manifest.json"])
    assert manifest["lineage"]["paths"] == ["vault://user:***@host/in/*.jsonl"]
    (receipt,) = (content for name, content in stored.items() if name.startswith("/cache/") and name.endswith(".json"))
    assert json.loads(receipt)["inputs"] == [{"path": "vault://user:***@host/in/a.jsonl"}]
    kept = [*stored.values(), *contents(tmp_path / "report"), *contents(tmp_path / "home"), caplog.text.encode()]
    assert not [content for content in (*kept, shown.getvalue().encode()) if PASSWORD.encode() in content]


def test_a_run_that_fails_says_so_without_the_password(vault, tmp_path):
    lazy = rdx.scan_dataset(f"{vault}/in", format="jsonl", cache_dir=tmp_path / "cache").map(fail)
    with pytest.raises(rdx.errors.StepError, match=r"vault://user:\*\*\*@host/in/a\.jsonl: row 0") as raised:
        lazy.collect(executor="inline")
    assert PASSWORD not in "".join(traceback.format_exception(raised.value))


def test_rows_that_are_set_aside_name_their_source_without_the_password(vault, tmp_path):
    lazy = rdx.scan_dataset(f"{vault}/in", format="jsonl", cache_dir=tmp_path / "cache").map(fail)
    lazy.collect(executor="inline", on_error="quarantine")
    records = [content for content in contents(tmp_path / "cache") if b"vault://user:***@host" in content]
    assert records
    assert not [content for content in contents(tmp_path) if PASSWORD.encode() in content]


def test_the_paths_that_an_export_returns_can_be_read(vault, tmp_path):
    data = rdx.Dataset.from_list(ROWS, cache_dir=tmp_path)
    for paths in (data.to_parquet(f"{vault}/rows.parquet"), data.to_json(f"{vault}/rows", max_file_bytes=20)):
        assert rdx.load_dataset(paths, cache_dir=tmp_path, executor="inline").to_list() == ROWS


def test_the_password_is_no_part_of_a_key(vault, web, tmp_path):
    results = []
    for paths in (f"{vault}/in/*.jsonl", f"{web}/a.jsonl"):
        lazy = rdx.scan_dataset(paths, cache_dir=tmp_path).map(lambda row: {"n": row["n"] + 1}, version="1")
        assert lazy.collect(executor="inline")["n"] == [1, 2, 3, 4, 5, 6]
        results.append(sorted(path.name for path in tmp_path.glob("??/*.arrow")))
    assert len(results[0]) == 1
    assert results[0] == results[1]


def test_a_file_is_excluded_by_its_whole_url_with_the_password(vault):
    with pytest.raises(NoMatchError, match="excluded"):
        scan_files(f"{vault}/in", format="jsonl", exclude=[f"{vault}/in/a*"])


def test_what_is_not_there_is_named_without_the_password(vault, web):
    with pytest.raises(
        NoMatchError, match=r"vault://user:\*\*\*@host/in/b\*.*directory .*'vault://user:\*\*\*@host/in'"
    ):
        scan_files(f"{vault}/in/b*", format="jsonl")
    with pytest.raises(NoMatchError, match=r"http://user:\*\*\*@127") as raised:
        scan_files(f"{web}/b.jsonl")
    assert PASSWORD not in "".join(traceback.format_exception(raised.value))


def test_a_wrong_password_is_said_to_be_one_at_once_and_not_shown(web, caplog):
    url = web.replace(PASSWORD, "hush-hushed")
    with (
        caplog.at_level(logging.DEBUG, logger="raydata_ext"),
        pytest.raises(ReadError, match=r"http://user:\*\*\*@.*not allowed.*check the credentials") as raised,
    ):
        scan_files(f"{url}/a.jsonl")
    assert "hush" not in "".join(traceback.format_exception(raised.value)) + caplog.text


def test_a_file_system_that_cannot_be_made_says_so_without_the_password(vault):
    url = vault.replace(PASSWORD, "hush-hushed")
    with pytest.raises(ReadError, match=r"cannot be listed \(PermissionError: vault://user:\*\*\*@host") as raised:
        scan_files(f"{url}/in")
    assert "hush" not in "".join(traceback.format_exception(raised.value))


def test_a_url_that_pathlib_broke_is_shown_whole_but_for_the_password():
    with pytest.raises(ValueError, match=r"'https://user:\*\*\*@host/a'") as raised:
        scan_files(f"https:/user:{PASSWORD}@host/a")
    assert PASSWORD not in str(raised.value)
