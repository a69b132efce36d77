"""Rows and batches as torch tensors, by the rules that users of Hugging Face `datasets` know.

Integers are int64, floats float32 and bools bool, unless a dtype is asked for. Lists of one length are stacked; ragged
ones are a list of tensors. Text, bytes and what else torch has no tensor for stay Python values in lists. Where
integers have nulls, the column is a list of tensors and None. Tensors own their memory: writing into one never reaches
the Arrow data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from raydata_ext.formatting.formatter import MappingFormatter
from raydata_ext.formatting.numpy_format import array_to_numpy, element

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    import torch


class TorchFormatter(MappingFormatter):
    """Rows are dictionaries of tensors and Python values, batches dictionaries of tensors and lists.

    Args:
        columns: As in `Formatter`.
        output_all_columns: As in `Formatter`.
        dtype: For all numbers and bools; None for the rules of this module.
        device: Where tensors go; None for the CPU.

    Raises:
        ImportError: torch is not installed.
    """

    def __init__(
        self,
        columns: Sequence[str] | None = None,
        *,
        output_all_columns: bool = False,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__(columns, output_all_columns=output_all_columns)
        _import_torch()
        self.dtype = dtype
        self.device = device

    def value(self, array: pa.Array | pa.ChunkedArray, index: int) -> Any:
        """The value of one row of a column: a tensor (a number has no dimension), a Python value, or None for null."""
        if not array[index].is_valid:
            return None
        return self.column(array.slice(index, 1))[0]

    def column(self, array: pa.Array | pa.ChunkedArray) -> Any:
        """A column as one tensor, or as a list where its rows do not stack."""
        return self._tensors(array_to_numpy(array))

    def _tensors(self, values: Any) -> Any:
        if isinstance(values, np.ma.MaskedArray) and values.mask.any():
            return [self._tensors(element(values, index)) for index in range(len(values))]
        if isinstance(values, (np.ndarray, np.generic)):
            return self._tensors_of_array(np.asarray(values))
        if isinstance(values, dict):
            return {name: self._tensors(value) for name, value in values.items()}
        return values

    def _tensors_of_array(self, values: np.ndarray[Any, np.dtype[Any]]) -> Any:
        if values.dtype.kind in "biuf":
            return self._tensor(values)
        if values.dtype.kind in "mM":
            if np.datetime_data(values.dtype)[0] == "ns":  # Python's datetime and timedelta end at microseconds
                values = values.astype(f"{values.dtype.kind}8[us]")
            return values.tolist()
        return [self._tensors(value) for value in values]

    def _tensor(self, values: np.ndarray[Any, np.dtype[Any]]) -> torch.Tensor:
        torch = _import_torch()
        if self.dtype is None and values.dtype.kind in "iu":
            if values.dtype == np.uint64 and values.size and values.max() > np.iinfo(np.int64).max:
                raise OverflowError(f"{values.max()} does not fit torch.int64; ask for dtype=torch.uint64")
            values = values.astype(np.int64, copy=False)
        elif self.dtype is None and values.dtype.kind == "f":
            values = values.astype(np.float32, copy=False)
        # What numpy must not write to is memory of Arrow, perhaps a read-only mapping; torch would write all the same.
        return torch.from_numpy(np.require(values, requirements="W")).to(dtype=self.dtype, device=self.device)


def _import_torch() -> Any:
    try:
        import torch  # noqa: PLC0415  # optional, and slow to import
    except ImportError as error:
        raise ImportError('format "torch" needs PyTorch: pip install "raydata_ext[torch]"') from error
    return torch
