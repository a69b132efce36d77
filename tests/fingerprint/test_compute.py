"""Fingerprints across processes, and wherever a function was defined."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap

import pytest

from raydata_ext.fingerprint import Fingerprint, explain_difference, fingerprint, hash_value

VALUES = """
import array, asyncio, collections, dataclasses, datetime, decimal, enum, fractions, functools, logging, pathlib
import re, sys
import types, typing, uuid
import numpy as np, pandas as pd, pyarrow as pa, pydantic
from raydata_ext.fingerprint import hash_value

class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"

@dataclasses.dataclass
class Settings:
    size: int
    names: frozenset = frozenset({"x", "y", "z"})

class Model(pydantic.BaseModel):
    words: set[str] = {"a", "b", "c"}

class Words(set):
    pass

class Step:
    STOP = {"the", "a", "an"}
    def __init__(self, **options):
        self.options = options
        self.seen = {"one", "two", "three"}
    def __call__(self, row):
        return {w for w in row if w in {"p", "q", "r"}}
    @property
    def double(self): return 2

async def later(x): return await asyncio.sleep(x)
def generate(x): yield from {"a", "b"}
def outer(words):
    def inner(x, *, kind={"k", "l"}):
        class Local:
            tags = frozenset({"m", "n"})
        return [w for w in x if w in words or x in {"u", "v", "w"}], Local, Colour.RED
    return inner
@functools.lru_cache
def cached(x): return x in {"e", "f", "g"}

values = dict(
    function=outer({"s", "t"}), lambda_=lambda x: x in {"h", "i", "j"},
    partial=functools.partial(cached, kind={"a", "b"}),
    async_=later, generator=generate, decorated=cached, step=Step(b={"1", "2"}), method=Step(a=1).__call__, cls=Step,
    property_=Step.double, colour=Colour.BLUE, colours={Colour.RED, Colour.BLUE}, settings=Settings(3),
    settings_class=Settings, model=Model(), model_class=Model, words=Words("abcdef"), builtin=len, ufunc=np.add,
    module=np, regex=re.compile("a|b", re.I), set_={"a", "b", ("c", "d"), 1, None}, frozen=frozenset("abcdefgh"),
    nested={"a": [{"b", "c"}, frozenset({frozenset({"d", "e"})})]}, numbers=[1, 1.5, True, 2j, None, ..., b"x"],
    array=np.arange(12).reshape(3, 4).T, objects=np.array([{"a", "b"}, "c"], dtype=object),
    table=pa.table({"a": [1, None]}),
    frame=pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}), path=pathlib.Path("a/b"), range_=range(5), slice_=slice(1, 2),
    date=datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc), delta=datetime.timedelta(1),
    decimal_=decimal.Decimal("1.5"),
    fraction=fractions.Fraction(1, 3), uuid_=uuid.UUID(int=5), counter=collections.Counter("aab"),
    logger=logging.getLogger("x"),
    deque_=collections.deque([1, 2], 5), default=collections.defaultdict(list, a=[1]),
    namespace=types.SimpleNamespace(b=1, a=2),
    alias=dict[str, set[int]], optional=typing.Optional[int], union=int | str | None, array_=array.array("i", [1, 2]),
    exception=ValueError("x"), rng=np.random.default_rng(0), literal=typing.Literal["a", "b"],
)
print(__import__("json").dumps({name: hash_value(value) for name, value in values.items()}))
"""


def run(script, *arguments, cwd, seed="0"):
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([str(cwd), *sys.path])
    command = [sys.executable, *([] if arguments else [str(script)]), *arguments]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_processes_with_different_hash_seeds_and_directories_agree_for_all_kinds_of_values(tmp_path):
    found = []
    for seed in ("1", "2", "77"):
        directory = tmp_path / seed
        directory.mkdir()
        (directory / f"script{seed}.py").write_text(VALUES)
        found.append(run(directory / f"script{seed}.py", cwd=directory, seed=seed))
    assert found[0] == found[1] == found[2]
    assert len(set(found[0].values())) == len(found[0])


STEPS = textwrap.dedent('''
    """A module."""
    import functools
    import re

    import clean

    PATTERN = re.compile("[a-z]+")
    STOP = {"the", "a"}

    def helper(text):
        """Docstring."""
        return PATTERN.findall(text)

    @functools.lru_cache
    def cached(text):
        return helper(text)

    class Tokenize:
        """Tokenizes."""

        def __init__(self, size: int = 3):
            self.size = size

        def __call__(self, row: dict) -> dict:
            return {"tokens": [word for word in cached(row["text"]) if word not in STOP][: self.size]}

    def make(limit):
        def keep(row):
            import clean
            return len(row) > limit and clean.normalise(row) and Tokenize(4)(row)
        return keep

    FUNCTIONS = {"helper": helper, "cached": cached, "class": Tokenize, "object": Tokenize(5), "closure": make(3),
                 "lambda": lambda row: helper(row), "chain": clean.normalise}
''')
CLEAN = "LIMIT = {}\ndef normalise(x): return x.lower()[:{}]\n"
PRINT = (
    "import json\nfrom raydata_ext.fingerprint import hash_value\n"
    "print(json.dumps({name: hash_value(value) for name, value in FUNCTIONS.items()}))\n"
)


def test_script_module_and_notebook_agree(tmp_path):
    (tmp_path / "clean.py").write_text(CLEAN.format(1, 2))
    (tmp_path / "steps.py").write_text(STEPS)
    (tmp_path / "script.py").write_text("# A line before.\n\n\n" + STEPS + PRINT)
    script = run(tmp_path / "script.py", cwd=tmp_path, seed="1")
    module = run(None, "-c", "from steps import FUNCTIONS\n" + PRINT, cwd=tmp_path, seed="2")
    assert script == module
    for filename in ("<ipython-input-3-1234>", "/tmp/ipykernel_42/1234567.py", "<string>"):
        cells = STEPS.split("\n\nclass")
        cells = [cells[0], "class" + cells[1], PRINT]
        notebook = f"for cell in {cells!r}:\n    exec(compile(cell, {filename!r}, 'exec'), globals())\n"
        assert run(None, "-c", notebook, cwd=tmp_path, seed="3") == script


def test_editing_a_helper_in_another_module_is_a_miss_that_names_it(tmp_path):
    (tmp_path / "steps.py").write_text("import clean\ndef tokenize(row): return clean.normalise(row)\n")
    show = (
        "import json\nfrom steps import tokenize\nfrom raydata_ext.fingerprint import fingerprint\n"
        "print(json.dumps(dict(fingerprint(tokenize, 'tokenize').parts)))\n"
    )
    found = []
    for source in (
        CLEAN.format(1, 2),
        "# moved\n\n" + CLEAN.format(5, 2),
        CLEAN.format(1, 3),
        CLEAN.format(1, 2).replace("lower", "upper"),
    ):
        (tmp_path / "clean.py").write_text(source)
        found.append(run(None, "-c", show, cwd=tmp_path))
    base, same, constant, code = found
    assert explain_difference(base, same) == []
    assert explain_difference(base, constant) == ["helper `clean.normalise` changed: constant 2 became 3"]
    assert explain_difference(base, code) == ["helper `clean.normalise` changed"]


def test_a_fingerprint_is_128_bits_and_the_same_as_the_hash():
    found = fingerprint([1, 2])
    assert isinstance(found, Fingerprint)
    assert found.digest == hash_value([1, 2])
    assert len(bytes.fromhex(found.digest)) == 16


def test_a_text_in_place_of_names_to_exclude_is_refused():
    with pytest.raises(TypeError, match=r"write \('_lock',\)"):
        fingerprint(1, exclude="_lock")


def test_data_has_the_same_fingerprint_on_every_version_of_python():
    data = {"a": [1, 2.5, "x", b"y", None, True], "b": {3, 4}, "c": (range(3), 2j)}
    assert hash_value(data) == "ac3e1577ba92fedc5ab29915e8b0540a"


@pytest.mark.slow
def test_a_closure_over_a_gigabyte_is_hashed_in_place():
    np = pytest.importorskip("numpy")
    array = np.ones(1 << 27)

    def f(x):
        return array[x]

    assert hash_value(f) == hash_value(f)
