# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""python -m spanwise cache, and config.cache_layers: kernels that travel between machines."""

import io
import os
import subprocess
import sys
import tarfile

import pytest

SOURCE = "__global__ void f(int *x) { x[threadIdx.x] = 7; }"
RUN = f"""
import spanwise as sw
module = sw.SourceModule({SOURCE!r}, device="cpu")
x = sw.zeros(4, dtype="int32", device="cpu")
module.get_function("f")(x, block=(4, 1, 1), grid=(1, 1, 1))
print(module.from_cache, x.tolist())
"""


def python(*arguments, **environment):
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def cache(folder, *arguments):
    return python("-m", "spanwise", "cache", *arguments, SPANWISE_CACHE_DIR=str(folder))


@pytest.fixture
def filled(tmp_path):
    folder = tmp_path / "filled"
    assert python("-c", RUN, SPANWISE_CACHE_DIR=str(folder)) == (0, "False [7, 7, 7, 7]\n")
    return folder


def test_exported_entries_are_found_where_they_are_imported(filled, tmp_path):
    archive = tmp_path / "kernels.tar.gz"
    status, printed = cache(filled, "export", str(archive))
    assert status == 0 and "3 files" in printed
    other = tmp_path / "other"
    assert cache(other, "import", str(archive))[0] == 0
    empty = str(tmp_path / "empty")
    # Without a compiler, too.
    for path in (os.environ["PATH"], empty):
        done = python("-c", RUN, SPANWISE_CACHE_DIR=str(other), PATH=path)
        assert done == (0, "True [7, 7, 7, 7]\n")
    status, printed = cache(other, "info")
    assert status == 0 and f"{other}/kernels: 1 entries" in printed


def test_layers_are_read_and_never_written(filled, tmp_path):
    own = tmp_path / "own"
    before = sorted((path, path.stat().st_mtime_ns) for path in filled.rglob("*"))
    layers = f"{tmp_path / 'missing'}:{filled}"
    environment = {"SPANWISE_CACHE_DIR": str(own), "SPANWISE_CACHE_LAYERS": layers}
    assert python("-c", RUN, **environment) == (0, "True [7, 7, 7, 7]\n")
    assert sorted((path, path.stat().st_mtime_ns) for path in filled.rglob("*")) == before
    assert not list(own.rglob("*.bin"))
    assert f"{filled}: layer, " in python("-m", "spanwise", "cache", "info", **environment)[1]
    # A damaged entry, and a folder that others may write, are compiled again.
    (binary,) = filled.rglob("*.bin")
    contents = binary.read_bytes()
    binary.write_bytes(contents[:-1] + b"?")
    assert python("-c", RUN, **environment)[1].startswith("False [7, 7, 7, 7]")
    binary.write_bytes(contents)
    (filled / "kernels").chmod(0o777)
    environment["SPANWISE_CACHE_DIR"] = str(tmp_path / "third")
    assert python("-c", RUN, **environment)[1].startswith("False [7, 7, 7, 7]")


def test_prune_removes_what_was_not_used(filled):
    assert "0 removed" in cache(filled, "prune", "--days", "1", "--mb", "100")[1]
    for path in filled.rglob("*.*"):
        os.utime(path, (0, 0))
    assert "2 removed, 0.0 MiB left" in cache(filled, "prune", "--days", "1")[1]
    assert not list(filled.rglob("*.bin"))


def test_archives_with_other_files_are_refused(tmp_path):
    for name in ("../x", "/etc/x", "a" * 64 + ".entry/x", "readme"):
        archive = tmp_path / "bad.tar"
        with tarfile.open(archive, "w") as tar:
            member = tarfile.TarInfo(name)
            member.size = 1
            tar.addfile(member, io.BytesIO(b"x"))
        status, printed = cache(tmp_path / "own", "import", str(archive))
        assert status == 1 and "expected files that python -m spanwise cache export" in printed
    link = tarfile.TarInfo("b" * 64 + ".entry")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    with tarfile.open(tmp_path / "link.tar", "w") as tar:
        tar.addfile(link)
    assert cache(tmp_path / "own", "import", str(tmp_path / "link.tar"))[0] == 1
    (tmp_path / "text.tar").write_text("no archive")
    assert cache(tmp_path / "own", "import", str(tmp_path / "text.tar"))[0] == 1
