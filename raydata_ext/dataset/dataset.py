"""A data set: rows in mapped Arrow files that read like a list of dicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raydata_ext.dataset.construction import Construction
from raydata_ext.dataset.dataset_dict import DatasetDict, splits_of
from raydata_ext.plan import Workspace
from raydata_ext.store import open_directory, read_dataset_directory

if TYPE_CHECKING:
    import os

    from raydata_ext.plan import CacheDir
    from raydata_ext.remote import StorageOptions
    from raydata_ext.store.directory_files import DirectoryFiles


class Dataset(Construction):
    """Rows of equal columns. Made by `load_dataset`, `load_from_disk`, `Dataset.from_*`, or by collecting a plan.

    What it can do stands in the classes that it is made of, each an idea and a file:

    * `base`: what it is made of; `column_names`, `schema`, `num_rows`, `fingerprint`, `cache_files`
    * `reading`: `[...]`, iteration, `iter(batch_size)`, `to_dict`, `to_pandas`
    * `formats`: `with_format`, `set_format`, `with_transform`
    * `ordering`: `select`, `shuffle`, `sort`, `shard`, `train_test_split`, `unique`
    * `more_rows`: `repeat`, `add_item`
    * `transforms`: `map`, `filter`, `flatten_indices`, `lazy`
    * `columns`: `rename_column`, `remove_columns`, `select_columns`, `cast`, `add_column`, `flatten`,
      `class_encode_column`
    * `trainer_exports`: `to_megatron`, `to_fairseq`, `to_mds`
    * `exports`: `save_to_disk`, `to_parquet`, `to_json`, `to_csv`, `to_ray_dataset`
    * `construction`: `from_dict`, `from_list`, `from_generator`, `from_pandas`, `from_arrow`, `from_file`
    """


def load_from_disk(
    path: str | os.PathLike[str], *, cache_dir: CacheDir = None, storage_options: StorageOptions | None = None
) -> Dataset | DatasetDict:
    """Open a dataset directory, or one of several splits; files are mapped when rows are touched.

    Files under a URL are copied to the disk of whatever machine touches their rows, once and within a bound (see
    `Workspace`). Where Hugging Face wrote the directory, nothing tells how many rows a file has; each is copied once
    when the directory is opened, to find out.

    Args:
        path: what `save_to_disk` or a job wrote, ours or Hugging Face's, of a `Dataset` or a `DatasetDict`; a path, or
            a URL that fsspec knows.
        cache_dir: where results computed from it are kept.
        storage_options: further arguments of the file systems of URLs, such as `key`, `secret` and `endpoint_url`.

    Raises:
        StoreError: it is not one complete data set, or cannot be read.
    """
    workspace = Workspace.of(cache_dir, storage_options)
    place = open_directory(path, workspace.storage_options)

    def opened(directory: DirectoryFiles) -> Dataset:
        return Dataset.from_directory(read_dataset_directory(directory), workspace)

    splits = splits_of(place)
    if not splits:
        return opened(place)
    places = [open_directory(f"{place.path}/{name}", workspace.storage_options) for name in splits]
    return DatasetDict(zip(splits, map(opened, places), strict=True))
