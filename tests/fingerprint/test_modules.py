"""The user's own modules count by content, installed ones by name and version."""

from __future__ import annotations

import importlib
import math
import sys
import types
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from raydata_ext.fingerprint import hash_value
from raydata_ext.fingerprint.modules import installed_source


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Write modules, import one anew, and give it."""
    monkeypatch.syspath_prepend(str(tmp_path))
    written = []

    def write_and_load(name, **sources):
        for module, source in sources.items():
            path = tmp_path / f"{module.replace('__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source)
            written.append(module.replace("__", ".").removesuffix(".init"))
        for module in [*sys.modules]:
            if module.partition(".")[0] in {item.partition(".")[0] for item in written}:
                del sys.modules[module]
        importlib.invalidate_caches()
        sys.dont_write_bytecode = True
        return importlib.import_module(name)

    yield write_and_load
    for module in [*sys.modules]:
        if module.partition(".")[0] in {item.partition(".")[0] for item in written}:
            del sys.modules[module]


HELPER = "UNUSED = {0}\ndef normalise(x): return x.lower()[:{1}]\ndef other(x): return {2}\n"


@pytest.mark.parametrize(
    "main",
    [
        "import clean\ndef f(x): return clean.normalise(x)",
        "import clean as c\ndef f(x): return c.normalise(x)",
        "from clean import normalise\ndef f(x): return normalise(x)",
        "def f(x):\n    import clean\n    return clean.normalise(x)",
        "def f(x):\n    from clean import normalise as n\n    return [n(y) for y in x]",
        "import clean\ndef make(module):\n    def f(x): return module.normalise(x)\n    return f\nf = make(clean)",
    ],
)
def test_editing_a_helper_in_another_module_counts_and_editing_what_is_not_used_does_not(load, main):
    base = hash_value(load("job", clean=HELPER.format(1, 2, 3), job=main).f)
    assert hash_value(load("job", clean=HELPER.format(1, 2, 3), job=main).f) == base
    assert hash_value(load("job", clean=HELPER.format(9, 2, 3), job=main).f) == base
    assert hash_value(load("job", clean=HELPER.format(1, 2, 9), job=main).f) == base
    assert hash_value(load("job", clean=HELPER.format(1, 9, 3), job=main).f) != base


def test_a_submodule_of_a_package_is_followed(load):
    main = "import kit.text\nimport kit\ndef f(x): return kit.text.normalise(x)"
    sources = {"kit____init__": "", "job": main}
    base = hash_value(load("job", kit__text=HELPER.format(1, 2, 3), **sources).f)
    assert hash_value(load("job", kit__text=HELPER.format(1, 2, 4), **sources).f) == base
    assert hash_value(load("job", kit__text=HELPER.format(1, 3, 3), **sources).f) != base


def test_a_relative_import_in_a_function_is_followed(load):
    inner = "def f(x):\n    from .text import normalise\n    return normalise(x)"
    sources = {"kit____init__": "", "kit__job": inner}
    base = hash_value(load("kit.job", kit__text=HELPER.format(1, 2, 3), **sources).f)
    assert hash_value(load("kit.job", kit__text=HELPER.format(1, 3, 3), **sources).f) != base


def test_an_import_in_a_function_counts_the_same_before_and_after_it_was_made(load):
    function = load(
        "job", clean=HELPER.format(1, 2, 3), job="def f(x):\n    import clean\n    return clean.normalise(x)"
    ).f
    before = hash_value(function)
    function("A")
    assert hash_value(function) == before


def test_an_import_that_is_not_to_be_had_is_no_error(load):
    function = load(
        "job", job="def f(x):\n    try:\n        import no_such_module as m\n    except ImportError:\n        m = None"
    )
    assert len(hash_value(function.f)) == 32


def test_an_inherited_class_of_another_module_counts(load):
    main = "import clean\nclass Step(clean.Base):\n    pass\ndef f(x): return Step().run(x)"
    base = hash_value(load("job", clean="class Base:\n    def run(self, x): return 1", job=main).f)
    assert hash_value(load("job", clean="class Base:\n    def run(self, x): return 2", job=main).f) != base


def test_a_module_used_as_a_value_counts_by_all_its_code_and_what_it_imports(load):
    main = "import clean\ndef f(x, name): return getattr(clean, name)(x)"
    clean = '"""Doc."""\nimport deep\nLIMIT = 1\ndef normalise(x): return deep.go(x)  # comment\n'
    base = hash_value(load("job", deep="def go(x): return 1", clean=clean, job=main).f)
    assert (
        hash_value(load("job", deep="def go(x):\n    return 1", clean=clean.replace("  # comment", ""), job=main).f)
        == base
    )
    assert (
        hash_value(load("job", deep="def go(x): return 1", clean=clean.replace("LIMIT = 1", "LIMIT = 2"), job=main).f)
        != base
    )
    assert hash_value(load("job", deep="def go(x): return 2", clean=clean, job=main).f) != base


def test_a_module_made_at_run_time_is_hashed():
    first, second = types.ModuleType("made"), types.ModuleType("made")
    exec("def f(): return 1", vars(first))
    exec("def f(): return 2", vars(second))
    assert hash_value(first) != hash_value(second)


def test_installed_modules_and_the_standard_library_count_by_name_and_version():
    assert installed_source("numpy") == f"numpy=={np.__version__}"
    assert installed_source("pyarrow.compute") == f"pyarrow=={pa.__version__}"
    assert installed_source("json.decoder") == f"python {sys.version_info.major}.{sys.version_info.minor}"
    assert installed_source("math") == installed_source("json")
    assert installed_source("builtins") == "python"
    assert installed_source("_pytest.config") == f"pytest=={pytest.__version__}"
    assert installed_source("yaml").startswith("PyYAML==")
    assert hash_value(np) != hash_value(pa) != hash_value(math)


def test_the_users_own_code_has_no_version():
    assert installed_source("__main__") is None
    assert installed_source("no_such_module_at_all") is None
    assert installed_source("json", str(Path("/home/user/json.py"))) is None
