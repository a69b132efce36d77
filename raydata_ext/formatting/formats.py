"""The names of the output formats."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Literal

from raydata_ext.formatting.arrow_format import ArrowFormatter
from raydata_ext.formatting.numpy_format import NumpyFormatter
from raydata_ext.formatting.pandas_format import PandasFormatter
from raydata_ext.formatting.python_format import PythonFormatter
from raydata_ext.formatting.torch_format import TorchFormatter
from raydata_ext.formatting.transform_format import TransformFormatter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raydata_ext.formatting.formatter import Formatter

Format = Literal["python", "numpy", "torch", "arrow", "pandas", "custom"]
"""What a format is called; None stands for "python" too. "custom" is a function of the user."""

_FORMATTERS: dict[str, type[Formatter]] = {
    "python": PythonFormatter,
    "numpy": NumpyFormatter,
    "torch": TorchFormatter,
    "arrow": ArrowFormatter,
    "pandas": PandasFormatter,
    "custom": TransformFormatter,
}


def get_formatter(
    name: Format | None,
    columns: Sequence[str] | None = None,
    output_all_columns: bool = False,  # positional as in Hugging Face
    **options: Any,
) -> Formatter:
    """The formatter of a format.

    Args:
        name: "python", "numpy", "torch", "arrow", "pandas" or "custom"; None means "python".
        columns: The columns to show, in this order; None for all of them.
        output_all_columns: Also show the other columns, after those, as plain Python values.
        options: `dtype` for numpy; `dtype` and `device` for torch; `transform` for custom.

    Returns:
        A formatter; it pickles.

    Raises:
        ValueError: There is no such format.
        TypeError: The format has no such option.
        ImportError: The library of the format is not installed.
    """
    formatter = _FORMATTERS.get("python" if name is None else name)
    if formatter is None:
        raise ValueError(f"no format {name!r}; choose one of {', '.join(map(repr, _FORMATTERS))} or None")
    known = inspect.signature(formatter).parameters
    unknown = [option for option in options if option not in known]
    if unknown:
        choices = [option for option in known if option not in ("columns", "output_all_columns")]
        raise TypeError(f"format {name!r} has no option {unknown[0]!r}; it has {choices or 'none'}")
    return formatter(columns, output_all_columns=output_all_columns, **options)
