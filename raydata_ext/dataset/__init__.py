"""The faces that users know.

`LazyDataset` is a plan with the words of a data frame; `Dataset` is its result, rows in mapped files that read like a
list. `Dataset.map` is a lazy plan of one step, collected: there is one engine under both. `loading` makes them from
paths, `output` writes them as directories, `combine` joins and mixes them (`any_kind` streams, too), `ray_data` hands
them to Ray Data and back.

A data set is a table, an indices mapping (`indices`) that says which of its rows in which order, a format, and a
`lineage` from which its fingerprint follows (`base`). Choosing and ordering rows is arithmetic on the mapping
(`indexing`, `ordering`, `splitting`, `mixing`, `more_rows`), choosing and changing columns is replayed on the mapped
files (`columns`, `features`), and rows are converted when they are looked at (`view`, `column`, `reading`, `formats`).
What computes or writes rows (`transforms`, `exports`) gives them to the engine as `shards`. A `DatasetDict` is several
data sets by name (`dataset_dict`); `absent` says what to use for what only Hugging Face's have.

Files for others are written by tasks (`export_task`) in a run (`export_run`): `export_files` writes them in the
`export_formats`, `token_export` the `token_files` of Megatron and fairseq from `token_items`, and `mds_export` those of
MosaicML, in the `mds_format`, from what `mds_encoding` makes of rows. `output_formats` are the names that plans and
jobs call them by.

`Dataset` is a chain of classes, each an idea and a file, from what it is made of to how it is made: `DatasetBase`,
`Reading`, `Formats`, `Ordering`, `MoreRows`, `Transforms`, `Columns`, `TrainerExports`, `Exports`, `Construction`. The
docstring of `Dataset` says which methods are where.
"""

from __future__ import annotations

from raydata_ext.dataset.any_kind import concatenate_datasets, interleave_datasets, split_dataset_by_node
from raydata_ext.dataset.dataset import Dataset, load_from_disk
from raydata_ext.dataset.dataset_dict import DatasetDict
from raydata_ext.dataset.export_run import ExportRun
from raydata_ext.dataset.lazy_dataset import LazyDataset
from raydata_ext.dataset.loading import from_ray_dataset, load_dataset, scan_dataset
from raydata_ext.dataset.output import Output, groups_of, write_output
from raydata_ext.dataset.output_formats import OutputFormat, require_options, write_as
from raydata_ext.dataset.sizes import parse_bytes

__all__ = [
    "Dataset",
    "DatasetDict",
    "ExportRun",
    "LazyDataset",
    "Output",
    "OutputFormat",
    "concatenate_datasets",
    "from_ray_dataset",
    "groups_of",
    "interleave_datasets",
    "load_dataset",
    "load_from_disk",
    "parse_bytes",
    "require_options",
    "scan_dataset",
    "split_dataset_by_node",
    "write_as",
    "write_output",
]
