"""`Dictionary`: a mapping from symbols to consecutive numbers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from raydata_ext.store.atomic_files import write_file_atomically
from raydata_ext.text.contract.tensors import to_array
from raydata_ext.text.dictionary_file import (
    EXTRA_ROLE,
    DictionaryFileError,
    Entry,
    File,
    format_entries,
    read_entries,
)
from raydata_ext.text.tokenizer import post_process, tokenize_line
from raydata_ext.text.word_counts import count_words

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray
    from typing_extensions import Self


class Dictionary:
    """A mapping from symbols to consecutive numbers, with how often each was seen.

    The special symbols come first: bos 0, pad 1, eos 2, unk 3, then the extra ones, each with a count of 1.

    Args:
        pad: symbol of padding.
        eos: symbol of the end of a sentence.
        unk: symbol of all words that are not in the dictionary.
        bos: symbol of the begin of a sentence.
        extra_special_symbols: more special symbols.
        add_special_symbols: whether to begin with the special symbols; without them, they are what the symbols of
            these names are that are added.

    Attributes:
        symbols: the symbols by number.
        count: how often each was seen, by number.
        indices: the number of each symbol.
        nspecial: how many of the first numbers are special symbols.
    """

    def __init__(
        self,
        pad: str = "<pad>",
        eos: str = "</s>",
        unk: str = "<unk>",
        bos: str = "<s>",
        extra_special_symbols: Iterable[str] | None = None,
        *,
        add_special_symbols: bool = True,
    ) -> None:
        self.bos_word, self.pad_word, self.eos_word, self.unk_word = bos, pad, eos, unk
        self.symbols: list[str] = []
        self.count: list[int] = []
        self.indices: dict[str, int] = {}
        self._roles: dict[str, int] = {}
        if add_special_symbols:
            for role, word in self._role_words().items():
                self._roles[role] = self.add_symbol(word)
            for word in extra_special_symbols or ():
                self.add_symbol(word)
        self.nspecial = len(self.symbols)

    def __len__(self) -> int:
        return len(self.symbols)

    def __getitem__(self, idx: int) -> str:
        """The symbol of a number; `unk_word` past the end. Negative numbers count from the end."""
        return self.symbols[idx] if idx < len(self.symbols) else self.unk_word

    def __contains__(self, sym: object) -> bool:
        return sym in self.indices

    def __eq__(self, other: object) -> bool:
        return self.indices == other.indices if isinstance(other, Dictionary) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it can be changed

    def __fingerprint__(self) -> tuple[object, ...]:
        """What encoding and decoding depend on: all but the counts."""
        return (
            tuple(self.symbols),
            tuple(sorted(self._roles.items())),
            tuple(self._role_words().values()),
            self.nspecial,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} symbols, {self.nspecial} of them special)"

    def index(self, sym: str) -> int:
        """The number of a symbol; that of unk where it is not in the dictionary."""
        if not isinstance(sym, str):
            raise TypeError(f"a symbol is a str, got {sym!r} ({type(sym).__name__})")
        found = self.indices.get(sym)
        return self.unk() if found is None else found

    def bos(self) -> int:
        """Number of the symbol of the begin of a sentence."""
        return self._special("bos")

    def pad(self) -> int:
        """Number of the symbol of padding."""
        return self._special("pad")

    def eos(self) -> int:
        """Number of the symbol of the end of a sentence."""
        return self._special("eos")

    def unk(self) -> int:
        """Number of the symbol of unknown words."""
        return self._special("unk")

    bos_index = property(bos)
    pad_index = property(pad)
    eos_index = property(eos)
    unk_index = property(unk)

    def unk_string(self, escape: bool = False) -> str:
        """The symbol of unknown words; with `escape` as `<<unk>>`, which no text holds by chance."""
        return f"<{self.unk_word}>" if escape else self.unk_word

    def string(
        self,
        tensor: Any,
        bpe_symbol: str | None = None,
        escape_unk: bool = False,
        extra_symbols_to_ignore: Collection[int] | None = None,
        unk_string: str | None = None,
        include_eos: bool = False,
        separator: str = " ",
    ) -> str:
        r"""The text of token numbers, without bos and eos.

        Args:
            tensor: numbers of shape (tokens,), or (lines, tokens), which gives lines with `\n` between; an array,
                tensor or sequence.
            bpe_symbol: how subwords are joined, see `post_process`.
            escape_unk: see `unk_string`.
            extra_symbols_to_ignore: more numbers to leave out.
            unk_string: stands for unknown words.
            include_eos: whether eos stays in.
            separator: stands between symbols.
        """
        tokens = np.asarray(to_array(tensor))
        if tokens.ndim > 1:
            rest = (bpe_symbol, escape_unk, extra_symbols_to_ignore, unk_string, include_eos, separator)
            return "\n".join(self.string(line, *rest) for line in tokens)
        ignored = {
            *(extra_symbols_to_ignore or ()),
            *self._numbers("bos"),
            *(() if include_eos else self._numbers("eos")),
        }
        unknown = self.unk_string(escape_unk) if unk_string is None else unk_string
        unk = {*self._numbers("unk")}
        words = (unknown if token in unk else self[token] for token in tokens.tolist() if token not in ignored)
        return post_process(separator.join(words), bpe_symbol)

    def add_symbol(self, word: str, n: int = 1, overwrite: bool = False) -> int:
        """Count a symbol, and add it where it is new.

        Args:
            word: the symbol.
            n: how often it was seen.
            overwrite: give it a new number even if it has one; the old number keeps its symbol.

        Returns:
            Its number.
        """
        if word in self.indices and not overwrite:
            idx = self.indices[word]
            self.count[idx] += n
            return idx
        idx = len(self.symbols)
        self.indices[word] = idx
        self.symbols.append(word)
        self.count.append(n)
        return idx

    def update(self, new_dict: Dictionary) -> None:
        """Add the symbols and counts of another dictionary, special symbols included."""
        for word, idx in new_dict.indices.items():
            self.add_symbol(word, new_dict.count[idx])

    def finalize(self, threshold: int = -1, nwords: int = -1, padding_factor: int = 8) -> None:
        """Sort symbols by falling count, equal ones by code points, and drop rare ones.

        Args:
            threshold: symbols with lower counts are dropped.
            nwords: how many symbols to keep at most, special ones included; -1 is all.
            padding_factor: add `madeupword0000`, ... until the number of symbols is a multiple of this.
        """
        room = len(self) if nwords <= 0 else max(0, nwords - self.nspecial)
        words = {word: self.count[idx] for word, idx in self.indices.items() if idx >= self.nspecial}
        ordered = sorted(words.items(), key=lambda item: (-item[1], item[0]))
        kept = [(word, count) for word, count in ordered[:room] if count >= threshold]
        special = list(zip(self.symbols[: self.nspecial], self.count[: self.nspecial], strict=True))
        self.symbols = [word for word, _ in special + kept]
        self.count = [count for _, count in special + kept]
        self.indices = {word: idx for idx, word in enumerate(self.symbols)}
        self.pad_to_multiple_(padding_factor)

    def pad_to_multiple_(self, padding_factor: int) -> None:
        """Add `madeupword0000`, ... until the number of symbols is a multiple of `padding_factor`."""
        number = 0
        while padding_factor > 1 and len(self) % padding_factor:
            self.add_symbol(f"madeupword{number:04d}", n=0)
            number += 1

    @classmethod
    def load(cls, f: File, add_special_symbols: bool = True) -> Self:
        """Read a dictionary file.

        Args:
            f: path or open text file; see `dictionary_file` for what stands in it.
            add_special_symbols: whether the special symbols come first that fairseq leaves out of the file.

        Raises:
            DictionaryFileError: a line is not as it should be, or a symbol stands there twice without the flag.
        """
        name, entries = read_entries(f)
        special = [entry for entry in entries if entry.roles]
        words = {role: entry.word for entry in special for role in entry.roles if role != EXTRA_ROLE}
        extra = [entry.word for entry in special if EXTRA_ROLE in entry.roles]
        dictionary = cls(**words, extra_special_symbols=extra, add_special_symbols=add_special_symbols or bool(special))
        for entry in special:
            dictionary.count[dictionary.indices[entry.word]] = entry.count
        dictionary._add([entry for entry in entries if not entry.roles], name)
        return dictionary

    def add_from_file(self, f: File) -> None:
        """Add the symbols of a dictionary file, see `load`.

        Raises:
            DictionaryFileError: as in `load`, or the special symbols of the file are not those here.
        """
        name, entries = read_entries(f)
        special = [entry.word for entry in entries if entry.roles]
        if special and special != self.symbols[: self.nspecial]:
            raise DictionaryFileError(
                f"{name}: its special symbols are {special}, those of this dictionary {self.symbols[: self.nspecial]};"
                " use Dictionary.load"
            )
        self._add([entry for entry in entries if not entry.roles], name)

    def save(self, f: File) -> None:
        """Write the dictionary file; `load` gives the same symbols, numbers and counts.

        The counts of the usual four special symbols are left out, as in fairseq, which could not read them. A
        dictionary without special symbols is to be loaded with `add_special_symbols=False`.

        Args:
            f: path, whose directory is made where it is missing, or open text file.

        Raises:
            ValueError: a symbol cannot stand in a file.
        """
        text = format_entries([*self._special_entries(), *self._entries()])
        if not isinstance(f, str | os.PathLike):
            f.write(text)
            return
        try:
            content = text.encode("utf8")
        except UnicodeEncodeError as error:
            line = text.count("\n", 0, error.start) + 1
            raise ValueError(f"{os.fspath(f)}: line {line}: the symbol is no valid Unicode ({error.reason})") from error
        Path(f).parent.mkdir(parents=True, exist_ok=True)
        write_file_atomically(f, content)

    def encode_line(
        self,
        line: str,
        line_tokenizer: Callable[[str], Sequence[str]] = tokenize_line,
        add_if_not_exist: bool = True,
        consumer: Callable[[str, int], object] | None = None,
        append_eos: bool = True,
        reverse_order: bool = False,
    ) -> NDArray[np.int32]:
        """The numbers of a line's words.

        Args:
            line: the text.
            line_tokenizer: gives its words.
            add_if_not_exist: whether words that are not in the dictionary are added, and all are counted.
            consumer: is given each word and its number.
            append_eos: whether eos follows.
            reverse_order: whether the words are taken from the last to the first.

        Returns:
            int32 of shape (words + 1 with eos,).
        """
        words = line_tokenizer(line)
        if reverse_order:
            words = words[::-1]
        find = self.add_symbol if add_if_not_exist else self.index
        ids = [find(word) for word in words]
        if consumer is not None:
            for word, idx in zip(words, ids, strict=True):
                consumer(word, idx)
        return np.array([*ids, self.eos()] if append_eos else ids, dtype=np.int32)

    @staticmethod
    def add_file_to_dictionary(
        filename: str | os.PathLike[str],
        dict: Dictionary,  # noqa: A002 - fairseq's name
        tokenize: Callable[[str], Sequence[str]] = tokenize_line,
        num_workers: int = 1,
    ) -> None:
        """Count the words of a text file into a dictionary, and an eos a line.

        The work is cut into shards that `num_workers` processes count; their number does not change the result.
        """
        dict.add_counts(count_words(filename, tokenize=tokenize, workers=num_workers))

    def add_counts(self, counts: pa.Table) -> None:
        """Add words with their counts, in the order of the table; the null word counts as eos.

        Args:
            counts: a table of words and counts, see `count_words`.
        """
        eos = self.eos_word
        for word, count in zip(counts["word"].to_pylist(), counts["count"].to_pylist(), strict=True):
            self.add_symbol(eos if word is None else word, count)

    def _role_words(self) -> dict[str, str]:
        return {"bos": self.bos_word, "pad": self.pad_word, "eos": self.eos_word, "unk": self.unk_word}

    def _special(self, role: str) -> int:
        found = self._numbers(role)
        if not found:
            raise LookupError(f"there is no symbol {self._role_words()[role]!r} in this dictionary to stand for {role}")
        return found[0]

    def _numbers(self, role: str) -> tuple[int, ...]:
        """The number of a special symbol, or none."""
        if role in self._roles:
            return (self._roles[role],)
        found = self.indices.get(self._role_words()[role])
        return () if found is None else (found,)

    def _add(self, entries: Iterable[Entry], name: str) -> None:
        for entry in entries:
            if entry.word in self.indices and not entry.overwrite:
                raise DictionaryFileError(
                    f"{name}: Duplicate word found when loading Dictionary: {entry.word!r}. To let it overwrite the"
                    " earlier one, end its line with the flag #fairseq:overwrite; else take the line out"
                )
            self.add_symbol(entry.word, entry.count, overwrite=True)

    def _special_entries(self) -> list[Entry]:
        """Lines for the special symbols, or none where they are the usual four."""
        usual = list(Dictionary().symbols)
        if self.symbols[: self.nspecial] == usual and list(self._role_words().values()) == usual:
            return []
        roles: dict[int, list[str]] = {idx: [] for idx in range(self.nspecial)}
        for role, idx in self._roles.items():
            roles[idx].append(role)
        return [
            Entry(self.symbols[idx], self.count[idx], roles=tuple(names or [EXTRA_ROLE]))
            for idx, names in roles.items()
        ]

    def _entries(self) -> list[Entry]:
        """Lines for the other symbols; one that has an earlier place says so."""
        seen = set(self.symbols[: self.nspecial])
        entries = []
        for word, count in zip(self.symbols[self.nspecial :], self.count[self.nspecial :], strict=True):
            entries.append(Entry(word, count, overwrite=word in seen))
            seen.add(word)
        return entries
