"""Classes and enumerations."""

from __future__ import annotations

import abc
import dataclasses
import enum
import functools
import typing

import numpy as np
import pydantic
import pytest

from raydata_ext.fingerprint import hash_value

BODY = '''
import functools
class Base:
    def shared(self): return {base}
class Tokenize(Base):
    """{doc}"""
    factor = {attribute}
    def __init__(self, size: {annotation} = 3): self.size = size
    def __call__(self, x): return super().shared() + self.helper(x)
    @staticmethod
    def helper(x): return {static}
    @classmethod
    def build(cls): return cls({factory})
    @property
    def double(self): return self.size * {prop}
    @functools.cached_property
    def cached(self): return {cached}
'''
DEFAULTS = {
    "base": 1,
    "doc": "d",
    "attribute": 1,
    "annotation": "int",
    "static": 1,
    "factory": 1,
    "prop": 1,
    "cached": 1,
}


def tokenizer(**changes):
    namespace = {"__name__": "__main__"}
    exec(BODY.format(**{**DEFAULTS, **changes}), namespace)
    return namespace["Tokenize"]


def test_a_class_counts_by_its_body_and_bases():
    assert hash_value(tokenizer()) == hash_value(tokenizer())
    assert hash_value(tokenizer()) == hash_value(tokenizer(doc="other", annotation="str"))
    digests = {hash_value(tokenizer(**{name: 2})) for name in DEFAULTS if name not in {"doc", "annotation"}}
    assert len(digests | {hash_value(tokenizer())}) == 7


def test_an_object_counts_by_class_and_constructor_arguments():
    cls = tokenizer()
    assert hash_value(cls(1)) == hash_value(cls(1)) == hash_value(tokenizer()(1))
    assert hash_value(cls(1)) != hash_value(cls(2))
    assert hash_value(cls(1)) != hash_value(tokenizer(static=2)(1))
    assert hash_value(functools.partial(cls, 1)) != hash_value(functools.partial(cls, 2)) != hash_value(cls)


def test_making_and_using_objects_does_not_change_a_class():
    cls = tokenizer()
    before = hash_value(cls)
    value = cls(1)
    used = hash_value(value)
    value(1), value.double, value.cached
    assert hash_value(cls) == before
    assert hash_value(value) == used


def test_classes_that_refer_to_each_other_end():
    namespace = {}
    exec("class A:\n    def m(self): return B()\nclass B:\n    def m(self): return A()", namespace)
    assert hash_value(namespace["A"]) != hash_value(namespace["B"])


def test_an_installed_class_counts_by_name():
    assert len({hash_value(cls) for cls in (int, dict, np.ndarray, np.float32, abc.ABC, Exception)}) == 6


def test_a_metaclass_counts():
    class Meta(type):
        pass

    def body(meta):
        return meta("C", (), {"x": 1})

    assert hash_value(body(Meta)) != hash_value(body(type))


def test_members_of_an_enumeration_count_by_name_and_value():
    def colours(**members):
        return enum.Enum("Colour", members)

    assert hash_value(colours(RED=1).RED) == hash_value(colours(RED=1).RED) != hash_value(colours(RED=2).RED)
    assert hash_value(colours(RED=1, BLUE=2)) != hash_value(colours(RED=1))

    class Flags(enum.Flag):
        A = 1
        B = 2

    before = hash_value(Flags)
    both = hash_value(Flags.A | Flags.B)
    assert hash_value(Flags) == before
    assert both == hash_value(Flags.B | Flags.A) != hash_value(Flags.A)


def test_dataclasses_count_by_fields_defaults_and_values():
    def settings(default, **options):
        @dataclasses.dataclass(**options)
        class Settings:
            size: int = default
            names: list = dataclasses.field(default_factory=list)

        return Settings

    for options in ({}, {"frozen": True}, {"slots": True}, {"frozen": True, "slots": True}):
        assert (
            hash_value(settings(1, **options))
            == hash_value(settings(1, **options))
            != hash_value(settings(2, **options))
        )
        cls = settings(1, **options)
        assert hash_value(cls(5)) == hash_value(cls(5)) != hash_value(cls(6))


def test_named_tuples_count_by_class_and_values():
    class Point(typing.NamedTuple):
        x: int
        y: int

    class Pair(typing.NamedTuple):
        x: int
        y: int

    assert hash_value(Point(1, 2)) == hash_value(Point(1, 2)) != hash_value(Point(1, 3))
    assert hash_value(Point(1, 2)) != hash_value(Pair(1, 2))
    assert hash_value(Point(1, 2)) != hash_value((1, 2))


@pytest.mark.parametrize("change", ["x: str = 1", "x: int = 2", "x: int = 1\n    y: int = 0"])
def test_pydantic_models_count_by_fields_and_values(change):
    def model(fields):
        namespace = {"__name__": "__main__", "BaseModel": pydantic.BaseModel}
        exec(f"class Model(BaseModel):\n    {fields}", namespace)
        return namespace["Model"]

    assert hash_value(model("x: int = 1")) == hash_value(model("x: int = 1")) != hash_value(model(change))
    cls = model("x: int = 1")
    assert hash_value(cls(x=3)) == hash_value(cls(x=3)) != hash_value(cls(x=4))


def test_abstract_classes_and_generics_are_hashed_before_and_after_use():
    T = typing.TypeVar("T")

    class Reader(abc.ABC, typing.Generic[T]):
        @abc.abstractmethod
        def read(self) -> T: ...

    before = hash_value(Reader)
    assert not isinstance(3, Reader)
    assert hash_value(Reader) == before


def test_a_value_named_fingerprint_in_the_body_stands_for_the_code_of_the_class():
    def versioned(version, constant):
        class Model:
            __fingerprint__ = version

            def __init__(self, size):
                self.size = size

            def run(self):
                return constant

        return Model

    assert hash_value(versioned("1", 2)(5)) == hash_value(versioned("1", 3)(5))
    assert hash_value(versioned("1", 2)(5)) != hash_value(versioned("2", 2)(5))
    assert hash_value(versioned("1", 2)(5)) != hash_value(versioned("1", 2)(6))
