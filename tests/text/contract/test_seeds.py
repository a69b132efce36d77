from __future__ import annotations

import numpy as np

from raydata_ext.text.contract.seeds import fairseq_random_state


def test_draws_are_those_of_the_global_generator_seeded_as_fairseq_seeds_it():
    np.random.seed(5)  # noqa: NPY002 - it is the reference
    assert fairseq_random_state(5).rand(4).tolist() == np.random.rand(4).tolist()  # noqa: NPY002
    np.random.seed(int(hash((5, 2, 7)) % 1e6))  # noqa: NPY002
    assert fairseq_random_state(5, 2, 7).rand(4).tolist() == np.random.rand(4).tolist()  # noqa: NPY002


def test_the_seed_of_several_numbers_is_the_remainder_by_a_float():
    keys = [(1, epoch, row) for epoch in range(10) for row in range(100)]
    by_float = [int(hash(key) % 1e6) for key in keys]
    assert sum(value != hash(key) % 10**6 for value, key in zip(by_float, keys, strict=True)) > 900
    for key, seed in list(zip(keys, by_float, strict=True))[::100]:
        assert fairseq_random_state(*key).rand() == np.random.RandomState(seed).rand()


def test_the_global_generator_is_not_touched():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    fairseq_random_state(1, 2, 3).rand(10)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002
