"""Ray itself: joined where there is a cluster, embedded in this process where there is none.

An embedded Ray is kept for the plans that follow in this process, since it takes seconds to start; Ray ends it at exit.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from typing import TYPE_CHECKING

import ray

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_log = logging.getLogger(__name__)

OBJECT_STORE_BYTES = 256 << 20
"""Receipts and recipes are all that passes through the object store."""


class RayCluster:
    """A connection to Ray.

    Args:
        address: of the cluster to join; None is the one that this process has joined already, or that `RAY_ADDRESS`
            names, or an embedded one.
        num_cpus: CPUs of an embedded one; None is all of the machine.
    """

    def __init__(self, address: str | None = None, num_cpus: int | None = None) -> None:
        if ray.is_initialized():
            return
        on_terminate = signal.getsignal(signal.SIGTERM)
        try:
            self._start(address, num_cpus)
        finally:
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGTERM, on_terminate)  # Ray sets its own, which ends without cleaning up

    def _start(self, address: str | None, num_cpus: int | None) -> None:
        if address is not None or os.environ.get("RAY_ADDRESS"):
            ray.init(address=address, logging_level=logging.ERROR)
            return
        ray.init(
            address="local",
            num_cpus=num_cpus,
            include_dashboard=False,
            object_store_memory=OBJECT_STORE_BYTES,
            logging_level=logging.ERROR,
        )

    def amounts_of(self, names: Iterable[str]) -> dict[str, float]:
        """What all nodes have together of some resources."""
        there = ray.cluster_resources()  # type: ignore[no-untyped-call]  # Ray has no types here
        return {name: there.get(name, 0.0) for name in names}

    def num_unplaced(self, needs: Mapping[str, float]) -> int:
        """How many actors and tasks with these needs, whoever's they are, find no room in the cluster now.

        Those that have room and are about to start are none of them. It is what `ray status` shows as demands.
        """
        try:
            from ray.autoscaler.v2.sdk import get_cluster_status  # noqa: PLC0415 - of use here only, and slow to import

            status = get_cluster_status(ray.get_runtime_context().gcs_address)
        except Exception as error:  # noqa: BLE001 - not of Ray's stable interface, and asked for the sake of a warning
            _log.debug("what waits in the cluster is not known: %s", error)
            return 0
        demands = [one for demand in status.resource_demands.ray_task_actor_demand for one in demand.bundles_by_count]
        return sum(one.count for one in demands if one.bundle == dict(needs))

    def room_for(self, needs: Mapping[str, float]) -> int:
        """How many actors with these needs the nodes hold when nothing else runs on them.

        Args:
            needs: amounts of resources by name, above 0. An actor that needs nothing counts as one a CPU.
        """
        wanted = needs or {"CPU": 1.0}
        nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]  # as above
        return sum(min(int(node.get(name, 0.0) / amount + 1e-9) for name, amount in wanted.items()) for node in nodes)
