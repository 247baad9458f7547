# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""config.kernel_check reports nothing for correct kernels and leaves their results as they are."""

import pathlib
import re

import numpy as np
import pytest

import spanwise as sw

FILES = ("correct_kernels.cu", "correct_kernels_2.cu")
SOURCE = "".join((pathlib.Path(__file__).parent / name).read_text() for name in FILES)
NAMES = re.findall(r"__global__ void (\w+)\(ARGS\)", SOURCE)


@pytest.fixture(scope="module")
def modules():
    return [sw.SourceModule(SOURCE, device="cpu") for _ in range(2)]


def arrays():
    rng = np.random.default_rng(7)
    hosts = [
        rng.integers(0, 256, 256).astype("int32"),
        *rng.random((2, 256)).astype("float32"),
    ]
    hosts[0][0] = 0
    return [sw.array(host, device="cpu") for host in hosts]


def test_there_are_at_least_sixty_kernels():
    assert len(NAMES) == len(set(NAMES)) >= 60


@pytest.mark.parametrize("name", NAMES)
def test_check_reports_nothing_and_results_are_the_same(modules, name):
    results = []
    for module, mode in zip(modules, ("none", "all"), strict=True):
        x = arrays()
        with sw.config.change(kernel_check=mode):
            for _ in range(3):
                module.get_function(name)(*x, np.int32(256), block=64, grid=4, shared=256)
        results.append(
            [array.numpy() for array in x]
            + [module.get_global(variable).numpy() for variable in ("calls", "done", "table")]
        )
    for expected, checked in zip(*results, strict=True):
        if name == "append":  # the order of atomics decides the order of the list
            expected, checked = np.sort(expected), np.sort(checked)
        assert expected.tobytes() == checked.tobytes()
    assert any(
        before.numpy().tobytes() != after.tobytes()
        for before, after in zip(arrays(), results[0], strict=False)
    ), "the kernel has no effect"


def test_printf_prints_once(modules, capfd):
    with sw.config.change(kernel_check="all"):
        modules[0].get_function("printing")(*arrays(), np.int32(256), block=64, grid=4)
    assert capfd.readouterr().out == "256 elements\n"
