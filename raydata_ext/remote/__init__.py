"""Files under URLs, through fsspec: the file system of a URL, requests made again, streams that go on where they broke.

Whatever reads or writes under a URL does it through this package, so that a line that fails now and then is borne in
one place.
"""

from __future__ import annotations

from raydata_ext.remote.file_systems import StorageOptions, find_file_system, find_version
from raydata_ext.remote.resuming_stream import ResumingStream
from raydata_ext.remote.retries import Retries, may_pass

__all__ = ["ResumingStream", "Retries", "StorageOptions", "find_file_system", "find_version", "may_pass"]
