"""Items with a token more at one end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from raydata_ext.text.contract import children
from raydata_ext.text.contract.base_wrapper_dataset import BaseWrapperDataset
from raydata_ext.text.contract.tensors import to_tokens

if TYPE_CHECKING:
    from raydata_ext.text.contract.sizes import Rows, Sizes


class PrependTokenDataset(BaseWrapperDataset):
    """Items with a token in front.

    Args:
        dataset: the child, of tokens.
        token: the token; None changes nothing.
    """

    def __init__(self, dataset: Any, token: int | None = None) -> None:
        super().__init__(dataset)
        self.token = token

    @override
    def transform(self, item: Any, index: int) -> Any:
        return item if self.token is None else np.concatenate(([self.token], to_tokens(item)))

    @override
    def sizes_at(self, rows: Rows) -> Sizes:
        return super().sizes_at(rows) if self.token is None else children.lengths_of(self.dataset, rows) + 1


class AppendTokenDataset(PrependTokenDataset):
    """Items with a token at the end.

    Args:
        dataset: the child, of tokens.
        token: the token; None changes nothing.
    """

    @override
    def transform(self, item: Any, index: int) -> Any:
        return item if self.token is None else np.append(to_tokens(item), self.token)
