from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from raydata_ext.formatting import get_formatter

TABLE = pa.table({"n": [1, 2], "s": ["x", "y"], "l": [[1.5], [2.5]]})
BATCH = TABLE.to_batches()[0]
NAMES = [None, "python", "numpy", "torch", "arrow", "pandas"]


@pytest.fixture(params=NAMES)
def name(request):
    if request.param == "torch":
        pytest.importorskip("torch")
    return request.param


def names_of(shown) -> list[str]:
    return shown.column_names if isinstance(shown, (pa.Table, pa.RecordBatch)) else list(shown)


def test_an_unknown_name_is_a_value_error_with_the_choices():
    with pytest.raises(ValueError, match="no format 'jax'; choose one of 'python', 'numpy', 'torch'"):
        get_formatter("jax")


def test_an_option_that_a_format_lacks_is_a_type_error():
    with pytest.raises(TypeError, match="format 'numpy' has no option 'device'; it has \\['dtype'\\]"):
        get_formatter("numpy", device="cpu")
    with pytest.raises(TypeError, match="format 'arrow' has no option 'dtype'; it has none"):
        get_formatter("arrow", dtype="int8")


def test_every_format_shows_the_columns_asked_for_in_that_order(name):
    formatter = get_formatter(name, ["s", "n"])

    assert names_of(formatter.batch(TABLE)) == ["s", "n"]
    assert names_of(formatter.batch(BATCH)) == ["s", "n"]
    assert names_of(formatter.row(BATCH, 1)) == ["s", "n"]


def test_the_other_columns_follow_where_all_are_asked_for(name):
    formatter = get_formatter(name, ["s"], output_all_columns=True)

    assert names_of(formatter.batch(TABLE)) == ["s", "n", "l"]
    assert names_of(formatter.row(BATCH, 0)) == ["s", "n", "l"]


def test_the_other_columns_are_python_values():
    formatter = get_formatter("numpy", ["n"], output_all_columns=True)

    batch = formatter.batch(TABLE)

    assert isinstance(batch["n"], np.ndarray)
    assert batch["l"] == [[1.5], [2.5]]
    assert formatter.row(BATCH, 1)["l"] == [2.5]


def test_a_column_that_is_not_there_is_a_value_error_that_names_it(name):
    with pytest.raises(ValueError, match=r"columns \['gone'\] of the format are not in the data"):
        get_formatter(name, ["gone"]).batch(TABLE)


@pytest.mark.parametrize("index", [2, -1])
def test_a_row_that_is_not_there_is_an_index_error(name, index):
    with pytest.raises(IndexError, match=f"row {index} of 2 rows"):
        get_formatter(name).row(BATCH, index)


def test_every_formatter_pickles(name):
    formatter = pickle.loads(pickle.dumps(get_formatter(name, ["n"])))

    assert names_of(formatter.batch(TABLE)) == ["n"]


def test_rows_of_all_formats_are_found_in_chunked_tables(name):
    chunked = pa.concat_tables([TABLE, TABLE])

    assert str(get_formatter(name).row(chunked, 3)) == str(get_formatter(name).row(BATCH, 1))


@pytest.mark.parametrize(
    ("library", "advice"), [("torch", 'pip install "raydata_ext\\[torch\\]"'), ("pandas", "pip install pandas")]
)
def test_a_missing_library_is_an_import_error_that_says_what_to_install(library, advice, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)

    with pytest.raises(ImportError, match=advice):
        get_formatter(library)


def test_importing_the_package_imports_neither_torch_nor_pandas():
    code = "import sys, raydata_ext.formatting; print([name for name in ('torch', 'pandas') if name in sys.modules])"

    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=_root())

    assert answer.stdout.strip() == "[]"


def _root() -> str:
    import raydata_ext

    return str(raydata_ext.__path__[0]).rsplit("/", 1)[0]
