# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Ops of loaded libraries: errors of ops, and ops that break the contract."""

import numpy as np
import pytest

import spanwise as sw

T = sw.tensor


def cpu_function(inputs, outputs, **options):
    return sw.function(inputs, outputs, device="cpu", **options)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("unknown input", "badly_lazy.*names input 7; expected 0 to 0"),
        ("no request", "badly_lazy.*requested no inputs, yet has not set"),
        ("kernel on a missing input", "badly_lazy.*an array that this call did not give"),
    ],
)
def test_invalid_request_of_a_lazy_op_raises(gnu, fault, message):
    x = T.dvector("x")
    f = cpu_function([x], gnu.badly_lazy(x + 1, fault=fault))
    with pytest.raises(sw.Error, match=message):
        f([1, 2])


def test_request_without_missing_inputs_raises(gnu):
    x = T.dvector("x")
    with pytest.raises(
        sw.GraphError, match="greedy.*requests input 0, and all are computed.*SW_LAZY"
    ):
        cpu_function([x], gnu.greedy(x))([1])


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({}, "expected a property shape, a list of integers: give it by keyword"),
        ({"shape": 3}, "property shape: expected a list of integers, got 3"),
        ({"shape": [], "axis": 1.5}, "property axis: expected an integer, got 1.5"),
        ({"shape": [], "flag": 1}, "property flag: expected a bool, got 1"),
        ({"shape": [], "axe": 1}, "has no property axe; its properties are flag, axis, factor"),
    ],
)
def test_property_of_another_kind_or_name_raises(gnu, properties, message):
    with pytest.raises(sw.ArgumentError, match=f"^gnu.show_properties: {message}"):
        gnu.show_properties(T.dvector(), **properties)


@pytest.mark.parametrize("where", ["create", "infer", "bind", "run"])
@pytest.mark.parametrize(
    ("exception", "error", "text"),
    [
        ("plug-in error", sw.LayoutError, "thrown by a test"),
        ("runtime_error", sw.GraphError, "thrown by a test"),
        ("invalid_argument", sw.ArgumentError, "thrown by a test"),
        ("bad_alloc", sw.OutOfMemoryError, "no memory left"),
        ("int", sw.GraphError, "no std::exception"),
    ],
)
def test_exception_of_an_op_becomes_an_error_of_its_type(ops, where, exception, error, text):
    x = T.dvector("x")

    def build_and_call():
        f = cpu_function([x], ops.throw(x, where=where, exception=exception))
        f([1.0, 2.0])

    with pytest.raises(error, match=text) as caught:
        build_and_call()
    message = str(caught.value)
    assert message.startswith(f"{ops.__name__}.throw{{")
    if where in ("bind", "run"):  # the error names the node
        assert f"Apply node that caused the error: {ops.__name__}.throw" in message
        assert "Created at" in message


def test_after_an_error_a_function_can_be_called_again(gnu):
    x = T.dvector("x")
    wrong, right = gnu.wrong(x, fault="another shape"), gnu.increment(x)
    f = cpu_function([x], [right, wrong])
    for _ in range(2):
        with pytest.raises(sw.GraphError, match="does not fit its type"):
            f([1.0, 2.0, 3.0])
    assert cpu_function([x], right)([1.0]) == [2.0]


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("computes nothing", "output 0 was not computed"),
        ("negative extent", "negative"),
        ("another shape", "does not fit its type"),
        ("output 1", "names output 1; expected 0 to 0"),
        ("infers in run", "calls set_output_type outside of infer"),
        ("infers nothing", "infer set no type for output 0"),
        ("infers output 1", "says the type of output 1; expected 0 to 0"),
    ],
)
def test_op_that_breaks_the_contract_raises(gnu, fault, message):
    x = T.dvector("x")
    with pytest.raises(sw.Error, match=message):
        cpu_function([x], gnu.wrong(x, fault=fault))([1.0])


@pytest.mark.parametrize(
    ("fault", "error", "message"),
    [
        ("text", sw.CompileError, "axpy"),
        ("name", sw.ArgumentError, "axpi"),
        ("count", sw.KernelArgumentError, "axpy"),
        ("real for an integer", sw.KernelArgumentError, "axpy"),
        ("array of no call", sw.ArgumentError, "an array that this call did not give"),
    ],
)
def test_invalid_kernel_call_of_an_op_raises(gnu, device, fault, error, message):
    x, y = T.fmatrix("x"), T.fvector("y")

    def build_and_call():
        f = sw.function([x, y], gnu.axpy(x, y, fault=fault), device=device)
        f(np.ones((2, 3), np.float32), np.ones(3, np.float32))

    with pytest.raises(error, match=message):
        build_and_call()
