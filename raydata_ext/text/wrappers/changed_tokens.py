"""Items with other tokens in the same number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from raydata_ext.text.contract.base_wrapper_dataset import BaseWrapperDataset
from raydata_ext.text.contract.tensors import to_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray


class OffsetTokensDataset(BaseWrapperDataset):
    """Items with a number added to each token.

    Args:
        dataset: the child, of tokens.
        offset: the number.
    """

    def __init__(self, dataset: Any, offset: int) -> None:
        super().__init__(dataset)
        self.offset = offset

    @override
    def transform(self, item: Any, index: int) -> Any:
        return to_tokens(item) + self.offset


class RollDataset(BaseWrapperDataset):
    """Items turned round: tokens that leave at the end come in at the beginning.

    Args:
        dataset: the child, of tokens.
        shifts: by how many places; negative in the other direction.
    """

    def __init__(self, dataset: Any, shifts: int) -> None:
        super().__init__(dataset)
        self.shifts = shifts

    @override
    def transform(self, item: Any, index: int) -> Any:
        return np.roll(to_tokens(item), self.shifts)


class ReplaceDataset(BaseWrapperDataset):
    """Items with some tokens replaced by others.

    Args:
        dataset: the child; its items are arrays of tokens, or tuples of such.
        replace_map: what replaces a token. Replacements are made one after the other, so one may replace what an
            earlier one put there.
        offsets: for each array of an item, how many tokens at the beginning stay; negative: how many at the end.

    Raises:
        ValueError: there is nothing to replace.
    """

    def __init__(self, dataset: Any, replace_map: Mapping[int, int], offsets: Sequence[int]) -> None:
        if not replace_map:
            raise ValueError("ReplaceDataset: replace_map is empty; there is nothing to replace")
        super().__init__(dataset)
        self.replace_map = dict(replace_map)
        self.offsets = list(offsets)

    @override
    def transform(self, item: Any, index: int) -> Any:
        parts = item if isinstance(item, tuple) else (item,)
        if len(self.offsets) > len(parts):
            raise ValueError(f"ReplaceDataset: {len(self.offsets)} offsets, but item {index} has {len(parts)} parts")
        replaced = [self._replace(part, offset) for part, offset in zip(parts, self.offsets, strict=False)]
        return (*replaced, *parts[len(replaced) :]) if isinstance(item, tuple) else replaced[0] if replaced else item

    def _replace(self, part: Any, offset: int) -> NDArray[np.int64]:
        tokens = np.array(to_tokens(part))
        open_part = tokens[offset:] if offset >= 0 else tokens[:offset]
        for old, new in self.replace_map.items():
            open_part[open_part == old] = new
        return tokens


class PrependDataset(BaseWrapperDataset):
    """Items whose first token is replaced by one that depends on the row.

    Args:
        dataset: the child; its items are arrays of tokens, or tuples that begin with one.
        prepend_getter: called with the child and a row's number, gives the token.
        ensure_first_token_is: what the first token must be; None is anything.
    """

    def __init__(
        self, dataset: Any, prepend_getter: Callable[[Any, int], int], ensure_first_token_is: int | None = None
    ) -> None:
        super().__init__(dataset)
        self.prepend_getter = prepend_getter
        self.ensure_first_token = ensure_first_token_is

    @override
    def transform(self, item: Any, index: int) -> Any:
        tokens = np.array(to_tokens(item[0] if isinstance(item, tuple) else item))
        if not len(tokens) or self.ensure_first_token not in {None, int(tokens[0])}:
            found = tokens[0] if len(tokens) else "none"
            expected = "one" if self.ensure_first_token is None else self.ensure_first_token
            raise ValueError(f"PrependDataset: the first token of item {index} is {found}; it must be {expected}")
        tokens[0] = self.prepend_getter(self.dataset, index)
        return (tokens, *item[1:]) if isinstance(item, tuple) else tokens
