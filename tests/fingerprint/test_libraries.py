"""Objects of optional libraries."""

from __future__ import annotations

import json
import sys
import types

import numpy as np
import pandas as pd
import pytest

from raydata_ext.fingerprint import hash_value


def test_data_frames_count_by_columns_index_and_content():
    def frame(**changes):
        columns = {"a": [1, 2], "b": ["x", None], "c": pd.to_datetime(["2020", "2021"], utc=True), **changes}
        return pd.DataFrame(columns)

    assert hash_value(frame()) == hash_value(frame())
    others = [
        frame(a=[1, 3]),
        frame(b=["x", "y"]),
        frame().rename(columns={"a": "z"}),
        frame().set_index("a"),
        frame()[["b", "a", "c"]],
        frame().iloc[:1],
    ]
    assert len({hash_value(value) for value in (frame(), *others)}) == 7


@pytest.mark.parametrize(
    ("value", "other"),
    [
        (pd.Series([1, 2]), pd.Series([1, 3])),
        (pd.Series([1, 2], name="a"), pd.Series([1, 2], name="b")),
        (pd.Series([1, 2]), pd.Series([1, 2], index=[1, 2])),
        (pd.Series([1, None], dtype="Int64"), pd.Series([2, None], dtype="Int64")),
        (pd.Series([[1], "a"]), pd.Series([[2], "a"])),
        (pd.Series(["a", "b"]).astype("category"), pd.Series(["a", "c"]).astype("category")),
        (pd.Categorical(["a"], ["a", "b"]), pd.Categorical(["a"], ["b", "a"])),
        (pd.Index([1, 2]), pd.Index([1, 3])),
        (pd.MultiIndex.from_tuples([(1, "a")]), pd.MultiIndex.from_tuples([(1, "b")])),
        (pd.Timestamp("2020"), pd.Timestamp("2021")),
        (pd.NA, None),
    ],
)
def test_values_of_pandas_are_told_apart(value, other):
    assert hash_value(value) == hash_value(value) != hash_value(other)


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


def test_tensors_count_by_type_shape_and_content(torch):
    base = torch.arange(6, dtype=torch.float32)
    assert hash_value(base) == hash_value(base.clone()) == hash_value(torch.arange(12.0)[::2] / 2)
    others = [base.to(torch.bfloat16), base.reshape(2, 3), base + 1, base > 2, torch.tensor(1.0), torch.empty(0)]
    assert len({hash_value(value) for value in (base, *others)}) == 7


def test_modules_count_by_the_code_of_their_class_weights_and_configuration(torch):
    def model(seed=0, scale=1, width=3):
        namespace = {"torch": torch, "__name__": "__main__"}
        source = (
            "class Net(torch.nn.Module):\n"
            "    def __init__(self, width):\n"
            "        super().__init__()\n        self.linear = torch.nn.Linear(2, width)\n"
            f"    def forward(self, x): return self.linear(x) * {scale}\n"
        )
        exec(source, namespace)
        torch.manual_seed(seed)
        return namespace["Net"](width)

    assert hash_value(model()) == hash_value(model())
    assert len({hash_value(value) for value in (model(), model(seed=1), model(scale=2), model(width=4))}) == 4
    net = model()
    before = hash_value(net)
    net(torch.ones(1, 2))
    assert hash_value(net) == before != hash_value(model().eval())
    assert hash_value(torch.nn.Dropout(0.1)) != hash_value(torch.nn.Dropout(0.2))


def test_generators_and_types_of_torch_are_hashed(torch):
    first, second = torch.Generator().manual_seed(1), torch.Generator().manual_seed(2)
    assert hash_value(first) == hash_value(torch.Generator().manual_seed(1)) != hash_value(second)
    assert hash_value(torch.float32) != hash_value(torch.float16)
    assert hash_value(torch.device("cpu")) == hash_value(torch.device("cpu"))
    assert hash_value(torch.nn.functional.relu) == hash_value(torch.nn.functional.relu)


def test_an_estimator_counts_by_parameters_and_fitted_state():
    class Scaler:
        def __init__(self, with_mean=True):
            self.with_mean = with_mean

        def fit(self, values):
            self.mean_ = np.mean(values, axis=0)
            return self

        def __getstate__(self):
            return {**self.__dict__, "_library_version": "1.0"}

    assert hash_value(Scaler().fit([[1.0]])) == hash_value(Scaler().fit([[1.0]])) != hash_value(Scaler().fit([[2.0]]))
    assert hash_value(Scaler()) != hash_value(Scaler(with_mean=False))


@pytest.fixture
def tokenizer_class(monkeypatch):
    """A class with the name and habits of those of `transformers`: calls set truncation, warnings are remembered."""
    module = types.ModuleType("transformers.tokenization_utils_base")

    class Backend:
        def __init__(self, vocabulary):
            self.rules = {"model": {"vocab": vocabulary}, "truncation": None, "padding": None}

        def to_str(self):
            return json.dumps(self.rules)

    class PreTrainedTokenizerBase:
        def __init__(self, vocabulary, path="/somewhere", side="right"):
            self._tokenizer = Backend(vocabulary)
            self.name_or_path, self.padding_side = path, side
            self.deprecation_warnings, self.cache = {}, {}
            self.init_kwargs = {"name_or_path": path, "side": side}

        @property
        def backend_tokenizer(self):
            return self._tokenizer

        def __call__(self, text):
            self._tokenizer.rules["truncation"] = {"max_length": 8}
            self.deprecation_warnings["x"] = self.cache[text] = True

    PreTrainedTokenizerBase.__module__, PreTrainedTokenizerBase.__qualname__ = (
        module.__name__,
        "PreTrainedTokenizerBase",
    )
    module.PreTrainedTokenizerBase = PreTrainedTokenizerBase
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return type("Fast", (PreTrainedTokenizerBase,), {})


def test_tokenizers_count_by_vocabulary_and_settings_and_not_by_what_calls_leave_behind(tokenizer_class):
    tokenizer = tokenizer_class({"a": 1})
    before = hash_value(tokenizer)
    tokenizer("a")
    assert hash_value(tokenizer) == before == hash_value(tokenizer_class({"a": 1}, path="/elsewhere"))
    assert before != hash_value(tokenizer_class({"a": 2}))
    assert before != hash_value(tokenizer_class({"a": 1}, side="left"))
