"""What the last result of each shard was made of, so that a miss can be explained in words.

A memory beside the store: losing it costs explanations, never results. For each shard, by the place where it begins,
it holds the parts of the key: content, reader, and the digest of each step; and for each of those steps, once, the
components of its fingerprint.
"""

from __future__ import annotations

import logging
import posixpath
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import orjson
import xxhash

from raydata_ext.store.atomic_files import write_file_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from raydata_ext.fingerprint import Fingerprint

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Origin:
    """What a result was made of.

    Attributes:
        key: of the result.
        identity: of the shard's content.
        reader: digest of format and options.
        pieces: how many pieces the shard had.
        steps: (label, digest) of each step.
    """

    key: str
    identity: str
    reader: str
    pieces: int
    steps: tuple[tuple[str, str], ...]


@dataclass
class History:
    """Origins of results by the place of their shard (see `ShardState.place`).

    Args:
        directory: where they are kept; it is made when something is saved.
    """

    directory: Path
    _buckets: dict[str, dict[str, Any]] = field(default_factory=dict, repr=False)

    def origin(self, place: str) -> Origin | None:
        """What the last result of a shard was made of, if there was one."""
        found = self._bucket(_bucket_name(place)).get(place)
        if found is None:
            return None
        steps = tuple((str(name), str(digest)) for name, digest in found["steps"])
        return Origin(found["key"], found["identity"], found["reader"], found["pieces"], steps)

    def step_parts(self, digest: str) -> Mapping[str, str] | None:
        """The components of a step's fingerprint, if it was ever run."""
        loaded = _load(self._step_path(digest))
        return loaded or None

    def save(self, origins: Mapping[str, Origin], steps: Iterable[Fingerprint]) -> None:
        """Remember what results were made of; a failure is logged and costs explanations.

        Args:
            origins: by place of the shard.
            steps: fingerprints of the steps that they name.
        """
        changed: dict[str, dict[str, Any]] = {}
        for place, origin in origins.items():
            changed.setdefault(_bucket_name(place), {})[place] = asdict(origin)
        try:
            (self.directory / "steps").mkdir(parents=True, exist_ok=True)
            for step in steps:
                path = self._step_path(step.digest)
                if not path.exists():
                    write_file_atomically(path, orjson.dumps(dict(step.parts)))
            for name, bucket in changed.items():
                merged = _load(self.directory / name) | bucket
                write_file_atomically(self.directory / name, orjson.dumps(merged))
                self._buckets[name] = merged
        except OSError as error:
            _log.warning("cannot save what results were made of under %s: %s", self.directory, error)

    def _bucket(self, name: str) -> dict[str, Any]:
        if name not in self._buckets:
            self._buckets[name] = _load(self.directory / name)
        return self._buckets[name]

    def _step_path(self, digest: str) -> Path:
        return self.directory / "steps" / f"{digest}.json"


def _bucket_name(place: str) -> str:
    parent = posixpath.dirname(place)
    return f"{xxhash.xxh3_64_intdigest(parent.encode('utf8', 'surrogatepass')) & 0xFF:02x}.json"


def _load(path: Path) -> dict[str, Any]:
    try:
        loaded = orjson.loads(path.read_bytes())
    except (FileNotFoundError, orjson.JSONDecodeError):
        return {}
    return loaded if isinstance(loaded, dict) else {}
