# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The exception classes: their built-in bases, which programs already catch, pickling, and
exceptions of Python objects that pass through C++."""

import pickle
import re

import numpy as np
import pytest
from support.tree import ROOT

import spanwise as sw

BASES = {
    "Error": (Exception,),
    "ArgumentError": (sw.Error, ValueError),
    "LayoutError": (sw.Error, ValueError),
    "BoundsError": (sw.Error, IndexError),
    "DTypeError": (sw.Error, TypeError),
    "CopyNeededError": (sw.Error, ValueError, BufferError),
    "ReadOnlyError": (sw.Error, ValueError),
    "BridgeError": (sw.Error, TypeError),
    "KernelArgumentError": (sw.Error, TypeError),
    "CompileError": (sw.Error,),
    "DeviceError": (sw.Error,),
    "OutOfMemoryError": (sw.DeviceError, MemoryError),
    "GraphError": (sw.Error,),
    "NotSupportedError": (sw.Error, NotImplementedError),
}


@pytest.mark.parametrize("name", BASES)
def test_error_class_has_its_bases_name_and_docstring_and_can_be_pickled(name):
    error_class = getattr(sw, name)
    assert error_class.__bases__ == BASES[name]
    assert (error_class.__module__, error_class.__qualname__) == ("spanwise", name)
    assert error_class.__doc__
    error = pickle.loads(pickle.dumps(error_class("what went wrong")))
    assert type(error) is error_class
    assert str(error) == "what went wrong"
    # tblib, which Dask's workers use, makes exceptions by __new__ without __init__.
    uninitialised = error_class.__new__(error_class, "what went wrong")
    assert type(uninitialised) is error_class and uninitialised.args == ("what went wrong",)


# A call that raises each class, for the classes whose error needs no GPU and no compiler.
RAISING_CALLS = {
    "ArgumentError": lambda: sw.device("abacus"),
    "LayoutError": lambda: sw.zeros((2, 3)).reshape(7),
    "BoundsError": lambda: sw.zeros(3)[3],
    "DTypeError": lambda: sw.dtype("float31"),
    "CopyNeededError": lambda: sw.zeros((2, 3)).T.reshape(6, copy=False),
    "ReadOnlyError": lambda: sw.copyto(np.broadcast_to(np.zeros(1), (3,)), 1),
    "BridgeError": lambda: sw.asarray(object()),
    "DeviceError": lambda: sw.zeros(2, device="cuda:99"),
    "OutOfMemoryError": lambda: sw.empty(2**61, "uint8", device="cpu"),
    "NotSupportedError": lambda: sw.random.default_rng(1, device="cpu").shuffle([1, 2], axis=1),
}


@pytest.mark.parametrize("name", RAISING_CALLS)
def test_call_raises_its_error_class_itself_and_a_sentence(name):
    with pytest.raises(sw.Error) as caught:
        RAISING_CALLS[name]()
    assert type(caught.value) is getattr(sw, name)
    assert len(str(caught.value)) > 20  # a sentence, not only a name


def test_a_device_error_has_the_drivers_code_and_name():
    with pytest.raises(sw.DeviceError) as caught:
        sw.zeros(2, device="cuda:99")
    assert isinstance(caught.value.code, int)
    assert isinstance(caught.value.name, str)
    assert (sw.DeviceError("raised in Python").code, sw.DeviceError("x").name) == (0, "")
    assert (sw.CompileError("raised in Python").log, sw.CompileError("x").source) == ("", "")


def test_exception_in_a_method_of_an_argument_reaches_the_caller_unchanged():
    class Broken:
        @property
        def __array_interface__(self):
            raise ZeroDivisionError("mine")

        def __index__(self):
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        sw.zeros(3)[Broken()]
    with pytest.raises(ZeroDivisionError, match="mine"):
        sw.zeros((Broken(), 2))


@pytest.mark.parametrize(
    "refused",
    [
        lambda a: sw.SourceModule("__global__ void f(float* x) {}", device="cpu").get_function("f")(
            a, block=1, grid=1
        ),
        lambda a: sw.copyto(sw.broadcast_to(a[:, :1], (2, 2)), 1),
        lambda a: a.view("float64"),
    ],
    ids=["a raw pointer", "a read-only array", "a view"],
)
def test_errors_show_strides_in_bytes_as_the_attribute_does(refused):
    a = sw.asarray(np.zeros((2, 3), "float32"), device="cpu")[:, ::2]
    with pytest.raises(sw.Error) as caught:
        refused(a)
    message = str(caught.value)
    assert "(12, 8)" in message or "(12, 0)" in message, message
    assert "(3, 2)" not in message and "which is read-only" not in message


def test_page_of_errors_lists_every_class():
    page = (ROOT / "docs" / "errors.md").read_text()
    listed = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    classes = {n for n in dir(sw) if isinstance(getattr(sw, n), type)}
    classes = {n for n in classes if issubclass(getattr(sw, n), sw.Error)}
    assert listed == classes - {"Error"}
