"""`TruncatedDictionary`: the first symbols of a dictionary."""

from __future__ import annotations

from raydata_ext.text.dictionary import Dictionary


class TruncatedDictionary(Dictionary):
    """The first symbols of another dictionary; the others are unknown words.

    Args:
        wrapped_dict: the dictionary, which stays as it is.
        length: how many symbols, at least the special ones.
    """

    def __init__(self, wrapped_dict: Dictionary, length: int) -> None:
        if length < wrapped_dict.nspecial:
            raise ValueError(f"length is {length}; it must be at least {wrapped_dict.nspecial}, the special symbols")
        self.__dict__.update(wrapped_dict.__dict__)
        self.wrapped_dict = wrapped_dict
        self.symbols = wrapped_dict.symbols[:length]
        self.count = wrapped_dict.count[:length]
        self.indices = {word: idx for word, idx in wrapped_dict.indices.items() if idx < length}
