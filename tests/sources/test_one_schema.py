"""One schema over all files, whatever their order and however they are cut into shards."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import raydata_ext as rdx

KINDS = {
    "integer": st.none() | st.integers(-5, 5),
    "number": st.none() | st.integers(-5, 5) | st.sampled_from([0.5, -1.25]),
    "hash": st.integers(0, 2**64 - 1),
    "text": st.none() | st.sampled_from(["", "a", "2024-01-01"]),
    "list": st.none() | st.lists(st.none() | st.integers(0, 3), max_size=2),
    "nested": st.none()
    | st.dictionaries(st.sampled_from("xy"), st.integers(0, 3), max_size=2)
    | st.fixed_dictionaries({"z": st.lists(st.fixed_dictionaries({}, optional={"p": st.integers(0, 1)}), max_size=2)}),
}
FILES = st.lists(st.lists(st.fixed_dictionaries({}, optional=KINDS), max_size=4), min_size=1, max_size=5)


def plain(kind: pa.DataType) -> object:
    """A type without the order of the fields of structs."""
    if pa.types.is_struct(kind):
        return {field.name: plain(field.type) for field in kind}
    return [plain(kind.value_type)] if pa.types.is_list(kind) else str(kind)


def filled(value: object) -> object:
    """A value in which what is missing is null, and what is null is missing."""
    if isinstance(value, dict):
        return {name: filled(inner) for name, inner in value.items() if inner is not None}
    return [filled(inner) for inner in value] if isinstance(value, list) else value


@given(files=FILES, data=st.data())
@settings(deadline=None, max_examples=25)
def test_types_and_rows_are_the_same_in_any_order_of_files_and_for_any_size_of_shards(files, data) -> None:
    order = data.draw(st.permutations(range(len(files))))
    max_shard_bytes = data.draw(st.sampled_from([1, 40, 100, 10_000]))
    with tempfile.TemporaryDirectory() as directory:
        paths = [Path(directory) / f"{number}.jsonl" for number in range(len(files))]
        for path, rows in zip(paths, files, strict=True):
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        reference = rdx.load_dataset(paths, cache_dir=f"{directory}/one", executor="inline")
        found = rdx.load_dataset(
            [paths[number] for number in order],
            max_shard_bytes=max_shard_bytes,
            cache_dir=f"{directory}/two",
            executor="inline",
        )
        types = {field.name: plain(field.type) for field in reference.schema}
        assert {field.name: plain(field.type) for field in found.schema} == types
        assert filled(reference.to_list()) == filled([row for rows in files for row in rows])
        assert filled(found.to_list()) == filled([row for number in order for row in files[number]])
