from __future__ import annotations

import pyarrow as pa

from raydata_ext.store.mapped_files import mapped_files


def test_a_file_is_listed_while_it_is_mapped(tmp_path):
    path = tmp_path / "a" / "with blank.arrow"
    path.parent.mkdir()
    path.write_bytes(b"x" * 10)
    (tmp_path / "b.arrow").write_bytes(b"x")
    assert mapped_files(tmp_path) == set()
    with pa.memory_map(str(path)):
        assert mapped_files(tmp_path) == {"a/with blank.arrow"}
    assert mapped_files(tmp_path) == set()


def test_a_directory_is_known_by_each_of_its_names(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a").write_bytes(b"x")
    (tmp_path / "other").symlink_to(tmp_path / "real")
    with pa.memory_map(str(tmp_path / "real" / "a")):
        assert mapped_files(tmp_path / "other") == {"a"}
