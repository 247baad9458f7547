# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A short form of torture.kernel_cache, and what the cache does with folders that it must not use."""

import os
import subprocess
import sys

import pytest

from torture.kernel_cache import torture

PROGRAM = """
import sys
import spanwise as sw
module = sw.SourceModule("__global__ void k(int *x) { x[0] = 42; }", device=sys.argv[1])
x = sw.zeros(1, "int32", device=sys.argv[1])
module.get_function("k")(x, block=1)
assert x.tolist() == [42]
print(module.from_cache, sw.kernel_cache.info().problem)
"""


def test_processes_that_are_killed_and_files_that_are_damaged(device, tmp_path):
    assert torture(str(device), kills=8, processes=3, seed=os.getpid(), folder=tmp_path / "c") == []


def run(device, folder, **environment):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(device)],
        env={**os.environ, "SPANWISE_CACHE_DIR": str(folder), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout.split(maxsplit=1)


def test_a_symbolic_link_is_not_followed(device, tmp_path):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "c").mkdir(mode=0o700)
    (tmp_path / "c" / "kernels").symlink_to(tmp_path / "elsewhere")
    for _ in range(2):
        from_cache, problem = run(device, tmp_path / "c")
        assert from_cache == "False" and "symbolic link" in problem
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_folder_that_others_may_write_is_not_used(device, tmp_path):
    folder = tmp_path / "c" / "kernels"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    from_cache, problem = run(device, tmp_path / "c")
    assert from_cache == "False" and problem.strip() != ""
    assert list(folder.iterdir()) == []


def test_a_folder_for_reading_only_costs_only_speed(device, tmp_path):
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
