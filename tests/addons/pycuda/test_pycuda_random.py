# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""spanwise.pycuda's random numbers: distributions, seeds and dtypes."""

import numpy as np
import pytest

from spanwise.pycuda import curandom, driver as drv
from spanwise.pycuda.gpuarray import to_gpu


@pytest.fixture(autouse=True)
def on_device(device):
    with device:
        yield


@pytest.fixture
def rng():
    return np.random.default_rng(11)


GENERATORS = [name for name in curandom.__all__ if name.endswith("NumberGenerator")]


@pytest.mark.parametrize("name", GENERATORS)
def test_generators_follow_their_distributions(name):
    generator = getattr(curandom, name)()
    uniform = generator.gen_uniform((50, 400), np.float32).get()
    assert uniform.min() >= 0 and uniform.max() < 1 and abs(uniform.mean() - 0.5) < 0.02
    normal = generator.gen_normal(20000, np.float64, stream=drv.Stream()).get()
    assert abs(normal.mean()) < 0.05 and abs(normal.std() - 1) < 0.05
    log_normal = generator.gen_log_normal(20000, np.float64, 1.0, 0.5).get()
    assert abs(np.log(log_normal).mean() - 1) < 0.05
    words = generator.gen_uniform(20000, np.uint32).get()
    assert words.max() > 2**31 and abs(words.mean() / 2**32 - 0.5) < 0.02
    for mean in (0.5, 13.0, 2000.0):
        poisson = generator.gen_poisson(20000, np.float32, mean).get()
        assert abs(poisson.mean() / mean - 1) < 0.05 and abs(poisson.var() / mean - 1) < 0.1
    means = to_gpu(np.array([0, 300] * 500, "uint32"))
    generator.fill_poisson(means)
    assert not means.get()[::2].any() and abs(means.get()[1::2].mean() - 300) < 5


def test_seeds_determine_the_numbers():
    def numbers(offset, seed=5):
        def seeds(n):
            return to_gpu(np.full(n, seed, "int32"))

        return curandom.XORWOWRandomNumberGenerator(seeds, offset).gen_uniform(8, "f4").get()

    np.testing.assert_array_equal(numbers(1), numbers(1))
    assert (numbers(1) != numbers(2)).any() and (numbers(1) != numbers(1, 6)).any()
    assert len(set(curandom.seed_getter_unique(20).get().tolist())) > 15
    assert len(set(curandom.seed_getter_uniform(20).get().tolist())) == 1
    assert curandom.rand((3, 4)).shape == (3, 4) and curandom.rand(3, np.int32).dtype == np.int32
    assert curandom.generate_direction_vectors(3).shape == (3, 32)
