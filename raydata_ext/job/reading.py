"""Reading a job file, with errors that give the line, the key, and what is expected there."""

from __future__ import annotations

import os
import re
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from pydantic import BaseModel, ValidationError

from raydata_ext.errors import JobFileError
from raydata_ext.job.schema import (
    FilterSection,
    JobFile,
    MapSection,
    OutputSection,
    PipeSection,
    RunSection,
    SourceSection,
    StepSection,
    WorkersSection,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pydantic.fields import FieldInfo


def read_job_file(path: str | os.PathLike[str], overrides: Sequence[str] = ()) -> JobFile:
    """Read and check a job file.

    In every text `${stdlib}` stands for the directory of Python's standard library and `${NAME}` for an environment
    variable.

    Args:
        path: a YAML file.
        overrides: settings that replace those of the file, each as `key.path=value`, the value in YAML; an item of a
            list is named by its number, from 0.

    Raises:
        JobFileError: it cannot be read or is not valid; the message names the line, the key, and what is expected
            there.
    """
    name = os.fspath(path)
    try:
        text = Path(path).read_text(encoding="utf8")
        content = yaml.safe_load(text)
    except OSError as error:
        raise JobFileError(f"{name}: cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise JobFileError(f"{name}: not YAML: {error}") from error
    if not isinstance(content, dict):
        raise JobFileError(f"{name}: a job file is a mapping with the keys {list(JobFile.model_fields)}")
    for override in overrides:
        _set(content, override, "--set")
    try:
        return JobFile.model_validate(_mapped_texts(content, _expanded))
    except ValidationError as error:
        problems = [_describe(problem, yaml.compose(text)) for problem in error.errors()]
        raise JobFileError("\n".join(f"{name}: {problem}" for problem in problems)) from error


def read_storage_options(options: Sequence[str]) -> dict[str, Any]:
    """Read the options of a file system as they are given to commands.

    Args:
        options: each as `key=value`, the value in YAML; by protocol as in `s3.endpoint_url=...`. `${NAME}` stands for
            an environment variable, which keeps secrets out of the list of processes.

    Raises:
        JobFileError: one is not of that form, or there is no such variable.
    """
    content: dict[str, Any] = {}
    for option in options:
        _set(content, option, "--storage-option")
    expanded: dict[str, Any] = _mapped_texts(content, _expanded)
    return expanded


def _set(content: dict[str, Any], setting: str, option: str) -> None:
    path, equals, value = setting.partition("=")
    if not equals or not path:
        raise JobFileError(f"{option} {setting!r}: expected is key.path=value")
    *parents, last = path.split(".")
    place: Any = content
    for key in parents:
        place = place.setdefault(key, {}) if isinstance(place, dict) else _item(place, key, f"{option} {setting!r}")
    if isinstance(place, dict):
        place[last] = yaml.safe_load(value)
    else:
        _item(place, last, f"{option} {setting!r}")
        place[int(last)] = yaml.safe_load(value)


def _item(place: Any, key: str, asked: str) -> Any:
    if not isinstance(place, list) or not key.isdigit() or int(key) >= len(place):
        raise JobFileError(f"{asked}: there is no {key!r} in {place!r}")
    return place[int(key)]


def _mapped_texts(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_mapped_texts(item, change) for item in value]
    if isinstance(value, dict):
        return {key: _mapped_texts(item, change) for key, item in value.items()}
    return value


def _expanded(text: str) -> str:
    return re.sub(r"\$\{(\w+)\}", lambda match: _variable(match[1], text), text)


def _variable(name: str, text: str) -> str:
    if name == "stdlib":
        return sysconfig.get_paths()["stdlib"]
    if name not in os.environ:
        raise JobFileError(f"{text!r}: there is no environment variable {name}; set it, or write the value")
    return os.environ[name]


def _describe(problem: Mapping[str, Any], node: yaml.Node | None) -> str:
    """Where it is, what is wrong, and what the key means."""
    loc = [part for part in problem["loc"] if not (isinstance(part, str) and part in _UNION_BRANCHES)]
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).lstrip(".") or "the job"
    line = _line(node, loc)
    text = f"line {line}: {where}: {problem['msg']}"
    meaning, keys = _meaning(loc)
    if problem["type"] == "extra_forbidden":
        return f"line {line}: {where}: unknown key; the keys here are {keys}"
    return f"{text} ({meaning})" if meaning else text


_UNION_BRANCHES = {"str", "list[str]", "int", "WorkersSection"}


def _line(node: yaml.Node | None, loc: Sequence[str | int]) -> int:
    """The line of the innermost key on the way that stands in the file."""
    line = 1
    for part in loc:
        if isinstance(node, yaml.MappingNode):
            found = [(key, value) for key, value in node.value if key.value == part]
            if not found:
                break
            key, node = found[0]
            line = key.start_mark.line + 1
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
        else:
            break
    return line


def _meaning(loc: Sequence[str | int]) -> tuple[str | None, list[str]]:
    """What the key at a place means, and the keys that may stand beside it."""
    model: type[BaseModel] | None = JobFile
    meaning: str | None = None
    siblings = list(_keys(JobFile))
    for part in loc:
        if isinstance(part, int) or model is None:
            continue
        keys = _keys(model)
        siblings, field = list(keys), keys.get(part)
        if field is None:
            break
        meaning = field.description
        model = _SECTIONS.get((model.__name__, part))
    return meaning, siblings


def _keys(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """What may stand in a section, under the name that it has there."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


_SECTIONS: Mapping[tuple[str, str], type[BaseModel]] = {
    ("JobFile", "source"): SourceSection,
    ("JobFile", "steps"): StepSection,
    ("JobFile", "output"): OutputSection,
    ("JobFile", "run"): RunSection,
    ("StepSection", "map"): MapSection,
    ("StepSection", "filter"): FilterSection,
    ("StepSection", "pipe"): PipeSection,
    ("MapSection", "workers"): WorkersSection,
    ("FilterSection", "workers"): WorkersSection,
    ("RunSection", "workers"): WorkersSection,
}
