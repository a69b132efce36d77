"""Files under `counted://`: those of this machine, as if they were far away; who reads a shard file notes its name.

The notes are in the directory `FETCHED`, in a file named after the host.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path

import fsspec
from fsspec.implementations.local import LocalFileSystem


class CountedFiles(LocalFileSystem):
    """The file system."""

    protocol = "counted"

    @classmethod
    def _strip_protocol(cls, path):
        return LocalFileSystem._strip_protocol(str(path).removeprefix("counted://"))

    def _open(self, path, mode="rb", **kwargs):
        if mode == "rb" and path.endswith(".arrow"):
            with (Path(os.environ["FETCHED"]) / socket.gethostname()).open("a") as log:
                log.write(f"{Path(path).name}\n")
        return super()._open(path, mode, **kwargs)


fsspec.register_implementation("counted", CountedFiles, clobber=True)
