"""File systems of URLs."""

from __future__ import annotations

from datetime import datetime, timezone

import fsspec
import pytest

from raydata_ext.remote import find_file_system, find_version


def test_options_are_those_of_the_file_system_of_a_url():
    s3, path = find_file_system("s3://bucket/a", {"key": "me", "secret": "x", "endpoint_url": "http://127.0.0.1:1"})
    assert (s3.key, s3.endpoint_url, path) == ("me", "http://127.0.0.1:1", "bucket/a")


def test_options_by_protocol_reach_only_those_that_they_are_meant_for():
    options = {"s3": {"key": "me"}, "memory": {"use_listings_cache": False}}
    assert find_file_system("s3://bucket/a", options)[0].key == "me"
    memory, path = find_file_system("memory://a/b", options)
    assert memory is fsspec.filesystem("memory", use_listings_cache=False)
    assert path == "/a/b"
    assert find_file_system("memory://a", None)[1] == "/a"


@pytest.mark.parametrize(
    ("info", "version"),
    [
        ({"ETag": '"abc"', "LastModified": datetime(2024, 1, 1, tzinfo=timezone.utc)}, ('ETag:"abc"', "")),
        ({"ETag": 'W/"weak"', "mtime": 5}, ("", "5000000000")),
        ({"LastModified": datetime(2024, 1, 1, tzinfo=timezone.utc)}, ("", "1704067200000000000")),
        ({"updated": "yesterday"}, ("", "")),
        ({}, ("", "")),
    ],
)
def test_a_version_is_a_tag_or_a_time(info, version):
    assert find_version(info) == version
