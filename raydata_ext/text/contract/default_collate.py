"""Merging samples that nothing is known of, by the rules of torch's `default_collate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from raydata_ext.text.contract.tensors import to_array


def default_collate(samples: Sequence[Any]) -> Any:
    """Merge samples: numbers and arrays of one shape are stacked, dicts and tuples merged part by part.

    Args:
        samples: one at least, all alike.

    Returns:
        Floats become float64, other numbers keep their type; strings, bytes and None stay in a list.

    Raises:
        ValueError: there are none, or arrays have different shapes.
    """
    if not samples:
        raise ValueError("there are no samples to collate")
    first = to_array(samples[0])
    if isinstance(first, Mapping):
        return {key: default_collate([sample[key] for sample in samples]) for key in first}
    if isinstance(first, str | bytes) or first is None:
        return list(samples)
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in samples):
            raise ValueError(f"samples have different lengths: {[len(sample) for sample in samples][:10]}")
        return [default_collate(part) for part in zip(*samples, strict=True)]
    arrays = [np.asarray(to_array(sample)) for sample in samples]
    if any(array.shape != arrays[0].shape for array in arrays):
        shapes = [array.shape for array in arrays][:10]
        raise ValueError(f"samples of different shapes cannot be stacked: {shapes}; pad them with PadDataset")
    return np.stack(arrays)
