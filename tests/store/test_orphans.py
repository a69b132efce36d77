from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from raydata_ext.store.orphans import is_orphan, owner_is_gone
from raydata_ext.table.ipc_writer import temporary_name

NOW = 1_700_000_000.0
DAY = 24 * 3600.0


def test_a_file_of_a_living_process_is_no_orphan_however_old():
    assert not is_orphan(temporary_name("a.arrow").name, NOW - 30 * DAY, NOW)


def test_a_file_of_a_process_that_ended_is_an_orphan_at_once():
    process = subprocess.Popen([sys.executable, "-c", ""])
    name = temporary_name("a.arrow").name.replace(f".{os.getpid()}.", f".{process.pid}.")
    process.wait()
    assert is_orphan(name, NOW, NOW)


@pytest.mark.parametrize(("age", "gone"), [(0.0, False), (0.9 * DAY, False), (1.1 * DAY, True)])
def test_the_owner_on_another_host_counts_as_gone_after_a_day(age, gone):
    assert owner_is_gone("elsewhere", os.getpid(), NOW - age, NOW) is gone


@pytest.mark.parametrize("name", ["a.arrow", ".hidden", "a.tmp", ".a.host.x.0.tmp", ""])
def test_a_file_of_any_other_name_is_no_orphan(name):
    assert not is_orphan(name, 0.0, NOW)


def test_an_impossible_process_id_belongs_to_nobody():
    assert owner_is_gone(socket.gethostname(), 10**30, NOW, NOW)
