"""From message catalogues to a dataset that a translation model trains on."""

from __future__ import annotations

import struct
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import raydata_ext as rdx
from jobs.binarize_pairs import open_pairs, split_words
from raydata_ext.errors import StaleFileError
from raydata_ext.job import plan_of, read_job_file, run_job
from raydata_ext.text.indexed.loading import load_indexed_dataset

if TYPE_CHECKING:
    from raydata_ext.engine.report import Report

JOB_FILE = Path(__file__).parents[2] / "jobs" / "binarize_pairs.yaml"
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


def job(paths, tmp_path, *settings):
    return read_job_file(
        JOB_FILE,
        [
            f"source.paths={paths}",
            f"output.path={tmp_path / 'out'}",
            f"steps.3.pipe.kwargs.dictionaries={tmp_path / 'dictionaries'}",
            f"run.cache_dir={tmp_path / 'cache'}",
            "run.executor=inline",
            *settings,
        ],
    )


@pytest.fixture
def run(catalogues, tmp_path):
    """Runs the job and gives its report and its result."""

    def run_and_open(*settings: str) -> tuple[Report, Any]:
        report = run_job(job(f"{catalogues}/*.mo", tmp_path, *settings))
        return report, open_pairs(tmp_path / "out", tmp_path / "dictionaries")

    return run_and_open


def texts(catalogues, tmp_path):
    """The pairs as text: the plan up to the step that counts."""
    return plan_of(job(f"{catalogues}/*.mo", tmp_path)).collect()


def test_catalogues_become_pairs_and_every_row_is_accounted_for(catalogues, tmp_path, run):
    pairs = texts(catalogues, tmp_path)
    by_source = dict(zip(pairs["source"], pairs["target"], strict=True))
    assert by_source["Open"] == "Öffnen"
    assert by_source["two lines"] == "zwei Zeilen"
    assert by_source["a file"] == "Datei"
    assert "same" not in by_source
    report, corpus = run()
    filtered = Counter()
    for result in report.results:
        filtered.update(result.receipt.filtered)
    assert filtered["not readable by gettext (OSError)"] == 1
    assert filtered["not translated"] == 1
    assert report.output["rows"] == len(corpus.pairs()) == len(pairs) > 200


def test_one_run_of_the_job_file_gives_the_tokens_of_both_sides(catalogues, tmp_path, run):
    pairs = texts(catalogues, tmp_path)
    _, corpus = run()
    dataset = corpus.pairs()
    for row in (0, len(pairs) // 2, len(pairs) - 1):
        item, pair = dataset[row], pairs[row]
        for side, dictionary in (("source", dataset.src_dict), ("target", dataset.tgt_dict)):
            words = [word if word in dictionary else "<unk>" for word in split_words(pair[side])]
            assert dictionary.string(item[side]) == " ".join(words)
            assert item[side][-1] == dictionary.eos()
    unknown = Counter(word for pair in pairs["source"] for word in split_words(pair))
    assert corpus.source.replaced == {word: 1 for word, count in unknown.items() if count == 1}
    assert corpus.summary.startswith(f"source: {len(pairs)} sents, {corpus.source.ntok} tokens, ")


def test_the_report_says_how_many_words_of_each_side_its_dictionary_lacks(run):
    report, corpus = run()
    counts = report.as_dict()["steps"][-1]["counts"]
    for name, side in (("source", corpus.source), ("target", corpus.target)):
        assert counts[f"tokens in {name}"] == side.ntok
        assert counts[f"unknown words in {name}"] == side.nunk > 0


def test_a_changed_corpus_changes_the_dictionary_and_so_all_tokens(catalogues, tmp_path, run):
    shards = "source.max_shard_bytes=1"  # a shard a file
    run(shards)
    report, _ = run(shards)
    assert report.totals()["computed"] == 0
    write_catalogue(catalogues / "small.mo", {"one one Zyklus": "eins eins Zyklus", "three": "drei"})
    report, corpus = run(shards)
    assert "zyklus" not in corpus.src_dict  # seen once
    assert report.totals()["computed"] == report.totals()["shards"] == 4
    write_catalogue(catalogues / "small.mo", {"one": "eins"})
    write_catalogue(catalogues / "tiny.mo", {"Zyklus": "Der Zyklus", "ein Zyklus": "a Zyklus"})
    assert "zyklus" in run(shards)[1].src_dict


def test_tokens_are_not_opened_with_a_dictionary_that_was_counted_anew(tmp_path, run):
    _, corpus = run()
    corpus.src_dict.add_symbol("later")
    corpus.src_dict.save(tmp_path / "dictionaries" / "dict.source.txt")
    with pytest.raises(StaleFileError, match=r"'source' was not encoded with .*dict\.source\.txt"):
        open_pairs(tmp_path / "out", tmp_path / "dictionaries")


def test_the_result_is_the_same_on_ray(tmp_path, run, ray_session):
    _, inline = run()
    rows = [inline.source.dataset[row] for row in range(len(inline.source.dataset))]
    _, on_ray = run("run.executor=ray", f"run.cache_dir={tmp_path / 'other'}", "run.workers=2")
    assert [on_ray.source.dataset[row] for row in range(len(rows))] == rows


def test_the_result_can_be_written_for_fairseq(tmp_path, run):
    _, corpus = run()
    corpus.write_indexed(tmp_path / "fairseq", "en", "de")
    pairs = corpus.pairs()
    for language, side in (("en", "source"), ("de", "target")):
        written = load_indexed_dataset(tmp_path / "fairseq" / f"train.en-de.{language}")
        assert [item.tolist() for item in written] == [pairs[row][side].tolist() for row in range(len(pairs))]
        assert rdx.text.Dictionary.load(tmp_path / "fairseq" / f"dict.{language}.txt") == getattr(
            pairs, {"en": "src_dict", "de": "tgt_dict"}[language]
        )


def test_catalogues_that_this_machine_ships_can_be_read(tmp_path):
    """Those of Debian's packages, some files of them; elsewhere there may be none."""
    files = sorted(Path("/usr/share/locale").glob("*/LC_MESSAGES/*.mo"))[::500]
    pairs = plan_of(job(list(map(str, files)), tmp_path)).collect() if files else []
    assert bool(len(pairs)) == bool(files)


def test_a_small_model_trains_on_the_pairs(run):
    pytest.importorskip("torch")
    from jobs.train_pairs import train

    _, corpus = run()
    losses = list(train(corpus.pairs(), steps=60, max_tokens=400))
    assert len(losses) == 60
    assert np.mean(losses[-5:]) < 0.6 * losses[0]


def test_training_before_the_pairs_are_made_says_how_to_make_them(tmp_path, capsys):
    pytest.importorskip("torch")
    from jobs.train_pairs import main

    with pytest.raises(SystemExit) as stopped:
        main(["--data", str(tmp_path / "none"), "--dictionaries", str(tmp_path)])
    assert stopped.value.code == 1
    assert "raydata-ext run jobs/binarize_pairs.yaml" in capsys.readouterr().err


def test_training_prints_the_share_of_unknown_words_of_each_side(run, tmp_path, capsys):
    pytest.importorskip("torch")
    from jobs.train_pairs import main

    run()
    main(["--data", str(tmp_path / "out"), "--dictionaries", str(tmp_path / "dictionaries"), "--steps", "1"])
    source, target, step = capsys.readouterr().out.splitlines()
    assert all("% replaced (by <unk>)" in line for line in (source, target))
    assert step.startswith("step 1: loss ")
