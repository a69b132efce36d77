"""Reading scattered values by address."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from raydata_ext.table.address_space import join_ranges

MEMORY = np.frombuffer(np.random.default_rng(1).bytes(100_000), np.uint8)


@pytest.mark.parametrize("count", [0, 1, 99, 100, 5000])
@pytest.mark.parametrize("most_bytes", [0, 1, 40])
def test_ranges_are_copied_one_after_another(count, most_bytes):
    generator = np.random.default_rng(count)
    starts = generator.integers(0, len(MEMORY) - most_bytes, count)
    lengths = generator.integers(0, most_bytes + 1, count)
    expected = b"".join(MEMORY[a : a + n].tobytes() for a, n in zip(starts, lengths, strict=True))
    assert join_ranges(starts + MEMORY.ctypes.data, lengths).to_pybytes() == expected


def test_ranges_may_lie_in_memory_of_its_own_in_any_order():
    buffers = [pa.py_buffer(bytes([number]) * 1000) for number in range(250)]
    order = np.random.default_rng(3).permutation(250)
    starts = np.array([buffers[number].address for number in order])
    joined = join_ranges(starts, np.full(250, 3)).to_pybytes()
    assert joined == b"".join(bytes([number]) * 3 for number in order)
