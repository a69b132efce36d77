"""The listed components of a fingerprint."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from raydata_ext.fingerprint import fingerprint


def parts_of(value, name="value"):
    return dict(fingerprint(value, name).parts)


def test_a_plain_value_is_its_own_part():
    assert parts_of(5, "batch_size") == {"batch_size": "5"}
    assert parts_of("1.0", "version") == {"version": "'1.0'"}
    assert parts_of(Path("a/b"), "path") == {"path": "a/b"}
    assert parts_of(np.float32(1.5)) == {"value": "1.5"}
    assert parts_of(pa.int32()) == {"value": "int32"}
    assert parts_of([1, "a"]) == {"value": "[1, 'a']"}


def test_the_items_of_a_dict_are_parts():
    assert parts_of({"a": 1, "b": [1, 2]}, "argument") == {
        "argument `a`": "1",
        "argument `b`": "[1, 2]",
        "the rest of `argument`": parts_of({"a": 1, "b": [1, 2]}, "argument")["the rest of `argument`"],
    }
    assert parts_of({}, "argument") == {}


def test_an_installed_module_is_listed_with_its_version():
    def f(x):
        return np.mean(x)

    assert parts_of(f)["global `np`"] == f"numpy (numpy=={np.__version__})"


def test_parts_are_few_and_short_and_hold_no_large_data():
    secret = "s3cret" * 1000
    values = {
        f"k{index}": {"text": secret, "list": list(range(1000)), "array": np.arange(1000)} for index in range(500)
    }

    def f(x):
        return values[x]

    for value in (values, f):
        parts = parts_of(value)
        assert len(parts) <= 300
        assert all(len(text) <= 80 for text in parts.values())
        assert not any("s3cret" in text for text in parts.values())


def test_a_constant_set_is_listed_without_its_order():
    def f(x):
        return x in {"a", "b", "c"}

    def g(x):
        return x in {"c", "b", "a"}

    assert {text for label, text in parts_of(f).items() if label.startswith("constant")} == {
        text for label, text in parts_of(g).items() if label.startswith("constant")
    }


def test_an_object_lists_its_attributes_and_the_methods_of_its_class():
    class Step:
        def __init__(self):
            self.size = 3
            self.inner = {"depth": 1}

        def run(self, x):
            return x + 5

    parts = parts_of(Step())
    assert parts["attribute `size`"] == "3"
    assert parts["attribute `inner['depth']`"] == "1"
    assert any(label.startswith("method `Step.run` | constant") and text == "5" for label, text in parts.items())
