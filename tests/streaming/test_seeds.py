"""Seeds as values, and random numbers with a position."""

from __future__ import annotations

import json

import numpy as np
import pytest

from raydata_ext.streaming.seeds import BLOCK, Draws, MixedSeed, Seed, mixed
from raydata_ext.streaming.state import decode, encode


def drawn(generator, count):
    return generator.integers(0, 77, size=count)


def test_a_seed_gives_the_same_numbers_each_time():
    assert Seed(5).generator().random() == Seed(5).generator().random() == np.random.default_rng(5).random()


def test_a_shift_gives_other_numbers_even_by_zero():
    numbers = {Seed(5, shifts).generator().random() for shifts in ((), (0,), (1,), (1, 0), (0, 1), (1, 1))}
    assert len(numbers) == 6


def test_a_shift_draws_a_new_seed_and_takes_the_number_off():
    expected = np.random.default_rng(int(np.random.default_rng(5).integers(0, 1 << 63)) - 3)
    assert Seed(5).shifted(3).generator().random() == expected.random()


def test_mixed_seeds_depend_on_each_number_and_on_their_order():
    assert len({mixed(1, 2), mixed(2, 1), mixed(1), mixed(2), mixed(1, 2, 0)}) == 5


@pytest.mark.parametrize("counts", [[1, 2, 3], [BLOCK], [BLOCK - 1, 2, 2500, 1, 999], [0, 5, 0]])
def test_numbers_are_those_of_blocks_however_many_are_taken_at_a_time(counts):
    draws, generator = Draws(np.random.default_rng(1), drawn), np.random.default_rng(1)
    blocks = np.concatenate([generator.integers(0, 77, size=BLOCK) for _ in range(5)])
    taken = np.concatenate([draws.take(count) for count in counts])
    assert taken.tolist() == blocks[: sum(counts)].tolist()


def test_the_generator_has_drawn_whole_blocks_and_no_more_than_needed():
    draws, generator = Draws(np.random.default_rng(1), drawn), np.random.default_rng(1)
    draws.take(1001)
    generator.integers(0, 77, size=2 * BLOCK)
    assert draws.generator.bit_generator.state == generator.bit_generator.state


@pytest.mark.parametrize("used", [0, 1, 999, 1000, 1001, 3456])
def test_a_position_is_restored_from_json(used):
    draws, again = Draws(np.random.default_rng(1), drawn), Draws(np.random.default_rng(2), drawn)
    draws.take(used)
    again.load(decode(json.loads(json.dumps(encode(draws.state())))))
    assert draws.take(2500).tolist() == again.take(2500).tolist()
    assert draws.generator.random() == again.generator.random()


def test_the_shifts_of_a_mixed_seed_count_each_for_itself():
    seeds = [MixedSeed(1, (2, 3)), MixedSeed(1, (3, 2)), MixedSeed(1, (5,)), MixedSeed(1).shifted(2).shifted(4)]
    assert len({seed.generator().random() for seed in seeds}) == 4
    assert MixedSeed(1).shifted(2).shifted(3) == seeds[0]
