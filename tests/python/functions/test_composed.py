# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of NumPy's that Spanwise makes of its own operations for arrays on a GPU: they give NumPy's
results, here on every device, for strided, empty, rank-0, complex and half operands and wrong ones."""

import sys

import numpy as np
import pytest

import spanwise as sw
from spanwise._numpy.composed import FUNCTIONS

R = np.random.default_rng(7)
A = R.standard_normal((10, 12))[::-2, ::2]
H = R.standard_normal((4, 9)).astype("f2")[:, ::-2]
C = (R.standard_normal((4, 12)) + 1j * R.standard_normal((4, 12))).astype("c8")[:, ::3]
F = R.standard_normal((6, 8)).astype("f4").T[::2]
N = np.where(R.random((5, 8)) < 0.3, np.nan, R.standard_normal((5, 8)))[:, ::-2]
N[:, 1] = 1
E = A[:0]
I = R.integers(-9, 9, (4, 6)).astype("i4")[:, ::2]  # noqa: E741
U = R.integers(0, 7, 20).astype("u1")[::2]
V, W = A[0], R.standard_normal(7)[::3]
Z = np.array(2.5)
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0, -0.0, 1])

#: (function, arguments, options)
CALLS = [
    ("array_equiv", (A, A[:1]), {}),
    ("array_equiv", (A, W), {}),
    ("asfortranarray", (F,), {}),
    ("asfortranarray", (Z,), {"dtype": "f4"}),
    *[("average", (x,), {"axis": axis}) for x in (A, F, I, C) for axis in (None, 0, -1)],
    ("average", (A, 1, V), {"returned": True}),
    ("average", (I, None, np.abs(I)), {"keepdims": True}),
    ("bincount", (U,), {}),
    ("bincount", (U, np.linspace(0, 1, U.size)), {"minlength": 12}),
    ("bincount", (U[:0],), {"minlength": 3}),
    *[("bitwise_count", (x,), {}) for x in (I, U, U[:0])],
    *[
        (name, args, {"mode": mode})
        for name in ("convolve", "correlate")
        for args in ((V, W), (U, I[0]), (C[0], C[1, :2]), (F[0], F[1]))
        for mode in ("full", "same", "valid")
    ],
    ("convolve", (W, V), {}),
    *[("cov", (x,), {}) for x in (A, F, C, V, I)],
    ("cov", (A, A[::-1]), {"bias": True}),
    ("cov", (A,), {"rowvar": False, "ddof": 2}),
    *[("corrcoef", (x,), {}) for x in (A, F, I)],
    ("cross", (A[:, :3], A[:, 1:4]), {}),
    ("cross", (C[:3], C[:3, ::-1]), {"axis": 0}),
    ("linalg.cross", (F[:, :3], F[:, 1:4]), {}),
    ("diag_indices_from", (A[:, :5],), {}),
    *[("ediff1d", (x,), {}) for x in (A, I, C, U[:1], E)],
    ("ediff1d", (A, 1.5, [2, 3]), {}),
    *[("fix", (x,), {}) for x in (A, F, Z, E)],
    *[(name, (I, 6), {}) for name in ("gcd", "lcm")],
    *[(name, (I, I[::-1]), {}) for name in ("gcd", "lcm")],
    ("gcd", (U, np.array([3, 4] * 5, "u1")), {}),
    *[("histogram", (x,), {"bins": b}) for x in (A, F, I, U) for b in (4, [0, 1, 2.5])],
    ("histogram", (A, 5, (-1, 1)), {"density": True}),
    ("histogram", (A, 5), {"weights": np.abs(A)}),
    ("histogram", (E,), {}),
    ("histogram_bin_edges", (F, 3), {}),
    ("interp", (A, np.arange(6.0) - 3, V), {}),
    ("interp", (A, np.arange(6.0) - 3, V), {"left": -7, "right": 9}),
    ("interp", (SPECIAL, [0.0, 1.0], [2.0, 3.0]), {}),
    ("interp", (2.5, np.arange(4), np.arange(4) ** 2), {}),
    *[(name, (x,), {}) for name in ("iscomplex", "isreal") for x in (A, C, Z, E, H)],
    *[(name, (x,), {}) for name in ("isneginf", "isposinf") for x in (SPECIAL, H, I, E)],
    ("kron", (A[:2], F[:2]), {}),
    ("kron", (C, V), {}),
    ("kron", (Z, I), {}),
    *[("nan_to_num", (x,), {}) for x in (SPECIAL, SPECIAL.astype("f4"), SPECIAL.astype("f2"), E)],
    ("nan_to_num", (SPECIAL,), {"nan": 3, "posinf": 4, "neginf": 5}),
    *[
        (f"nan{name}", (x,), {"axis": axis})
        for name in "argmax argmin cumprod cumsum max mean min prod std var".split()  # noqa: SIM905
        for x in (N, N.astype("f4"), I)
        for axis in (None, 0, -1)
        if name not in ("std", "var") or x.dtype.kind == "f"
    ],
    ("nanmean", (N,), {"axis": 1, "keepdims": True}),
    ("nanvar", (N,), {"axis": 1, "ddof": 1, "keepdims": True}),
    *[("packbits", (I > 0,), {"axis": axis}) for axis in (None, 0, 1)],
    ("packbits", (U,), {"bitorder": "little"}),
    ("packbits", (U[:0],), {}),
    *[("unpackbits", (U.reshape(2, 5),), {"axis": axis}) for axis in (None, 0, 1)],
    ("unpackbits", (U,), {"bitorder": "little"}),
    ("polyval", (W, A), {}),
    ("polyval", ([1, 2, 3], I), {}),
    ("polyval", (C[0], Z), {}),
    *[("sinc", (x,), {}) for x in (A, F, I, Z, E)],
    *[("spacing", (x,), {}) for x in (A, F, SPECIAL[3:])],
    *[("trapezoid", (x,), {}) for x in (A, F, C, I)],
    ("trapezoid", (A, V), {}),
    ("trapezoid", (A,), {"dx": 0.5, "axis": 0}),
    ("unwrap", (A * 9,), {}),
    ("unwrap", (A * 9,), {"axis": 0, "period": 5.0}),
    ("unwrap", (A * 9,), {"discont": 5.0}),
    *[("vander", (x,), {}) for x in (V, U, C[0], V[:0])],
    ("vander", (V, 3), {"increasing": True}),
    ("isfortran", (A,), {}),
    ("require", (A, "f4", ["C", "W"]), {}),
    ("require", (F, None, "F"), {}),
    ("shares_memory", (A, F), {}),
]


def on(device, x):
    """`x` with its arrays on the device, by their strides in whole allocations."""
    if isinstance(x, np.ndarray):
        return sw.asarray(x, device="cpu").to(device)
    return x


def compare(result, expected, device):
    if isinstance(expected, tuple):
        assert len(result) == len(expected)
        for mine, theirs in zip(result, expected, strict=True):
            compare(mine, theirs, device)
        return
    if isinstance(expected, bool | np.bool_) and isinstance(result, bool):
        assert result == expected
        return
    assert isinstance(result, sw.Array) and result.device == device
    expected = np.asarray(expected)
    assert (result.shape, np.dtype(result.dtype)) == (expected.shape, expected.dtype)
    tolerance = 2e-3 if expected.dtype == "f2" else 2e-5 if expected.dtype.char in "fF" else 1e-11
    scale = np.max(np.abs(expected[np.isfinite(expected)]), initial=1e-3)
    np.testing.assert_allclose(result.numpy(), expected, tolerance, tolerance * scale)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("name", "args", "options"), CALLS, ids=[f"{i}-{c[0]}" for i, c in enumerate(CALLS)]
)
def test_composed_functions_equal_numpys(device, name, args, options):
    expected = np
    for part in name.split("."):
        expected = getattr(expected, part)
    with sw.device(device):
        result = FUNCTIONS[name](
            *(on(device, x) for x in args), **{k: on(device, x) for k, x in options.items()}
        )
    compare(result, expected(*args, **options), device)


def test_flags_that_are_required(device):
    read_only = sw.broadcast_to(on(device, V), (2, V.size))
    for flags in ("W", "O", ["WRITEABLE", "F_CONTIGUOUS"]):
        result = FUNCTIONS["require"](read_only, None, flags)
        assert result.flags.writeable and result.flags.owndata
        np.testing.assert_array_equal(result.numpy(), np.broadcast_to(V, (2, V.size)))
    fortran = FUNCTIONS["asfortranarray"](on(device, A))
    assert FUNCTIONS["isfortran"](fortran) and not FUNCTIONS["isfortran"](fortran.T)
    for flags in ("X", ["C", "F"]):
        with pytest.raises(ValueError, match="C"):
            FUNCTIONS["require"](read_only, None, flags)


def test_every_composed_function_is_called_here():
    assert {name for name, _, _ in CALLS} == set(FUNCTIONS)


@pytest.mark.parametrize(
    "name", sorted({"average", "kron", "gcd", "histogram", "interp", "nanmax"})
)
def test_a_gpu_computes_them_without_another_library(device, name, monkeypatch):
    if device.kind == "cpu":
        pytest.skip("NumPy computes on the CPU")
    monkeypatch.setitem(sys.modules, "cupy", None)
    args = next(
        args
        for n, args, _ in CALLS
        if n == name and all(isinstance(x, np.ndarray) or n != "average" for x in args)
    )
    assert sw.explain_function(name, device) == f"{name} on {device.name}: Spanwise's own"
    compare(getattr(sw, name)(*(on(device, x) for x in args)), getattr(np, name)(*args), device)


@pytest.mark.parametrize(
    ("error", "name", "args"),
    [
        (ValueError, "bincount", (I[0] - 99,)),
        (ValueError, "bincount", (U, V)),
        (ValueError, "bincount", (U, None, -1)),
        (ValueError, "histogram", (A, 0)),
        (ValueError, "histogram", (A, [2, 1])),
        (ValueError, "histogram", (A, 3, (1, 0))),
        (ValueError, "cross", (A[:, :4], A[:, :4])),
        (ValueError, "linalg.cross", (A[:, :2], A[:, :2])),
        (ValueError, "convolve", (V[:0], V)),
        (ValueError, "diag_indices_from", (A,)),
        (ValueError, "vander", (A,)),
        (TypeError, "average", (A, None, V)),
        (ValueError, "average", (A, 0, V)),
        (ZeroDivisionError, "average", (V, None, V * 0)),
        (TypeError, "ediff1d", (I, 1.5)),
        (ValueError, "nanargmax", (SPECIAL[:1],)),
        (sw.AxisError, "trapezoid", (A, None, 1.0, 5)),
    ],
)
def test_wrong_arguments_raise_numpys_errors(device, error, name, args):
    with pytest.raises(error):
        FUNCTIONS[name](*(on(device, x) for x in args))


def test_what_they_do_not_take_goes_to_another_library(device):
    half, numbers = on(device, H), on(device, C)
    for result in (
        FUNCTIONS["nanmax"](numbers),
        FUNCTIONS["convolve"](half[0], half[0]),
        FUNCTIONS["nan_to_num"](numbers),
        FUNCTIONS["histogram"](on(device, A), "auto"),
        FUNCTIONS["interp"](1.0, on(device, V), numbers[0]),
        FUNCTIONS["unwrap"](on(device, I)),
        FUNCTIONS["gcd"](half, half),
    ):
        assert result is NotImplemented
