"""What may stand in a job file, and what each key means."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ByteSize, ConfigDict, Field, field_validator, model_validator

from raydata_ext.dataset import OutputFormat, require_options
from raydata_ext.engine import ErrorPolicy, OnError
from raydata_ext.sources import FORMATS

_CUT_BY_BYTES = ("arrow", "parquet", "json", "csv")
"""Formats in which shards are put into one file up to a number of bytes."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SourceSection(_Section):
    """What the rows are read from."""

    paths: str | list[str] = Field(description="path, directory or glob pattern, or a list of them")
    format: str | None = Field(
        None,
        description=f"format of the files: {', '.join(FORMATS)}; by default what their suffixes stand for",
    )
    columns: list[str] | None = Field(None, description="columns to read; all by default")
    types: dict[str, Any] | None = Field(
        None, alias="schema", description="types by column, as in {id: int64, tags: [string]}; else what the files say"
    )
    exclude: list[str] = Field([], description="shell patterns of paths to leave out")
    max_shard_bytes: ByteSize = Field(
        ByteSize(256_000_000),
        description="largest input of a shard, as in 256MB; larger files are split, smaller put together",
    )
    options: dict[str, Any] = Field({}, description="options of the format")

    @field_validator("format")
    @classmethod
    def _known(cls, name: str | None) -> str | None:
        if name is not None and name not in FORMATS:
            raise ValueError(f"unknown format {name!r}")
        return name


class WorkersSection(_Section):
    """A pool of workers on Ray; none of it changes the result."""

    min: int = Field(1, ge=1, description="workers at least")
    max: int | None = Field(None, ge=1, description="workers at most; by default as many as there is room for")
    num_cpus: float = Field(1, ge=0, description="CPUs of each worker")
    num_gpus: float = Field(0, ge=0, description="GPUs of each worker")
    memory: ByteSize | None = Field(None, description="memory that each worker reserves")
    resources: dict[str, float] = Field({}, description="custom resources of each worker")
    max_in_flight: int = Field(2, ge=1, description="shards that a worker has at a time")
    max_attempts: int = Field(3, ge=1, description="how often a shard is tried whose worker dies")
    start_timeout: float = Field(300, gt=0, description="seconds to wait for the first worker to be placed")
    stall_timeout: float = Field(
        1800, gt=0, description="seconds without a row read, after which a worker counts as lost"
    )


class FunctionSection(_Section):
    """A function over rows or batches, and what it is given."""

    function: str = Field(description='what is called, as "module:name"; a class is built once a worker')
    kwargs: dict[str, Any] = Field({}, description="keyword arguments of each call")
    constructor_kwargs: dict[str, Any] = Field({}, description="keyword arguments of the class")
    batched: bool = Field(default=False, description="give batches in place of rows")
    batch_size: int | None = Field(1000, description="rows of a batch; null is a whole shard")
    input_columns: list[str] | None = Field(None, description="give the values of these columns as arguments")
    with_indices: bool = Field(default=False, description="also give the global row number")
    batch_format: Literal["python", "numpy", "torch", "pandas", "arrow"] = Field(
        "python", description="what a batch is given as"
    )
    version: str | None = Field(None, description="stands for the code in keys, where it cannot be hashed")
    exclude: list[str] = Field([], description="attributes and globals that do not count when the code is hashed")
    desc: str | None = Field(None, description="name of the step in reports")
    workers: int | WorkersSection | None = Field(
        None, description="what the step runs on, on Ray; by default the workers of the run"
    )


class FilterSection(FunctionSection):
    """A decision over rows or batches."""


class MapSection(FunctionSection):
    """A change of rows or batches."""

    drop_last_batch: bool = Field(default=False, description="leave out a last batch that is short")
    remove_columns: list[str] = Field([], description="columns that go before the result is merged")
    with_rank: bool = Field(default=False, description="also give the number of the shard")
    types: dict[str, Any] | None = Field(
        None, alias="schema", description="types of the result by column; else what its values say"
    )


class PipeSection(_Section):
    """A function of the plan so far, for steps that depend on what its rows are, such as a vocabulary.

    It is called with the plan, a function that computes plans, and `kwargs`, and returns the plan that goes on.
    """

    function: str = Field(description='what is called, as "module:name"')
    kwargs: dict[str, Any] = Field({}, description="keyword arguments of the call")


class StepSection(_Section):
    """One step: exactly one of these keys."""

    map: MapSection | None = Field(None, description="a function over rows or batches")
    filter: FilterSection | None = Field(None, description="keep the rows for which a function says so")
    select_columns: list[str] | None = Field(None, description="columns to keep, in this order")
    remove_columns: list[str] | None = Field(None, description="columns to leave out")
    rename_columns: dict[str, str] | None = Field(None, description="old name to new name")
    cast: dict[str, Any] | None = Field(None, description="types by column, as in {id: int64, tags: [string]}")
    cache: Literal[True] | None = Field(None, description="keep the result up to here")
    pipe: PipeSection | None = Field(None, description="a function from the plan so far to the plan that goes on")

    @model_validator(mode="after")
    def _is_one_step(self) -> StepSection:
        if len(self.model_fields_set) != 1:
            raise ValueError(f"a step is exactly one of {list(type(self).model_fields)}")
        return self


class OutputSection(_Section):
    """Where the result goes."""

    path: str = Field(description="directory, file or prefix of the result, or its URL, as the format takes it")
    format: OutputFormat = Field("arrow", description="format of its files")
    options: dict[str, Any] = Field({}, description="arguments of the method of Dataset that writes the format")
    max_shard_bytes: ByteSize = Field(
        ByteSize(512_000_000),
        description=f"size up to which shards are put into one file; of {', '.join(_CUT_BY_BYTES)}",
    )

    @model_validator(mode="after")
    def _is_known(self) -> OutputSection:
        if self.format == "arrow" and self.options:
            raise ValueError("format arrow takes no options")
        if self.format not in _CUT_BY_BYTES and "max_shard_bytes" in self.model_fields_set:
            raise ValueError(f"max_shard_bytes is for {', '.join(_CUT_BY_BYTES)}; see the options of {self.format}")
        require_options(self.format, self.options)
        return self


class RunSection(_Section):
    """How it is run."""

    cache_dir: str | None = Field(None, description="directory of cached results, or its URL")
    storage_options: dict[str, Any] = Field(
        {},
        repr=False,
        description="arguments of the file systems of all URLs of the job, such as endpoint_url; by protocol, as in "
        "{s3: {endpoint_url: ...}}, where these differ; give secrets as ${NAME}",
    )
    local_dir: str | None = Field(
        None, description="where each node keeps its copies of files under URLs; by default what the node says"
    )
    max_local_bytes: ByteSize | None = Field(
        None, description="bound of the copies of a node, as in 500GB; by default what the node says"
    )
    executor: Literal["ray", "inline"] | None = Field(
        None, description="what does the work; by default chosen by its size"
    )
    workers: int | WorkersSection | None = Field(
        None, description="the pool on Ray of all steps that have no workers of their own"
    )
    on_error: OnError = Field(
        "raise", description="what happens to a row that cannot be read or that a step fails on: raise or quarantine"
    )
    max_errors: int | float | None = Field(
        None, description="rows that may be set aside: a number of them, or a share such as 0.01; no limit by default"
    )
    report_dir: str | None = Field(
        None,
        description="local directory of the report; by default the output path (of a URL, the job's name) with `.run`",
    )

    @model_validator(mode="after")
    def _is_a_policy(self) -> RunSection:
        ErrorPolicy(self.on_error, self.max_errors)
        return self


class JobFile(_Section):
    """A whole job."""

    name: str = Field(description="name of the job in reports")
    source: SourceSection = Field(description="what the rows are read from")
    steps: list[StepSection] = Field([], description="what is done to them, in order")
    output: OutputSection = Field(description="where the result goes")
    run: RunSection = Field(RunSection(), description="how it is run")  # type: ignore[call-arg]
