# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""einops on Spanwise's arrays, beside its results for NumPy's."""

import numpy as np
import pytest

import spanwise as sw

einops = pytest.importorskip("einops", reason="einops is not installed")
pytest.importorskip("spanwise.compat.einops_backend")

A = np.arange(24.0).reshape(2, 3, 4)
CALLS = [
    ("rearrange", ("b h w -> b (h w)",), {}),
    ("rearrange", ("b h (w k) -> (b k) h w",), {"k": 2}),
    ("rearrange", ("b h w -> w b 1 h",), {}),
    *[("reduce", ("b h w -> b h", name), {}) for name in ("mean", "max", "min", "sum", "prod")],
    ("reduce", ("b h (w v) -> h w", "max"), {"v": 2}),
    ("repeat", ("b h w -> b h w r",), {"r": 2}),
]


def same(result, expected):
    assert type(result) is sw.Array
    np.testing.assert_allclose(result.numpy(), expected, 1e-12)


@pytest.mark.parametrize(("name", "args", "options"), CALLS)
def test_einops_takes_and_returns_arrays(device, name, args, options):
    function = getattr(einops, name)
    result = function(sw.asarray(A, device="cpu").to(device), *args, **options)
    assert result.device == device
    same(result, function(A, *args, **options))


def test_einops_joins_and_splits_arrays(device):
    x = sw.asarray(A, device="cpu").to(device)
    same(einops.rearrange([x, x + 1], "n b h w -> b n h w"), np.stack([A, A + 1], 1))
    packed, shapes = einops.pack([x, x[:, :1]], "b * w")
    same(packed, np.concatenate([A, A[:, :1]], 1))
    for part, expected in zip(einops.unpack(packed, shapes, "b * w"), [A, A[:, :1]], strict=True):
        same(part, expected)
    same(einops.einsum(x, x, "b h w, b k w -> b h k"), A @ A.transpose(0, 2, 1))
