"""The user's handle on a feed: it is created once, and gives each rank its feed."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

import ray

from raydata_ext.engine.ray_cluster import RayCluster
from raydata_ext.errors import CoordinatorLostError
from raydata_ext.feed.books import prepare_books, read_books
from raydata_ext.feed.coordinator_actor import CoordinatorActor
from raydata_ext.feed.coordinator_call import answer
from raydata_ext.feed.feed_state import load_position
from raydata_ext.feed.plan import EndOfEpoch, FeedPlan
from raydata_ext.feed.trainer_feed import TrainerFeed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from raydata_ext.streaming import IterableDataset

NAMESPACE = "raydata_ext"
"""The Ray namespace in which coordinators have their names."""


class StreamingCoordinator:
    """Feeds the ranks of a distributed training run from one stream, in an order that no rank can change.

    The order is a function of the stream, its seeds and the epoch. Step t of an epoch consumes positions [t *
    global_batch_size, (t + 1) * global_batch_size) of it, whatever the number of ranks. The handle pickles.

    Args:
        actor: handle of the actor that keeps the books.
        name: its name.
        plan: what is delivered.
    """

    def __init__(self, actor: Any, name: str, plan: FeedPlan) -> None:
        self._actor = actor
        self._name = name
        self._plan = plan

    @classmethod
    def create(
        cls,
        stream: IterableDataset,
        *,
        global_batch_size: int,
        num_lanes: int | None = None,
        end_of_epoch: EndOfEpoch = "drop",
        name: str | None = None,
        checkpoint_dir: str | os.PathLike[str] | None = None,
        checkpoint_every: int = 100,
        state: Mapping[str, Any] | None = None,
        detached: bool = False,
    ) -> StreamingCoordinator:
        """Start a coordinator on the Ray that this process has joined, or that `RAY_ADDRESS` names, or an embedded one.

        Args:
            stream: the rows. Its seeds decide on the order; its epoch is the first one.
            global_batch_size: rows of a step, over all ranks.
            num_lanes: equal runs of rows into which the epoch is cut, so that ranks read shards of their own; None is
                64 for streams that are shuffled and can be cut, else 1. With one lane the order is that of the stream
                itself, and every rank computes all of it, and reads its own rows only, where it has references.
            end_of_epoch: what becomes of a last step that is not full: `"drop"` leaves it out, `"pad"` fills it up
                with the first rows of the epoch, which `mask` marks, `"uneven"` gives some ranks fewer rows, or none.
            name: of the actor, in ASCII, unique in the cluster; for `attach` and for the command line.
            checkpoint_dir: where the books are kept, on a file system that all nodes see. With it the actor is
                restarted when it dies, and a new coordinator goes on where an earlier one of the directory was.
            checkpoint_every: steps between two writings of the books.
            state: where to begin, from `state_dict`; goes before the books of an earlier coordinator.
            detached: whether the actor outlives this process; it needs a name.

        Raises:
            ValueError: an argument is out of range.
            StateError: the state, or the books in the directory, do not belong to this feed; says what differs.
            WriteError: the directory cannot be written to.
        """
        if name is not None and not (name and name.isascii() and name.isprintable()):
            raise ValueError(f"name is {name!r}; it must be printable ASCII, as names of actors are")
        if detached and name is None:
            raise ValueError("a detached coordinator needs a name, to be found again")
        if checkpoint_every < 1:
            raise ValueError(f"checkpoint_every is {checkpoint_every}; it must be at least 1")
        plan = FeedPlan.of(stream, global_batch_size=global_batch_size, num_lanes=num_lanes, end_of_epoch=end_of_epoch)
        if state is not None:
            load_position(plan, state)  # raises here and now what does not fit
        name = name or f"feed-{os.urandom(4).hex()}"
        file = None if checkpoint_dir is None else _file_of_books(checkpoint_dir, plan, anew=state is not None)
        RayCluster()
        attempts = 0 if file is None else -1  # without its books it would begin anew, unasked
        actor = ray.remote(CoordinatorActor).options(
            name=name,
            namespace=NAMESPACE,
            lifetime="detached" if detached else None,
            num_cpus=0,
            max_restarts=attempts,
            max_task_retries=attempts,
        )
        return cls(actor.remote(plan, stream.epoch, state, file, checkpoint_every), name, plan)

    @classmethod
    def attach(cls, name: str) -> StreamingCoordinator:
        """The coordinator of a name.

        Raises:
            ValueError: there is none.
        """
        actor = ray.get_actor(name, NAMESPACE)
        return cls(actor, name, answer(actor.plan.remote(), repr(name)))

    @property
    def name(self) -> str:
        """Name of the actor."""
        return self._name

    def feed(self, rank: int, world_size: int, *, readers: int = 0, prefetch: int = 16) -> TrainerFeed:
        """The batches of a rank; picklable, to be sent to where it runs.

        A feed joins when it is first used. The first one of another world size makes all earlier feeds stale, and all
        ranks go on at the first step that not all of them had received; a second feed of a rank makes the first one
        stale, and goes on where that one was. Trainers that go back to a checkpoint, or to the begin if they have none
        yet, load the state of then (`TrainerFeed.load_state_dict`).

        Args:
            rank: 0 <= rank < world_size.
            world_size: number of ranks, at most the global batch size.
            readers: actors that read and change rows in place of the trainer's process, of one CPU each; 0 for none.
            prefetch: batches that are made ahead, at most; give fewer where batches are so large that memory counts.

        Raises:
            ValueError: an argument is out of range.
        """
        if not 0 <= rank < world_size:
            raise ValueError(f"rank is {rank} of {world_size}; it must be from 0 to world_size - 1")
        size = self._plan.global_batch_size
        if world_size > size:
            raise ValueError(
                f"world_size is {world_size}, but a global batch has {size} rows; each rank needs one at least"
            )
        if readers < 0 or prefetch < 1:
            raise ValueError(f"readers is {readers} and prefetch {prefetch}; they must be at least 0 and 1")
        return TrainerFeed(
            self._actor, self._name, self._plan, rank=rank, world_size=world_size, readers=readers, prefetch=prefetch
        )

    def state_dict(self) -> dict[str, Any]:
        """What comes next when every rank has received what all ranks have received; JSON, for any number of ranks.

        A batch counts as soon as its rank has told that it was delivered, which takes milliseconds;
        `TrainerFeed.state_dict` is exact to the batch.
        """
        state: dict[str, Any] = self._ask(self._actor.state_dict.remote())
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Let all ranks begin anew where a state was saved; feeds that took part are stale.

        Raises:
            StateError: the state does not belong to this feed; says what differs.
        """
        load_position(self._plan, state)
        self._ask(self._actor.load_state_dict.remote(dict(state)))

    def status(self) -> dict[str, Any]:
        """How far the feed is, as JSON: epoch, step, generation, and for each rank its step, for how many seconds it
        has been silent, rows, bytes, times and stalls; for a mixture rows, epochs and share of each source.
        """
        status: dict[str, Any] = self._ask(self._actor.status.remote())
        return {"name": self._name, **status}

    def shutdown(self) -> None:
        """End the actor, and wait until its name is free; feeds of it end with `CoordinatorLostError`."""
        ray.kill(self._actor)
        with contextlib.suppress(CoordinatorLostError):
            while True:  # Ray tells nobody when it has killed; calls that overtake it are answered still
                self._ask(self._actor.status.remote())

    def _ask(self, reference: Any) -> Any:
        return answer(reference, repr(self._name))


def _file_of_books(directory: str | os.PathLike[str], plan: FeedPlan, *, anew: bool) -> Path:
    """Make the directory and look into the books; an actor goes by them, and so those of before a new begin go."""
    file = prepare_books(directory)
    if anew:
        file.unlink(missing_ok=True)
    read_books(file, plan)  # raises here and now what does not fit
    return file
