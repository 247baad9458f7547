# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments of wrong types raise Python exceptions with Python's type names, in private functions
too."""

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest
from support.tree import ROOT

import spanwise as sw

core = sw._core


def test_hostile_calls_raise_python_errors_and_do_not_crash():
    program = (
        "import os, resource, sys\n"
        "from python import hostile_calls\n"
        # Random shapes must not fill the memory of the machine. Not RLIMIT_AS: CUDA reserves more address space than a machine has memory. No limit with
        # ASan, whose shadow memory counts as data.
        "if 'ASAN_OPTIONS' not in os.environ:\n"
        "    resource.setrlimit(resource.RLIMIT_DATA, (16 << 30, 16 << 30))\n"
        "sys.exit(hostile_calls.main())\n"
    )
    path = os.pathsep.join([str(ROOT / "tests"), *filter(None, sys.path)])
    completed = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-W", "ignore", "-c", program],
        env=dict(os.environ, PYTHONPATH=path),
        capture_output=True,
        text=True,
    )
    assert completed.returncode == 0, completed.stdout[-3000:] + completed.stderr[-3000:]


@pytest.mark.parametrize(
    ("name", "attribute"),
    [
        ("Stream", "device"),
        ("Event", "device"),
        ("Module", "device"),
        ("Apply", "op"),
        ("_OpHandle", "name"),
    ],
)
def test_attribute_of_an_uninitialised_object_raises(name, attribute):
    uninitialised = getattr(core, name).__new__(getattr(core, name))
    with pytest.raises(TypeError, match="was not initialised"):
        getattr(uninitialised, attribute)


@pytest.mark.parametrize(
    "call",
    [
        lambda counter: core._random_integers(counter, None, 0, 10),
        lambda counter: core._random_picks(counter, sw.empty(3, "int64", device="cpu"), "table"),
        lambda counter: core._random_permutation(counter, object(), 3),
        lambda counter: core._random_draw(counter, "normal", 1, 0.0, 1.0),
        lambda counter: core._order_use(sw.current_stream("cpu"), None, True),
    ],
)
def test_private_functions_reject_objects_that_are_not_arrays(call):
    with pytest.raises(
        TypeError, match=r"spanwise.Array|incompatible function arguments|is not an array"
    ):
        call(core._random_counter(1, 2, 3))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: sw.copyto(sw.ones(2), [1], casting=3),
            "casting: expected a str, got 3 of type int",
        ),
        (lambda: sw.ones(2).astype("f4", casting=3), "casting: expected a str"),
        (lambda: sw.concatenate([sw.ones(2)], dtype="f4", casting=3), "casting: expected a str"),
        (lambda: sw.tensor.TensorType("float32", (2**70,)), "extent: expected an int of 64 bits"),
        (lambda: sw.tensor.TensorType("float32", ("a",)), "extent: expected an int of 64 bits"),
        (
            lambda: sw.tensor.TensorType("float32", (-1, 3)),
            "extent -1; expected an extent >= 0, or None",
        ),
        (lambda: sw.tensor.as_variable(1.0, name=3), "name: expected a str, got 3 of type int"),
        (lambda: sw.Stream.foreign(2**70, "cuda:0"), r"from 0 to 2\*\*64 - 1, got"),
    ],
)
def test_conversion_errors_name_expected_and_actual_types(call, message):
    with pytest.raises((TypeError, sw.Error), match=message) as caught:
        call()
    assert "Unable to cast" not in str(caught.value)


@pytest.mark.parametrize(
    "function", [sw.ones, sw.empty, lambda shape: sw.tensor.TensorType("float32", shape)]
)
def test_an_infinite_iterable_as_a_shape_raises(function):
    with pytest.raises(sw.LayoutError, match=f"at most {core._max_rank} dimensions, got more"):
        function(itertools.count())


def test_an_exception_in_the_read_only_flag_is_raised():
    class Flag:
        def __bool__(self):
            raise ZeroDivisionError("of the flag")

    class Interface:
        values = np.ones(3)
        __array_interface__ = {
            "version": 3,
            "typestr": "<f8",
            "shape": (3,),
            "data": (values.ctypes.data, Flag()),
        }

    with pytest.raises(ZeroDivisionError, match="of the flag"):
        sw.asarray(Interface(), device="cpu")
