"""Steps of the quickstart: keep documents that are long enough, and turn text into byte tokens.

The tokens are those of ByT5 (Xue et al., "ByT5: Towards a Token-Free Future with Pre-trained Byte-to-Byte Models",
2022): 0 pad, 1 eos, 2 unk, and byte b as b + 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

EOS = 1
FIRST_BYTE = 3


def long_enough(row: Mapping[str, Any], min_chars: int) -> tuple[bool, str]:
    """Keep a document of at least `min_chars` characters."""
    return len(row["text"]) >= min_chars, f"shorter than {min_chars} characters"


class Tokenize:
    """Turns texts into token ids.

    Args:
        append_eos: whether each document ends with the eos token.
    """

    def __init__(self, *, append_eos: bool = True) -> None:
        self.append_eos = append_eos
        # From a byte to its id by one look-up a byte.
        self.ids = np.arange(FIRST_BYTE, FIRST_BYTE + 256, dtype=np.int32)

    def __call__(self, batch: Mapping[str, Sequence[str]]) -> dict[str, list[npt.NDArray[np.int32]]]:
        """Give each text of a batch its ids (int32 [bytes + 1 where eos is appended])."""
        return {"input_ids": [self.encode(text) for text in batch["text"]]}

    def encode(self, text: str) -> npt.NDArray[np.int32]:
        """The ids of one text."""
        data = np.frombuffer(text.encode("utf8", "surrogatepass"), dtype=np.uint8)
        ids = np.full(len(data) + self.append_eos, EOS, dtype=np.int32)
        ids[: len(data)] = self.ids[data]
        return ids
