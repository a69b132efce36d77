"""Streams over a line that breaks."""

from __future__ import annotations

import io
import random

import fsspec
import pytest

from raydata_ext.errors import ReadError
from raydata_ext.remote import ResumingStream, Retries

QUICK = Retries(attempts=4, first_pause=0.0)
CONTENT = random.Random(1).randbytes(300_000)


class BrittleFile(io.BytesIO):
    """Breaks at some of its bytes, once at each, or ends there as if that were all."""

    def __init__(self, breaks, error):
        super().__init__(CONTENT)
        self._breaks, self._error = breaks, error

    def read(self, size=-1):
        at = self.tell()
        stop = len(CONTENT) if size is None or size < 0 else min(len(CONTENT), at + size)
        here = [one for one in self._breaks if at <= one < stop]
        if not here:
            return super().read(size)
        if here[0] > at:
            return super().read(here[0] - at)
        self._breaks.remove(at)
        if self._error is None:
            return b""
        raise self._error


SIZE = len(CONTENT)


def stream_of(breaks=(), error=None, size=SIZE):
    left = list(breaks)
    return ResumingStream("x://file", lambda: BrittleFile(left, error), size, ReadError, QUICK)


@pytest.mark.parametrize("error", [ConnectionResetError("gone"), TimeoutError(), OSError(5, "i/o"), None])
@pytest.mark.parametrize("step", [-1, 1_000, 70_000])
def test_what_breaks_is_read_on_from_the_last_byte(error, step):
    stream = stream_of([0, 17, 100_000, 100_001, 299_999], error)
    pieces = [stream.read(step)]
    while pieces[-1]:
        pieces.append(stream.read(step))
    assert b"".join(pieces) == CONTENT
    assert stream.tell() == len(CONTENT)


def test_positions_are_those_of_a_file():
    stream = stream_of([50_000], ConnectionResetError())
    assert stream.seek(-10, io.SEEK_END) == len(CONTENT) - 10
    assert stream.read() == CONTENT[-10:]
    assert stream.seek(49_990) == 49_990
    assert stream.seek(5, io.SEEK_CUR) == 49_995
    buffer = bytearray(10)
    assert stream.readinto(buffer) == 10
    assert bytes(buffer) == CONTENT[49_995:50_005]
    assert stream.readable()
    assert stream.seekable()


def test_a_line_that_stays_broken_is_an_error_that_names_file_and_byte():
    stream = stream_of([100] * 9, ConnectionResetError("gone"))
    with pytest.raises(
        ReadError, match=r"reading x://file at byte 100 failed 4 times, last with ConnectionReset.*gone"
    ):
        stream.read()


def test_a_file_that_is_shorter_than_it_was_listed_is_an_error_and_not_a_short_read():
    stream = stream_of(size=len(CONTENT) + 5)
    with pytest.raises(ReadError, match="it ends after 300000 of 300005 bytes"):
        stream.read()


def test_a_file_of_unknown_size_ends_where_it_ends():
    stream = stream_of(size=None)
    assert stream.read() == CONTENT
    assert stream.read(1) == b""
    with pytest.raises(io.UnsupportedOperation, match="size is not known"):
        stream.seek(0, io.SEEK_END)


def test_a_file_that_is_not_there_is_said_at_once():
    memory = fsspec.filesystem("memory")
    with pytest.raises(FileNotFoundError):
        ResumingStream("memory://no", lambda: memory.open("/no", "rb"), None, ReadError, QUICK)


def test_a_closed_stream_cannot_be_read():
    stream = stream_of()
    stream.close()
    with pytest.raises(ValueError, match="closed"):
        stream.read(1)


def test_a_web_server_that_fails_every_third_request_is_read(server):
    server.contents["a"] = CONTENT * 10
    http = fsspec.filesystem("http", skip_instance_cache=True)
    url = f"{server.url}/a"
    for _ in range(4):
        with ResumingStream(
            url, lambda: http.open(url, block_size=256 << 10), 10 * len(CONTENT), ReadError, QUICK
        ) as stream:
            assert stream.read(1_000_000) + stream.read() == CONTENT * 10
    assert server.failed
