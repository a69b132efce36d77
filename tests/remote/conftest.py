"""A web server on loopback that fails as lines and servers do."""

from __future__ import annotations

import http.server
import re
import threading
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("aiohttp")

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from typing_extensions import Self


@pytest.fixture(autouse=True)
def _own_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies of remote files go where the test goes."""
    monkeypatch.setenv("RAYDATA_EXT_LOCAL_DIR", str(tmp_path / "copies"))


class FlakyServer:
    """Serves contents by path. Every third request fails: in turn it is not answered, or its answer cut in the middle.

    Args:
        ranges: whether it serves parts of a content, too.

    Attributes:
        contents: by path, without the leading slash.
        failed: how many requests were not answered, or cut.
        is_down: whether no request is answered.
        sent: bytes of content that went out.
    """

    def __init__(self, *, ranges: bool = True) -> None:
        self.contents: dict[str, bytes] = {}
        self.failed = 0
        self.is_down = False
        self.sent = 0
        self._asked = 0
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self) -> None:
                self._answer(with_content=False)

            def do_GET(self) -> None:
                self._answer(with_content=True)

            def _answer(self, *, with_content: bool) -> None:
                content = server.contents.get(self.path.lstrip("/"))
                if content is None:
                    self.send_error(404)
                    return
                server._asked += 1
                fault = server._asked % 6
                if server.is_down or fault == 3:
                    server.failed += 1
                    self.close_connection = True
                    return
                span = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", "")) if ranges else None
                start, end = (int(span[1]), min(int(span[2]) + 1, len(content))) if span else (0, len(content))
                self.send_response(206 if span else 200)
                self.send_header("Content-Length", str(end - start))
                self.send_header("Accept-Ranges", "bytes" if ranges else "none")
                if span:
                    self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(content)}")
                self.end_headers()
                if with_content:
                    server.failed += fault == 0
                    stop = (start + end) // 2 if fault == 0 else end
                    server.sent += stop - start
                    self.wfile.write(content[start:stop])
                    self.close_connection = fault == 0

            def log_message(self, *arguments: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(params=[True, False], ids=["ranges", "no ranges"])
def server(request: pytest.FixtureRequest) -> Iterator[FlakyServer]:
    """One that serves ranges, and one that does not."""
    with FlakyServer(ranges=request.param) as server:
        yield server
