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


def set_item(target, key):
    target[key] = 1


KERNEL = "__global__ void f(float *x, int n) {}"
#: What is done with an object whose __index__ raises.
INDEXED = {
    "item": lambda i: sw.zeros(3)[i],
    "slice": lambda i: sw.zeros(3)[i:],
    "end of a slice": lambda i: sw.zeros((3, 3))[1, :i],
    "step of a slice": lambda i: sw.zeros(3)[::i],
    "slice beside an array": lambda i: sw.zeros((3, 3))[[0, 1], i:],
    "assignment": lambda i: set_item(sw.zeros((3, 3)), (slice(i, None), 1)),
    "variable": lambda i: sw.tensor.dvector("x")[i:],
    "shape": lambda i: sw.zeros((2, i)),
    "reshape": lambda i: sw.zeros(4).reshape(2, i),
    "axis": lambda i: sw.zeros((2, 2)).sum(axis=i),
    "axes": lambda i: sw.zeros((2, 2)).transpose(0, i),
    "block": lambda i: launch(block=i),
    "blocks": lambda i: launch(block=(1, i)),
    "grid": lambda i: launch(block=1, grid=[i]),
    "shared": lambda i: launch(block=1, shared=i),
    "kernel argument": lambda i: launch(i, block=1),
    "shape of an interface": lambda i: sw.asarray(Described(shape=(i,))),
    "address of an interface": lambda i: sw.asarray(Described(data=(i, False))),
}


class Described:
    def __init__(self, **entries):
        self.__array_interface__ = {
            "shape": (0,), "typestr": "<f4", "data": (64, False), "version": 3, **entries,
        }  # fmt: skip


def launch(n=1, **options):
    kernel = sw.SourceModule(KERNEL, device="cpu").get_function("f")
    kernel(sw.zeros(1, "float32", device="cpu"), n, **options)


@pytest.mark.parametrize("error", [ValueError, LookupError, KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("name", INDEXED)
def test_exception_of_an_index_reaches_the_caller_unchanged(name, error):
    class Broken:
        def __index__(self):
            raise error("mine")

    with pytest.raises(error, match="mine"):
        INDEXED[name](Broken())


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
