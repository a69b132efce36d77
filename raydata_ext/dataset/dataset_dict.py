"""Several data sets by name: the splits of one, as `train_test_split` and directories of Hugging Face have them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from raydata_ext.dataset.output import file_cut
from raydata_ext.store import open_directory
from raydata_ext.store.huggingface_files import SPLITS_FILE, split_names
from raydata_ext.store.manifest import check_member_name

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from typing_extensions import Self

    from raydata_ext.dataset.dataset import Dataset
    from raydata_ext.store.directory_files import DirectoryFiles

_CUT_OPTIONS = ("max_shard_bytes", "max_shard_size", "num_shards")


class DatasetDict(dict[str, "Dataset"]):
    """A dict of data sets, with those methods of theirs that mean the same for each; arguments are as there."""

    @property
    def num_rows(self) -> dict[str, int]:
        """Rows of each split."""
        return {name: split.num_rows for name, split in self.items()}

    @property
    def num_columns(self) -> dict[str, int]:
        """Columns of each split."""
        return {name: split.num_columns for name, split in self.items()}

    @property
    def shape(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of each split."""
        return {name: split.shape for name, split in self.items()}

    @property
    def column_names(self) -> dict[str, list[str]]:
        """Names of the columns of each split."""
        return {name: split.column_names for name, split in self.items()}

    @property
    def cache_files(self) -> dict[str, list[dict[str, str]]]:
        """The mapped files of each split."""
        return {name: split.cache_files for name, split in self.items()}

    def map(self, function: Callable[..., Any], **arguments: Any) -> Self:
        """`Dataset.map` of each split."""
        return self._each("map", function, **arguments)

    def filter(self, function: Callable[..., Any], **arguments: Any) -> Self:
        """`Dataset.filter` of each split."""
        return self._each("filter", function, **arguments)

    def shuffle(self, seed: int | None = None) -> Self:
        """`Dataset.shuffle` of each split, with one seed for all."""
        return self._each("shuffle", seed=seed)

    def sort(self, column_names: Any, **arguments: Any) -> Self:
        """`Dataset.sort` of each split."""
        return self._each("sort", column_names, **arguments)

    def flatten_indices(self, **arguments: Any) -> Self:
        """`Dataset.flatten_indices` of each split."""
        return self._each("flatten_indices", **arguments)

    def select_columns(self, column_names: Any) -> Self:
        """`Dataset.select_columns` of each split."""
        return self._each("select_columns", column_names)

    def remove_columns(self, column_names: Any) -> Self:
        """`Dataset.remove_columns` of each split."""
        return self._each("remove_columns", column_names)

    def rename_column(self, original_column_name: str, new_column_name: str) -> Self:
        """`Dataset.rename_column` of each split."""
        return self._each("rename_column", original_column_name, new_column_name)

    def rename_columns(self, column_mapping: Any) -> Self:
        """`Dataset.rename_columns` of each split."""
        return self._each("rename_columns", column_mapping)

    def cast(self, features: Any) -> Self:
        """`Dataset.cast` of each split."""
        return self._each("cast", features)

    def cast_column(self, column: str, feature: Any) -> Self:
        """`Dataset.cast_column` of each split."""
        return self._each("cast_column", column, feature)

    def flatten(self, max_depth: int = 16) -> Self:
        """`Dataset.flatten` of each split."""
        return self._each("flatten", max_depth)

    def with_format(self, *arguments: Any, **options: Any) -> Self:
        """`Dataset.with_format` of each split."""
        return self._each("with_format", *arguments, **options)

    def with_transform(self, *arguments: Any, **options: Any) -> Self:
        """`Dataset.with_transform` of each split."""
        return self._each("with_transform", *arguments, **options)

    def set_format(self, *arguments: Any, **options: Any) -> None:
        """`Dataset.set_format` of each split, in place."""
        for split in self.values():
            split.set_format(*arguments, **options)

    def set_transform(self, *arguments: Any, **options: Any) -> None:
        """`Dataset.set_transform` of each split, in place."""
        for split in self.values():
            split.set_transform(*arguments, **options)

    def reset_format(self) -> None:
        """`Dataset.reset_format` of each split, in place."""
        for split in self.values():
            split.reset_format()

    def unique(self, column: str) -> dict[str, list[Any]]:
        """`Dataset.unique` of each split."""
        return {name: split.unique(column) for name, split in self.items()}

    def save_to_disk(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write each split as a directory of its name, and `dataset_dict.json`, which names them, last.

        Args:
            path: the directory, or its URL.
            options: those of `Dataset.save_to_disk`.

        Raises:
            StoreError: a name cannot be that of a directory, or a directory cannot be written.
        """
        storage_options = options.pop("storage_options", None)
        if storage_options is None and self:
            storage_options = next(iter(self.values())).parts.workspace.storage_options
        cut = file_cut(**{name: options[name] for name in _CUT_OPTIONS if name in options})
        place = open_directory(path, storage_options)
        for name, split in self.items():  # before the first file is touched
            split.require_savable(open_directory(f"{place.path}/{check_member_name(name)}", storage_options), cut)
        place.make()
        place.delete(SPLITS_FILE)
        for name, split in self.items():
            split.save_to_disk(f"{place.path}/{name}", storage_options=storage_options, **options)
        place.write(SPLITS_FILE, json.dumps({"splits": list(self)}).encode(), sync=True)

    def __repr__(self) -> str:
        splits = "".join(f"    {name}: {split!r}\n" for name, split in self.items())
        return f"DatasetDict({{\n{splits}}})"

    def _each(self, method: str, *arguments: Any, **options: Any) -> Self:
        return type(self)({name: getattr(split, method)(*arguments, **options) for name, split in self.items()})


def splits_of(place: DirectoryFiles) -> list[str]:
    """The names of the splits in a directory of several; none where it is no such directory.

    Raises:
        StoreError: the list of them is damaged.
    """
    text = place.read(SPLITS_FILE)
    names = [] if text is None else list(split_names(text))
    for name in names:
        check_member_name(name)
    return names
