# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""sw.tvm_ffi_op, sw.TvmFfiOp, and arrays passed to functions of tvm-ffi."""

import gc
import sys

import numpy as np
import pytest

import spanwise as sw

from .framework_ops import cube, scale_rows

tvm_ffi = pytest.importorskip("tvm_ffi")
T = sw.tensor


def tensor(array):
    return tvm_ffi.from_dlpack(array)


def poisoned(shape, dtype, device):
    return sw.full(shape, np.nan, dtype=dtype, device=device)


def values(x):
    return sw.asarray(x).to("cpu").numpy()


def test_op_makes_tensors_and_writes_into_those_that_are_passed(device):
    function = sw.tvm_ffi_op(scale_rows())
    assert isinstance(function, tvm_ffi.Function)
    rng = np.random.default_rng(0)
    for dtype in ("float32", "float64"):
        x, by = rng.standard_normal((3, 5)).astype(dtype), rng.standard_normal(3).astype(dtype)
        ours = sw.array(x, device=device), sw.array(by, device=device)
        result = function(*ours)
        assert isinstance(result, sw.Array) and result.shape == (3, 5)
        assert isinstance(function(*map(tensor, ours)), tvm_ffi.Tensor)
        np.testing.assert_array_equal(values(result), x * by[:, None])
        strided = sw.array(x[::-1].copy(), device=device)[::-1]
        out = poisoned((5, 3), dtype, device).T
        assert function(tensor(strided), tensor(ours[1]), tensor(out)) is None
        np.testing.assert_array_equal(values(out), x * by[:, None])


def test_several_outputs_and_a_name_that_others_find(device):
    function = sw.tvm_ffi_op(lambda x, y: (x * y, T.sum(x - y)), outputs=2, name="both")
    tvm_ffi.register_global_func("spanwise.test_both", function)
    try:
        found = tvm_ffi.get_global_func("spanwise.test_both")
        x, y = sw.arange(4.0, device=device), sw.full((4,), 3.0, device=device)
        product, total = found(x, y)
        np.testing.assert_array_equal(values(product), [0, 3, 6, 9])
        assert values(total) == -6 and total.shape == ()
        outs = poisoned((4,), "float64", device), poisoned((), "float64", device)
        found(x, y, *outs)
        np.testing.assert_array_equal(values(outs[0]), [0, 3, 6, 9])
        assert values(outs[1]) == -6
    finally:
        tvm_ffi.remove_global_func("spanwise.test_both")


def test_errors_of_the_op_reach_the_caller():
    function = sw.tvm_ffi_op(cube())
    x = tensor(np.arange(3.0))
    with pytest.raises(RuntimeError, match="tvm_ffi_op: cube: expected 1 tensors, or 1 and 1 for"):
        function(x, x, x)
    with pytest.raises(RuntimeError, match="cube"):
        function(tensor(np.zeros((2, 2))))
    with pytest.raises(
        RuntimeError, match=r"expected a tensor of float64 \(3,\) for an output, got float64 \(4,\)"
    ):
        function(x, tensor(np.zeros(4)))
    with pytest.raises(TypeError, match="tvm_ffi_op: expected an op"):
        sw.tvm_ffi_op(3)


def test_result_keeps_its_memory_and_inputs_are_released():
    function = sw.tvm_ffi_op(lambda x: x + 1)
    x = sw.arange(1000.0, device="cpu")
    held = sys.getrefcount(x)
    result = function(x)
    view = np.from_dlpack(result)
    del result
    gc.collect()
    np.testing.assert_array_equal(view, np.arange(1000.0) + 1)
    assert sys.getrefcount(x) == held


def increment(x, out):
    sw.copyto(sw.from_dlpack(out), sw.from_dlpack(x) + 1)


def test_function_is_an_op_of_a_graph(device):
    op = sw.TvmFfiOp(tvm_ffi.convert(increment), grad=lambda inputs, g: [g[0]])
    x = T.dmatrix("x")
    f = sw.function([x], [op(x * 2), T.grad((op(x * x)).sum(), x)], device=device)
    value = np.random.default_rng(0).standard_normal((3, 4))
    result, derivative = f(value)
    np.testing.assert_array_equal(values(result), value * 2 + 1)
    np.testing.assert_array_equal(values(derivative), 2 * value)
    assert str(result.device) == str(device)


def test_outputs_of_a_function_have_declared_types_and_shapes(device):
    def sums_of_rows(x, by, rows, first):
        array = sw.from_dlpack(x) * sw.from_dlpack(by)
        sw.copyto(sw.from_dlpack(rows), sw.sum(array, axis=1))
        sw.copyto(sw.from_dlpack(first), array[0].astype("float32"))

    op = sw.TvmFfiOp(
        tvm_ffi.convert(sums_of_rows),
        outputs=lambda x, by: [T.TensorType(x.dtype, (None,))(), T.fvector()],
        shapes=lambda x, by: [(x[0],), (x[1],)],
    )
    x, by = T.dmatrix("x"), T.dscalar("by")
    f = sw.function([x, by], op(x, by), device=device)
    value = np.arange(6.0).reshape(2, 3)
    rows, first = f(value, 2.0)
    np.testing.assert_array_equal(values(rows), [6, 24])
    np.testing.assert_array_equal(values(first), np.float32([0, 2, 4]))
    with pytest.raises(sw.GraphError, match="TvmFfiOp: has no gradient; pass grad="):
        T.grad(op(x, by)[0].sum(), x)


def test_read_only_input_is_copied_for_a_function_that_might_write():
    seen = []

    def overwrite(x, out):
        np.from_dlpack(x)[...] = -1
        np.from_dlpack(out)[...] = 5
        seen.append(1)

    value = np.arange(3.0)
    value.flags.writeable = False
    op = sw.TvmFfiOp(tvm_ffi.convert(overwrite))
    x = T.dvector()
    result = sw.function([x], op(x), device="cpu")(value)
    np.testing.assert_array_equal(values(result), 5)
    np.testing.assert_array_equal(value, [0, 1, 2])
    with pytest.raises(sw.CopyNeededError, match="read-only"):
        tvm_ffi.convert(overwrite)(sw.asarray(value), sw.zeros(3))
    assert seen == [1]
