# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""sw.benchmark, and KernelFunction.tune, which measures launches and remembers the fastest."""

import json
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import spanwise as sw

SOURCE = """
#ifndef FACTOR
#define FACTOR 2
#endif
__global__ void scale(const float *x, float *y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = FACTOR * x[i];
}"""


@pytest.fixture
def empty_cache(tmp_path):
    with sw.config.change(cache_dir=str(tmp_path)):
        yield tmp_path


def arguments(device, n=1000):
    x = sw.arange(n, dtype="float32", device=device)
    return x, sw.full((n,), -1, dtype="float32", device=device), n


def test_benchmark_reports_host_and_device_with_spread(device):
    x = sw.ones(1000, device=device)
    result = sw.benchmark(lambda: x + x, device=device, seconds=0.02, rounds=5)
    for spread in (result.host, result.device):
        assert 0 < spread.low <= spread.median <= spread.high < 1
    assert (result.rounds, result.where) == (5, str(device)) and result.calls >= 1
    assert "s (" in str(result)
    assert f"5 rounds of {result.calls} calls on {device}" in str(result)
    with sw.device(sw.devices()[-1]):  # arrays say the device, not the default
        assert str(sw.benchmark(sw.add, x, x, seconds=0.01).where) == str(device)
    slow = sw.benchmark(time.sleep, 0.002, device="cpu", seconds=0.02, rounds=3)
    assert 0.002 <= slow.host.median < 0.5 and "ms" in str(slow)
    with pytest.raises(sw.ArgumentError, match="benchmark: expected rounds >= 1"):
        sw.benchmark(time.sleep, 0, rounds=0)


def test_tune_takes_the_fastest_and_keeps_the_arguments(device, empty_cache):
    kernel = sw.SourceModule(SOURCE, device=device).get_function("scale")
    x, y, n = arguments(device)
    tuned = kernel.tune(args=(x, y, n), block=[64, (128, 1, 1), 4096], seconds=0.005)
    assert np.all(y.to("cpu").numpy() == -1)  # only copies were written
    measured = [trial for trial in tuned.trials if trial.seconds is not None]
    assert [t.seconds for t in measured] == sorted(t.seconds for t in measured)
    assert tuned.block == measured[0].block and len(tuned.trials) == 3
    (failed,) = [trial for trial in tuned.trials if trial.seconds is None]
    assert failed.block == (4096,) and "4096" in failed.error
    assert not tuned.remembered and "the fastest of 3" in str(tuned) and "(4096,)" in str(tuned)
    tuned(x, y, n)
    np.testing.assert_array_equal(y.to("cpu").numpy(), 2 * np.arange(n))


def test_tune_compiles_options_and_remembers_by_arguments_and_source(device, empty_cache):
    kernel = sw.SourceModule(SOURCE, device=device).get_function("scale")
    x, y, n = arguments(device)
    request = {"block": [64, 128], "options": [["-DFACTOR=3"], "-DFACTOR=4"], "seconds": 0.002}
    first = kernel.tune(args=(x, y, n), **request)
    assert first.options in (("-DFACTOR=3",), ("-DFACTOR=4",)) and len(first.trials) == 4
    first(x, y, n)
    factor = int(first.options[0][-1])
    np.testing.assert_array_equal(y.to("cpu").numpy(), factor * np.arange(n))
    again = kernel.tune(args=(x, y, n), **request)
    assert again.remembered and again.trials == first.trials
    assert "remembered" in str(again)
    assert not kernel.tune(args=arguments(device, 500), **request).remembered
    other = sw.SourceModule(SOURCE + "\n", device=device).get_function("scale")
    assert not other.tune(args=(x, y, n), **request).remembered
    (*_, path) = Path(sw.kernel_cache.path).glob("tuned/*.json")
    for damage in ("", "{", "[]", "[[[1], [], 0.1, 0]]", json.dumps([[[64], [], "x", ""]])):
        for path in Path(sw.kernel_cache.path).glob("tuned/*.json"):
            path.write_text(damage)
        assert not kernel.tune(args=(x, y, n), **request).remembered
    assert kernel.tune(args=(x, y, n), **request).remembered
    sw.kernel_cache.clear()
    assert not list(Path(sw.kernel_cache.path).glob("tuned/*"))
    assert not kernel.tune(args=(x, y, n), **request).remembered


def test_another_process_measures_nothing(empty_cache):
    code = f"""
        import spanwise as sw
        kernel = sw.SourceModule({SOURCE!r}, device="cpu").get_function("scale")
        x = sw.arange(100, dtype="float32", device="cpu")
        print(kernel.tune(args=(x, x.copy(), 100), block=[32, 64], seconds=0.002).remembered)
    """
    environment = {
        **os.environ,
        "SPANWISE_CACHE_DIR": str(empty_cache),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    run = [sys.executable, "-c", textwrap.dedent(code)]
    printed = [
        subprocess.run(run, env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert printed == ["False\n", "True\n"]


def test_grid_is_a_function_of_block_and_arguments(device, empty_cache):
    kernel = sw.SourceModule(SOURCE, device=device).get_function("scale")
    x, y, n = arguments(device)
    seen = []

    def grid(block, args):
        seen.append((block, args[2]))
        return (-(-args[2] // block[0]), 1)

    tuned = kernel.tune(args=(x, y, n), block=[128], grid=grid, seconds=0.002)
    assert seen[0] == ((128,), n)
    tuned(x, y, n)
    np.testing.assert_array_equal(y.to("cpu").numpy(), 2 * np.arange(n))
    y[...] = -1
    tuned(x, y, n, grid=(1, 1))
    assert np.all(y.to("cpu").numpy()[128:] == -1)


def test_errors_where_nothing_can_be_launched(device, empty_cache):
    kernel = sw.SourceModule(SOURCE, device=device).get_function("scale")
    with pytest.raises(sw.Error, match="4096"):
        kernel.tune(args=arguments(device), block=[4096], seconds=0.002)
    with pytest.raises(sw.CompileError):
        kernel.tune(args=arguments(device), block=[64], options=["-DFACTOR=("], seconds=0.002)
    with pytest.raises(sw.ArgumentError, match="tune: expected at least one block"):
        kernel.tune(args=arguments(device), block=[])
    with pytest.raises(sw.KernelArgumentError):
        kernel.tune(args=(1,), block=[64], seconds=0.002)
