# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""sw.random: the numbers do not depend on version, device, layout or size."""

import hashlib

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.arrays import poisoned, windows
from support.random_reference import FLOATS, SIZES, draws

import spanwise as sw
from spanwise.random import default_rng


def hashes(device):
    return {
        name: hashlib.sha256(np.ascontiguousarray(array.numpy()).tobytes()).hexdigest()[:16]
        for name, array in draws(device)
    }


# A change of any of these is one that users notice: their programs give other numbers.
GOLDEN = {
    "random float16": "36487cead3e7144c",
    "normal float16": "bbb04cf31f6fb856",
    "exponential float16": "617362a0419c121c",
    "random float32": "b404898d9a6de289",
    "normal float32": "5805115cd4ba3af2",
    "exponential float32": "7113bd2c291555ac",
    "random float64": "17e97a26c0fa0c6d",
    "normal float64": "cada0a68321f5493",
    "exponential float64": "1ac0d2aeda8fe3ad",
    "random bfloat16": "d27423b99b405b10",
    "normal bfloat16": "eb5b1c0958e74c27",
    "exponential bfloat16": "5710e305acd89d2d",
    "integers bool": "f671d08658e3c6d8",
    "smaller range bool": "b2d4090dd37cfb38",
    "integers int8": "0dfc961d4eba2c94",
    "smaller range int8": "9620becef2399562",
    "integers int16": "64fc7574daae471e",
    "smaller range int16": "ba53f42ac3edb233",
    "integers int32": "fa0a44b1cc0750ac",
    "smaller range int32": "cd4f1b7724006214",
    "integers int64": "10150370db7c64b7",
    "smaller range int64": "b15f0a948d559456",
    "integers uint8": "5dde0c2e6a588a38",
    "smaller range uint8": "bc626d88f63b8014",
    "integers uint16": "a155372d326a9788",
    "smaller range uint16": "a0eb15b153012f8b",
    "integers uint32": "3222fed8c37d204d",
    "smaller range uint32": "bdd6872811f0cb3f",
    "integers uint64": "cf6b732a503a68cc",
    "smaller range uint64": "65c32fd06f950178",
    "uniform, array bounds": "2c2c9dafb89dc415",
    "integers, array bounds": "36066dd3db386b1b",
    "permutation of 1000": "afc84cb6302acff2",
    "permutation of 100003": "217deb74b46f0c91",
    "weighted": "9770cab43e016256",
    "without replacement": "968eea01c13f34c2",
    "spawned": "425c12fcc68ae741",
    "jumped": "041ef06262a4c687",
}


def test_sequences_are_stable_between_versions(device):
    assert hashes(device) == GOLDEN


def test_the_gpu_makes_the_cpus_numbers():
    if "cuda:0" not in [str(d) for d in sw.devices()]:
        pytest.skip("no GPU here; GOLDEN compares what a GPU makes with these numbers")
    for (name, cpu), (_, gpu) in zip(draws("cpu"), draws("cuda:0"), strict=True):
        assert cpu.numpy().tobytes() == gpu.numpy().tobytes(), name


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("method", ["random", "standard_normal", "standard_exponential"])
def test_element_depends_only_on_its_index(device, method, dtype):
    whole = getattr(default_rng(41, device), method)(1_000_003, dtype=dtype).numpy()
    for size in SIZES[1:]:
        part = getattr(default_rng(41, device), method)(size, dtype=dtype).numpy()
        np.testing.assert_array_equal(part, whole[:size])
    with sw.config.change(cpu_threads=1):
        alone = getattr(default_rng(41, device), method)(1_000_003, dtype=dtype).numpy()
    np.testing.assert_array_equal(alone, whole)


@given(
    windows(broadcast=False),
    st.sampled_from(("random", "standard_normal")),
    st.sampled_from(FLOATS),
)
def test_out_may_have_any_strides(device, window, method, dtype):
    base = poisoned(window.base_shape, dtype, device)
    before = base.numpy().copy()
    view = window.of(base)
    out = getattr(default_rng(42, device), method)(dtype=dtype, out=view)
    assert out is view
    expected = before.copy()
    dense = getattr(default_rng(42, device), method)(view.shape, dtype).numpy()
    window.of(expected)[...] = dense
    assert base.numpy().tobytes() == expected.tobytes()


def test_out_may_be_a_numpy_array(device):
    target = np.zeros(10, "float32")
    assert default_rng(43, device).random(out=target) is target
    np.testing.assert_array_equal(
        target, default_rng(43).random(10, "float32", device="cpu").numpy()
    )
    ours = sw.zeros((3, 4), "int32", device=device)
    assert default_rng(43, device).integers(1, 9, dtype="int32", out=ours) is ours
    assert np.all(ours.numpy() > 0)
    loc = sw.asarray(np.arange(4.0), device=device)
    expected = default_rng(44, device).normal(np.arange(4.0), 1.0).numpy()
    np.testing.assert_array_equal(
        default_rng(44, device).normal(loc, 1.0, out=loc).numpy(), expected
    )


def test_draws_are_on_the_device_of_the_call_or_generator(device):
    assert default_rng(1, device).random(3).device == device
    assert default_rng(1).random(3, device=device).device == device
    with device:
        assert default_rng(1).random(3).device == device
    loc = sw.zeros((3,), "float64", device=device)
    assert default_rng(1).normal(loc, 1.0).device == device
