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
    from collections.abc import Mapping

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

    def resources(self) -> dict[str, float]:
        """What all nodes have together, by name."""
        return dict(ray.cluster_resources())  # type: ignore[no-untyped-call]  # Ray has no types here

    def room_for(self, needs: Mapping[str, float]) -> int:
        """How many actors with these needs the nodes hold when nothing else runs on them.

        Args:
            needs: amounts of resources by name, above 0. An actor that needs nothing counts as one a CPU.
        """
        wanted = needs or {"CPU": 1.0}
        nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]  # as above
        return sum(min(int(node.get(name, 0.0) / amount + 1e-9) for name, amount in wanted.items()) for node in nodes)
