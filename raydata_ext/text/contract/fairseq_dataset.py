"""The contract of all datasets: an item, a batch, and how long rows are.

What a row costs is asked in several ways: `sizes` of all rows, `size` of one, `num_tokens` and `num_tokens_vec` for
batches. All are computed from `sizes_at`, so they cannot disagree; a dataset defines that one, or sets `sizes`.
Likewise `collater` is `collate_arrays`, with tensors where these are wanted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from raydata_ext.text.batch_by_size import batch_by_size
from raydata_ext.text.contract.default_collate import default_collate
from raydata_ext.text.contract.sizes import IntArray, Rows, Size, Sizes, as_sizes, longest, one_size, position
from raydata_ext.text.contract.tensors import TensorKind, tensor_kind, to_tensors
from raydata_ext.text.filter_by_size import split_by_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from raydata_ext.text.batches import Batches
    from raydata_ext.text.filter_by_size import Limit


class EpochListening:
    """What wants to know of each new epoch.

    Attributes:
        epoch: the one that it was told last; 0 before the first.
    """

    epoch: int = 0

    @property
    def can_reuse_epoch_itr_across_epochs(self) -> bool:
        """Whether batches that were made in one epoch are right in the next: sizes and order do not change with it."""
        return True

    def set_epoch(self, epoch: int) -> None:
        """Take note of the epoch that is about to begin."""
        self.epoch = epoch


class FairseqDataset(EpochListening, ABC):
    """Rows by number, with all that is needed to make batches of them.

    An item is a numpy array of tokens, or a dict of such. What has an item can be counted on to leave it as it is.
    """

    _sizes: IntArray | None = None
    _return_tensors: TensorKind | None = None

    @abstractmethod
    def __getitem__(self, index: SupportsIndex) -> Any:
        """Return an item.

        Raises:
            IndexError: there is no such row.
        """

    @abstractmethod
    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Any]:
        """Give all items; as many as there are rows, also where an item is known of any number (`IdDataset`)."""
        return (self[row] for row in range(len(self)))

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        """Return the items of a batch, which torch's `DataLoader` asks for at once."""
        return [self[index] for index in indices]

    # -- batches ------------------------------------------------------------------------------------------------------

    @property
    def return_tensors(self) -> TensorKind:
        """What batches are made of: "pt" (the default where torch is installed) or "np"; can be set."""
        return self._return_tensors or self._usual_tensors()

    @return_tensors.setter
    def return_tensors(self, return_tensors: str | None) -> None:
        self._return_tensors = None if return_tensors is None else tensor_kind(return_tensors)

    def _usual_tensors(self) -> TensorKind:
        return tensor_kind(None)

    def collater(self, samples: Sequence[Any], *, return_tensors: str | None = None) -> Any:
        """Merge items to a batch.

        Args:
            samples: items, in the order in which they were asked for.
            return_tensors: "np" or "pt"; None is the dataset's own `return_tensors`.
        """
        kind = self.return_tensors if return_tensors is None else tensor_kind(return_tensors)
        return to_tensors(self.collate_arrays(samples), kind)

    def collate_arrays(self, samples: Sequence[Any]) -> Any:
        """Merge items to a batch of numpy arrays."""
        return default_collate(samples)

    # -- sizes --------------------------------------------------------------------------------------------------------

    @property
    def sizes(self) -> Sizes:
        """Lengths of all rows: shape (rows,), or (rows, sides), or a dict of such.

        They can be set where the dataset does not compute them.
        """
        return self.sizes_at(slice(None))

    @sizes.setter
    def sizes(self, sizes: Any) -> None:
        lengths = as_sizes(sizes, self)
        if len(lengths) != len(self):
            raise ValueError(f"{type(self).__name__}: {len(lengths)} sizes for {len(self)} rows; give one a row")
        self._sizes = lengths

    def sizes_at(self, rows: Rows) -> Sizes:
        """Return the lengths of some rows.

        Args:
            rows: a slice, or numbers of rows.

        Raises:
            TypeError: the dataset does not know them.
        """
        if self._sizes is None:
            raise TypeError(f"{type(self).__name__} does not know the sizes of its rows; set `sizes`")
        return self._sizes[rows]

    def size(self, index: SupportsIndex) -> Size:
        """Return the length of a row, or its lengths: what is held against `max_positions`."""
        return one_size(self.sizes_at(np.array([position(index, self)])))

    def num_tokens(self, index: SupportsIndex) -> int:
        """Return the longest length of a row: what is held against `max_tokens`."""
        return int(longest(self.sizes_at(np.array([position(index, self)])))[0])

    def num_tokens_vec(self, indices: ArrayLike) -> IntArray:
        """Return the longest length of each of some rows, shape (n,)."""
        return longest(self.sizes_at(np.asarray(indices, np.int64)))

    # -- order and batches of rows ------------------------------------------------------------------------------------

    def ordered_indices(self) -> NDArray[np.int64]:
        """Return the rows in the order in which batches are cut, shape (n,)."""
        return np.arange(len(self))

    def get_batch_shapes(self) -> Sequence[tuple[int | None, int]] | None:
        """Return the shapes that batches may have, as (rows, tokens of a row); None is any."""
        return None

    def batch_by_size(
        self,
        indices: ArrayLike,
        max_tokens: int | None = None,
        max_sentences: int | None = None,
        required_batch_size_multiple: int = 1,
    ) -> Batches:
        """Cut ordered rows into batches; see `batch_by_size`. Sizes are looked at only if there is a limit for them."""
        rows = np.asarray(indices, np.int64)
        shapes = self.get_batch_shapes()
        counts = max_tokens not in {None, -1} or shapes is not None
        return batch_by_size(
            rows,
            num_tokens_vec=self.num_tokens_vec(rows) if counts else None,
            max_tokens=max_tokens,
            max_sentences=max_sentences,
            required_batch_size_multiple=required_batch_size_multiple,
            fixed_shapes=shapes,
        )

    def filter_indices_by_size(self, indices: ArrayLike, max_sizes: Limit) -> tuple[NDArray[np.int64], list[int]]:
        """Part rows into those whose size is at most `max_sizes`, and the others.

        Args:
            indices: numbers of rows, shape (n,).
            max_sizes: the limit, see `fits`.

        Returns:
            The rows that are kept, in their order, and the others.
        """
        kept, ignored = split_by_size(indices, self, max_sizes)
        return kept, ignored.tolist()

    # -- data that is far away ----------------------------------------------------------------------------------------

    @property
    def supports_prefetch(self) -> bool:
        """Whether `prefetch` may be called."""
        return False

    @property
    def supports_fetch_outside_dataloader(self) -> bool:
        """Whether items may be asked for outside the workers of a data loader."""
        return True

    def prefetch(self, indices: ArrayLike) -> None:
        """Bring rows near that will be asked for in this epoch."""

    def attr(self, attr: str, index: SupportsIndex) -> Any:  # noqa: ARG002 - a dataset of several answers by row
        """Return an attribute of the dataset that a row is in, None if it has none."""
        return getattr(self, attr, None)
