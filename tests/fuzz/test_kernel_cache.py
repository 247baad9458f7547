# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A short form of fuzz.kernel_cache, and folders that the cache must not use."""

import os
import shutil
import subprocess
import sys

import pytest

from fuzz import cache_attacks
from fuzz.cache_attacks import KERNELS, during, victim
from fuzz.kernel_cache import attack, attacks

PROGRAM = """
import sys
import spanwise as sw
module = sw.SourceModule("__global__ void k(int *x) { x[0] = 42; }", device=sys.argv[1])
x = sw.zeros(1, "int32", device=sys.argv[1])
module.get_function("k")(x, block=1)
assert x.tolist() == [42]
print(module.from_cache, sw.kernel_cache.info().problem)
"""


def test_killed_processes_and_damaged_files_cause_no_errors(device, tmp_path):
    assert attack(str(device), kills=8, processes=3, seed=os.getpid(), folder=tmp_path / "c") == []


@pytest.fixture
def caches(device, tmp_path):
    """A cache, and one of an attacker with the same keys and intact digests, beside each other."""
    (tmp_path / "shared").mkdir(mode=0o700)
    cache, forged = tmp_path / "shared" / "cache", tmp_path / "shared" / "forged"
    cache_attacks.forge(str(device), cache, forged)
    return cache, forged


RIGHT, FORGED = list(range(KERNELS)), [cache_attacks.FORGED] * KERNELS


def test_unforged_and_forged_caches_give_their_own_results(device, caches):
    cache, forged = caches
    assert victim(str(device), cache)[:2] == (RIGHT, KERNELS)
    assert victim(str(device), forged)[:2] == (FORGED, KERNELS)


def test_forged_entries_are_never_run(device, tmp_path):
    assert attacks(str(device), rounds=5, folder=tmp_path) == []


def test_files_removed_before_loading_are_compiled_again(device, tmp_path):
    (tmp_path / "c" / "kernels").mkdir(parents=True, mode=0o700)
    with during(cache_attacks.remove_files, tmp_path / "c"):
        for _ in range(2):
            assert victim(str(device), tmp_path / "c").written == RIGHT


def run(device, folder, **environment):
    """["True" or "False": the module came from the cache, the problem of the cache]."""
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(device)],
        env={**os.environ, "SPANWISE_CACHE_DIR": str(folder), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert process.returncode == 0 and process.stderr == "", process.stderr
    return process.stdout.split(" ", maxsplit=1)


def test_a_symbolic_link_is_not_followed(device, tmp_path):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "c").mkdir(mode=0o700)
    (tmp_path / "c" / "kernels").symlink_to(tmp_path / "elsewhere")
    for _ in range(2):
        from_cache, problem = run(device, tmp_path / "c")
        assert from_cache == "False" and "symbolic link" in problem
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
def test_a_folder_that_others_may_write_is_not_used(device, tmp_path, mode):
    folder = tmp_path / "c" / "kernels"
    folder.mkdir(parents=True)
    folder.chmod(mode)
    from_cache, problem = run(device, tmp_path / "c")
    assert from_cache == "False" and f"{folder} may be written by other users" in problem
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(("mode", "is_used"), [(0o770, False), (0o707, False), (0o1777, True)])
def test_permissions_of_every_parent_folder_are_checked(device, tmp_path, mode, is_used):
    above = tmp_path / "above"
    above.mkdir()
    above.chmod(mode)
    for from_cache in (False, is_used):
        cached, problem = run(device, above / "between" / "c")
        assert cached == str(from_cache)
        assert (f"{above} may be written by other users" in problem) == (not is_used), problem


def test_permissions_of_folders_behind_a_symbolic_link_are_checked(device, tmp_path):
    for name in ("open", "private"):
        (tmp_path / name).mkdir(mode=0o700)
        (tmp_path / name / "inside").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("open/../private/inside")
    assert run(device, tmp_path / "link")[0] == "False"
    assert run(device, tmp_path / "link")[0] == "True"
    (tmp_path / "open").chmod(0o770)
    cached, problem = run(device, tmp_path / "link")
    assert cached == "False" and f"{tmp_path / 'open'} may be written by other users" in problem


def in_folder_without_programs(folder, command, **environment):
    """Runs a command with a file system mounted at `folder` from which no program may be
    started."""
    unshare = shutil.which("unshare")
    mounted = [unshare or "unshare", "-rm", "sh", "-c"]
    script = 'mount -t tmpfs -o noexec,mode=700,size=8m tmpfs "$0" && exec "$@"'
    if (
        not unshare
        or subprocess.run([*mounted, script, folder, "true"], capture_output=True).returncode
    ):
        pytest.skip("this user may not mount file systems in a new namespace")
    return subprocess.run(
        [*mounted, script, folder, *command],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_cache_works_where_no_program_may_be_executed(device, tmp_path):
    done = in_folder_without_programs(
        tmp_path,
        [sys.executable, "-c", PROGRAM, str(device)],
        SPANWISE_CACHE_DIR=str(tmp_path / "c"),
        TMPDIR=str(tmp_path),
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert done.stdout.split() == ["False"]


def test_kernels_are_loaded_without_proc(device, tmp_path):
    """The loader opens the image in memory by a name in /proc; else it is written to a file."""
    if device.kind == "cuda":
        pytest.skip("CUDA's driver does not start without /proc")
    done = in_folder_without_programs(
        "/proc",
        [sys.executable, "-c", PROGRAM, str(device)],
        SPANWISE_CACHE_DIR=str(tmp_path / "c"),
        TMPDIR=str(tmp_path),
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert done.stdout.split() == ["False"]


def test_full_disk_is_reported(device, tmp_path):
    fill = """
import os, sys
with open(os.environ["SPANWISE_CACHE_DIR"] + "/filler", "wb", buffering=0) as filler:
    try:
        while filler.write(bytes(1 << 20)): pass
    except OSError: pass
"""
    done = in_folder_without_programs(
        tmp_path,
        [sys.executable, "-c", fill + PROGRAM, str(device)],
        SPANWISE_CACHE_DIR=str(tmp_path),
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert "No space left on device" in done.stdout


def test_kernels_compile_with_a_read_only_cache_folder(device, tmp_path):
    if os.geteuid() == 0:
        pytest.skip("the superuser may write everywhere")
    run(device, tmp_path / "c")
    folder = tmp_path / "c" / "kernels"
    folder.chmod(0o500)
    try:
        assert run(device, tmp_path / "c")[0] == "True"
        assert run(device, tmp_path / "c", SPANWISE_CPU_STACK_KB="64")[0] in ("True", "False")
    finally:
        folder.chmod(0o700)
