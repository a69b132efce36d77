"""Checking bytes for being UTF-8."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raydata_ext.sources.utf8 import utf8_error


@given(st.binary(max_size=40) | st.text(max_size=40).map(lambda text: text.encode(errors="surrogatepass")))
def test_it_finds_what_python_finds(data: bytes) -> None:
    found = utf8_error(data)
    if found is None:
        data.decode()
    else:
        with pytest.raises(UnicodeDecodeError) as caught:
            data.decode()
        assert (found.start, found.reason) == (caught.value.start, caught.value.reason)
