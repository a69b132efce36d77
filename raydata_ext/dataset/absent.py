"""What data sets of Hugging Face have and ours do not, and what to do instead; an error says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raydata_ext.streaming.absent import Absent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class AbsentAttributes:
    """The attributes of Hugging Face's data sets that users look for; `hasattr` is false of them."""

    _fingerprint = Absent("it is called `fingerprint`")
    add_faiss_index = Absent('give the vectors to faiss: dataset.with_format("numpy")["column"]')
    align_labels_with_mapping = Absent("map the numbers, then cast_column")
    batch = Absent("iter(batch_size) gives batches; map(..., batched=True) may return one row for each")
    cleanup_cache_files = Absent(
        "`raydata-ext gc CACHE_DIR` removes what is old or too much, for all data sets at once"
    )
    data = Absent("it is called `table`")
    from_buffer = Absent("from_arrow takes what pyarrow reads of a buffer")
    from_csv = Absent('load_dataset(paths, format="csv") reads such files')
    from_json = Absent('load_dataset(paths, format="json") reads such files')
    from_parquet = Absent('load_dataset(paths, format="parquet") reads such files')
    from_polars = Absent("from_arrow takes a polars frame as it is")
    from_sql = Absent("from_pandas takes what pandas.read_sql gives")
    from_text = Absent('load_dataset(paths, format="text") reads such files')
    info = Absent("`features`, `schema` and `fingerprint` tell what there is")
    load_from_disk = Absent("it is a function, raydata_ext.load_from_disk(path)")
    push_to_hub = Absent("nothing is uploaded from here; Hugging Face opens and uploads what save_to_disk writes")
    split = Absent("splits are the keys of a DatasetDict")
    to_sql = Absent("to_pandas(batched=True) gives frames, which have to_sql")
    to_tf_dataset = Absent("tf.data.Dataset.from_generator takes what iter(batch_size) gives")


ARGUMENTS = {
    "cache_file_name": "results are found in cache_dir by what they are made of; save_to_disk puts one elsewhere",
    "disable_nullable": "give features= with fields that are not nullable",
    "on_mixed_types": "a column has one type; give features=, or write such values as JSON text",
    "suffix_template": "results are found in cache_dir by what they are made of",
    "try_original_type": "types are those of the values; give features= for others",
    "writer_batch_size": "files have batches of bounded size; leave it out",
}
"""By argument of `map` and `filter`."""

EXPORT_ARGUMENTS = {
    "batch_size": "files are written in batches of bounded size; leave it out",
    "columns": "choose them first, with select_columns",
    "header": "it is called include_header",
    "sep": "it is called delimiter",
}
"""By argument of `to_csv` and `to_parquet`."""


def require_known(arguments: Iterable[str], absent: Mapping[str, str] = ARGUMENTS) -> None:
    """Refuse arguments of Hugging Face's methods that have no meaning here.

    Args:
        arguments: names.
        absent: what to do instead, by name.

    Raises:
        TypeError: there is one.
    """
    for name in arguments:
        if name in absent:
            raise TypeError(f"there is no argument {name!r}: {absent[name]}")
