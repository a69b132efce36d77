"""The choice of the executor."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from raydata_ext.engine import Engine, Program, Workers
from raydata_ext.plan import Chain
from raydata_ext.store import Store


@dataclass(frozen=True)
class Square:
    number: int
    num_bytes: int = 10
    home: str = ""

    @property
    def label(self):
        return f"square of {self.number}"

    def run(self, worker):
        return self.number**2, worker.name

    def recover(self, program):
        return None


@pytest.fixture
def program(tmp_path):
    return Program(Chain.of(()), Store.open(tmp_path))


def run(engine, program, tasks):
    with engine:
        return {done.number: done.value[0] for done in engine.run(program, tasks)}, list(engine.used)


def test_little_work_is_done_inline(program):
    results, used = run(Engine(), program, [Square(n) for n in range(5)])
    assert results == {n: n * n for n in range(5)}
    assert used == ["inline"]


def test_no_work_starts_nothing(program):
    assert run(Engine("ray"), program, []) == ({}, [])


def test_much_work_goes_to_ray(program, ray_session):
    results, used = run(Engine(workers=1), program, [Square(n, 100 << 20) for n in range(5)])
    assert results == {n: n * n for n in range(5)}
    assert used == ["ray"]
    assert ray_session.is_initialized()


def test_the_environment_variable_chooses_and_the_argument_wins(program, monkeypatch, ray_session):
    monkeypatch.setenv("RAYDATA_EXT_EXECUTOR", "ray")
    assert run(Engine(workers=1), program, [Square(1)])[1] == ["ray"]
    assert run(Engine("inline"), program, [Square(1)])[1] == ["inline"]
    monkeypatch.setenv("RAYDATA_EXT_EXECUTOR", "spark")
    with pytest.raises(ValueError, match="RAYDATA_EXT_EXECUTOR is 'spark'"):
        Engine()


def test_special_resources_are_looked_for_on_ray_and_the_argument_wins(program, ray_session):
    special = Workers(max=1, resources={"node:__internal_head__": 0.01})
    assert run(Engine(workers=special), program, [Square(1)])[1] == ["ray"]
    assert run(Engine("inline", special), program, [Square(1)])[1] == ["inline"]


def test_one_pool_is_kept_for_the_same_workers_and_ended_for_others(program, ray_session):
    def names(engine, workers):
        return {done.value[1] for done in engine.run(program, [Square(1), Square(2)], workers=workers)}

    with Engine("ray", 1) as engine:
        first = names(engine, None)
        assert names(engine, Workers(min=1, max=1)) == first
        other = names(engine, Workers(max=1, num_cpus=2))
        assert not other & first
        assert not names(engine, None) & (first | other)
        assert engine.used == ["ray"]
