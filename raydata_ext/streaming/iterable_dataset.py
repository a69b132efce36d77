"""The face of a stream: rows one after the other, in an order that can be resumed at any row."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from raydata_ext.errors import StateError
from raydata_ext.plan import Cast, Filter, Map, RemoveColumns, RenameColumns, SelectColumns, TableShard, UserFunction
from raydata_ext.streaming.delivery import Delivery
from raydata_ext.streaming.identity import identify_table
from raydata_ext.streaming.nodes.base import Node
from raydata_ext.streaming.nodes.batch import Batch
from raydata_ext.streaming.nodes.buffer_shuffle import BufferShuffle
from raydata_ext.streaming.nodes.gather import open_rows
from raydata_ext.streaming.nodes.repeat import Repeat
from raydata_ext.streaming.nodes.shard_source import ShardSource
from raydata_ext.streaming.nodes.skip import Skip
from raydata_ext.streaming.nodes.table_source import TableSource
from raydata_ext.streaming.nodes.take import Take
from raydata_ext.streaming.nodes.transform import Transform, below_row_steps
from raydata_ext.streaming.nodes.unbatch import Unbatch
from raydata_ext.streaming.seeds import Seed
from raydata_ext.streaming.shards import GeneratorShard, StreamShard, stream_shard
from raydata_ext.streaming.shared_epoch import SharedEpoch
from raydata_ext.streaming.state import VERSION, decode, describe, encode, require_same
from raydata_ext.streaming.torch_side import LoaderProcess, class_for_torch, loader_process
from raydata_ext.table import InMemoryTable, Table, concat_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from raydata_ext.formatting import Format
    from raydata_ext.plan import InputShard, Step
    from raydata_ext.plan.steps import BatchFormat

Columns = "str | Sequence[str]"
