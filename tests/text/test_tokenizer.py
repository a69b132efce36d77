"""Words of a line, and lines out of subwords."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raydata_ext.text.tokenizer import post_process, tokenize_line


@given(st.text(st.sampled_from("ab \t\r\n\x0b\x1c\x85\xa0\u200b\u2028\u3000"), max_size=12))
@settings(max_examples=200, deadline=None)
def test_words_are_parted_by_runs_of_whitespace(line):
    assert tokenize_line(line) == re.sub(r"\s+", " ", line).strip().split()


def test_wide_spaces_part_words_and_zero_width_ones_do_not():
    assert tokenize_line(" a\xa0b\u3000c\u2028d\x1ce f\u200bg\n") == ["a", "b", "c", "d", "e", "f\u200bg"]


@pytest.mark.parametrize(
    ("sentence", "symbol", "text"),
    [
        ("▁the ▁wor ld", "sentencepiece", "the world"),
        ("_the _wor ld", "wordpiece", "the world"),
        ("t h e | w o |", "letter", "the wo"),
        ("the_EOW wor ld_EOW", "_EOW", "the world"),
        ("wor@@ ld@@", "@@ ", "world"),
        ("wor@@ ld", "subword_nmt", "world"),
        ("wor@@ ld", None, "wor@@ ld"),
        ("wor@@ ld", "none", "wor@@ ld"),
    ],
)
def test_subwords_become_words(sentence, symbol, text):
    assert post_process(sentence, symbol) == text
