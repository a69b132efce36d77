"""A data set: rows in mapped Arrow files that read like a list of dicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raydata_ext.dataset.construction import Construction
from raydata_ext.plan import Workspace
from raydata_ext.store import read_dataset_directory

if TYPE_CHECKING:
    import os


class Dataset(Construction):
    """Rows of equal columns. Made by `load_dataset`, `load_from_disk`, `Dataset.from_*`, or by collecting a plan.

    What it can do stands in the classes that it is made of, each an idea and a file:

    * `base`: what it is made of; `column_names`, `schema`, `num_rows`, `fingerprint`, `cache_files`
    * `reading`: `[...]`, iteration, `iter(batch_size)`, `to_dict`, `to_pandas`
    * `formats`: `with_format`, `set_format`
    * `ordering`: `select`, `shuffle`, `sort`, `shard`, `train_test_split`, `unique`
    * `transforms`: `map`, `filter`, `flatten_indices`, `lazy`
    * `columns`: `rename_column`, `remove_columns`, `select_columns`, `cast`, `add_column`, `flatten`
    * `exports`: `save_to_disk`, `to_parquet`, `to_json`, `to_csv`, `to_ray_dataset`
    * `construction`: `from_dict`, `from_list`, `from_generator`, `from_pandas`, `from_arrow`, `from_file`
    """


def load_from_disk(path: str | os.PathLike[str], *, cache_dir: str | os.PathLike[str] | None = None) -> Dataset:
    """Open a dataset directory; its files are mapped when rows are touched.

    Args:
        path: what `save_to_disk` or a job wrote, ours or Hugging Face's.
        cache_dir: where results computed from it are kept.

    Raises:
        StoreError: it is not one complete data set.
    """
    return Dataset.from_directory(read_dataset_directory(path), Workspace(cache_dir))
