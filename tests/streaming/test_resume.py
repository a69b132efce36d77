"""Whatever the stream and wherever it is left: what was read and what is read after resuming are the whole, once."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


def head_and_state(stream, count):
    rows = iter(stream)
    head = [next(rows) for _ in range(count)]
    return head, json.loads(json.dumps(stream.state_dict()))


def resumed(make, state):
    stream = make()
    stream.load_state_dict(state)
    return stream


def test_there_are_streams_of_every_kind(kinds):
    assert len(kinds) >= 60


def test_every_stream_goes_on_at_every_row(kinds, subtests=None):
    for name, make in kinds.items():
        whole = list(make())
        for place in range(len(whole) + 1):
            head, state = head_and_state(make(), place)
            assert head == whole[:place], name
            assert list(resumed(make, state)) == whole[place:], (name, place)


def test_every_stream_goes_on_when_it_is_resumed_twice(kinds):
    for name, make in kinds.items():
        whole = list(make())
        for place in range(0, len(whole) + 1, 3):
            _, state = head_and_state(make(), place)
            for more in (0, 1, 4):
                second, state_there = head_and_state(resumed(make, state), min(more, len(whole) - place))
                rest = list(resumed(make, state_there))
                assert second + rest == whole[place:], (name, place, more)


def test_every_stream_goes_on_in_a_later_epoch(kinds):
    for name, make in kinds.items():
        stream = make()
        stream.set_epoch(2)
        whole = list(stream)
        place = len(whole) // 2
        _, state = head_and_state(stream, place)
        later = resumed(make, state)
        assert later.epoch == 2
        assert list(later) == whole[place:], name
        assert list(later) == whole, f"{name}: the pass after the resumed one begins at the begin"


def test_asking_for_the_state_disturbs_no_stream(kinds):
    for name, make in kinds.items():
        stream, whole = make(), list(make())
        rows = []
        for row in stream:
            rows.append(row)
            stream.state_dict()
        assert rows == whole, name


def test_every_stream_goes_on_in_another_process(kinds, kinds_elsewhere, tmp_path):
    root = kinds["directory"] if "directory" in kinds else None
    states, rests = {}, {}
    for name, make in kinds.items():
        whole = list(make())
        _, states[name] = head_and_state(make(), len(whole) // 2)
        rests[name] = whole[len(whole) // 2 :]
    (tmp_path / "states.json").write_text(json.dumps(states))
    done = subprocess.run(
        [sys.executable, kinds_elsewhere, str(root), str(tmp_path / "states.json")], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == rests
