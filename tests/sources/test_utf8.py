"""Checking bytes for being UTF-8."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from raydata_ext.sources.utf8 import utf8_error


@given(st.binary(max_size=40) | st.text(max_size=40).map(lambda text: text.encode(errors="surrogatepass")))
def test_it_finds_what_python_finds(data: bytes) -> None:
    found = utf8_error(data)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        assert found is not None
        assert (found.start, found.reason) == (error.start, error.reason)
    else:
        assert found is None
