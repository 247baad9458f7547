# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Devices in a graph: transfers, contexts, and where results are. On a machine without two GPUs the
second device is cpu:1, the same processor under another name."""

import numpy as np
import pytest
from support.graphs import op_names, second_device

import spanwise as sw

T = sw.tensor


@pytest.fixture
def other_device(device):
    return second_device(device)


def text(x):
    return sw.printing.debugprint(x, file="str")


def ones(*shape):
    return np.ones(shape, "float32")


def test_second_cpu_name_is_a_separate_device():
    a = sw.ones((2, 3), dtype="float32", device="cpu:1")
    assert a.device == "cpu:1" and str(a.device) == "cpu:1" and a.device != "cpu"
    b = a.to("cpu")
    assert b.device == "cpu" and b.ptr != a.ptr and np.array_equal(b, ones(2, 3))
    assert b.to("cpu:1").device == "cpu:1"
    assert np.array_equal(a.numpy(), ones(2, 3)) and (a + a).device == "cpu:1"
    assert np.array_equal(a.T.to("cpu"), ones(3, 2))
    assert np.from_dlpack(a).shape == (2, 3)
    with pytest.raises(sw.DeviceError, match="cpu:99"):
        sw.ones(2, device="cpu:99")


def test_context_names_are_devices_inside_using(device):
    with sw.using(f"dev0->{device};dev1->cpu:1"):
        assert sw.device("dev0") == device and sw.device("dev1") == "cpu:1"
        assert sw.zeros(2, device="dev1").device == "cpu:1"
        w = sw.shared(ones(2, 2), target="dev1")
        assert repr(w) == "<TensorType(float32, matrix, cpu:1)>"
        with sw.using("dev1->cpu"):
            assert sw.device("dev1") == "cpu" and sw.device("dev0") == device
        assert sw.device("dev1") == "cpu:1"
        with pytest.raises(ValueError, match="contexts dev0, dev1"):
            sw.device("dev2")
    with pytest.raises(ValueError, match="sw.using"):
        sw.device("dev0")
    assert sw.config.contexts == ""


@pytest.mark.parametrize(
    "contexts", ["dev0", "cpu->cuda:0", "cuda:3->cpu", "dev0->nowhere", "->cpu"]
)
def test_invalid_contexts_raise(contexts):
    with pytest.raises(ValueError, match="contexts"), sw.using(contexts):
        pass


def test_transfer_is_printed_before_the_graph_is_compiled(other_device):
    a = T.fmatrix()
    assert text(a.transfer(other_device)) == (
        f"Transfer{{{other_device}}} [id A] ''   \n |<TensorType(float32, matrix)> [id B]\n"
    )


def test_transfer_to_a_device_and_back_prints_both_transfers(device, other_device):
    a = T.tensor("float32", (None, None), "a", device=device)
    f = sw.function([a], (sw.square(a.transfer(other_device))).transfer(device), device=device)
    assert text(f) == (
        f"Transfer{{{device}}} [id A] ''   2\n"
        " |Square [id B] ''   1\n"
        f"   |Transfer{{{other_device}}} [id C] ''   0\n"
        "     |a [id D]\n"
    )
    result = f(ones(2, 2) * 3)
    assert result.device == device and np.array_equal(result, ones(2, 2) * 9)


def test_a_result_left_on_the_device_needs_no_transfer_back(device, other_device):
    a = T.tensor("float32", (None, None), "a", device=device)
    f = sw.function([a], sw.square(a.transfer(other_device)), device=device)
    assert text(f) == (
        f"Square [id A] ''   1\n |Transfer{{{other_device}}} [id B] ''   0\n   |a [id C]\n"
    )
    assert f(ones(2, 2)).device == other_device


def test_transfer_to_the_same_device_is_removed(device):
    a = T.tensor("float32", (None, None), device=device)
    assert a.transfer(device) is a
    b = T.fmatrix("b")
    assert op_names(sw.function([b], sw.square(b.transfer(device)), device=device)) == ["Square"]


def test_host_operand_is_transferred_once_for_all_ops(device, other_device):
    x = T.tensor("float32", (None,), "x", device="cpu")
    w = sw.shared(ones(3), "w", target=other_device)
    y = x * w
    assert y.type.device == other_device, "host memory moves to the other device"
    f = sw.function([x], [y, y + x], device=device)
    assert op_names(f).count(f"Transfer{{{other_device}}}") == 1, "one transfer for both nodes"
    first, second = f([1, 2, 3])
    assert first.device == other_device and second.tolist() == [2, 4, 6]


def test_operands_on_two_devices_raise_unless_transferred():
    x = T.tensor("float32", (None,), "x", device="cpu:1")
    y = T.tensor("float32", (None,), "y", device="cpu:2")
    with pytest.raises(sw.GraphError, match="cpu:1 and on cpu:2.*transfer"):
        x + y
    z = x + y.transfer("cpu:1")
    assert sw.function([x, y], z)([1], [2]).device == "cpu:1"


def test_host_integer_needs_no_transfer(device):
    n = sw.shared(3)
    x = T.tensor("float32", (None,), "x", device=device)
    f = sw.function([x], x * n, device=device)
    assert op_names(f) == ["Multiply"] and f([1, 2]).tolist() == [3, 6]


def test_superfluous_transfers_are_removed(device, other_device):
    x = T.tensor("float32", (None,), "x", device=device)
    f = sw.function([x], x.transfer(other_device).transfer(device) + 1, device=device)
    assert op_names(f) == ["Add"] and f([1]).tolist() == [2]
    g = sw.function([x], x.transfer("cpu:3").transfer(other_device), device=device)
    assert op_names(g) == [f"Transfer{{{other_device}}}"]


def test_updates_are_moved_to_the_variables_device(device, other_device):
    w = sw.shared(ones(2), "w", target=other_device)
    x = T.tensor("float32", (None,), "x", device=device)
    f = sw.function([x], updates={w: x}, device=device)
    f([4, 5])
    assert w.get_value().device == other_device and w.get_value().tolist() == [4, 5]
    sw.function([], updates={w: w * 2}, device=device)()
    assert w.get_value().tolist() == [8, 10]


def test_python_ops_get_inputs_on_their_device(device, other_device):
    seen = []

    class RecordsDevices(sw.Op):
        def make_node(self, x, y):
            return sw.Apply(self, [x, y], [x.type()])

        def perform(self, node, inputs, output_storage):
            seen.extend(str(value.device) for value in inputs)
            output_storage[0][0] = inputs[0] + inputs[1]

    x = T.tensor("float32", (None,), "x", device=other_device)
    y = T.fvector("y")
    assert sw.function([x, y], RecordsDevices()(x, y), device=device)([1], [2]).tolist() == [3]
    assert seen == [str(other_device)] * 2


def test_products_on_two_contexts_stay_on_their_devices(device, other_device):
    with sw.using(f"dev0->{device};dev1->{other_device}"):
        v0 = sw.shared(ones(8, 8), target="dev0")
        v1 = sw.shared(ones(8, 8), target="dev1")
        f = sw.function([], [v0 @ v0, v1 @ v1])
    first, second = f()
    assert first.device == device and second.device == other_device
    assert np.array_equal(first, ones(8, 8) * 8) and np.array_equal(second, ones(8, 8) * 8)
    second.sync()
