"""Functions: what of them counts."""

from __future__ import annotations

import functools
import operator
import random
import re
import threading

import cloudpickle
import numpy as np
import pytest

from raydata_ext.errors import FingerprintError
from raydata_ext.fingerprint import fingerprint, hash_value


def define(source, name="f", **namespace):
    namespace = {"__name__": "__main__", **namespace}
    exec(compile(source, "<ipython-input-1-abc>", "exec"), namespace)
    return namespace[name]


def test_a_default_counts_positional_or_keyword():
    first = define("def f(a, b=1, *, c=2): return a")
    assert hash_value(first) == hash_value(define("def f(a, b=1, *, c=2): return a"))
    assert hash_value(first) != hash_value(define("def f(a, b=2, *, c=2): return a"))
    assert hash_value(first) != hash_value(define("def f(a, b=1, *, c=3): return a"))


def test_a_closure_counts_by_what_it_holds():
    def make(limit):
        def keep(row):
            return len(row) > limit

        return keep

    assert hash_value(make(1)) == hash_value(make(1)) != hash_value(make(2))


def test_a_global_counts_if_it_is_read_and_only_then():
    source = "def f(x): return x > LIMIT['low']"
    assert hash_value(define(source, LIMIT={"low": 1}, OTHER=1)) == hash_value(
        define(source, LIMIT={"low": 1}, OTHER=2)
    )
    assert hash_value(define(source, LIMIT={"low": 1})) != hash_value(define(source, LIMIT={"low": 2}))


def test_a_mutable_global_that_is_changed_changes_the_fingerprint():
    words = ["a"]
    function = define("def f(x): return x in WORDS", WORDS=words)
    before = hash_value(function)
    words.append("b")
    after = hash_value(function)
    words.pop()
    assert after != before == hash_value(function)


def test_a_helper_counts_by_its_code_at_any_depth():
    source = "def g(x): return h(x)\ndef h(x): return x + {}\ndef f(x): return [g(y) for y in x]"
    assert (
        hash_value(define(source.format(1)))
        == hash_value(define(source.format(1)))
        != hash_value(define(source.format(2)))
    )


def test_recursion_and_mutual_recursion_end():
    source = "def even(n): return n == 0 or odd(n - 1)\ndef odd(n): return n != {} and even(n - 1)"
    assert hash_value(define(source.format(0), "even")) == hash_value(define(source.format(0), "even"))
    assert hash_value(define(source.format(0), "even")) != hash_value(define(source.format(0), "odd"))
    assert hash_value(define(source.format(0), "even")) != hash_value(define(source.format(1), "even"))


def test_many_functions_that_all_call_each_other_are_hashed_at_once():
    names = [f"f{index}" for index in range(60)]
    source = "\n".join(f"def {name}(x): return ({', '.join(f'{other}(x)' for other in names)})" for name in names)
    assert len(hash_value(define(source, "f0"))) == 32


def test_a_function_defined_anew_counts_as_the_one_it_replaces():
    namespace = {"__name__": "__main__"}
    source = "def f(n): return n and f(n - 1)"
    exec(source, namespace)
    old = namespace["f"]
    exec(source, namespace)
    assert old is not namespace["f"]
    assert hash_value(old) == hash_value(namespace["f"])


def test_calling_a_function_changes_nothing():
    function = define("import re\ndef f(x):\n    import json\n    return re.sub('a', 'b', x) + json.dumps(x)")
    before = hash_value(function)
    for _ in range(100):
        function("aaa")
    assert hash_value(function) == before


def test_async_functions_generators_and_plain_functions_differ():
    sources = ["def f(x): return x", "async def f(x): return x", "def f(x): yield x", "async def f(x): yield x"]
    assert len({hash_value(define(source)) for source in sources}) == 4


def test_partials_count_by_function_and_arguments_in_any_order_of_keywords():
    def scale(row, factor, offset=0):
        return row * factor + offset

    partial = functools.partial
    assert hash_value(partial(scale, factor=2, offset=1)) == hash_value(partial(scale, offset=1, factor=2))
    assert hash_value(partial(scale, factor=2)) != hash_value(partial(scale, factor=3))
    assert hash_value(partial(scale, 1)) != hash_value(partial(scale, 2)) != hash_value(scale)


def test_a_decorator_and_what_it_decorates_both_count():
    source = (
        "import functools\ndef twice(g):\n    @functools.wraps(g)\n    def inner(*a): return g(*a) * {}\n"
        "    return inner\n"
        "@twice\ndef f(x): return x + {}"
    )
    assert hash_value(define(source.format(2, 1))) == hash_value(define(source.format(2, 1)))
    assert len({hash_value(define(source.format(*pair))) for pair in ((2, 1), (3, 1), (2, 3))}) == 3


def test_a_cached_function_counts_without_its_cache():
    function = define("import functools\n@functools.lru_cache\ndef f(x): return x + 1")
    before = hash_value(function)
    function(1)
    assert hash_value(function) == before
    assert before != hash_value(define("import functools\n@functools.lru_cache\ndef f(x): return x + 2"))


def test_single_dispatch_counts_by_its_implementations_before_and_after_a_call():
    source = (
        "import functools\n@functools.singledispatch\ndef f(x): return x\n@f.register\ndef _(x: int): return x + {}"
    )
    function = define(source.format(1))
    before = hash_value(function)
    function(1)
    assert hash_value(function) == before != hash_value(define(source.format(2)))


def test_context_managers_made_from_generators_count_by_the_generator():
    source = "import contextlib\n@contextlib.contextmanager\ndef f(): yield {}"
    assert hash_value(define(source.format(1))) == hash_value(define(source.format(1)))
    assert hash_value(define(source.format(1))) != hash_value(define(source.format(2)))


def test_built_in_and_installed_functions_count_by_name():
    functions = [
        len,
        max,
        str.lower,
        "a".upper,
        "b".upper,
        np.mean,
        np.sum,
        np.add,
        np.linalg.norm,
        re.sub,
        operator.add,
    ]
    digests = [hash_value(function) for function in functions]
    assert len(set(digests)) == len(functions)
    assert digests == [hash_value(function) for function in functions]
    assert hash_value(operator.itemgetter(1)) != hash_value(operator.itemgetter(2))


def test_a_bound_method_counts_by_its_object():
    class Scale:
        def __init__(self, factor):
            self.factor = factor

        def apply(self, value):
            return value * self.factor

    assert hash_value(Scale(2).apply) == hash_value(Scale(2).apply) != hash_value(Scale(3).apply)


def test_seeding_or_drawing_random_numbers_never_changes_a_fingerprint():
    source = (
        "import random\nimport numpy as np\nfrom random import random as draw, shuffle\nfrom numpy.random import rand\n"
        "def f(x): return random.random(), np.random.rand(), draw(), shuffle(x), rand()"
    )
    function = define(source)
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002 (the global state is what is tested)
    first = hash_value(function)
    random.seed(2)
    np.random.seed(2)  # noqa: NPY002 (the global state is what is tested)
    random.random()
    assert hash_value(function) == first
    assert hash_value(define(source.replace("draw()", "draw(1)"))) != first


def test_a_generator_of_random_numbers_counts_by_its_state():
    assert hash_value(random.Random(0)) == hash_value(random.Random(0)) != hash_value(random.Random(1))
    rngs = [np.random.default_rng(seed) for seed in (0, 0, 1)]
    assert hash_value(rngs[0]) == hash_value(rngs[1]) != hash_value(rngs[2])


def test_a_function_that_was_sent_to_another_process_is_the_same():
    offset = 3
    function = define("def g(x): return x + LIMIT\ndef f(x): return g(x)", LIMIT=5)

    def local(x):
        return function(x) + offset

    assert hash_value(cloudpickle.loads(cloudpickle.dumps(local))) == hash_value(local)


def test_an_attribute_of_a_function_counts():
    first, second = define("def f(x): return f.table"), define("def f(x): return f.table")
    first.table, second.table = [1], [2]
    assert hash_value(first) != hash_value(second)


def test_the_place_of_a_function_has_no_part():
    assert hash_value(define("def f(x): return __name__, __file__", __file__="a")) == hash_value(
        define("def f(x): return __name__, __file__", __file__="b")
    )


def test_excluded_globals_and_closure_variables_do_not_count():
    lock = threading.Lock()

    def tokenize(row):
        with lock:
            return row.split()

    with pytest.raises(FingerprintError, match="closure of `tokenize` -> `lock`"):
        fingerprint(tokenize)
    assert fingerprint(tokenize, exclude=["lock"]).digest == fingerprint(tokenize, exclude=["tokenize.lock"]).digest
