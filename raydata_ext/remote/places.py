"""What users give as the place of something: a path of this machine, or a URL."""

from __future__ import annotations

import os
import re
from pathlib import Path

import fsspec

from raydata_ext.redaction import redacted

_LOCAL_SCHEMES = ("file://", "local://", "file:/")
_ONE_SLASH = re.compile(r"([a-z][a-z0-9+.-]*):/(?!/)")


def without_local_scheme(path: str | os.PathLike[str]) -> str:
    """Return a place as text; a URL that means this machine's file system, such as `file:///data`, as its path.

    Args:
        path: a path or URL.

    Raises:
        ValueError: it is empty, or a URL of which pathlib, which takes `//` for `/`, has left one slash.
    """
    place = os.fspath(path)
    if not place:
        raise ValueError("the path is empty; the working directory is '.'")
    for scheme in _LOCAL_SCHEMES:
        if place.startswith(scheme):
            return place.removeprefix(scheme.rstrip("/")).removeprefix("//")
    shortened = _ONE_SLASH.match(place)
    if shortened is not None and shortened[1] in fsspec.available_protocols():
        raise ValueError(
            f"{redacted(place)!r} is a URL that went through pathlib, which takes // for /; give it as text:"
            f" '{redacted(f'{shortened[1]}://{place[shortened.end() :]}')}'"
        )
    return place


def absolute_place(path: str | os.PathLike[str]) -> str:
    """Return an absolute path, in which `~` is the home directory, or a URL without a slash at its end.

    Args:
        path: a path or URL.

    Raises:
        ValueError: see `without_local_scheme`.
    """
    place = without_local_scheme(path)
    return place.rstrip("/") if is_url(place) else str(Path(place).expanduser().absolute())


def is_url(place: str) -> bool:
    """Tell whether a place is under a URL, and not a path of this machine."""
    return "://" in place
