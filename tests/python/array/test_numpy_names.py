# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Names of NumPy's that are no functions of arrays: its class, its scalar types, its settings, its
assertions, and views with any strides."""

import numpy as np
import pytest

import spanwise as sw

as_strided = sw.lib.stride_tricks.as_strided
windows = sw.lib.stride_tricks.sliding_window_view
SCALARS = "bool_ int8 uint16 int32 int64 float16 float32 float64 complex64 complex128"
DTYPES = """
    byte cdouble csingle double half int_ intc intp long longlong short single ubyte uint uintc uintp
    ulong ulonglong ushort
"""
NUMPYS = """
    complexfloating errstate euler_gamma floating generic get_printoptions geterr inexact integer
    iterable ndindex number printoptions set_printoptions seterr signedinteger unsignedinteger
"""


def test_every_array_is_an_ndarray(device):
    class Own(sw.Array):
        pass

    a = sw.zeros(3, device=device)
    assert isinstance(a, sw.ndarray) and isinstance(Own(a), sw.ndarray)
    assert issubclass(Own, sw.ndarray) and type(a) == sw.ndarray and {sw.Array: 1}[sw.ndarray]  # noqa: E721
    assert not isinstance(np.zeros(3), sw.ndarray) and not issubclass(np.ndarray, sw.ndarray)
    with pytest.raises(TypeError, match=r"derive from spanwise\.Array"):
        type("Sub", (sw.ndarray,), {})


def test_call_of_ndarray_makes_an_array_of_the_shape(device):
    a = sw.ndarray((2, 3), "i4", device=device)
    assert (a.shape, a.dtype, a.device) == ((2, 3), "int32", device)
    assert sw.ndarray(4).dtype == "float64" and sw.ndarray((2, 3), order="F").flags.f_contiguous
    memory = bytearray(range(12))
    host = np.ndarray((3, 2), "i2", memory, 0, (2, 6))
    a = sw.ndarray((3, 2), "i2", memory, 0, (2, 6), device="cpu")
    assert a.tolist() == host.tolist()
    a[0, 0] = 9
    assert memory[0] == 9


def test_subclasses_pass_through_asanyarray(device):
    class Own(sw.Array):
        pass

    a = Own(sw.arange(3, device=device))
    assert sw.asanyarray(a) is a
    assert sw.asanyarray([1, 2], "f4", device=device).dtype == "float32"


@pytest.mark.parametrize("name", SCALARS.split())
def test_call_of_a_dtype_is_numpys_scalar_or_an_array(device, name):
    dtype, theirs = getattr(sw, name), getattr(np, name)
    assert type(dtype(1)) is theirs and dtype(1) == 1 and dtype() == 0
    a = dtype(sw.asarray([1.0, 0.0], device=device))
    assert (a.dtype, a.device, a.tolist()) == (dtype, device, [1, 0])
    assert isinstance(dtype([1, 0]), sw.Array) and dtype([[1]]).shape == (1, 1)
    if name != "bool_":
        with pytest.raises((TypeError, ValueError)):
            dtype(object())
    with pytest.raises(TypeError):
        dtype(1, 2, 3)


def test_other_names_of_dtypes_are_numpys():
    for name in DTYPES.split():
        theirs = {"long": "l", "ulong": "L"}.get(name) or getattr(np, name)  # not in NumPy 1
        assert getattr(sw, name) == np.dtype(theirs), name


def test_scalar_kinds_constants_and_settings_are_numpys():
    for name in NUMPYS.split():
        assert getattr(sw, name) is getattr(np, name)
    assert sw.issubdtype(sw.float32, sw.floating) and not sw.issubdtype(sw.int8, sw.floating)
    with sw.printoptions(precision=2):
        assert str(sw.asarray([1 / 3])) == "[0.33]"


def test_annotations_take_numpys_names():
    assert sw.typing.NDArray[np.float32] == sw.Array[np.float32]
    assert sw.typing.ArrayLike is not None and sw.typing.DTypeLike is not None


def test_indices_and_elements(device):
    host = np.arange(6).reshape(2, 3)[:, ::-2]
    pairs = list(sw.ndenumerate(sw.asarray(host, device="cpu").to(device)))
    assert [(i, int(x)) for i, x in pairs] == list(np.ndenumerate(host))
    assert list(sw.ndenumerate(sw.asarray(5, device=device))) == [((), 5)]
    assert list(sw.ndenumerate(sw.zeros((0, 2), device=device))) == []


def test_numpys_assertions_read_arrays_of_any_device(device):
    a = sw.asarray([1.0, 2.0, np.nan], "float32", device=device)
    sw.testing.assert_array_equal(a, [1, 2, np.nan])
    sw.testing.assert_allclose([a, a], np.array([[1, 2, np.nan]] * 2), rtol=1e-6)
    sw.testing.assert_equal({"sum": a[:2].sum(), "a": (a,)}, {"sum": 3, "a": (a,)})
    sw.testing.assert_array_less(a[:2], sw.asarray(3, device=device))
    sw.testing.assert_almost_equal(a[0].astype("bfloat16"), 1)
    with pytest.raises(AssertionError, match="Mismatched elements: 1 / 3"):
        sw.testing.assert_array_equal(a, [1, 3, np.nan])
    with sw.testing.assert_raises(ValueError):
        a.reshape(5)
    with pytest.raises(AttributeError, match="nosuch"):
        sw.testing.nosuch  # noqa: B018


VIEWS = [
    (np.arange(24.0).reshape(4, 6), (2, 3), None),
    (np.arange(24, dtype="i2").reshape(4, 6)[::-1, ::2], (2, 2), None),
    (np.arange(24, dtype="f2").reshape(2, 3, 4), 2, 1),
    (np.arange(24, dtype="c8").reshape(2, 3, 4), (2, 3), (-1, 0)),
    (np.arange(5.0), (2, 2), (0, 0)),
    (np.arange(5.0), 0, 0),
    (np.zeros((0, 3)), 2, 1),
    (np.array(2.0), (), ()),
]


@pytest.mark.parametrize(("host", "shape", "axis"), VIEWS)
def test_windows_are_views(device, host, shape, axis):
    if axis == (-1, 0):
        shape = (2, 2)
    a = sw.asarray(host, device="cpu").to(device)
    view = windows(a, shape, axis)
    expected = np.lib.stride_tricks.sliding_window_view(host, shape, axis)
    assert view.shape == expected.shape and not view.flags.writeable
    np.testing.assert_array_equal(view.numpy(), expected)
    if host.size and expected.size:
        assert sw.may_share_memory(view, a)
    np.testing.assert_array_equal(
        np.lib.stride_tricks.sliding_window_view(a, shape, axis), expected
    )
    if axis != (0, 0):
        assert windows(a + 1, shape, axis).sum() == expected.sum() + expected.size


@pytest.mark.parametrize(
    ("shape", "axis"), [((2, 2), None), (4, 0), (-1, 0), (2, 5), ("x", 0), ((2,), (0, 0))]
)
def test_windows_refuse_wrong_arguments(device, shape, axis):
    with pytest.raises((ValueError, TypeError, IndexError)):
        windows(sw.zeros(3, device=device), shape, axis)


def test_any_strides_inside_the_memory(device):
    host = np.arange(12.0).reshape(3, 4)
    a = sw.asarray(host, device="cpu").to(device)
    diagonal = as_strided(a, (3,), (40,))
    np.testing.assert_array_equal(diagonal.numpy(), host.diagonal())
    diagonal[...] = -1
    np.testing.assert_array_equal(a.diagonal().numpy(), -np.ones(3))
    assert as_strided(a[::-1]).tolist() == a[::-1].tolist()
    assert not as_strided(a, (3, 3), (8, 8)).flags.writeable
    assert not as_strided(a, (2,), (8,), writeable=False).flags.writeable
    assert as_strided(a[2, 3, ...], (4,), (-24,)).tolist() == a.ravel()[::-3].tolist()
    read_only = sw.broadcast_to(a, (3, 4))
    assert not as_strided(read_only, (2,), (8,)).flags.writeable


@pytest.mark.parametrize(
    ("shape", "strides", "text"),
    [
        ((3,), (48,), "outside of the 12"),
        ((2,), (-8,), "outside"),
        ((1 << 62,), (1 << 62,), "outside"),
        ((3,), (4,), "multiples of the itemsize 8"),
        ((3,), (8, 8), "a stride for each axis"),
        ((-1,), (8,), "negative"),
    ],
)
def test_strides_that_reach_outside_are_refused(device, shape, strides, text):
    with pytest.raises(sw.Error, match=text):
        as_strided(sw.zeros((3, 4), device=device), shape, strides)


@pytest.mark.parametrize("value", [None, "x", object(), 1 << 2000, {}, 1j])
def test_wrong_values_of_narrow_floats_are_errors(value):
    pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    for dtype in (sw.bfloat16, sw.dtype("float8_e4m3fn")):
        assert float(dtype(1.5)) == 1.5 and float(dtype()) == 0
        with pytest.raises((TypeError, ValueError, OverflowError)):
            dtype(value)
        with pytest.raises(TypeError):
            dtype(1, 2)


@pytest.mark.parametrize("strides", [None, 3, ["x"], [None], [1 << 70], [1.5]])
def test_wrong_types_of_strides_are_errors(strides):
    with pytest.raises((TypeError, OverflowError)):
        sw._core._as_strided(sw.zeros(3), (2,), strides)
