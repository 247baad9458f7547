# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions and ufuncs called on Spanwise arrays: __array_function__, __array_ufunc__."""

import importlib.util
import io
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.arrays import assert_same, pair, windows

import spanwise as sw

A = np.arange(12.0).reshape(3, 4) - 5

# Functions that both NumPy and Spanwise have.
SHARED = {
    "concatenate": lambda a: np.concatenate([a, a], axis=1),
    "stack": lambda a: np.stack([a, a], axis=-1),
    "vstack": lambda a: np.vstack([a, a]),
    "where": lambda a: np.where(a > 0, a, 0),
    "sum": lambda a: np.sum(a, axis=0, keepdims=True),
    "mean": lambda a: np.mean(a, axis=(0, 1)),
    "max": lambda a: np.max(a, 1, initial=2),
    "argmin": lambda a: np.argmin(a, axis=1),
    "cumsum": lambda a: np.cumsum(a),
    "diff": lambda a: np.diff(a, append=1.0),
    "reshape": lambda a: np.reshape(a, (4, 3)),
    "transpose": lambda a: np.transpose(a),
    "squeeze": lambda a: np.squeeze(a[None]),
    "clip": lambda a: np.clip(a, -2, 2),
    "clip by old names": lambda a: np.clip(a, a_min=None, a_max=2),
    "clip by new names": lambda a: np.clip(a, min=-1),
    "roll": lambda a: np.roll(a, 2, axis=1),
    "pad": lambda a: np.pad(a, 1, constant_values=3),
    "round": lambda a: np.round(a / 3, 1),
    "take": lambda a: np.take(a, [0, 2], axis=1),
    "tile": lambda a: np.tile(a, 2),
    "tril": lambda a: np.tril(a),
    "broadcast_to": lambda a: np.broadcast_to(a, (2, 3, 4), subok=False),
    "broadcast_arrays": lambda a: np.broadcast_arrays(a[0], a)[0],
    "zeros_like": lambda a: np.zeros_like(a, dtype="int8", subok=False),
    "copy": lambda a: np.copy(a.T),
    "angle": lambda a: np.angle(a, deg=True),
    "isclose": lambda a: np.isclose(a, a + 1e-9),
    "count_nonzero": lambda a: np.count_nonzero(a, axis=0),
    "matmul": lambda a: np.matmul(a, a.T),
    "dot": lambda a: np.dot(a[0], a[1]),
    "einsum": lambda a: np.einsum("ij,kj->ik", a, a),
    "linalg.norm": lambda a: np.linalg.norm(a, np.inf, axis=(0, 1)),
    "like": lambda a: np.asarray([1, 2], like=a),
    "zeros like": lambda a: np.zeros((2, 3), dtype="int16", like=a),
}


@pytest.mark.parametrize("call", SHARED.values(), ids=SHARED.keys())
def test_shared_function_runs_on_the_device(device, call):
    ours = call(sw.asarray(A, device=device))
    assert_same(ours, np.asarray(call(A)))
    assert ours.device == sw.device(device)


HAS_CUPY = importlib.util.find_spec("cupy") is not None
# Functions that NumPy computes. They get views of arrays on the CPU. Arrays on a GPU are CuPy's
# matter where it is installed and has the function, and raise elsewhere.
ONLY_NUMPY = {
    "median": lambda a: np.median(a, axis=1),
    "sort": lambda a: np.sort(a, axis=0),
    "percentile": lambda a: np.percentile(a, 30, axis=0),
    "nan_to_num": lambda a: np.nan_to_num(a),
    "trapezoid": lambda a: np.trapezoid(a),
    "fft.fft": lambda a: np.fft.fft(a, axis=0),
    "linalg.norm by singular values": lambda a: np.linalg.norm(a, "nuc"),
    "linalg.svdvals": lambda a: np.linalg.svdvals(a),
    "sliding_window_view": lambda a: np.lib.stride_tricks.sliding_window_view(a, 2, axis=1),
    "one number": lambda a: np.median(a),
}


@pytest.mark.parametrize("call", ONLY_NUMPY.values(), ids=ONLY_NUMPY.keys())
def test_function_of_numpy_runs_on_the_cpu_and_is_cupys_on_a_gpu(device, call):
    ours = sw.asarray(A, device=device)
    if device.kind == "cpu":
        assert_same(call(ours), np.asarray(call(A)))
        return
    if HAS_CUPY and call is not ONLY_NUMPY["sliding_window_view"]:
        result = call(ours)
        assert isinstance(result, sw.Array) and result.device == device
        np.testing.assert_allclose(result.numpy(), call(A), 1e-12, 1e-12)
        return
    with pytest.raises(TypeError, match=r"numpy.*float64 of shape \(3, 4\).*a\.numpy\(\)"):
        call(ours)


def test_several_results_are_arrays_in_numpys_named_tuple():
    ours = sw.asarray([3, 1, 3], device="cpu")
    result = np.unique_counts(ours)
    assert (result.values.tolist(), result.counts.tolist()) == ([1, 3], [1, 2])
    assert isinstance(result.values, sw.Array)
    counts, edges = np.histogram(ours, bins=2)
    assert isinstance(counts, sw.Array)
    assert edges.tolist() == [1.0, 2.0, 3.0]


def test_results_that_an_array_cannot_hold_are_numpys_objects():
    ours = sw.asarray([1.5, 2.5], device="cpu")
    assert np.array2string(ours) == "[1.5 2.5]"
    assert np.array_equal(ours, [1.5, 2.5]) is True
    assert type(np.piecewise(ours, [ours < 2], [0, 1])) is sw.Array
    assert np.shares_memory(ours, ours[:1]) is True
    assert isinstance(np.apply_along_axis(lambda x: "a", 0, ours), np.ndarray)


def test_views_of_views_share_the_memory():
    ours = sw.zeros(5, device="cpu")
    pairs = np.lib.stride_tricks.sliding_window_view(ours, 2)
    ours[1] = 7
    assert pairs.tolist()[0] == [0.0, 7.0]
    with pytest.raises(sw.ReadOnlyError):
        pairs[0, 0] = 1


def test_shared_functions_write_to_spanwise_arrays(device):
    ours, theirs = sw.zeros(4, device=device), np.zeros(4)
    for array in (ours, theirs):
        np.copyto(array, [1, 2, 3, 4])
        np.put(array, [0], 9)
        np.putmask(array, np.asarray([False, True, False, False]), 8)
        np.place(array, np.asarray([False, False, True, False]), [7])
    assert_same(ours, theirs)


def test_numpy_only_functions_write_to_spanwise_arrays():
    ours = sw.zeros(4, device="cpu")
    np.copyto(ours, 5.0, where=[True, False, True, False])
    assert ours.tolist() == [5.0, 0.0, 5.0, 0.0]
    np.add.at(ours, [1, 1], 2.0)
    assert ours.tolist() == [5.0, 4.0, 5.0, 0.0]
    out = sw.zeros(1, device="cpu")
    assert np.median(sw.ones((1, 3), device="cpu"), axis=1, out=out) is out
    assert out.tolist() == [1.0]
    read_only = ours.broadcast_to((2, 4))
    with pytest.raises(ValueError, match="read-only"):
        np.copyto(read_only, 5.0, where=True)


def test_functions_of_shape_and_dtype_work_on_any_device(device):
    ours = sw.zeros((2, 3), "complex64", device=device)
    assert (np.shape(ours), np.ndim(ours), np.size(ours), np.size(ours, 1)) == ((2, 3), 2, 6, 3)
    assert np.iscomplexobj(ours)
    assert not np.isrealobj(ours)
    assert np.result_type(ours, 1.0) == np.dtype("complex64")
    assert np.can_cast(ours.dtype, "complex128")


def test_mixing_with_numpy_arrays_works_on_the_cpu_and_raises_on_a_gpu(device):
    ours = sw.asarray(A, device=device)
    if device.kind == "cpu":
        assert_same(np.concatenate([ours, A]), np.concatenate([A, A]))
        return
    with pytest.raises(sw.DeviceError):
        np.concatenate([ours, A])


def test_array_function_of_another_library_has_precedence():
    class Other:
        def __array_function__(self, function, types, args, kwargs):
            return function.__name__, len(types)

    assert np.concatenate([sw.zeros(2, device="cpu"), Other()]) == ("concatenate", 2)
    masked = np.ma.masked_array([1.0, 2.0], [True, False])
    with pytest.raises(TypeError, match="no implementation found"):
        np.concatenate([sw.zeros(2, device="cpu"), masked])


def test_call_with_unsupported_arguments_runs_in_numpy_on_the_cpu_and_raises_on_a_gpu(device):
    ours = sw.asarray(A, device=device)
    if device.kind == "cpu":
        assert np.may_share_memory(ours, ours, max_work=1) is True
        assert_same(np.full_like(a=ours, fill_value=2, order="F"), np.full_like(A, 2))
        return
    with pytest.raises(TypeError, match="does not accept these arguments"):
        np.may_share_memory(ours, ours, max_work=1)


def test_object_or_string_operands_give_numpys_result_on_the_cpu_and_raise_on_a_gpu(device):
    ours, objects = sw.asarray(A, device=device), np.asarray([None, 1])
    calls = {
        "broadcast_arrays": lambda a: np.broadcast_arrays(a, None),
        "concatenate": lambda a: np.concatenate([a[0, :2], objects]),
        "stack": lambda a: np.stack([a[0, :1], np.asarray(["b"])]),
    }
    for name, call in calls.items():
        if device.kind != "cpu":
            with pytest.raises(TypeError, match=r"a\.numpy\(\)"):
                call(ours)
            continue
        result, expected = call(ours), call(A)
        if name == "broadcast_arrays":
            assert_same(result[0], expected[0])
            result, expected = result[1], expected[1]
        assert isinstance(result, np.ndarray)
        assert result.tolist() == expected.tolist()
    with pytest.raises(sw.BridgeError):
        sw.broadcast_arrays(ours, None)
    with pytest.raises(sw.DTypeError):
        np.sum(ours, dtype="U3")


def test_numpy_save_writes_the_elements(tmp_path):
    ours = sw.asarray(A, device="cpu")
    file = io.BytesIO()
    np.save(file, ours)
    file.seek(0)
    np.testing.assert_array_equal(np.load(file), A)


def test_numpy_testing_compares_our_arrays(device):
    ours = sw.asarray(A, device=device)
    np.testing.assert_allclose(ours, A)
    np.testing.assert_array_equal(ours, A)
    with pytest.raises(AssertionError, match="Mismatched elements"):
        np.testing.assert_allclose(ours, A + 1)
    assert np.array_equal(ours, ours)
    assert np.allclose(ours, ours + 1e-12)


# ---- ufuncs ----


def test_numpy_only_ufuncs_are_computed_by_numpy():
    ours = sw.asarray([6, 4], device="cpu")
    assert_same(np.gcd(ours, 4), np.gcd(np.asarray([6, 4]), 4))
    assert_same(np.multiply.outer(ours, [1, 2]), np.multiply.outer([6, 4], [1, 2]))
    out = sw.zeros(2, "int64", device="cpu")
    assert np.lcm(ours, 5, out=out) is out
    assert out.tolist() == [30, 20]


def test_ufuncs_without_a_gpu_implementation_raise_on_a_gpu(device):
    ours = sw.asarray([6, 4], device=device)
    if device.kind == "cpu":
        assert np.lcm(ours, 4).tolist() == [12, 4]
        return
    with pytest.raises(TypeError, match=r"numpy\.lcm.*copy it to the host first"):
        np.lcm(ours, 4)
    with pytest.raises(TypeError, match=r"numpy\.subtract\.reduce"):
        np.subtract.reduce(ours)


def test_numpy_modf_matches_numpy(device):
    for part, oracle in zip(np.modf(sw.asarray(A / 4, device=device)), np.modf(A / 4), strict=True):
        assert_same(part, oracle)


# ---- Comparisons ----


@given(
    window=windows(),
    dtype=st.sampled_from(["bool", "uint8", "int32", "float32", "complex64"]),
    seed=st.integers(0, 99),
    step=st.sampled_from([0.0, 1e-9, 1e-4, np.inf, np.nan]),
    equal_nan=st.booleans(),
)
def test_comparisons_match_numpy(device, window, dtype, seed, step, equal_nan):
    ours, theirs = pair(window, dtype, device, seed)
    shifted = theirs + step
    ours_shifted = sw.asarray(shifted, device=device)
    with np.errstate(invalid="ignore"):
        oracle = np.isclose(theirs, shifted, equal_nan=equal_nan)
        assert_same(sw.isclose(ours, ours_shifted, equal_nan=equal_nan), np.asarray(oracle))
        assert sw.allclose(ours, ours_shifted, equal_nan=equal_nan) == bool(oracle.all())
        assert sw.array_equal(ours_shifted, ours_shifted, equal_nan) == np.array_equal(
            shifted, shifted, equal_nan=equal_nan
        )
    assert not sw.array_equal(ours, ours[None])


def test_membership_matches_numpy(device):
    ours = sw.asarray(A, device=device)
    for key in (3, 3.5, -5.0, [-5, -4, -3, -2], None, "x"):
        assert (key in ours) == (key in A), key
    assert sw.asarray(2.0, device="cpu") in ours
    assert 1 not in sw.zeros(0, device=device)


def test_importing_spanwise_does_not_import_numpy():
    code = "import sys, spanwise; assert 'numpy' not in sys.modules; spanwise.zeros(2).sum()"
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
