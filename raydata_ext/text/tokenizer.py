"""Words of a line, and lines out of subwords.

Source: `tokenize_line`, `process_bpe_symbol` and `post_process` of fairseq.
"""

from __future__ import annotations

from types import MappingProxyType

SPACE_MARKS = MappingProxyType(
    {"sentencepiece": "\u2581", "wordpiece": "_", "letter": "|", "_EOW": "_EOW"},
)
"""The subword schemes in which a mark stands for the space between words."""


def tokenize_line(line: str) -> list[str]:
    r"""The words of a line, parted by runs of whitespace (as `str.isspace`: U+00A0, U+3000, \x1c, but not U+200B)."""
    return line.split()


def post_process(sentence: str, symbol: str | None) -> str:
    """Join subwords to words.

    Args:
        sentence: subwords, with spaces between.
        symbol: a scheme of `SPACE_MARKS`, or a text that is taken out where it stands, such as `"@@ "`, which is also
            called `"subword_nmt"`; None or `"none"` is no change.
    """
    if symbol is None or symbol == "none":
        return sentence
    if symbol in SPACE_MARKS:
        return sentence.replace(" ", "").replace(SPACE_MARKS[symbol], " ").strip()
    # A mark at the very end has no space after it, which the mark may hold.
    return f"{sentence} ".replace("@@ " if symbol == "subword_nmt" else symbol, "").rstrip()


process_bpe_symbol = post_process
