"""Grouping small files."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from raydata_ext.sources.grouping import SMALLEST_FILE_COST, group_files

MAX = 1_000_000
corpora = st.dictionaries(st.text(max_size=6), st.integers(0, 2 * MAX), max_size=60)


def cost(size: int) -> int:
    return max(size, SMALLEST_FILE_COST)


def groups(corpus: dict[str, int]) -> list[tuple[tuple[str, int], ...]]:
    files = sorted(corpus.items())
    return [tuple(files[first:last]) for first, last in group_files([n for n, _ in files], [s for _, s in files], MAX)]


@given(corpora)
def test_groups_hold_every_file_once_in_order(corpus: dict[str, int]) -> None:
    assert [file for group in groups(corpus) for file in group] == sorted(corpus.items())


@given(corpora)
def test_no_group_exceeds_the_limit_but_a_file_that_does_so_alone(corpus: dict[str, int]) -> None:
    for group in groups(corpus):
        assert group
        assert len(group) == 1 or sum(cost(size) for _, size in group) <= MAX


@given(corpora, st.data())
def test_what_changes_with_one_file_lies_within_twice_the_limit_on_either_side(corpus, data) -> None:
    name = data.draw(st.text(max_size=6), label="name of the file added, removed or edited")
    other = dict(corpus)
    action = data.draw(st.sampled_from(["set", "remove"]))
    other.pop(name, None)
    if action == "set":
        other[name] = data.draw(st.integers(0, 2 * MAX), label="its size")
    before, after = groups(corpus), groups(other)
    for changed, whole in ((set(before) - set(after), corpus), (set(after) - set(before), other)):
        for side in (lambda n: n < name, lambda n: n > name):
            files = {file for group in changed for file in group if side(file[0]) and cost(file[1]) <= MAX}
            nearest = min(files, key=lambda f: (f[0] > name, f[0])) if files else None
            assert sum(cost(size) for _, size in files) <= 2 * MAX, (nearest, len(whole))


def test_one_file_more_or_less_changes_two_groups_in_the_mean() -> None:
    chance = random.Random(5)
    corpus = {f"{chance.getrandbits(60):x}": chance.randint(0, MAX // 50) for _ in range(5000)}
    before = set(groups(corpus))
    changed = []
    for _ in range(60):
        other = dict(corpus)
        if chance.random() < 0.5:
            other[f"{chance.getrandbits(60):x}"] = chance.randint(0, MAX // 50)
        else:
            del other[chance.choice(list(other))]
        changed.append(len(set(groups(other)) - before))
    assert sum(changed) / len(changed) < 2
    assert max(changed) <= 6


def test_groups_are_about_half_full() -> None:
    chance = random.Random(6)
    corpus = {f"{chance.getrandbits(60):x}": chance.randint(0, MAX // 50) for _ in range(20_000)}
    found = groups(corpus)
    assert 0.35 < sum(map(cost, corpus.values())) / (MAX * len(found)) < 0.75


def test_many_empty_files_do_not_end_in_one_group() -> None:
    assert len(groups({str(number): 0 for number in range(1000)})) > 1000 * SMALLEST_FILE_COST / MAX


def test_no_files_are_no_groups() -> None:
    assert group_files([], [], MAX) == []


def test_names_that_are_no_unicode_are_grouped() -> None:
    assert group_files(["a\udcff", "b"], [1, 1], MAX) == [(0, 2)]


def test_a_hundred_thousand_files_are_a_fifth_as_many_groups() -> None:
    names = [f"{number:06}.txt" for number in range(100_000)]
    found = group_files(names, [100_000] * len(names), MAX)
    assert 10_000 <= len(found) < 40_000
