from __future__ import annotations

import pytest

from raydata_ext.dataset import Dataset


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("push_to_hub", "save_to_disk"), ("data", "`table`"), ("batch", r"iter\(batch_size\)"), ("info", "`features`")],
)
def test_an_attribute_of_hugging_face_that_is_not_here_names_what_is(dataset, name, remedy):
    assert not hasattr(dataset, name)
    with pytest.raises(AttributeError, match=f"Dataset has no '{name}': .*{remedy}"):
        getattr(dataset, name)


@pytest.mark.parametrize(("name", "remedy"), [("from_json", 'format="json"'), ("load_from_disk", "load_from_disk")])
def test_so_does_one_of_the_class(name, remedy):
    with pytest.raises(AttributeError, match=remedy):
        getattr(Dataset, name)


@pytest.mark.parametrize("method", ["map", "filter"])
def test_an_argument_of_hugging_face_that_has_no_meaning_here_says_why(dataset, method):
    with pytest.raises(TypeError, match=r"no argument 'writer_batch_size': .* leave it out"):
        getattr(dataset, method)(lambda row: True, writer_batch_size=10)
