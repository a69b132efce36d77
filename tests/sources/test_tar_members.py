"""Members of tar files."""

from __future__ import annotations

import gzip
import io
import tarfile

import pytest

from raydata_ext.errors import ReadError
from raydata_ext.sources.tar_members import tar_members


def tar(files: dict[str, bytes], kind: int = tarfile.PAX_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=kind) as archive:
        folder = tarfile.TarInfo("folder")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def contents(file) -> list[bytes]:
    return [member.read() for member in tar_members(file)]


FILES = {"a.txt": b"abc", "b/" + "n" * 200 + "ö.txt": b"x" * 1000, "empty.bin": b"", "c.txt": bytes(600)}


@pytest.mark.parametrize("kind", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_regular_files_are_read_in_order(write, kind: int, pack) -> None:
    found = {member.name: member.read() for member in tar_members(write(pack(tar(FILES, kind))))}
    assert list(found.items()) == list(FILES.items())


def test_members_that_are_not_read_are_passed_over(write) -> None:
    assert [member.name for member in tar_members(write(tar(FILES)))] == list(FILES)


def test_a_tar_file_that_is_cut_off_anywhere_is_an_error(write) -> None:
    content = tar(FILES)
    end = len(content.rstrip(b"\0")) // 512 * 512 + 512 + 1024  # 600 zero bytes are the last content
    for size in range(0, end, 128):
        file = write(content[:size])
        with pytest.raises(ReadError, match=r"cut off|damaged|not a tar file"):
            contents(file)
    assert contents(write(content[: end + 1024])) == list(FILES.values())


def test_a_damaged_header_is_an_error_and_not_the_end(write) -> None:
    content = bytearray(tar({"a.txt": b"abc", "b.txt": b"def"}))
    start = content.index(b"b.txt")
    content[start] = ord("x")
    reading = tar_members(write(bytes(content)))
    assert next(reading).read() == b"abc"
    with pytest.raises(ReadError, match=f"byte {start}: damaged"):
        next(reading)


def test_an_empty_tar_file_has_no_members_and_a_foreign_file_is_an_error(write) -> None:
    assert list(tar_members(write(bytes(10240)))) == []
    with pytest.raises(ReadError, match="data: not a tar file"):
        list(tar_members(write(b"no tar file, though a long one" * 100)))
