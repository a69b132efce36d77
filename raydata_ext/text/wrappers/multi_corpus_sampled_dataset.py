"""Batches that are each from one of several corpora, chosen at random."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex

from typing_extensions import override

from raydata_ext.text.contract import children
from raydata_ext.text.contract.seeds import fairseq_random_state
from raydata_ext.text.contract.sizes import longest, position
from raydata_ext.text.wrappers.aligned_datasets import AlignedDatasets

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from raydata_ext.text.contract.sizes import IntArray, Rows


class CorpusSample(dict[str, Any]):
    """A row of each corpus, by name.

    Args:
        rows: the rows.
        index: the number of the sample.
    """

    def __init__(self, rows: Mapping[str, Any], index: int) -> None:
        super().__init__(rows)
        self.index = index

    def __reduce__(self) -> tuple[Any, ...]:
        return CorpusSample, (dict(self), self.index)


class MultiCorpusSampledDataset(AlignedDatasets):
    """As many rows as all corpora have together; each holds one of every corpus, of which a batch uses one.

    Which one depends on seed, epoch and the batch's first row, so it is the same in every process.

    Args:
        datasets: the corpora by name.
        sampling_func: called with the list of names, gives one; None draws each equally often.
        seed: of that draw.

    Raises:
        ValueError: there are no corpora, or one is empty.
    """

    def __init__(
        self,
        datasets: Mapping[str, Any],
        sampling_func: Callable[[list[str]], str] | None = None,
        *,
        seed: int = 1,
    ) -> None:
        super().__init__(datasets)
        self.sampling_func = sampling_func
        self.seed = seed
        self.total_num_instances = sum(map(len, self.datasets.values()))

    @override
    def __len__(self) -> int:
        return self.total_num_instances

    @override
    def __getitem__(self, index: SupportsIndex) -> CorpusSample:
        row = position(index, self)
        return CorpusSample({key: dataset[self._row_of(key, row)] for key, dataset in self.datasets.items()}, row)

    @override
    def collate_arrays(self, samples: Sequence[CorpusSample]) -> Any:
        """Merge the items of one corpus to a batch; None without items."""
        if not samples:
            return None
        keys = list(self.datasets)
        if self.sampling_func is None:
            key = keys[fairseq_random_state(self.seed, self.epoch, samples[0].index).randint(len(keys))]
        else:
            key = self.sampling_func(keys)
        return children.collated(self.datasets[key], [sample[key] for sample in samples])

    @override
    def sizes_at(self, rows: Rows) -> IntArray:
        """Return the longest length of each row in any corpus, shape (n,)."""
        return longest(self._sizes_by_key(rows))
