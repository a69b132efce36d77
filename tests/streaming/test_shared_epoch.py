"""An epoch that child processes see."""

from __future__ import annotations

import copy
import multiprocessing
import pickle

from raydata_ext.streaming.shared_epoch import SharedEpoch


def wait_and_tell(epoch, ready, go, told):
    ready.set()
    go.wait(60)
    told.put(epoch.get())


def test_a_child_process_sees_a_change():
    context = multiprocessing.get_context("fork")
    ready, go, told, epoch = context.Event(), context.Event(), context.Queue(), SharedEpoch(1)
    child = context.Process(target=wait_and_tell, args=(epoch, ready, go, told))
    child.start()
    assert ready.wait(60)
    epoch.set(7)
    go.set()
    assert told.get(timeout=60) == 7
    child.join()


def test_a_copy_is_a_number_of_its_own():
    epoch = SharedEpoch(3)
    copies = [pickle.loads(pickle.dumps(epoch)), copy.deepcopy(epoch)]
    epoch.set(4)
    assert [copied.get() for copied in copies] == [3, 3]
