"""Files under URLs, through fsspec: places as users write them (`places`), the file system of a URL (`file_systems`),
requests made again (`retries`), streams that go on where they broke (`resuming_stream`).

Whatever reads or writes under a URL does it through this package, so that a line that fails now and then is borne in
one place.
"""

from __future__ import annotations

from raydata_ext.remote.file_systems import StorageOptions, find_file_system, find_version
from raydata_ext.remote.places import absolute_place, is_url, without_local_scheme
from raydata_ext.remote.resuming_stream import ResumingStream
from raydata_ext.remote.retries import Retries, may_pass

__all__ = [
    "ResumingStream",
    "Retries",
    "StorageOptions",
    "absolute_place",
    "find_file_system",
    "find_version",
    "is_url",
    "may_pass",
    "without_local_scheme",
]
