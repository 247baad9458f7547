# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Integer arrays of rank 0 serve wherever NumPy takes an integer."""

import numpy as np
import pytest
from support.arrays import assert_same

import spanwise as sw


def line(xp):
    return xp.arange(6.0)


def cube(xp):
    return xp.arange(24.0).reshape(2, 3, 4)


# Each is called with the integer 2 in every accepted form.
CALLS = {
    "roll": lambda xp, k: xp.roll(line(xp), k),
    "roll by several": lambda xp, k: xp.roll(cube(xp), (k, k), (0, 1)),
    "roll along axis k": lambda xp, k: xp.roll(cube(xp), 1, k),
    "tile": lambda xp, k: xp.tile(line(xp), k),
    "tile by several": lambda xp, k: xp.tile(cube(xp), (1, k)),
    "repeat": lambda xp, k: xp.repeat(line(xp), k),
    "repeat along axis k": lambda xp, k: xp.repeat(cube(xp), 2, axis=k),
    "split": lambda xp, k: xp.split(line(xp), k),
    "split at": lambda xp, k: xp.split(line(xp), [k]),
    "array_split": lambda xp, k: xp.array_split(line(xp), k),
    "hsplit": lambda xp, k: xp.hsplit(line(xp), k),
    "pad": lambda xp, k: xp.pad(line(xp), k),
    "pad with pairs": lambda xp, k: xp.pad(cube(xp), ((k, 0), (0, k), (k, k))),
    "pad with values": lambda xp, k: xp.pad(line(xp), 1, constant_values=k),
    "pad with ramps": lambda xp, k: xp.pad(line(xp), 3, mode="linear_ramp", end_values=k),
    "pad with means": lambda xp, k: xp.pad(line(xp), 1, mode="mean", stat_length=k),
    "moveaxis": lambda xp, k: xp.moveaxis(cube(xp), k, 0),
    "moveaxis of several": lambda xp, k: xp.moveaxis(cube(xp), (k,), [0]),
    "rollaxis": lambda xp, k: xp.rollaxis(cube(xp), k),
    "swapaxes": lambda xp, k: cube(xp).swapaxes(0, k),
    "transpose": lambda xp, k: cube(xp).transpose(k, 0, 1),
    "expand_dims": lambda xp, k: xp.expand_dims(cube(xp), k),
    "expand_dims by several": lambda xp, k: xp.expand_dims(cube(xp), (0, k)),
    "squeeze": lambda xp, k: xp.squeeze(cube(xp)[..., :1], k),
    "flip": lambda xp, k: xp.flip(cube(xp), k),
    "rot90": lambda xp, k: xp.rot90(cube(xp), k, (k, 0)),
    "reshape": lambda xp, k: line(xp).reshape(k, 3),
    "reshape by a tuple": lambda xp, k: xp.reshape(line(xp), (k, -1)),
    "resize": lambda xp, k: xp.resize(line(xp), k),
    "broadcast_to": lambda xp, k: xp.broadcast_to(xp.asarray(1.0), (k, k)),
    "broadcast_shapes": lambda xp, k: xp.zeros(xp.broadcast_shapes(k, (1,))),
    "zeros": lambda xp, k: xp.zeros(k),
    "full": lambda xp, k: xp.full((k, k), 1.0),
    "eye": lambda xp, k: xp.eye(k, k + 1, k),
    "tri": lambda xp, k: xp.tri(k, k, k),
    "arange": lambda xp, k: xp.arange(k),
    "linspace by count": lambda xp, k: xp.linspace(0.0, 1.0, k),
    "linspace from": lambda xp, k: xp.linspace(k, 5, 3),
    "linspace to": lambda xp, k: xp.linspace(0, k, 3, endpoint=False),
    "indices": lambda xp, k: xp.indices((k, k)),
    "a slice": lambda xp, k: line(xp)[:k],
    "a step": lambda xp, k: line(xp)[::k],
    "take": lambda xp, k: xp.take(line(xp), k),
    "take along axis k": lambda xp, k: xp.take(cube(xp), [0], axis=k),
    "insert": lambda xp, k: xp.insert(line(xp), k, 9),
    "delete": lambda xp, k: xp.delete(line(xp), k),
    "concatenate": lambda xp, k: xp.concatenate([cube(xp), cube(xp)], axis=k),
    "stack": lambda xp, k: xp.stack([cube(xp), cube(xp)], axis=k),
    "diag": lambda xp, k: xp.diag(line(xp), k),
    "diagonal": lambda xp, k: xp.diagonal(cube(xp), 0, 0, k),
    "tril": lambda xp, k: xp.tril(xp.ones((4, 4)), k),
    "unravel_index": lambda xp, k: xp.unravel_index(3, (k, k)),
    "sum": lambda xp, k: cube(xp).sum(axis=(0, k)),
    "argmax": lambda xp, k: xp.argmax(cube(xp), axis=k),
    "cumsum": lambda xp, k: xp.cumsum(cube(xp), axis=k),
    "diff": lambda xp, k: xp.diff(line(xp), n=k),
    "norm": lambda xp, k: xp.linalg.norm(cube(xp), axis=k),
    "round": lambda xp, k: xp.round(line(xp) * 1.111, k),
}
DRAWS = {
    "choice": lambda rng, k: rng.choice(k, 3),
    "choice of so many": lambda rng, k: rng.choice(5, k),
    "permutation": lambda rng, k: rng.permutation(k),
    "permutation of axis k": lambda rng, k: rng.permutation(cube(sw), axis=k),
    "integers": lambda rng, k: rng.integers(0, 5, size=k),
    "bytes": lambda rng, k: np.frombuffer(rng.bytes(k), "uint8"),
    "spawn": lambda rng, k: len(rng.spawn(k)),
}
INTEGERS = {
    "an array": lambda device: sw.array(2, device=device),
    "uint8": lambda device: sw.array(2, "uint8", device=device),
    "NumPy's array": lambda device: np.array(2),
    "NumPy's scalar": lambda device: np.int64(2),
    "an element": lambda device: sw.array([2], device=device)[0],
}


def assert_all_same(ours, expected):
    if isinstance(expected, tuple | list):
        assert len(ours) == len(expected)
        for array, expected_array in zip(ours, expected, strict=True):
            assert_all_same(array, expected_array)
    else:
        assert_same(sw.asarray(ours), np.asarray(expected))


@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize("name", CALLS)
def test_rank_0_integer_arrays_are_accepted_as_integers(device, name, kind):
    with sw.device(device):
        assert_all_same(CALLS[name](sw, INTEGERS[kind](device)), CALLS[name](np, 2))


@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize("name", DRAWS)
def test_random_draws_accept_rank_0_integer_arrays(device, name, kind):
    with sw.device(device):
        result = DRAWS[name](sw.random.default_rng(7), INTEGERS[kind](device))
        assert_all_same(result, np.asarray(DRAWS[name](sw.random.default_rng(7), 2)))


@pytest.mark.parametrize("call", [sw.roll, sw.tile, sw.split, sw.expand_dims, sw.flip])
def test_other_numbers_of_rank_0_are_refused(device, call):
    array = sw.arange(6.0, device=device)
    for wrong in (sw.array(2.0, device=device), sw.array(True, device=device), 2.0):
        with pytest.raises(TypeError):
            call(array, wrong)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "bfloat16", "complex64"])
def test_linspace_accepts_rank_0_arrays_as_ends(device, dtype):
    x = sw.array([3, 1, 2], dtype, device=device)
    oracle = x.astype("float64" if dtype == "bfloat16" else dtype).numpy()
    ends = (x[1], x[0]) if dtype == "complex64" else (x.min(), x.max())
    result = sw.linspace(*ends, 3)
    assert result.device == device
    assert_same(result, np.linspace(oracle[1], oracle[0], 3))
    assert np.linspace(x[1], x[0], 3).device == device
    vectors = sw.linspace(x, x + 1, 4, axis=-1)
    assert_same(vectors, np.linspace(oracle, oracle + 1, 4, axis=-1))
    if dtype != "complex64":
        assert_same(sw.arange(x[1], x[0]), np.arange(oracle[1], oracle[0]))
        assert sw.arange(x[1], x[0]).device == device
