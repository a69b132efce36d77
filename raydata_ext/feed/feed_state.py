"""A position of a feed as JSON: the same whatever ranks, loaders and readers there are.

It says which step of which epoch comes next, and where each lane stands then. The second only saves time: without it,
the order is gone through again from the begin of the epoch. Of a shuffle there is no buffer in it (`buffer_states`),
so that a state has some 500 bytes a lane, however large buffers are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from raydata_ext.errors import StateError
from raydata_ext.feed.buffer_states import with_buffers, without_buffers
from raydata_ext.feed.epoch_log import Mark
from raydata_ext.feed.mixture import Mixture
from raydata_ext.streaming.state import VERSION as STREAM_VERSION
from raydata_ext.streaming.state import decode, encode, require_same

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from raydata_ext.feed.plan import EpochOrder, FeedPlan
    from raydata_ext.streaming.nodes.base import Node

VERSION = f"2.{STREAM_VERSION}"
"""The first number is raised when the layout of a state changes; the second is that of the positions of lanes in it."""


@dataclass(frozen=True)
class Position:
    """What comes next.

    Attributes:
        epoch: number of the epoch.
        step: number of the step in it.
        mark: where the lanes stand at the step or before, if that is known.
    """

    epoch: int = 0
    step: int = 0
    mark: Mark | None = None


def save_position(order: EpochOrder, position: Position) -> dict[str, Any]:
    """The position as JSON, bound to the plan.

    Args:
        order: the epoch that the position is in.
        position: the position.
    """
    plan, mark, bases = order.plan, position.mark, order.bases
    if mark is not None and bases is not None:
        lanes = zip(order.lanes, mark.lanes, strict=True)
        mark = Mark(mark.step, tuple(without_buffers(lane, saved, bases) for lane, saved in lanes))
    return {
        "version": VERSION,
        "epoch": position.epoch,
        "step": position.step,
        "binding": plan.binding,
        "stages": [_stages(mixture, position.step) for mixture in _mixtures(plan.node)],
        "mark": None if mark is None else {"step": mark.step, "lanes": [encode(lane) for lane in mark.lanes]},
    }


def load_position(plan: FeedPlan, state: Mapping[str, Any]) -> Position:
    """The position that was saved.

    Raises:
        StateError: it was saved of other data, another stream, other lanes or another batch; says what differs.
    """
    if state.get("version") != VERSION:
        raise StateError(f"the state has version {state.get('version')}; this release reads version {VERSION}")
    missing = sorted({"epoch", "step", "binding", "stages", "mark"} - set(state))
    if missing:
        raise StateError(f"the state lacks {missing}; pass what `state_dict` of a feed or coordinator gave, unchanged")
    _require_same_plan(state["binding"], plan.binding)
    _require_same_past(state, plan)
    mark = state["mark"]
    if mark is not None:
        mark = Mark(mark["step"], tuple(decode(lane) for lane in mark["lanes"]))
        order = plan.epoch(state["epoch"])
        bases = order.bases
        if bases is not None:
            lanes = zip(order.lanes, mark.lanes, strict=True)
            mark = Mark(mark.step, tuple(with_buffers(lane, saved, bases) for lane, saved in lanes))
    return Position(state["epoch"], state["step"], mark)


def merge_states(states: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One state of those that the ranks saved, each for itself, after the same step.

    Args:
        states: what `TrainerFeed.state_dict` gave on each rank.

    Raises:
        StateError: they are of different steps or feeds; says which.
        ValueError: there are none.
    """
    if not states:
        raise ValueError("there are no states to merge; pass those of all ranks")
    first = states[0]
    for rank, state in enumerate(states):
        for key in ("version", "binding", "epoch", "step"):
            if state.get(key) != first.get(key):
                raise StateError(
                    f"state {rank} is of {_place(state)}, state 0 of {_place(first)}"
                    + ("" if key in ("epoch", "step") else f", and their {key} differs")
                    + "; save on all ranks after the same step of the same feed"
                )
    return dict(next((state for state in states if state["mark"] is not None), first))


def _place(state: Mapping[str, Any]) -> str:
    return f"epoch {state.get('epoch')}, step {state.get('step')}"


def _require_same_plan(saved: Mapping[str, Any], current: Mapping[str, Any]) -> None:
    """Sources may have been added to a mixture after those that there were."""
    known, now = dict(saved), dict(current)
    for name in [name for name in known if name.endswith("Mixture.names")]:
        there = len(known[name])
        if known[name] == now.get(name, [])[:there]:
            for key in (name, name.removesuffix(".names")):  # the second says how many children the node has
                del known[key]
                del now[key]
            now = {key: value for key, value in now.items() if key in known}
    require_same(known, now)


def _require_same_past(state: Mapping[str, Any], plan: FeedPlan) -> None:
    step = state["step"]
    for was, mixture in zip(state["stages"], _mixtures(plan.node), strict=True):
        now = _stages(mixture, step)
        if was != now:
            raise StateError(
                f"until step {step} the stages of the mixture were {was} and are {now}; only stages from step {step} on"
                " may be changed"
            )


def _mixtures(node: Node) -> list[Mixture]:
    own = [node] if isinstance(node, Mixture) else []
    return own + [found for child in node.children for found in _mixtures(child)]


def _stages(mixture: Mixture, before: int) -> list[list[Any]]:
    """Stages that began before a step, as JSON."""
    return [
        [stage.start, {name: weight for name, weight in zip(mixture.names, stage.weights, strict=True) if weight}]
        for stage in mixture.stages
        if stage.start < before
    ]
