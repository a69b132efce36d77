from __future__ import annotations

import sys

import numpy as np
import pytest

from raydata_ext.text.contract.tensors import tensor_kind, to_array, to_arrays, to_tensors, to_tokens


def test_the_kind_is_torch_where_torch_is_installed():
    pytest.importorskip("torch")
    assert tensor_kind(None) == "pt"
    assert tensor_kind("np") == "np"


def test_an_unknown_kind_is_an_error_that_names_it():
    with pytest.raises(ValueError, match="return_tensors is 'tf'"):
        tensor_kind("tf")


def test_the_kind_is_numpy_where_torch_is_not_installed(tmp_path):
    import subprocess

    code = (
        "import sys, importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'torch' else find(name, *rest)\n"
        "import raydata_ext.text as text, numpy as np\n"
        "batch = text.collate_tokens([np.array([4, 5]), np.array([4])], 1)\n"
        "print(type(batch).__name__, batch.tolist(), 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.split("\n")[0] == "ndarray [[4, 5], [4, 1]] False"


def test_a_batch_becomes_tensors_at_any_depth_and_back_in_the_same_memory():
    torch = pytest.importorskip("torch")
    batch = {"a": np.arange(3), "b": {"c": [np.ones(2), "text"]}, "n": 7, "none": None}
    tensors = to_tensors(batch, "pt")
    assert isinstance(tensors["a"], torch.Tensor)
    assert tensors["b"]["c"][0].dtype == torch.float64
    assert (tensors["b"]["c"][1], tensors["n"], tensors["none"]) == ("text", 7, None)
    arrays = to_arrays(tensors)
    assert np.shares_memory(arrays["a"], batch["a"])
    assert to_tensors(tensors, "np")["a"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32])
def test_types_that_torch_does_not_compute_with_become_int64(dtype):
    torch = pytest.importorskip("torch")
    tensor = to_tensors(np.array([1, np.iinfo(dtype).max], dtype), "pt")
    assert (tensor.dtype, tensor.tolist()) == (torch.int64, [1, np.iinfo(dtype).max])


def test_what_torch_cannot_share_is_copied():
    pytest.importorskip("torch")
    read_only = np.arange(3)
    read_only.flags.writeable = False
    tensors = to_tensors([read_only, np.arange(3)[::-1]], "pt")
    tensors[0][0] = 9
    assert ([tensor.tolist() for tensor in tensors], read_only.tolist()) == ([[9, 1, 2], [2, 1, 0]], [0, 1, 2])


def test_tokens_are_int64_and_copied_only_where_they_must_be():
    array = np.arange(3)
    assert to_tokens(array) is array
    assert to_tokens(array.astype(np.uint16)).dtype == np.int64
    assert to_tokens([1, 2]).tolist() == [1, 2]
    assert to_tokens([]).dtype == np.int64
    with pytest.raises(TypeError, match="float64"):
        to_tokens([1.5])


def test_torch_items_are_taken_as_arrays():
    torch = pytest.importorskip("torch")
    assert to_tokens(torch.tensor([1, 2], dtype=torch.int32)).dtype == np.int64
    assert isinstance(to_array(torch.ones(2, requires_grad=True)), np.ndarray)
    assert to_array("text") == "text"
