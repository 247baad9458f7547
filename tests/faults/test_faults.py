# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A part of `python -m faults`, and that its parts find faults at all."""

import os
import subprocess
import sys

import pytest
from support.sanitizers import skip_under_asan

import spanwise as sw
from faults import fake_driver, injector
from faults.run import environment, run

pytestmark = [
    pytest.mark.skipif(
        not injector.LIBRARY.exists(), reason="the build under test has no C++ tests"
    ),
    skip_under_asan("the sanitizers replace malloc() too"),
]

#: Of allocations: operations and the distance between calls that fail.
PARTS = [
    ("source_module,config_change,failed_call,wrong_argument,variable_pickle", 4),
    ("streams_and_events,add,to_and_from_numpy,in_place,assign_slice,launch", 1),
    ("build_graph,graph_ifelse", 2),
    ("graph_dumps,graph_loads,graph_random,graph_shared", 67),
]


def needs_fake_driver():
    if not (fake_driver.FOLDER / "libcuda.so.1").exists():
        pytest.skip("the build under test has no CUDA back end")
    if any(tool.name == "NVRTC" and tool.missing for tool in sw._core._tools()):
        pytest.skip("NVRTC compiles the kernels that the fake driver loads")


@pytest.mark.parametrize(("names", "step"), PARTS)
def test_failed_allocations_raise_memory_error_and_leave_nothing(names, step):
    findings, output = run("allocations", "--only", names, "--step", str(step))
    assert not findings, output


def test_failed_system_calls_are_named_and_leave_nothing():
    names = "compile_and_store,load_from_cache,cache_figures,barrier"
    findings, output = run("system_calls", "--only", names, "--step", "97")
    assert not findings, output


def test_failed_driver_calls_are_named_and_leave_nothing():
    needs_fake_driver()
    names = "copy_in_and_out,many_arrays,streams_and_events,compiled_function,memory_figures"
    findings, output = run("driver_calls", "--only", names, "--step", "3")
    assert not findings, output


@pytest.mark.parametrize("function", ["cuInit", "cuDeviceGetCount"])
def test_a_driver_that_does_not_start_is_named(function):
    needs_fake_driver()
    program = f"""
import spanwise as sw
from faults.fake_driver import FakeDriver
driver = FakeDriver()
with driver.failing({1 if function == "cuInit" else 2}, 999):
    assert [str(device) for device in sw.devices()] == ["cpu"]
assert driver.failed == "{function}", driver.failed
try:
    sw.zeros(3, device="cuda:0")
except sw.DeviceError as error:
    print(error)
"""
    process = subprocess.run(
        [sys.executable, "-c", program],
        env=environment("driver_calls"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "CUDA_ERROR_UNKNOWN, 999" in process.stdout, process.stdout + process.stderr


def test_injected_failures_reach_the_callers():
    """Without it a run that injects nothing would find nothing."""
    program = """
import spanwise as sw
from faults.injector import Injector, Kind
source = Injector(Kind.allocations)
with source.failing(1, 0):
    try:
        sw.graph.TensorType("float32", (None,) * 20)
    except MemoryError:
        print("raised after", source.failed)
"""
    process = subprocess.run(
        [sys.executable, "-c", program],
        env={**environment("allocations"), "PYTHONUNBUFFERED": "1"},
        capture_output=True,
        text=True,
        cwd=os.getcwd(),
        check=False,
    )
    assert process.stdout.strip() == "raised after malloc", process.stdout + process.stderr
