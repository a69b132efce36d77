from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from raydata_ext.text.contract.iterable_dataset import FairseqIterableDataset


class Count(FairseqIterableDataset):
    def __init__(self, stop):
        self.stop = stop

    def __iter__(self):
        return iter(range(self.stop))


def test_it_is_a_torch_iterable_dataset_where_torch_is_installed():
    torch = pytest.importorskip("torch")
    assert isinstance(Count(3), torch.utils.data.IterableDataset)
    assert isinstance(pickle.loads(pickle.dumps(Count(3))), torch.utils.data.IterableDataset)
    assert [batch.tolist() for batch in torch.utils.data.DataLoader(Count(3), batch_size=2)] == [[0, 1], [2]]


def test_torch_is_not_imported_before_there_is_one():
    code = "import sys, raydata_ext.text; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
