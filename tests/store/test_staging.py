from __future__ import annotations

import os
import socket
import threading

from raydata_ext.store.staging import staging_name
from raydata_ext.table.ipc_writer import parse_temporary_name, temporary_name

KEY = "0123456789abcdef0123456789abcdef"


def test_a_thread_finds_its_own_file_again_and_no_other_thread_uses_it(tmp_path):
    mine = staging_name(tmp_path, KEY)
    others = []
    thread = threading.Thread(target=lambda: others.append(staging_name(tmp_path, KEY)))
    thread.start()
    thread.join()
    assert staging_name(tmp_path, KEY) == mine
    assert others[0].parent == mine.parent
    assert others[0] != mine


def test_the_process_that_writes_a_file_is_told_from_its_name(tmp_path):
    name = staging_name(tmp_path, KEY)
    assert parse_temporary_name(name) == (socket.gethostname(), os.getpid())
    assert parse_temporary_name(temporary_name(name)) == (socket.gethostname(), os.getpid())
