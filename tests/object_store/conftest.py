"""An S3 server on loopback for the whole session, and a bucket a test."""

from __future__ import annotations

import http.client
import http.server
import os
import socket
import subprocess
import sys
import threading
import urllib.request
from itertools import count
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import fsspec
import pytest

pytest.importorskip("moto.server")
s3fs = pytest.importorskip("s3fs")

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from typing_extensions import Self

_numbers = count()


@pytest.fixture(autouse=True)
def _own_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies of remote files go where the test goes."""
    monkeypatch.setenv("RAYDATA_EXT_LOCAL_DIR", str(tmp_path / "copies"))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    """URL of the server, which runs in a process of its own."""
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    endpoint = f"http://127.0.0.1:{port}"
    pause = threading.Event()
    try:
        for _ in range(600):
            assert server.poll() is None, "the S3 server ended at its start"
            try:
                urllib.request.urlopen(f"{endpoint}/moto-api/data.json", timeout=5).close()
                break
            except OSError:
                pause.wait(0.1)
        yield endpoint
    finally:
        server.kill()
        server.wait()


@pytest.fixture
def s3(s3_endpoint: str, use_endpoint) -> Iterator[s3fs.S3FileSystem]:
    """The file system of the server, which `s3://` means for the length of a test, also in other processes."""
    use_endpoint(s3_endpoint)
    yield fsspec.filesystem("s3")
    s3fs.S3FileSystem.clear_instance_cache()


@pytest.fixture
def bucket(s3: s3fs.S3FileSystem) -> str:
    """URL of an empty bucket."""
    name = f"bucket-{os.getpid()}-{next(_numbers)}"
    s3.mkdir(name)
    return f"s3://{name}"


@pytest.fixture
def use_endpoint(monkeypatch: pytest.MonkeyPatch):
    """Make `s3://` mean the server at a URL, in this process and in those that it starts."""

    def use(url: str) -> None:
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        s3fs.S3FileSystem.clear_instance_cache()

    return use


@pytest.fixture
def guarded_bucket(s3_endpoint: str, bucket: str) -> Iterator[str]:
    """URL of a bucket that nobody has the right to use, as long as the test runs."""

    def allow(requests: str) -> None:
        url = f"{s3_endpoint}/moto-api/reset-auth"
        headers = {"Content-Type": "text/plain"}
        urllib.request.urlopen(urllib.request.Request(url, requests.encode(), headers, method="POST")).close()

    allow("0")
    yield bucket
    allow("inf")


@pytest.fixture
def flaky_s3(s3_endpoint: str, bucket: str, use_endpoint) -> Iterator[FlakyProxy]:
    """What `s3://` means for the length of a test, once there is a bucket: the server, behind a bad line."""
    with FlakyProxy(s3_endpoint) as proxy:
        use_endpoint(proxy.url)
        yield proxy


class FlakyProxy:
    """Passes requests on to a server, but for every third one: in turn it is not answered, or its answer is cut.

    Args:
        target: URL of the server.

    Attributes:
        url: of the proxy.
        failed: how many requests have failed.
    """

    def __init__(self, target: str) -> None:
        numbers, host = count(1), urlsplit(target).netloc
        proxy = self
        self.failed = 0

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one_request(self) -> None:
                self.raw_requestline = self.rfile.readline(1 << 16)
                if not self.raw_requestline or not self.parse_request():
                    self.close_connection = True
                    return
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                fault = next(numbers) % 6
                proxy.failed += fault in (0, 3)
                if fault == 3:
                    self.close_connection = True
                    return
                connection = http.client.HTTPConnection(host)
                connection.request(self.command, self.path, body, dict(self.headers))
                answer = connection.getresponse()
                content = answer.read()
                self.send_response_only(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                        self.send_header(name, value)
                length = answer.getheader("Content-Length", "0") if self.command == "HEAD" else str(len(content))
                self.send_header("Content-Length", length)
                self.end_headers()
                self.wfile.write(content[: len(content) // 2] if fault == 0 else content)
                self.close_connection = fault == 0
                connection.close()

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
