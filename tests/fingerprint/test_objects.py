"""Objects and what they say of themselves."""

from __future__ import annotations

import copyreg
import io
import typing

import pytest

from raydata_ext.fingerprint import fingerprint, hash_value


class Tokenizer:
    """Fills a cache when it is used."""

    def __init__(self, vocabulary):
        self.vocabulary = vocabulary
        self.cache = {}

    def __call__(self, text):
        return self.cache.setdefault(text, [self.vocabulary[word] for word in text.split()])


class WithState(Tokenizer):
    def __getstate__(self):
        return {"vocabulary": self.vocabulary}


class WithReduce(Tokenizer):
    def __reduce__(self):
        return (WithReduce, (self.vocabulary,))


class WithMethod(Tokenizer):
    def __fingerprint__(self):
        return self.vocabulary


class WithProperty(Tokenizer):
    @property
    def __fingerprint__(self):
        return self.vocabulary


class WithCopyreg(Tokenizer):
    pass


copyreg.pickle(WithCopyreg, lambda value: (WithCopyreg, (value.vocabulary,)))


@pytest.mark.parametrize("cls", [WithState, WithReduce, WithMethod, WithProperty, WithCopyreg])
def test_an_object_is_the_same_before_and_after_its_first_call(cls):
    value = cls({"a": 1})
    before = hash_value(value)
    value("a a")
    assert hash_value(value) == before == hash_value(cls({"a": 1}))
    assert before != hash_value(cls({"a": 2}))


def test_an_excluded_attribute_does_not_count():
    value, plain = Tokenizer({"a": 1}), Tokenizer({"a": 1})
    value("a")
    assert hash_value(value) != hash_value(plain)
    for exclude in (["cache"], {"Tokenizer.cache"}):
        assert fingerprint(value, exclude=exclude).digest == fingerprint(plain, exclude=exclude).digest
    assert fingerprint(value, exclude=["Other.cache"]).digest == hash_value(value)


def test_a_fingerprint_set_on_an_object_stands_for_it():
    first, second = Tokenizer({"a": 1}), Tokenizer({"a": 2})
    first.__fingerprint__ = second.__fingerprint__ = "v1"
    assert hash_value(first) == hash_value(second)
    second.__fingerprint__ = "v2"
    assert hash_value(first) != hash_value(second)


def test_a_fingerprint_set_on_a_function_stands_for_it():
    def first(x):
        return x

    def second(x):
        return x + 1

    first.__fingerprint__ = second.__fingerprint__ = "v1"
    assert hash_value(first) == hash_value(second)


def test_the_order_in_which_attributes_were_set_has_no_part():
    first, second = Tokenizer({}), Tokenizer({})
    first.a, first.b = 1, 2
    second.b, second.a = 2, 1
    assert hash_value(first) == hash_value(second)


def test_slots_and_attributes_count():
    class Slotted:
        __slots__ = ("__dict__", "a", "b")

    def make(a, c):
        value = Slotted()
        value.a, value.c = a, c
        return value

    assert hash_value(make(1, 2)) == hash_value(make(1, 2))
    assert len({hash_value(value) for value in (make(1, 2), make(2, 2), make(1, 3), Slotted())}) == 4


def test_objects_that_refer_to_each_other_end_and_are_compared_by_content():
    class Tree:
        def __init__(self, label, *children):
            self.label, self.children, self.parent = label, children, None
            for child in children:
                child.parent = self

    def tree(label):
        return Tree("root", Tree("left"), Tree("right", Tree(label)))

    assert hash_value(tree("a")) == hash_value(tree("a")) != hash_value(tree("b"))


def test_objects_in_memory_that_look_like_files_count_by_content():
    assert hash_value(io.BytesIO(b"a")) == hash_value(io.BytesIO(b"a")) != hash_value(io.BytesIO(b"b"))


def test_type_variables_and_sentinels_count_by_name():
    first, second = typing.TypeVar("First"), typing.TypeVar("Second")
    assert hash_value(first) == hash_value(typing.TypeVar("First")) != hash_value(second)
    assert hash_value(object()) == hash_value(object())
