"""Raw files to shards.

`listing` turns paths and patterns into `InputFile`s, through `local_files` and `remote_files`; `grouping` puts small
files together and the readers split big ones, by rules that depend on names and sizes only; a `FileShard` is the
result, the unit of everything that follows. `identity` says what a shard's content is, without reading where that is
safe.

A row's path here: `InputFile.open` -> `compression` -> what cuts the bytes (`line_blocks`, `json_array_blocks`,
`csv_records`, `tar_members`) or an Arrow reader -> the format's `Reader.read` -> a record batch. One module a format; a
new one is a `Reader` and a line in `formats`. The lines of a big compressed file make a detour: `part_decoder` cuts it
while it is decompressed, and `decoded_lines` are what the readers of its parts get.
"""

from __future__ import annotations

from raydata_ext.sources.file_source import CompressedFile, FileShard, FileSource, label_of, scan_files
from raydata_ext.sources.formats import FORMATS, make_reader
from raydata_ext.sources.identity import IdentityIndex, Sighting
from raydata_ext.sources.input_file import InputFile, Piece
from raydata_ext.sources.listing import Paths, list_files
from raydata_ext.sources.reader import BadRow, Reader

__all__ = [
    "FORMATS",
    "BadRow",
    "CompressedFile",
    "FileShard",
    "FileSource",
    "IdentityIndex",
    "InputFile",
    "Paths",
    "Piece",
    "Reader",
    "Sighting",
    "label_of",
    "list_files",
    "make_reader",
    "scan_files",
]
