"""Items with fewer tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from raydata_ext.text.contract import children
from raydata_ext.text.contract.base_wrapper_dataset import BaseWrapperDataset
from raydata_ext.text.contract.tensors import to_tokens

if TYPE_CHECKING:
    from raydata_ext.text.contract.sizes import IntArray, Rows


class TruncateDataset(BaseWrapperDataset):
    """Items cut to their first tokens.

    Args:
        dataset: the child, of tokens.
        truncation_length: tokens of an item at most.

    Raises:
        ValueError: the length is negative.
    """

    def __init__(self, dataset: Any, truncation_length: int) -> None:
        if truncation_length < 0:
            raise ValueError(f"TruncateDataset: truncation_length is {truncation_length}, but must not be negative")
        super().__init__(dataset)
        self.truncation_length = truncation_length

    @override
    def transform(self, item: Any, index: int) -> Any:
        return item[: self.truncation_length]

    @override
    def sizes_at(self, rows: Rows) -> IntArray:
        return np.minimum(children.lengths_of(self.dataset, rows), self.truncation_length)


class StripTokenDataset(BaseWrapperDataset):
    """Items without a token, wherever it is in them.

    How long an item becomes is known only from its tokens: asking for sizes reads items.

    Args:
        dataset: the child, of tokens.
        id_to_strip: the token.
    """

    def __init__(self, dataset: Any, id_to_strip: int) -> None:
        super().__init__(dataset)
        self.id_to_strip = id_to_strip

    @override
    def transform(self, item: Any, index: int) -> Any:
        tokens = to_tokens(item)
        return tokens[tokens != self.id_to_strip]

    @override
    def sizes_at(self, rows: Rows) -> IntArray:
        numbers = np.arange(len(self))[rows]
        return np.fromiter((len(self[number]) for number in numbers), np.int64, len(numbers))
