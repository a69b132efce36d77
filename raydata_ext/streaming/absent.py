"""What streams of Hugging Face have and ours do not, and what to do instead; an error says so."""

from __future__ import annotations

from typing import NoReturn


class Absent:
    """An attribute that is not there, of a class or its instances.

    Args:
        remedy: what to do instead.
    """

    def __init__(self, remedy: str) -> None:
        self._remedy = remedy

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> NoReturn:
        raise AttributeError(f"{owner.__name__} has no {self._name!r}: {self._remedy}")


_TO_FILES = "make it a data set with the same steps, `scan_dataset(paths)...collect()`, which is written in parallel"
_TO_FRAMES = 'with_format("pandas").iter(batch_size) gives frames'
_READ = "load_dataset(paths, streaming=True) reads such files"


class AbsentFromStreams:
    """The attributes of Hugging Face's iterable data sets that users look for; `hasattr` is false of them."""

    decode = Absent("nothing is decoded unless a step does it; leave it out")
    features = Absent("`schema` tells names and types, where files or tables tell them")
    from_file = Absent(_READ)
    from_spark = Absent("write Parquet files with Spark; load_dataset(paths, streaming=True) reads them")
    info = Absent("`schema` tells names and types, where files or tables tell them")
    n_shards = Absent("it is called `num_shards`")
    push_to_hub = Absent(_TO_FILES)
    save_to_disk = Absent(_TO_FILES)
    set_format = Absent("a stream does not change; with_format gives another")
    sort = Absent("a stream has no end to wait for; `scan_dataset(paths).collect().sort(column)` sorts")
    split = Absent("each split is a stream of its own; load_dataset reads the files of one")
    to_csv = Absent(_TO_FILES)
    to_dict = Absent("iter(batch_size) gives dicts of columns")
    to_json = Absent(_TO_FILES)
    to_list = Absent("list(stream) is one")
    to_pandas = Absent(_TO_FRAMES)
    to_parquet = Absent(_TO_FILES)
    to_polars = Absent('polars.from_arrow takes what with_format("arrow").iter(batch_size) gives')
    to_sql = Absent(f"{_TO_FRAMES}, which have to_sql")
    train_test_split = Absent("take(n) and skip(n) are two parts of a stream")
    unique = Absent("collect what you see while you iterate; a stream has no end to wait for")
