"""The local files that a path, directory or pattern stands for."""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG

from raydata_ext.errors import NoMatchError
from raydata_ext.sources.input_file import InputFile
from raydata_ext.sources.local_glob import local_glob

LEFT_OUT_OF_DIRECTORIES = (".", "_")
"""How names begin that are no data where a whole directory is read: hidden files, `_SUCCESS`, `_temporary` and the
like."""


@dataclass
class LocalFiles:
    """The files that one path stands for.

    Args:
        given: a path or pattern; `~` is the home directory.

    Attributes:
        root: the directory that names are relative to; None where the path is that of a file.
        paths: absolute paths of the files, sorted.
    """

    given: str
    root: str | None = field(init=False)
    paths: list[str] = field(init=False)

    def __post_init__(self) -> None:
        # Not pathlib: resolve() follows links, and expanduser() refuses a file that is named like a user's home.
        self._path = path = os.path.abspath(os.path.expanduser(self.given))  # noqa: PTH100, PTH111 - see above
        if Path(path).is_dir():
            self.root = path
            self.paths = sorted(local_glob(path, "**", hidden=LEFT_OUT_OF_DIRECTORIES))
        elif os.path.lexists(path):
            self.root, self.paths = None, [path]
        else:
            self.root, pattern = fixed_part(path)
            exists = glob.has_magic(pattern) and Path(self.root).is_dir()
            self.paths = sorted(local_glob(self.root, pattern)) if exists else []

    def input_file(self, path: str, name: str) -> InputFile:
        """One of the files as it is now.

        Raises:
            NoMatchError: it is a link to nowhere, gone, or a pipe or device.
        """
        try:
            stat = Path(path).stat()
        except FileNotFoundError as error:
            target = f" (a link to {str(Path(path).readlink())!r})" if Path(path).is_symlink() else ""
            raise NoMatchError(f"{path!r}{target} does not exist; restore it, or leave it out with exclude=") from error
        if not S_ISREG(stat.st_mode):
            raise NoMatchError(f"{path!r} is no regular file, so it cannot be listed and read again")
        return InputFile(path, name, stat.st_size, f"{stat.st_mtime_ns}:{stat.st_ino}")

    def nearest_directory(self) -> tuple[str, int]:
        """The deepest directory on the way to the path that exists, and how many entries it has."""
        directory = Path(self._path)
        while not directory.is_dir():
            directory = directory.parent
        return str(directory), len(list(directory.iterdir()))


def fixed_part(pattern: str) -> tuple[str, str]:
    """Cut a pattern into the leading directories without wildcards and the rest, which is one part at least."""
    parts = pattern.split("/")
    fixed = next((i for i, part in enumerate(parts) if glob.has_magic(part)), len(parts) - 1)
    root = "/".join(parts[:fixed]) or ("/" if pattern.startswith("/") else "")
    return root, "/".join(parts[fixed:])
