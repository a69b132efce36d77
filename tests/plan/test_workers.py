"""Sizes and needs of pools."""

from __future__ import annotations

import pytest

from raydata_ext import Workers


def test_a_number_is_the_size_of_the_pool():
    assert Workers.of(3) == Workers(min=3, max=3)
    assert Workers.of(None) == Workers()
    assert Workers.of(Workers(max=2)) == Workers(max=2)
    for other in ("many", True, 2.5):
        with pytest.raises(TypeError, match="workers must be a number"):
            Workers.of(other)


@pytest.mark.parametrize(
    "wrong",
    [
        {"min": 0},
        {"min": 3, "max": 2},
        {"max_in_flight": 0},
        {"max_attempts": 0},
        {"num_cpus": -1},
        {"num_gpus": -0.5},
        {"memory": -1},
        {"resources": {"disk": -1}},
        {"stall_timeout": -1},
        {"start_timeout": float("nan")},
        {"num_gpus": 1.5},
    ],
)
def test_what_is_out_of_range_is_refused_with_its_value(wrong):
    with pytest.raises(ValueError, match=r"must be at least|need min <= max|must be whole"):
        Workers(**wrong)


@pytest.mark.parametrize(
    "wrong", [{"min": 1.5}, {"min": None}, {"memory": "1GB"}, {"num_cpus": "2"}, {"resources": {"disk": True}}]
)
def test_what_is_no_number_is_refused_by_its_name(wrong):
    with pytest.raises(TypeError, match=rf"^{next(iter(wrong))}.* of workers is .*; it must be a"):
        Workers(**wrong)


def test_what_ray_names_itself_is_no_custom_resource():
    with pytest.raises(ValueError, match="CPU is no custom resource of workers; set num_cpus"):
        Workers(resources={"CPU": 1})


def test_needs_are_under_the_names_of_ray():
    workers = Workers(num_cpus=2, num_gpus=0.5, memory=1000, resources={"disk": 3})
    assert workers.needs == {"CPU": 2, "GPU": 0.5, "memory": 1000, "disk": 3}
    assert Workers(num_cpus=0).needs == {}


def test_gpus_and_custom_resources_are_looked_for_on_other_nodes():
    assert Workers(num_gpus=1).need_special_nodes
    assert Workers(resources={"disk": 1}).need_special_nodes
    assert not Workers(num_cpus=4, memory=1000, resources={"disk": 0}).need_special_nodes


def test_they_are_shown_as_they_are_written():
    assert str(Workers(max=4, num_gpus=1)) == "Workers(max=4, num_gpus=1)"
    assert str(Workers()) == "Workers()"
