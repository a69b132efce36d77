"""What is told of a run, and who is told."""

from __future__ import annotations

from raydata_ext.engine import Named, Silent
from raydata_ext.engine.progress import RunProgress


class Heard(RunProgress):
    """Notes the names of phases."""

    def __init__(self):
        self.phases = []

    def begin(self, what, tasks, done, num_bytes):
        self.phases.append((what, tasks, done, num_bytes))

    def resize(self, tasks):
        self.phases.append(("resize", tasks))

    def advance(self, num_bytes, rows):
        self.phases.append(("advance", num_bytes, rows))

    def watch(self, status):
        self.phases.append(("watch", status))

    def end(self):
        self.phases.append(("end",))


def test_phases_of_a_named_part_of_a_job_bear_its_name_and_all_else_is_passed_on():
    heard = Heard()
    named = Named("tokens", heard)
    named.begin("computing", 3, 1, 2_000_000)
    named.resize(4)
    named.advance(1_000_000, 1200)
    named.watch("status")
    named.end()
    assert heard.phases == [
        ("tokens, computing", 3, 1, 2_000_000),
        ("resize", 4),
        ("advance", 1_000_000, 1200),
        ("watch", "status"),
        ("end",),
    ]


def test_the_silent_progress_takes_everything(capsys):
    silent = Silent()
    silent.begin("computing", 3, 1, 2_000_000)
    silent.resize(4)
    silent.advance(1_000_000, 1200)
    silent.end()
    assert capsys.readouterr() == ("", "")
