# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""dtypes: every spelling is read, promotion and casting are NumPy's."""

import copy
import itertools
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.arrays import COMPLEX, COMPUTABLE, FLOATS, INTEGERS

import spanwise as sw

IN_NUMPY = ("bool", *INTEGERS, *FLOATS, *COMPLEX)


@pytest.mark.parametrize("name", IN_NUMPY)
def test_dtype_equals_all_its_spellings(name):
    ours, theirs = getattr(sw, name), np.dtype(name)
    for spelling in (name, theirs, theirs.type, theirs.str, theirs.char, sw.dtype(name)):
        assert ours == spelling
        assert spelling == ours
        assert sw.dtype(spelling) == ours
    assert np.dtype(ours) == theirs
    assert ours.dtype == theirs
    assert (ours.name, ours.itemsize, ours.kind) == (theirs.name, theirs.itemsize, theirs.kind)
    assert str(ours) == name
    assert repr(ours) == f"spanwise.{name}"
    assert ours.is_computable


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_narrow_floats_equal_those_of_ml_dtypes(name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    theirs = getattr(ml_dtypes, name)
    assert sw.dtype(theirs) == name
    assert sw.dtype(np.dtype(theirs)) == name
    assert np.dtype(sw.dtype(name)) == np.dtype(theirs)


def test_python_types_and_numpys_other_names_are_dtypes():
    assert [sw.dtype(t) for t in (bool, int, float, complex)] == [
        sw.bool,
        sw.int64,
        sw.float64,
        sw.complex128,
    ]
    for name in (
        "half",
        "single",
        "double",
        "intc",
        "longlong",
        "uintp",
        "byte",
        "<f4",
        "=i8",
        "|b1",
    ):
        assert sw.dtype(name) == np.dtype(name), name
    assert sw.bool is sw.bool_


def test_dtype_accepts_objects_with_a_dtype():
    assert sw.dtype(np.zeros(2, "int16")) == "int16"
    assert sw.dtype(sw.zeros(2, "int16")) == "int16"


@pytest.mark.parametrize(
    "wrong",
    [
        "floaty",
        "",
        "f3",
        ">f4",
        np.dtype(">f4"),
        np.dtype([("a", "f4")]),
        np.dtype("M8[s]"),
        np.floating,
        np.generic,
        object,
        None,
        3,
        [],
    ],
)
def test_invalid_dtype_raises_type_error(wrong):
    with pytest.raises(sw.DTypeError) as caught:
        sw.dtype(wrong)
    assert isinstance(caught.value, TypeError)
    assert sw.float32 != wrong


def test_error_for_an_unknown_name_lists_the_known_names():
    with pytest.raises(sw.DTypeError, match=r"complex64.*float8_e4m3fn"):
        sw.dtype("floaty")


@pytest.mark.parametrize(
    ("name", "meaning"),
    [("float", "C's float is float32, NumPy's is float64"), ("half", "it is float16"), ("flt", "")],
)
def test_error_for_a_name_without_bits_says_what_it_is(name, meaning):
    with pytest.raises(
        sw.DTypeError, match=f'"{name}" names no dtype.*float32x4(; )?{meaning}$'
    ) as error:
        sw.kernel_op("a", "__global__ void a(float *x) {}", (), f"x: contiguous {name}[1]")
    assert len(str(error.value)) < 330


_MAKERS = {
    "zeros": lambda dtype: sw.zeros(3, dtype),
    "empty": lambda dtype: sw.empty(3, dtype),
    "full": lambda dtype: sw.full(3, 1, dtype),
    "ones_like": lambda dtype: sw.ones_like(sw.zeros(2), dtype=dtype),
    "arange": lambda dtype: sw.arange(3, dtype=dtype),
    "eye": lambda dtype: sw.eye(3, dtype=dtype),
    "array": lambda dtype: sw.array([1, 2], dtype),
    "asarray": lambda dtype: sw.asarray(np.ones(2), dtype),
    "astype": lambda dtype: sw.ones(2).astype(dtype),
    "view": lambda dtype: sw.ones(4).view(dtype),
    "sum": lambda dtype: sw.sum(sw.ones(2), dtype=dtype),
    "dtype": sw.dtype,
    "vector": lambda dtype: sw.tensor.vector("x", dtype=dtype),
}


@pytest.mark.parametrize("make", _MAKERS)
@pytest.mark.parametrize(
    "dtype",
    [
        np.longdouble, np.clongdouble, np.dtype(np.longdouble), "longdouble", "float128", "int128",
        object, np.void, "V8", str, bytes, "S3", "U3", "M8[s]", np.dtype("m8[ns]"), ">f4",
        np.dtype(">f4"), np.dtype([("a", "f4")]), np.generic, np.floating,
    ],
    ids=str,
)  # fmt: skip
def test_dtypes_that_no_function_could_read_are_refused(make, dtype):
    with pytest.raises(sw.DTypeError):
        _MAKERS[make](dtype)


@pytest.mark.parametrize("dtype", [np.longdouble, np.dtype(np.longdouble), "float128"])
def test_error_for_longdouble_names_float64(dtype):
    with pytest.raises(sw.DTypeError, match=r'^spanwise: float128, from .*x\.astype\("float64"\)$'):
        sw.zeros(3, dtype)


def test_equal_dtypes_hash_alike_and_as_numpys():
    assert {sw.float32: 1}[sw.dtype("f4")] == 1
    for name in IN_NUMPY:
        assert {np.dtype(name): 1}[getattr(sw, name)] == {getattr(sw, name): 1}[np.dtype(name)] == 1
    assert len(
        {sw.dtype(name) for name in COMPUTABLE} | {getattr(sw, n) for n in COMPUTABLE}
    ) == len(COMPUTABLE)


@pytest.mark.parametrize("name", IN_NUMPY)
def test_programs_that_ask_for_numpys_class_accept_a_dtype(name):
    dtype = sw.ones(2, name, device="cpu").dtype
    assert isinstance(dtype, np.dtype) and isinstance(dtype, sw.dtype)
    assert isinstance(dtype, type(np.dtype(name))) and type(dtype) is sw.dtype
    missing = {x for x in dir(np.dtype(name)) if not x.startswith("_")} - {*dir(dtype)}
    assert not missing
    assert copy.deepcopy(dtype) is dtype or copy.deepcopy(dtype) == dtype
    assert np.zeros(2, dtype).dtype == np.promote_types(dtype, name) == dtype


def test_dtypes_that_numpy_lacks_are_of_our_class():
    assert sw.dtype("float32x4").__class__ is sw.dtype
    assert hash(sw.dtype("float32x4")) == hash(sw.dtype("float32x4"))


@pytest.mark.parametrize("name", [*COMPUTABLE, "float8_e4m3fn", "opaque24", "float32x4"])
def test_unpickled_dtype_is_equal(name):
    assert pickle.loads(pickle.dumps(sw.dtype(name))) == sw.dtype(name)


def test_vector_dtype_has_lanes_and_is_not_computable():
    vector = sw.dtype("float32x4")
    assert (vector.itemsize, vector.bits, vector.lanes, vector.kind) == (16, 32, 4, "V")
    assert not vector.is_computable


@pytest.mark.parametrize(("a", "b"), list(itertools.product(IN_NUMPY, IN_NUMPY)))
def test_promotion_and_casting_match_numpy(a, b):
    assert sw.promote_types(a, b) == np.promote_types(a, b)
    assert sw.result_type(getattr(sw, a), b) == np.result_type(np.dtype(a), np.dtype(b))
    for rule in ("no", "equiv", "safe", "same_kind", "unsafe"):
        assert sw.can_cast(a, b, rule) == np.can_cast(a, b, rule), rule


@given(
    names=st.lists(st.sampled_from(IN_NUMPY), max_size=3),
    weak=st.lists(st.sampled_from([True, 3, 2.5, 1j]), max_size=2),
)
def test_python_numbers_are_weak(names, weak):
    if not names and not weak:
        with pytest.raises(sw.ArgumentError, match="at least one"):
            sw.result_type()
        return
    expected = np.result_type(*(np.dtype(name) for name in names), *weak)
    assert sw.result_type(*weak, *names) == expected
    assert sw.result_type(*(sw.zeros(2, name) for name in names), *weak) == expected


def test_several_dtypes_are_promoted_together():
    """Pair by pair int8 and uint8 would be int16, which float16 does not hold."""
    for names in (("int8", "uint8", "float16"), ("uint8", "float16", "int8", "complex64")):
        assert sw.result_type(*names) == np.result_type(*names)
        arrays = [np.ones(1, name) for name in names]
        assert sw.concatenate(arrays).dtype == np.concatenate(arrays).dtype


def test_can_cast_rejects_unknown_rules_and_numbers():
    with pytest.raises(sw.ArgumentError, match='got "lax"'):
        sw.can_cast("int8", "int16", "lax")
    with pytest.raises(sw.DTypeError, match="Python number"):
        sw.can_cast(3, "int16")
    assert sw.can_cast(sw.zeros(2, "int8"), "int16")


def test_asking_for_a_dtype_imports_no_numpy():
    program = (
        "import sys, spanwise as sw; a = sw.zeros((2, 3), 'float32'); a[1:] = 3; sw.dtype(float);"
        "assert a.dtype == 'float32' and a.tolist and 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
