"""The shuffle of an epoch is measured without reading it, and drawn."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from raydata_ext.feed.shuffle_quality import shuffle_quality


def test_rows_that_are_not_shuffled_do_not_travel(numbered):
    quality = shuffle_quality(numbered([100] * 10), global_batch_size=20)
    assert quality.displacement == 0
    assert quality.shards_per_batch.tolist() == [1] * 50


def test_lanes_and_a_buffer_mix_shards_and_move_rows_a_third_of_the_epoch(numbered):
    quality = shuffle_quality(numbered([100] * 64, 1, 300), global_batch_size=64, num_lanes=64)
    assert quality.displacement == pytest.approx(1 / 3, abs=0.05)
    assert quality.mean_shards_per_batch > 40
    one_lane = shuffle_quality(numbered([100] * 64, 1, 20), global_batch_size=64, num_lanes=1)
    assert one_lane.mean_shards_per_batch < 20


def test_the_picture_is_svg_with_the_figures(numbered):
    quality = shuffle_quality(numbered([50] * 8, 1, 30), global_batch_size=8)
    texts = [text.text for text in ET.fromstring(quality.to_svg()).iter("{http://www.w3.org/2000/svg}text")]
    assert f"{quality.displacement:.3f}" in texts[0]
    assert f"mean {quality.mean_shards_per_batch:.1f}" in texts[1]


def test_a_stream_whose_order_is_found_by_reading_is_refused(numbered):
    with pytest.raises(ValueError, match="found by reading rows"):
        shuffle_quality(numbered([50]).filter(lambda row: row["x"] > 3), global_batch_size=8)
