"""Registered reducers."""

from __future__ import annotations

import threading

import pytest

from raydata_ext.fingerprint import fingerprint, hash_value, reducers, register


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    monkeypatch.setattr(reducers, "_REDUCERS", {})


class Model:
    def __init__(self, path, version):
        self.path, self.version = path, version
        self.lock = threading.Lock()


class Larger(Model):
    pass


def test_a_reducer_stands_for_the_objects_of_a_class_and_its_subclasses():
    register(Model, lambda model: model.version)
    assert hash_value(Model("a", 1)) == hash_value(Model("b", 1)) != hash_value(Model("a", 2))
    assert hash_value(Larger("a", 1)) == hash_value(Larger("b", 1)) != hash_value(Model("a", 1))
    assert hash_value([Model("a", 1)]) == hash_value([Model("b", 1)])


def test_the_reducer_of_the_nearest_class_is_used_and_a_later_one_replaces_it():
    register(Model, lambda model: model.version)
    register(Larger, lambda model: model.path)
    assert hash_value(Larger("a", 1)) == hash_value(Larger("a", 2))
    register(Larger, lambda model: (model.path, model.version))
    assert hash_value(Larger("a", 1)) != hash_value(Larger("a", 2))


def test_a_reducer_comes_before_what_is_known_of_a_type():
    register(list, len)
    assert hash_value([1, 2]) == hash_value([3, 4]) != hash_value([1])


def test_what_a_reducer_gives_must_itself_have_a_fingerprint():
    register(Model, lambda model: model.lock)
    with pytest.raises(TypeError, match="registered reducer"):
        fingerprint(Model("a", 1))


@pytest.mark.parametrize(("kind", "function"), [("list", len), (3, len), (list, "len")])
def test_arguments_that_are_no_class_or_function_are_refused(kind, function):
    with pytest.raises(TypeError, match=r"takes a class|cannot be called"):
        register(kind, function)
