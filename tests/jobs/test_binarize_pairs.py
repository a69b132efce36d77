"""From message catalogues to a dataset that a translation model trains on."""

from __future__ import annotations

import struct
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

import raydata_ext as rdx
from jobs.binarize_pairs import JOB_FILE, PLACES, find_catalogues, main, open_pairs, split_words
from raydata_ext.errors import NoMatchError
from raydata_ext.job import plan_of, read_job_file, run_job
from raydata_ext.text.indexed.loading import load_indexed_dataset
from raydata_ext.text.iterators import EpochBatchIterator

if TYPE_CHECKING:
    from pathlib import Path

NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
ZAHLEN = ["eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn"]


def write_catalogue(path: Path, texts: dict[str, str], charset: str = "UTF-8") -> None:
    """A `.mo` file as `msgfmt` writes it."""
    entries = sorted({"": f"Content-Type: text/plain; charset={charset}\n", **texts}.items())
    encoded = [(key.encode(charset), value.encode(charset)) for key, value in entries]
    starts, blob = [], b""
    for side in (0, 1):
        for entry in encoded:
            starts += [len(entry[side]), 28 + 16 * len(encoded) + len(blob)]
            blob += entry[side] + b"\0"
    header = struct.pack("<7I", 0x950412DE, 0, len(encoded), 28, 28 + 8 * len(encoded), 0, 0)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(header + struct.pack(f"<{len(starts)}I", *starts) + blob)


@pytest.fixture
def catalogues(tmp_path):
    """Two catalogues of made sentences, with what real ones have: contexts, plurals, untranslated and broken ones."""
    directory = tmp_path / "locale" / "de" / "LC_MESSAGES"
    rng = np.random.default_rng(1)
    texts = {}
    for _ in range(300):
        words = rng.integers(0, 10, rng.integers(2, 8))
        texts[" ".join(NUMBERS[word] for word in words)] = " ".join(ZAHLEN[word] for word in words)
    write_catalogue(directory / "numbers.mo", texts)
    odd = {"menu\x04Open": "Öffnen", "same": "same", "two\nlines": "zwei\rZeilen", "a file\0files": "Datei\0Dateien"}
    write_catalogue(directory / "odd.mo", odd, "iso-8859-1")
    (directory / "broken.mo").write_bytes(b"no catalogue")
    return directory


def job(catalogues, tmp_path):
    out, cache = tmp_path / "out", tmp_path / "cache"
    settings = [
        f"source.paths={catalogues}/*.mo",
        f"output.path={out}",
        f"run.cache_dir={cache}",
        "run.executor=inline",
    ]
    return read_job_file(JOB_FILE, settings)


def run(catalogues, tmp_path):
    out, cache = tmp_path / "out", tmp_path / "cache"
    places = ["--catalogues", str(catalogues.parent.parent)]
    assert main([*places, "--set", f"output.path={out}", "--set", f"run.cache_dir={cache}"]) == 0
    return out.with_name("out.en-de")


def test_catalogues_become_pairs_and_every_row_is_accounted_for(catalogues, tmp_path):
    report = run_job(job(catalogues, tmp_path))
    pairs = rdx.load_from_disk(tmp_path / "out")
    texts = dict(zip(pairs["source"], pairs["target"], strict=True))
    assert texts["Open"] == "Öffnen"
    assert texts["two lines"] == "zwei Zeilen"
    assert texts["a file"] == "Datei"
    assert "same" not in texts
    filtered = Counter()
    for result in report.results:
        filtered.update(result.receipt.filtered)
    assert filtered["not readable by gettext (OSError)"] == 1
    assert filtered["not translated"] == 1


def test_both_sides_have_a_row_a_pair_and_can_be_read_back(catalogues, tmp_path):
    directory = run(catalogues, tmp_path)
    pairs = plan_of(job(catalogues, tmp_path)).collect()
    dataset = open_pairs(directory)
    assert len(dataset) == len(pairs) > 200
    for row in (0, len(pairs) // 2, len(pairs) - 1):
        item, pair = dataset[row], pairs[row]
        words = [word if word in dataset.src_dict else "<unk>" for word in split_words(pair["source"])]
        assert dataset.src_dict.string(item["source"]) == " ".join(words)
        assert item["target"][-1] == dataset.tgt_dict.eos()
    for language, side in (("en", "source"), ("de", "target")):
        written = load_indexed_dataset(directory / f"train.en-de.{language}")
        assert [item.tolist() for item in written] == [dataset[row][side].tolist() for row in range(len(dataset))]


def test_the_language_is_the_one_that_most_is_there_of(catalogues, tmp_path):
    places = [tmp_path / "locale", tmp_path / "nowhere"]
    write_catalogue(tmp_path / "locale" / "fr" / "LC_MESSAGES" / "small.mo", {"yes": "oui"})
    assert find_catalogues(None, places) == ("de", [f"{catalogues}/*.mo"])
    assert find_catalogues("fr", places)[0] == "fr"
    with pytest.raises(NoMatchError, match="language xx"):
        find_catalogues("xx", places)


def test_catalogues_that_this_machine_ships_can_be_read(tmp_path):
    """Those of Debian's packages, some files of each place; elsewhere there may be none."""
    files = [path for place in PLACES if place.is_dir() for path in sorted(place.glob("*/LC_MESSAGES/*.mo"))[::500]]
    settings = [f"source.paths={list(map(str, files))}", f"run.cache_dir={tmp_path}", "run.executor=inline"]
    pairs = plan_of(read_job_file(JOB_FILE, settings)).collect() if files else []
    assert bool(len(pairs)) == bool(files)


def test_a_small_model_trains_on_the_pairs(catalogues, tmp_path):
    torch = pytest.importorskip("torch")
    dataset = open_pairs(run(catalogues, tmp_path))
    batches = dataset.batch_by_size(dataset.ordered_indices(), max_tokens=400)
    iterator = EpochBatchIterator(dataset, dataset.collater, batches)
    model = make_model(torch, dataset)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    losses = []
    for _ in range(6):
        for batch in iterator.next_epoch_itr():
            loss = loss_of(torch, model, batch, dataset.tgt_dict.pad())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    assert iterator.epoch == 6
    assert len(losses) == 6 * len(batches)
    assert np.mean(losses[-5:]) < 0.6 * losses[0]


def make_model(torch, dataset):
    """Each target word is guessed from the mean of the source words and from the word before it."""
    torch.manual_seed(1)
    return torch.nn.ModuleDict(
        {
            "source": torch.nn.EmbeddingBag(len(dataset.src_dict), 32, padding_idx=dataset.src_dict.pad()),
            "before": torch.nn.Embedding(len(dataset.tgt_dict), 32),
            "target": torch.nn.Linear(32, len(dataset.tgt_dict)),
        }
    )


def loss_of(torch, model, batch, pad):
    net_input = batch["net_input"]
    hidden = model["source"](net_input["src_tokens"])[:, None] + model["before"](net_input["prev_output_tokens"])
    scores = model["target"](hidden)
    return torch.nn.functional.cross_entropy(scores.flatten(0, 1), batch["target"].flatten(), ignore_index=pad)
