"""Directories that `save_to_disk` wrote, Hugging Face's or ours: which of their files hold the rows, in which order."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from raydata_ext.errors import NoMatchError

if TYPE_CHECKING:
    from raydata_ext.sources.local_files import LocalFiles
    from raydata_ext.sources.remote_files import RemoteFiles

_STATE_FILE = "state.json"
_SPLITS_FILE = "dataset_dict.json"


def data_files(place: LocalFiles | RemoteFiles) -> list[str]:
    """The files of a place: those that `state.json` names where it is a saved data set, else all of them.

    Raises:
        NoMatchError: it is a `DatasetDict`, or what `state.json` names is not there.
    """
    if f"{place.root}/{_SPLITS_FILE}" in place.paths:
        splits = _read(place, _SPLITS_FILE, "splits")
        raise NoMatchError(
            f"{place.given!r} is a DatasetDict with the splits {', '.join(splits)}; give the directory of one, such as"
            f" {f'{place.root}/{splits[0]}'!r}, or a list of them"
        )
    if f"{place.root}/{_STATE_FILE}" not in place.paths:
        return place.paths
    paths = [f"{place.root}/{name}" for name in _read(place, _STATE_FILE, "_data_files")]
    missing = sorted(set(paths) - set(place.paths))
    if missing:
        raise NoMatchError(f"{missing[0]!r}, which {_STATE_FILE} beside it names, is missing; copy it there")
    return paths


def _read(place: LocalFiles | RemoteFiles, name: str, key: str) -> list[str]:
    """The names that a small JSON file holds under a key."""
    with place.input_file(f"{place.root}/{name}", name).open() as stream:
        text = stream.read()
    try:
        found = [one["filename"] if isinstance(one, dict) else one for one in json.loads(text)[key]]
    except (KeyError, TypeError, ValueError) as error:
        raise NoMatchError(f"{place.root}/{name}: damaged ({error!r}); save the data set again") from error
    if not found:
        raise NoMatchError(f"{place.root}/{name} names no files, so there is no data set")
    return found
