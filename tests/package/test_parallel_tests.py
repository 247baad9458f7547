# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The C++ tests run in parts, side by side, as many as processors and memory allow."""

import json
from collections import defaultdict

import pytest
from support import package
from support.tree import BUILD


@pytest.mark.parametrize(
    ("processors", "gib", "gpu_gib", "expected"),
    [(2, 64, None, 2), (64, 256, None, 16), (64, 8, None, 4), (64, 1, None, 1), (64, 256, 35, 3)],
)
def test_processors_and_memory_limit_the_parallel_programs(processors, gib, gpu_gib, expected):
    program = f"""
import cxx_tests, os, subprocess, workers
os.sched_getaffinity = lambda _: set(range({processors}))
workers.host_memory = lambda: {gib} << 30
workers.free_gpu_memory = lambda: {None if gpu_gib is None else gpu_gib << 30}
subprocess.run = lambda command, **_: print(*command) or subprocess.CompletedProcess(command, 0)
assert cxx_tests.cxx_tests_pass("release")
"""
    command = package.run_in_scripts(program).split()
    assert command[command.index("--parallel") + 1] == str(expected)


def test_ctest_parts_of_a_program_cover_all_its_tests():
    if not (BUILD / "tests" / "CTestTestfile.cmake").exists():
        pytest.skip(f"{BUILD} has no C++ tests")
    ctest = package.cached("CMAKE_CTEST_COMMAND")
    listed = json.loads(package.run(ctest, "--test-dir", BUILD, "--show-only=json-v1"))
    parts = defaultdict(list)
    for test in listed["tests"]:
        properties = {entry["name"]: entry["value"] for entry in test["properties"]}
        shard = dict(word.split("=") for word in properties.get("ENVIRONMENT", []))
        if "GTEST_TOTAL_SHARDS" not in shard:
            continue  # an example
        program = test["name"].rpartition("_")[0]
        parts[program, int(shard["GTEST_TOTAL_SHARDS"])].append(int(shard["GTEST_SHARD_INDEX"]))
    assert len(parts) == len({program for program, _ in parts}) >= 8
    for (program, total), indices in parts.items():
        assert sorted(indices) == list(range(total)), program
        assert total >= 4, f"{program}: one part would outlast all others"
