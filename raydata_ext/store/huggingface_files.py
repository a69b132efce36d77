"""`state.json` and `dataset_info.json` of a dataset directory, as Hugging Face `datasets` writes and reads them.

Source: `Dataset.save_to_disk` and `Dataset.load_from_disk` of `datasets` 5.2.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from raydata_ext.errors import SchemaError, StoreError
from raydata_ext.store.manifest import check_member_name
from raydata_ext.table.metadata import features_from_schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

logger = logging.getLogger(__name__)

STATE_FILE = "state.json"
INFO_FILE = "dataset_info.json"
SPLITS_FILE = "dataset_dict.json"


@dataclass(frozen=True)
class FormatState:
    """How a dataset hands out its rows, as kept in `state.json`.

    Args:
        type: Name of the format, or None for Python objects.
        columns: Columns that are formatted, or None for all.
        kwargs: Further arguments of the format, in JSON values.
        output_all_columns: Whether the other columns are handed out too, unformatted.
    """

    type: str | None = None
    columns: tuple[str, ...] | None = None
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    output_all_columns: bool = False


@dataclass(frozen=True)
class DatasetState:
    """The content of `state.json`.

    Args:
        file_names: Shard files relative to the directory, in the order of their rows.
        fingerprint: Fingerprint of the dataset.
        split: Name of the split, if it has one.
        format: How rows are handed out.
    """

    file_names: tuple[str, ...]
    fingerprint: str
    split: str | None = None
    format: FormatState = field(default_factory=FormatState)

    def to_json(self) -> bytes:
        """Return UTF-8 JSON in the reference's layout.

        Raises:
            TypeError: If the arguments of the format hold what JSON does not know.
        """
        columns = self.format.columns
        content = {
            "_data_files": [{"filename": name} for name in self.file_names],
            "_fingerprint": self.fingerprint,
            "_format_columns": None if columns is None else list(columns),
            "_format_kwargs": dict(self.format.kwargs),
            "_format_type": self.format.type,
            "_output_all_columns": self.format.output_all_columns,
            "_split": self.split,
        }
        return json.dumps(content, indent=2, sort_keys=True).encode()

    @classmethod
    def from_json(cls, text: bytes | str) -> DatasetState:
        """Read such a text, also one that Hugging Face wrote.

        Raises:
            StoreError: If the text is damaged, or names files outside of the directory.
        """
        try:
            content = json.loads(text)
            columns = content.get("_format_columns")
            return cls(
                file_names=tuple(check_member_name(one["filename"]) for one in content["_data_files"]),
                fingerprint=content["_fingerprint"],
                split=content.get("_split"),
                format=FormatState(
                    type=content.get("_format_type"),
                    columns=None if columns is None else tuple(columns),
                    kwargs=content.get("_format_kwargs") or {},
                    output_all_columns=bool(content.get("_output_all_columns")),
                ),
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise StoreError(f"{STATE_FILE} is damaged ({error!r})") from error


def dataset_info_json(schema: pa.Schema) -> bytes:
    """Return the text of `dataset_info.json` for a dataset of this schema.

    Only the first level of keys is sorted: the order of the features is the order of the columns.

    Args:
        schema: Arrow schema; what its `huggingface` metadata says of the features is kept. Where a type has no
            feature the text holds none, with a warning in the log.
    """
    try:
        features = features_from_schema(schema)
    except SchemaError as error:  # the data is sound all the same; without features the reference infers its own
        logger.warning("%s holds no features: %s", INFO_FILE, error)
        features = None
    info = {"citation": "", "description": "", "features": features, "homepage": "", "license": ""}
    return json.dumps(info, indent=2).encode()


def split_names(text: bytes | str) -> Sequence[str]:
    """Return the splits that a `dataset_dict.json` names.

    Raises:
        StoreError: If the text is damaged.
    """
    try:
        return [str(name) for name in json.loads(text)["splits"]]
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"{SPLITS_FILE} is damaged ({error!r})") from error
