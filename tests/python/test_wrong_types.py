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
    ("call", "message"),
    [
        (
            lambda: sw.tensor.fvector(5),
            r"fvector: expected a name, got 5; fvectors\(\.\.\.\) makes several variables",
        ),
        (
            lambda: sw.TensorType(3),
            r"TensorType: expected \(dtype: .*, shape: .*\), got 3 of type int",
        ),
        (
            lambda: sw.Event("cpu"),
            r"Event: expected \(timing: bool = False\), got 'cpu' of type str",
        ),
        (
            lambda: sw.explain(1),
            r"explain: expected \(x: object, library: str\), got 1 of type int",
        ),
        (lambda: sw.explain(x=1, to="numpy"), r"got x=1 of type int, to='numpy' of type str"),
        (lambda: sw.bridges(1), r"bridges: expected \(\), got 1 of type int"),
        (lambda: sw.Stream.foreign(), r"foreign: expected \(stream: .*\), got no arguments"),
        (lambda: sw.shared(1.0, name=3), r"shared: expected \(value: .*\), got .*3 of type int"),
        (
            lambda: sw.Event().elapsed("x" * 100),
            r"Event\.elapsed: .*, got 'x{59}\.\.\. of type str$",
        ),
    ],
)
def test_refused_calls_name_the_function_the_parameters_and_the_arguments(call, message):
    with pytest.raises(TypeError, match=message) as raised:
        call()
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("dtype", ["float16", "f2", sw.float32, np.int8, float, np.dtype("uint8")])
def test_a_dtype_is_no_device(dtype):
    name = str(sw.dtype(dtype))
    for call in (sw.zeros(3).to, lambda dtype: sw.zeros(3, device=dtype)):
        with pytest.raises(
            ValueError, match=rf'device: .*got the dtype {name}; .*astype\("{name}"\)'
        ):
            call(dtype)


def test_numbers_are_not_converted_without_a_copy():
    for number in (np.float32(3), 3, [1, 2]):
        with pytest.raises(sw.CopyNeededError, match=r"copyif=True\), or make an array of"):
            sw.convert(number, "torch")


def test_clip_takes_the_names_of_numpys_limits(device):
    x = sw.arange(5, device=device)
    assert sw.clip(x, a_min=2).tolist() == [2, 2, 2, 3, 4]
    assert sw.clip(x, a_max=2).tolist() == [0, 1, 2, 2, 2]
    assert sw.clip(x, a_min=1, a_max=2).tolist() == x.clip(1, 2).tolist() == [1, 1, 2, 2, 2]
    with pytest.raises(ValueError, match="got both"):
        sw.clip(x, 1, a_max=2)


@pytest.mark.parametrize(
    ("caller", "call"),
    [
        ("clip", lambda x: sw.clip(x, foo=1)),
        ("clip", lambda x: sw.clip(x, 1, foo=1)),
        ("clip", lambda x: sw.clip(x, None, 1, foo=1)),
        ("clip", lambda x: x.clip(0, 1, foo=1)),
        ("divmod", lambda x: sw.divmod(x, 2, foo=1)),
    ],
)
def test_functions_of_several_ufuncs_name_themselves_for_an_unknown_argument(caller, call):
    with pytest.raises(TypeError, match=rf"^{caller}\(\) has no argument 'foo'; it has .*where"):
        call(sw.arange(3))


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
