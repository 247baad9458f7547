# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""spanwise as a namespace of the array API standard 2024.12; docs/arrays.md lists what is not
supported."""

import inspect
import math
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.arrays import assert_same, pair, windows
from support.standard import BINARY, DTYPES, OPERATORS, UNARY, functions, words

import spanwise as sw

ABSENT = ("sort", "argsort", "unique_all", "unique_counts", "unique_inverse", "unique_values")
KINDS = inspect.Parameter


# ---- The namespace ----


def test_arrays_name_their_namespace(device):
    a = sw.zeros(2, device=device)
    assert a.__array_namespace__() is sw
    assert a.__array_namespace__(api_version="2024.12") is sw
    assert sw.__array_api_version__ == "2024.12"
    with pytest.raises(ValueError, match=r"2024\.12, got '2019\.01'"):
        a.__array_namespace__(api_version="2019.01")


def test_namespace_lists_lazily_loaded_names():
    assert {"clip", "searchsorted", "zeros", "pi"} <= set(dir(sw))


def accepted(ours, theirs):
    """Why a call that the standard allows would not fit, or None."""
    own = ours.parameters.values()
    if any(p.kind == KINDS.VAR_POSITIONAL for p in own):
        return None
    places = [p for p in own if p.kind in (KINDS.POSITIONAL_ONLY, KINDS.POSITIONAL_OR_KEYWORD)]
    for i, wanted in enumerate(theirs.parameters.values()):
        if wanted.kind == KINDS.VAR_POSITIONAL:
            return f"takes no {wanted}"
        if wanted.kind != KINDS.KEYWORD_ONLY:
            if i >= len(places):
                return f"takes no {wanted} by position"
            found = places[i]
        if wanted.kind != KINDS.POSITIONAL_ONLY:
            found = ours.parameters.get(wanted.name)
            if found is None or found.kind == KINDS.POSITIONAL_ONLY:
                return f"takes no {wanted} by name"
        if wanted.default is not KINDS.empty and found.default is KINDS.empty:
            return f"{wanted} has no default"
    return None


@pytest.mark.parametrize(("name", "signature"), list(functions()), ids=str)
def test_signatures_match_the_standard(name, signature):
    function = getattr(sw, name)
    try:
        ours = inspect.signature(function)
    except ValueError:  # pybind11 functions have text signatures only
        assert name in ("can_cast", "result_type", "from_dlpack")
        return
    assert accepted(ours, signature) is None


@pytest.mark.parametrize(("names", "count"), [(UNARY, 1), (BINARY, 2)])
def test_elementwise_functions_exist_with_the_standards_arity(names, count):
    for name in words(names):
        assert getattr(sw, name).nin == count, name


def test_real_and_imag_return_the_parts(device):
    a = sw.asarray([1 + 2j], device=device)
    assert (sw.real(a).tolist(), sw.imag(a).tolist()) == ([1.0], [2.0])


@pytest.mark.parametrize("name", words(OPERATORS))
def test_arrays_have_the_methods(device, name):
    assert hasattr(sw.zeros(2, device=device), f"__{name}__")


def test_arrays_have_the_attributes(device):
    a = sw.zeros((2, 3), device=device)
    assert (a.ndim, a.size, a.shape, a.device) == (2, 6, (2, 3), sw.device(device))
    assert (a.T.shape, a.mT.shape, a.dtype) == ((3, 2), (3, 2), sw.float64)


def test_constants_are_the_standards():
    assert (sw.e, sw.pi, sw.inf) == (math.e, math.pi, math.inf)
    assert math.isnan(sw.nan)
    assert sw.newaxis is None


# ---- Inspection ----


def test_namespace_info_lists_capabilities_and_devices(device):
    info = sw.__array_namespace_info__()
    found = info.capabilities()
    assert found == {
        "boolean indexing": True,
        "data-dependent shapes": True,
        "max dimensions": 64,
    }
    assert sw.zeros((1,) * found["max dimensions"], device=device).ndim == 64
    with pytest.raises(ValueError, match="64"):
        sw.zeros((1,) * 65, device=device)
    assert info.default_device() == sw.default_device()
    assert sw.device(device) in info.devices()


def test_namespace_info_selects_dtypes_by_kind(device):
    info = sw.__array_namespace_info__()
    assert info.dtypes() == {name: sw.dtype(name) for name in words(DTYPES)}
    assert set(info.dtypes(kind="signed integer")) == {"int8", "int16", "int32", "int64"}
    assert set(info.dtypes(kind=("bool", "real floating"))) == {"bool", "float32", "float64"}
    assert info.dtypes(device=device, kind="complex floating").keys() == {"complex64", "complex128"}
    with pytest.raises(ValueError, match="'numeric', got 'string'"):
        info.dtypes(kind="string")
    defaults = info.default_dtypes(device=device)
    assert sw.asarray([1.0], device=device).dtype == defaults["real floating"]
    assert sw.asarray([1j], device=device).dtype == defaults["complex floating"]
    assert sw.asarray([1], device=device).dtype == defaults["integral"]
    assert sw.argmax(sw.zeros(3, device=device)).dtype == defaults["indexing"]


# ---- dtypes ----


@pytest.mark.parametrize("name", ["float16", "float32", "float64", "complex64", "complex128"])
def test_finfo_is_numpys(name):
    ours, theirs = sw.finfo(name), np.finfo(name)
    for word in ("bits", "eps", "max", "min", "smallest_normal", "smallest_subnormal", "tiny"):
        assert getattr(ours, word) == getattr(theirs, word), word
    assert ours.dtype == theirs.dtype
    assert isinstance(ours.eps, float)
    assert ours == sw.finfo(sw.zeros(1, name, device="cpu"))
    assert ours != sw.iinfo("int8")


def test_finfo_has_the_limits_of_bfloat16(device):
    limits = sw.finfo(sw.bfloat16)
    assert (limits.bits, limits.eps, limits.smallest_normal) == (16, 2.0**-7, 2.0**-126)
    largest = sw.asarray(limits.max, "bfloat16", device=device)
    assert float(largest) == limits.max == 3.3895313892515355e38
    assert "bits=16" in repr(limits)


@pytest.mark.parametrize("name", [n for n in words(DTYPES) if "int" in n])
def test_iinfo_is_numpys(name):
    ours, theirs = sw.iinfo(name), np.iinfo(name)
    assert (ours.bits, ours.min, ours.max) == (theirs.bits, theirs.min, theirs.max)
    assert ours.dtype == name
    assert len({ours, sw.iinfo(name)}) == 1


def test_finfo_and_iinfo_reject_dtypes_of_the_other_kind():
    with pytest.raises(ValueError, match="finfo: expected a floating.* got int8"):
        sw.finfo("int8")
    with pytest.raises(ValueError, match="iinfo: expected an integer.* got bool"):
        sw.iinfo(sw.zeros(2, "bool"))
    assert (sw.iinfo(1).bits, sw.finfo(1.0).bits) == (64, 64)


def test_isdtype_is_numpys():
    kinds = ("bool", "signed integer", "unsigned integer", "integral", "real floating")
    kinds = (*kinds, "complex floating", "numeric", ("bool", "integral"), sw.float32)
    for name in words(DTYPES):
        for kind in kinds:
            theirs = np.dtype("float32") if kind == sw.float32 else kind
            assert sw.isdtype(sw.dtype(name), kind) == np.isdtype(np.dtype(name), theirs)
    assert sw.isdtype(sw.bfloat16, "real floating")
    assert not sw.isdtype(sw.bfloat16, ("integral", sw.float16))
    with pytest.raises(ValueError, match="expected a dtype or one of"):
        sw.isdtype(sw.int8, "floating")


def test_astype_converts_dtype_and_device(device):
    a = sw.asarray([1.5, -2.5], device=device)
    assert sw.astype(a, sw.int32).tolist() == [1, -2]
    assert sw.astype(a, "float64", copy=False) is a
    assert sw.astype(a, "float64") is not a
    assert sw.astype(a, "float32", device="cpu").device == sw.device("cpu")


# ---- Functions ----


@given(
    window=windows(min_rank=1),
    dtype=st.sampled_from(["bool", "uint8", "int64", "float32", "complex128"]),
    n=st.integers(0, 3),
    data=st.data(),
)
def test_diff_is_numpys(device, window, dtype, n, data):
    ours, theirs = pair(window, dtype, device, 3)
    axis = data.draw(st.integers(-theirs.ndim, theirs.ndim - 1))
    words = data.draw(st.sets(st.sampled_from(["prepend", "append"])))
    extra = {word: theirs.dtype.type(1) for word in words}
    mine = {word: value.item() for word, value in extra.items()}
    if n == 0:  # NumPy joins nothing then
        extra = mine = {}
    mine = {word: sw.asarray(value, dtype, device=device) for word, value in mine.items()}
    assert_same(sw.diff(ours, n, axis, **mine), np.diff(theirs, n, axis, **extra))


def test_invalid_diff_arguments_raise(device):
    with pytest.raises(ValueError, match="non-negative, got -1"):
        sw.diff(sw.zeros(3, device=device), -1)
    with pytest.raises(ValueError, match="at least one dimensional"):
        sw.diff(sw.zeros((), device=device))
    with pytest.raises(IndexError, match="axis 2 is out of bounds"):
        sw.diff(sw.zeros(3, device=device), axis=2)


@given(
    window=windows(min_rank=1),
    dtype=st.sampled_from(["bool", "uint8", "int32", "float64", "complex64"]),
    name=st.sampled_from(["cumulative_sum", "cumulative_prod"]),
    include_initial=st.booleans(),
    data=st.data(),
)
def test_running_sums_are_numpys(device, window, dtype, name, include_initial, data):
    ours, theirs = pair(window, dtype, device, 5)
    ours, theirs = (
        ours % 3 if dtype[0] in "ui" else ours,
        theirs % 3 if dtype[0] in "ui" else theirs,
    )
    axis = data.draw(st.integers(-theirs.ndim, theirs.ndim - 1))
    options = {"axis": axis, "include_initial": include_initial}
    mine, oracle = getattr(sw, name)(ours, **options), getattr(np, name)(theirs, **options)
    if dtype in ("float64", "complex64"):
        assert (mine.shape, mine.dtype) == (oracle.shape, oracle.dtype)
        np.testing.assert_allclose(mine.numpy(), oracle, rtol=1e-5)
    else:
        assert_same(mine, oracle)


def test_running_sums_are_written_to_out(device):
    a = sw.asarray([1, 2, 3], device=device)
    out = sw.full(4, 9, dtype="int64", device=device)
    assert sw.cumulative_sum(a, out=out, include_initial=True) is out
    assert out.tolist() == [0, 1, 3, 6]
    assert sw.cumulative_prod(a, dtype="float32").dtype == "float32"
    with pytest.raises(ValueError, match=r"out= must have shape \(4,\), got \(3,\)"):
        sw.cumulative_sum(a, out=a, include_initial=True)
    with pytest.raises(ValueError, match="`axis` must be given"):
        sw.cumulative_sum(sw.zeros((2, 2), device=device))
    with pytest.raises(ValueError, match="at least 1-d"):
        sw.cumulative_prod(sw.zeros((), device=device))


@given(
    values=st.lists(st.integers(0, 9), max_size=20),
    wanted=st.lists(st.integers(-1, 10), max_size=20),
    side=st.sampled_from(["left", "right"]),
    dtype=st.sampled_from(["int16", "uint8", "float32"]),
)
def test_searchsorted_is_numpys(device, values, wanted, side, dtype):
    line = np.asarray(sorted(values), dtype)
    ours = sw.searchsorted(sw.asarray(line, device=device), wanted, side=side)
    assert_same(ours, np.searchsorted(line, np.asarray(wanted, "int64"), side=side))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "float64"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted_accepts_any_layout_and_dtype(device, dtype, side):
    random = np.random.default_rng(3)
    for size in (1, 2, 3, 17, 1000):
        line = np.sort(random.integers(0, 100, 3 * size).astype(dtype))
        wanted = random.integers(0, 110, (7, 9)).astype(dtype)
        if np.dtype(dtype).kind == "f":
            line[-2:], wanted[:, 3], wanted[1, :] = np.nan, np.nan, -np.inf
        ours, values = sw.asarray(line, device=device), sw.asarray(wanted, device=device)
        for key in (slice(None), slice(None, None, 3)):
            found = sw.searchsorted(ours[key], values.T[::-2], side)
            assert_same(found, np.searchsorted(line[key], wanted.T[::-2], side))
    assert_same(sw.searchsorted(ours, values[:0], side), np.searchsorted(line, wanted[:0], side))
    assert_same(sw.searchsorted(ours[:0], values, side), np.searchsorted(line[:0], wanted, side))


def test_searchsorted_handles_nan_and_sorter(device):
    line = np.asarray([3.0, np.nan, 1.0, 2.0, np.nan])
    order = np.argsort(line)
    wanted = np.asarray([[np.nan, 2.0], [0.0, np.inf]])
    ours, places = sw.asarray(line, device=device), sw.asarray(order, device=device)
    for side in ("left", "right"):
        found = sw.searchsorted(ours, sw.asarray(wanted, device=device), side, places)
        assert_same(found, np.searchsorted(line, wanted, side, order))
    with pytest.raises(ValueError, match=r"expected a vector to search, got \(2, 2\)"):
        sw.searchsorted(sw.zeros((2, 2), device=device), 1)
    with pytest.raises(ValueError, match="left or right, got 'up'"):
        sw.searchsorted(ours, 1, "up")
    with pytest.raises(TypeError, match="have no order"):
        sw.searchsorted(ours, 1j)


def test_where_with_one_argument_returns_indices(device):
    mask = np.asarray([[True, False], [True, True]])
    for row, other in zip(sw.where(sw.asarray(mask, device=device)), np.where(mask), strict=True):
        assert_same(row, other)


def test_modf_is_numpys(device):
    x = np.asarray([2.75, -2.75, 0.0, -0.0, np.inf, -np.inf, np.nan, 3.0, 1e300])
    for mine, oracle in zip(sw.modf(sw.asarray(x, device=device)), np.modf(x), strict=True):
        assert_same(mine, oracle)
        np.testing.assert_array_equal(np.signbit(mine.numpy()), np.signbit(oracle))
    for dtype in ("bool", "int8", "uint16", "int64", "float16", "float32"):
        values = np.asarray([0, 1], dtype)
        for mine, oracle in zip(
            sw.modf(sw.asarray(values, device=device)), np.modf(values), strict=True
        ):
            assert_same(mine, oracle)
    with pytest.raises(TypeError, match="not defined for complex"):
        sw.modf(sw.asarray([1j], device=device))


def test_to_device_copies_only_to_another_device(device):
    a = sw.asarray([1, 2], device=device)
    assert a.to_device(a.device) is a
    moved = a.to_device("cpu", stream=sw.current_stream(a.device))
    assert (moved.device, moved.tolist()) == (sw.device("cpu"), [1, 2])


def test_counts_are_arrays(device):
    count = sw.count_nonzero(sw.asarray([0, 3, 4], device=device))
    assert (count.shape, count.dtype, int(count)) == ((), "int64", 2)


def test_eye_is_zero_for_diagonals_outside(device):
    for k in (2**70, -(2**70), 3, -3):
        assert sw.eye(3, k=k, device=device).tolist() == [[0.0] * 3] * 3


def test_masks_without_elements_fit(device):
    a = sw.zeros((3, 2), device=device)
    for shape in ((0,), (0, 2), (3, 0)):
        mask = np.zeros(shape, bool)
        assert_same(a[sw.asarray(mask, device=device)], np.zeros((3, 2))[mask])
        a[mask] = 7
    assert not a.any()
    with pytest.raises(IndexError, match="did not match"):
        a[np.zeros((0, 3), bool)]


SCIPY = """
import numpy as np, scipy.special, spanwise as sw
values = np.arange(6.0).reshape(2, 3)
ours = scipy.special.logsumexp(sw.asarray(values, device={device!r}), axis=1)
assert isinstance(ours, sw.Array) and ours.device == {device!r}
np.testing.assert_allclose(ours.numpy(), np.log(np.exp(values).sum(axis=1)))
"""


def test_scipy_computes_with_our_arrays(device):
    """SciPy with its array API support, which must be enabled before its import."""
    pytest.importorskip("scipy", "1.14")
    code = SCIPY.format(device=device.name)
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr


# ---- Unsupported parts ----


@pytest.mark.parametrize("name", ABSENT)
def test_absent_functions_raise(device, name):
    with pytest.raises(NotImplementedError, match=rf"{name}: .*float64 of shape \(2,\).*numpy"):
        getattr(sw, name)(sw.zeros(2, device=device))


def test_absent_extensions_raise():
    assert not hasattr(sw, "fft")
    with pytest.raises(AttributeError, match="fft extension is not supported yet"):
        sw.fft  # noqa: B018
