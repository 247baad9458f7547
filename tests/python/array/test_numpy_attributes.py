# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Attributes of NumPy's arrays and dtypes that programs use."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from support.arrays import COMPUTABLE, assert_same, numbers

import spanwise as sw

DTYPE_ATTRIBUTES = (
    "alignment", "byteorder", "char", "descr", "fields", "flags", "hasobject", "isalignedstruct",
    "isbuiltin", "isnative", "itemsize", "kind", "metadata", "name", "names", "ndim", "num",
    "shape", "str", "subdtype", "type",
)  # fmt: skip

# Attributes that arrays lack: those listed in docs/arrays.md, and those that only NumPy's own classes
# need.
LACKING = {
    *(
        "byteswap",
        "ctypes",
        "data",
        "dump",
        "dumps",
        "flat",
        "getfield",
        "resize",
        "setfield",
        "tofile",
    ),
    *("__array_finalize__", "__array_struct__", "__array_wrap__"),
    "__setstate__",
}


@pytest.mark.parametrize("name", COMPUTABLE)
def test_attributes_of_dtypes_match_numpy(name):
    ours = sw.dtype(name)
    theirs = np.dtype(ours.dtype)
    for attribute in DTYPE_ATTRIBUTES:
        assert getattr(ours, attribute) == getattr(theirs, attribute), attribute
    assert ours.base is ours
    assert ours.type(1) == 1
    assert np.issubdtype(ours, theirs.type)


def test_every_attribute_of_numpys_dtypes_exists():
    public = {name for name in dir(np.dtype) if not name.startswith("_")}
    assert {name for name in public if not hasattr(sw.float32, name)} == set()


def test_every_attribute_of_numpys_arrays_exists_or_is_documented():
    # A single underscore marks private attributes of NumPy, such as _set_shape() since 2.4.
    names = {name for name in dir(np.ndarray) if not name.startswith("_") or name.startswith("__")}
    lacking = {name for name in names if not hasattr(sw.Array, name)}
    assert lacking - LACKING == set()
    assert {name for name in LACKING if hasattr(sw.Array, name)} == set()


def test_newbyteorder_returns_native_dtypes_or_numpys():
    assert sw.int32.newbyteorder("=") is sw.int32
    assert sw.int32.newbyteorder("<") is sw.int32
    assert sw.int32.newbyteorder() == np.dtype(">i4")
    assert sw.uint8.newbyteorder(">") is sw.uint8


def test_numpy_attributes_of_bfloat16_raise_without_ml_dtypes():
    program = """
        import sys
        sys.modules["ml_dtypes"] = None
        import spanwise as sw
        assert not hasattr(sw.bfloat16, "type")
        try:
            sw.bfloat16.str
        except AttributeError as error:
            assert "install ml_dtypes" in str(error), error
        assert (sw.bfloat16.ndim, sw.bfloat16.names, sw.bfloat16.kind) == (0, None, "V")
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)


def test_numpy_reads_bfloat16_before_ml_dtypes_is_imported():
    pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    program = """
        import sys
        import numpy as np
        import spanwise as sw
        a = sw.asarray([1.5, -2.0], dtype="bfloat16", device="cpu")
        assert "ml_dtypes" not in sys.modules
        for host in (np.asarray(a), np.array(a)):
            assert host.dtype.name == "bfloat16" and host.tolist() == [1.5, -2.0], host
        np.asarray(a)[0] = 4.0
        assert a.tolist() == [4.0, -2.0]
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)


def test_choose_and_searchsorted_methods_match_numpy(device):
    indices = sw.array([1, 0, 2, 1], device=device)
    choices = [[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]]
    assert_same(indices.choose(choices), indices.numpy().choose(choices))
    assert_same((indices * 2).choose(choices, mode="clip"), np.array([20, 1, 22, 23]))
    line = np.array([1.0, 2.0, 2.0, 5.0])
    ours = sw.array(line, device=device)
    assert_same(ours.searchsorted([2.0, 3.0]), line.searchsorted([2.0, 3.0]))
    assert_same(ours.searchsorted(2.0, side="right"), np.asarray(line.searchsorted(2.0, "right")))


@pytest.mark.parametrize("dtype", ["bool", "int8", "float32", "complex64"])
@pytest.mark.parametrize("options", [{}, {"offset": 1}, {"offset": -1, "axis1": 2, "axis2": 0}])
def test_trace_matches_numpy(device, dtype, options):
    values = numbers((3, 4, 5), dtype, 2)
    ours = sw.array(values, device=device)
    for result in (ours.trace(**options), sw.trace(ours, **options), np.trace(ours, **options)):
        assert_same(result, np.asarray(values.trace(**options)))
    assert_same(ours[0].trace(dtype="complex128"), np.asarray(values[0].trace(dtype="complex128")))
    out = sw.zeros(4, device=device) if dtype != "complex64" else sw.zeros(4, dtype, device=device)
    assert ours.trace(0, 0, 2, out=out) is out
    assert_same(out.astype(dtype), values.trace(0, 0, 2).astype(dtype))


def test_setflags_clears_write_and_raises_for_flags_it_cannot_set(device):
    a = sw.zeros(3, device=device)
    a.setflags()
    a.setflags(write=True, align=True, uic=False)
    assert a.flags.writeable
    a.setflags(write=False)
    assert not a.flags.writeable
    with pytest.raises(ValueError, match=r"a\.copy\(\)"):
        a.setflags(write=1)
    with pytest.raises(ValueError, match="WRITEBACKIFCOPY"):
        a.setflags(uic=True)
    odd = sw.asarray(np.zeros(9, "uint8")[1:], device="cpu").view("float64")
    if not odd.flags.aligned:
        with pytest.raises(ValueError, match="aligned"):
            odd.setflags(align=True)


@pytest.mark.parametrize("order", ["C", "F", "A"])
@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "complex128", "bfloat16"])
def test_tobytes_follows_the_order_for_any_layout(device, dtype, order):
    if dtype not in COMPUTABLE:
        pytest.skip("ml_dtypes is not installed")
    values = numbers((3, 4), dtype, 6)[::-1, ::2]
    ours = sw.array(numbers((3, 4), dtype, 6), device=device)[::-1, ::2]
    assert ours.tobytes(order) == values.tobytes(order)
    assert ours.T.tobytes(order=order) == values.T.tobytes(order)
    assert ours[:0].tobytes() == b""
    assert ours[0, 0].tobytes() == values[0, 0].tobytes()


def test_pillow_reads_arrays_of_any_strides():
    image = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    values = numbers((4, 5, 3), "uint8", 3)
    a = sw.array(values, device="cpu")
    for view, oracle in ((a, values), (a[::-1], values[::-1]), (a[:, ::2], values[:, ::2])):
        assert (np.asarray(image.fromarray(view)) == oracle).all()


def test_array_priority_equals_that_of_numpy(device):
    assert sw.zeros(1, device=device).__array_priority__ == np.zeros(1).__array_priority__ == 0.0
