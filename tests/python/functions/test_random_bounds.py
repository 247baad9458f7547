# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters at the bounds of the generators' domains are accepted or rejected as in NumPy."""

import numpy as np
import pytest

import spanwise as sw

SCALES = [
    -0.0,
    -1.0,
    0.0,
    float("nan"),
    -float("nan"),
    [1, -0.0],
    [1.0, 0.0],
    [float("nan"), 1],
    -1,
    0,
]


@pytest.mark.parametrize("name", ["normal", "exponential"])
@pytest.mark.parametrize("scale", SCALES, ids=repr)
@pytest.mark.parametrize("as_array", [False, True])
def test_a_scale_below_zero_is_refused_and_so_is_minus_zero(device, name, scale, as_array):
    def draw(generator, scale):
        return getattr(generator, name)(scale=scale, size=2)

    try:
        draw(np.random.default_rng(0), np.asarray(scale) if as_array else scale)
        refused = False
    except ValueError:
        refused = True
    our_scale = sw.asarray(scale, device=device) if as_array else scale
    with device:
        if refused:
            with pytest.raises(ValueError, match="scale < 0"):
                draw(sw.random.default_rng(0), our_scale)
        else:
            assert draw(sw.random.default_rng(0), our_scale).shape == (2,)


CALLS = [
    ([2**64 - 1], 2**64, "u8", False),
    ([2**64 - 1], [2**64], "u8", False),
    (2**64 - 1, 2**64, "u8", False),
    ([0], [2**64 - 1], "u8", True),
    ([2**63 - 1], [2**63], "i8", False),
    ([-(2**63)], [-(2**63) + 1], "i8", False),
    ([2**64 + 1], None, "u8", False),
    ([0], [2**64], "u8", True),
    ([-1], [3], "u8", False),
    ([3], [3], "u8", False),
    ([2**64], [2**64], "u8", False),
    ([0], [2**64], "i8", False),
    ([0], [2**65], "i8", False),
    ([-(2**65)], [3], "i8", False),
    ([0, 5], [0, 6], "i8", False),
    ([255], [256], "u1", False),
    ([255], [257], "u1", False),
]


@pytest.mark.parametrize(("low", "high", "dtype", "endpoint"), CALLS)
def test_bounds_of_integers_are_accepted_or_rejected_as_in_numpy(
    device, low, high, dtype, endpoint
):
    try:
        expected = np.random.default_rng(0).integers(low, high, dtype=dtype, endpoint=endpoint)
    except ValueError:
        expected = None
    generator = sw.random.default_rng(0, device)
    if expected is None:
        with pytest.raises(ValueError, match="integers: "):
            generator.integers(low, high, dtype=dtype, endpoint=endpoint)
        return
    result = generator.integers(low, high, dtype=dtype, endpoint=endpoint).numpy()
    assert result.dtype == expected.dtype
    assert result.shape == np.shape(expected)
    lows, highs = np.asarray(low, object), np.asarray(high, object) - (not endpoint)
    assert (result.astype(object) >= lows).all()
    assert (result.astype(object) <= highs).all()
