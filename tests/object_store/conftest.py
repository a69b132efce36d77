"""An S3 server on loopback for the whole session, and a bucket a test."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import urllib.request
from itertools import count
from typing import TYPE_CHECKING

import fsspec
import pytest

pytest.importorskip("moto.server")
s3fs = pytest.importorskip("s3fs")

if TYPE_CHECKING:
    from collections.abc import Iterator

_numbers = count()


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
