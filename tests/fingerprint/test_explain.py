"""Differences in words."""

from __future__ import annotations

import functools
import json

import numpy as np
import pytest

from raydata_ext.fingerprint import explain_difference, fingerprint

SOURCE = """
import numpy as np
THRESHOLD = {threshold}
CONFIG = {{"size": {size}, "names": [1, 2]}}
class Model:
    def __init__(self): self.rate = {rate}
    def run(self, x): return x + {method}
MODEL = Model()
def normalise(text, form="{form}"): return text.strip({strip})
def tokenize(row, min_chars={default}):
    if len(row) {operator} {constant}: return normalise(row)
    return CONFIG["size"] > THRESHOLD and MODEL.run(row)
"""
BASE = {
    "threshold": 0.5,
    "size": 1,
    "rate": 1,
    "method": 1,
    "form": "NFC",
    "strip": "'x'",
    "default": 1,
    "operator": ">",
    "constant": 200,
}


def parts(**changes):
    namespace = {"__name__": "steps"}
    exec(SOURCE.format(**{**BASE, **changes}), namespace)
    return fingerprint(namespace["tokenize"], "tokenize").parts


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"constant": 300}, "constant 200 became 300"),
        ({"default": 2}, "default of `min_chars`: 1 became 2"),
        ({"threshold": 0.7}, "global `THRESHOLD`: 0.5 became 0.7"),
        ({"size": 2}, "global `CONFIG['size']`: 1 became 2"),
        ({"operator": "<"}, "code of `tokenize` changed"),
        ({"strip": "'y'"}, "helper `normalise` changed: constant 'x' became 'y'"),
        ({"strip": "None or 1 and 2"}, "helper `normalise` changed: constant 'x' became 2"),
        ({"form": "NFKC"}, "helper `normalise` changed: default of `form`: 'NFC' became 'NFKC'"),
        ({"method": 2}, "method `Model.run` changed: constant 1 became 2"),
    ],
)
def test_one_change_is_told_in_one_sentence(change, sentence):
    assert explain_difference(parts(), parts(**change)) == [sentence]


def test_an_attribute_of_an_object_and_the_method_that_set_it_are_both_told():
    sentences = explain_difference(parts(), parts(rate=2))
    assert sentences == ["global `MODEL.rate`: 1 became 2", "method `Model.__init__` changed: constant 1 became 2"]


def test_nothing_is_told_of_equal_fingerprints():
    assert explain_difference(parts(), parts()) == []


def test_several_changes_are_all_told():
    sentences = explain_difference(parts(), parts(constant=300, threshold=0.7, strip="x"))
    assert sentences[:2] == ["constant 200 became 300", "global `THRESHOLD`: 0.5 became 0.7"]
    assert sentences[2] == "helper `normalise` changed"


def test_a_helper_that_comes_or_goes_is_told():
    def define(body):
        namespace = {"__name__": "steps"}
        exec(f"def helper(x): return x\ndef f(x): return {body}", namespace)
        return fingerprint(namespace["f"], "f").parts

    assert "helper `helper` is new" in explain_difference(define("x"), define("helper(x)"))
    assert "helper `helper` is no longer used" in explain_difference(define("helper(x)"), define("x"))


def test_a_helper_of_another_module_is_named_with_its_module():
    def define(constant):
        clean = {"__name__": "clean"}
        exec(f"def normalise(x):\n    for y in x: pass\n    return {constant}", clean)
        namespace = {"__name__": "steps", "normalise": clean["normalise"]}
        exec("def f(x): return normalise(x)", namespace)
        return fingerprint(namespace["f"], "f").parts

    assert explain_difference(define("x"), define("x + x")) == ["helper `clean.normalise` changed"]


def test_arguments_are_told_with_their_values():
    def step(row, min_chars):
        return row

    partials = [functools.partial(step, min_chars=value) for value in (200, 300)]
    old, new = (fingerprint(value).parts for value in partials)
    assert explain_difference(old, new) == ["argument `min_chars`: 200 became 300"]
    old, new = ({**fingerprint({"min_chars": value}, "argument").parts} for value in (200, 300))
    assert explain_difference(old, new) == ["argument `min_chars`: 200 became 300"]
    assert explain_difference({}, new) == ["argument `min_chars` is new (300)"]
    assert explain_difference(new, fingerprint({}, "argument").parts) == ["argument `min_chars` is gone (it was 300)"]


def test_large_values_are_told_without_their_content():
    def make(array):
        def f(x):
            return array, x

        return fingerprint(f, "f").parts

    old, new = make(np.arange(1000)), make(np.arange(1001))
    assert explain_difference(old, new) == ["closure variable `array` changed"]


def test_a_changed_version_is_told():
    old, new = fingerprint("1", "version").parts, fingerprint("2", "version").parts
    assert explain_difference(old, new) == ["version: '1' became '2'"]


def test_a_difference_outside_of_the_listed_parts_is_still_told():
    old, new = (fingerprint({f"k{index}": [index, last] for index in range(1000)}, "argument").parts for last in (1, 2))
    assert len(old) <= 300
    assert explain_difference({"x": "1"} | {}, {"x": "1"}) == []
    hidden = [{key: text for key, text in parts_.items() if key.startswith("the rest")} for parts_ in (old, new)]
    assert explain_difference(*hidden) == ["the rest of `argument` changed"]


def test_parts_survive_json():
    assert explain_difference(json.loads(json.dumps(dict(parts()))), parts()) == []
