# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Element bodies: kernel_op with the text of one element, as in CuPy's or PyCUDA's ElementwiseKernel,
and Python ops with an element_body. They run alone, and fused with elementwise operations."""

import pickle

import numpy as np
import pytest
from support.arrays import eighths
from support.graphs import op_names

import spanwise as sw

T = sw.tensor


def composites(f):
    return [name for name in op_names(f) if name.startswith("Composite")]


@pytest.fixture
def squares():
    return sw.kernel_op(
        "squares", "z = (x - y) * (x - y)", "T x, T y", "T z", grad=lambda i, g: [None, None]
    )


def huber():
    """Huber's function with its derivative."""
    slope = sw.kernel_op(
        "huber_slope",
        "dx = dy * (fabs((double)x) < 1 ? x : (x > 0 ? 1 : -1))",
        "T x, T dy",
        "T dx",
    )
    return sw.kernel_op(
        "huber",
        "T a = magnitude(x); if (a < 1) y = half_square(x); else y = a - (T)0.5;",
        "T x",
        "T y",
        preamble="""
        #include <spanwise/view.cuh>
        __device__ T magnitude(T x) { return x < 0 ? -x : x; }
        __device__ T half_square(T x) { return x * x / 2; }
        """,
        grad={"x": slope},
    )


def expected_huber(x):
    return np.where(np.abs(x) < 1, x * x / 2, np.abs(x) - 0.5)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "uint8"])
@pytest.mark.parametrize("size", [0, 1, 255, 4099])
def test_element_body_alone_equals_numpy(squares, dtype, size, device):
    a, b = eighths(size, dtype), eighths(size, dtype, 1)
    x, y = T.tensor(dtype, (None,)), T.tensor(dtype, (None,))
    f = sw.function([x, y], squares(x, y), device=device)
    got = f(a[::-1], b)
    assert got.dtype == dtype
    wide = "float32" if dtype == "float16" else dtype  # float16 is computed in float32
    difference = a[::-1].astype(wide) - b.astype(wide)
    np.testing.assert_array_equal(got.numpy(), (difference * difference).astype(dtype))


def test_element_body_is_fused_with_operations_around_it(squares, device):
    x, y, s = T.fmatrix("x"), T.frow("y"), T.fscalar("s")
    outputs = [T.exp(-squares(x * 2, y) * s) + 1, squares(x + s, y) > 1]
    f = sw.function([x, y, s], outputs, device=device)
    assert len(op_names(f)) == 1 and "squares((i0 * " in composites(f)[0]
    plain = sw.function(
        [x, y, s], outputs, device=device, mode=sw.Mode("fast_run").excluding("fuse")
    )
    assert not composites(plain)
    for shape in ((1, 1), (3, 5), (70, 300), (0, 4)):
        a, b = eighths(shape), eighths((1, shape[1]), seed=2)
        for view in (a, np.asfortranarray(a), a[::-1]):
            for got, expected in zip(f(view, b, 0.25), plain(view, b, 0.25), strict=True):
                np.testing.assert_array_equal(got.numpy(), expected.numpy())
        p = (view * 2 - b) ** 2
        np.testing.assert_allclose(f(view, b, 0.25)[0].numpy(), np.exp(-p / 4) + 1, rtol=2e-6)


def test_open_extents_of_1_are_broadcast(squares, device):
    x, y = T.fvectors("x", "y")
    f = sw.function([x, y], squares(x + 1, y) * 2, device=device)
    a, b = eighths(9), eighths(1)
    for p, q in ((a, b), (b, a), (b, b), (a, a)):
        np.testing.assert_array_equal(f(p, q).numpy(), (p + 1 - q) ** 2 * 2)
    alone = sw.function([x, y], squares(x, y), device=device)
    np.testing.assert_array_equal(alone(a, b).numpy(), (a - b) ** 2)
    with pytest.raises(ValueError, match="squares|broadcast"):
        alone(a, eighths(4))


def test_body_may_use_a_preamble_and_return_and_has_a_gradient(device):
    op = huber()
    x = T.dvector("x")
    f = sw.function([x], [op(x) * 2, T.grad(op(x * 3).sum(), x)], device=device)
    values = np.linspace(-2, 2, 41) + 0.013
    got = f(values)
    np.testing.assert_allclose(got[0].numpy(), 2 * expected_huber(values), rtol=1e-14)
    np.testing.assert_allclose(got[1].numpy(), 3 * np.clip(values * 3, -1, 1), rtol=1e-14)
    sw.gradient.verify_grad(lambda v: op(v), [values])
    early = sw.kernel_op("early", "z = 0; if (x < 0) return; z = x;", "T x", "T z")
    g = sw.function([x], early(x) + 1, device=device)
    np.testing.assert_array_equal(g(values).numpy(), np.maximum(values, 0) + 1)


def test_body_with_several_outputs_computes_each_in_its_dtype(device):
    both = sw.kernel_op(
        "both", "s = x + y; d = x - y; less = x < y;", "T x, T y", "T s, float64 d, bool less"
    )
    x, y = T.fvectors("x", "y")
    f = sw.function(
        [x, y], [o * 2 if i < 2 else o for i, o in enumerate(both(x, y))], device=device
    )
    a, b = eighths(1000), eighths(1000, seed=1)
    s, d, less = f(a, b)
    assert (s.dtype, d.dtype, less.dtype) == ("float32", "float64", "bool")
    np.testing.assert_array_equal(s.numpy(), (a + b) * 2)
    np.testing.assert_array_equal(d.numpy(), (a - b).astype("float64") * 2)
    np.testing.assert_array_equal(less.numpy(), a < b)


def test_pointers_indexed_by_i_are_an_element_body(device):
    op = sw.kernel_op("scaled", "z[i] = a * x[i] + z0[i]", "float *z, float *x, float a, float *z0")
    x, y = T.fvectors("x", "y")
    f = sw.function([x, y], op(x, 3.0, y) * 2, device=device)
    a, b = eighths(77), eighths(77, seed=1)
    np.testing.assert_array_equal(f(a, b).numpy(), (3 * a + b) * 2)
    assert len(op_names(f)) == 1


def test_element_body_on_arrays_computes_immediately(squares, device):
    a, b = (sw.array(eighths(50, seed=i), device=device) for i in range(2))
    np.testing.assert_array_equal(squares(a, b).numpy(), (a.numpy() - b.numpy()) ** 2)
    np.testing.assert_array_equal(squares(a, 2).numpy(), (a.numpy() - 2) ** 2)


def test_op_and_function_survive_pickling():
    op = sw.kernel_op("cubed", "z = x * x * x", "T x", "T z")
    x = T.dvector("x")
    f = sw.function([x], op(x) + 1, device="cpu")
    op2, f2 = pickle.loads(pickle.dumps((op, f)))
    assert str(op2) == "cubed" and f2([2.0]).tolist() == [9.0]
    assert op2(x).owner.op == op(x).owner.op


class Plus(sw.Op):
    """x + y as an op in Python with an element body."""

    __props__ = ()
    element_body = ("T x, T y", "T z", "z = x + y")

    def make_node(self, x, y):
        return sw.Apply(self, [x, y], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0] + inputs[1]


def test_python_ops_with_a_body_are_fused(device):
    x, y = T.fvectors("x", "y")
    f = sw.function([x, y], T.sqrt(Plus()(x * x, y * y)), device=device)
    assert op_names(f) == ["Composite{sqrt(Plus((i0 * i0), (i1 * i1)))}"]
    a, b = eighths(300), eighths(300, seed=1)
    np.testing.assert_allclose(f(a, b).numpy(), np.hypot(a, b), rtol=1e-6)
    alone = sw.function([x, y], Plus()(x, y), device=device)
    assert op_names(alone) == ["Plus"]
    np.testing.assert_array_equal(alone(a, b).numpy(), a + b)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("z = x", "element_body must be"),
        (("T x", "T z", "z = x"), "1 inputs and 1 outputs, and the node 2 and 1"),
        (("raw T x, T y", "T z", "z = x[0]"), "whole array x"),
    ],
)
def test_wrong_element_body_of_a_python_op_raises(body, message):
    class Wrong(Plus):
        element_body = body

    x, y = T.fvectors("x", "y")
    with pytest.raises((sw.GraphError, sw.ArgumentError), match=message):
        sw.function([x, y], Wrong()(x * 2, y), device="cpu")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("z[i] = x[i + 1]", "float *z, float *x"), "uses the index i"),
        (("z = x + threadIdx.x", "T x", "T z"), "uses threadIdx"),
        (("z = i", "T x", "T z"), "the index i"),
        (("z = x", "raw T x", "T z"), "whole array x"),
        (("z = x", "T x", "S z"), "dtype S, which no input has"),
        (("z = x", "T x, T x", "T z"), "x"),
    ],
)
def test_wrong_declaration_raises(arguments, message):
    with pytest.raises(sw.ArgumentError, match=message):
        sw.kernel_op("wrong", *arguments)


def test_wrong_options_and_inputs_raise(squares):
    with pytest.raises(sw.ArgumentError, match="takes preamble= and grad="):
        sw.kernel_op("wrong", "z = x", "T x", "T z", grid=3)
    with pytest.raises(sw.ArgumentError, match="preamble= is for element bodies"):
        sw.kernel_op(
            "k",
            "__global__ void k(const float* x) {}",
            "x: contiguous float32[n]",
            preamble="int a;",
        )
    with pytest.raises(
        sw.DTypeError, match="input y: expected float32, as other inputs of dtype T"
    ):
        squares(T.fvector(), T.dvector())
    with pytest.raises(sw.DTypeError, match="complex64; pass the real"):
        squares(T.cvector(), T.cvector())


def test_errors_of_the_compiler_show_the_users_line(device):
    op = sw.kernel_op("unknown", "z = x;\nz = missing_name(x);", "T x", "T z")
    x = T.fvector("x")
    with pytest.raises(sw.CompileError, match=r"operation of unknown.2|missing_name"):
        sw.function([x], op(x) * 2, device=device)([1.0])


def test_bodies_whose_helpers_have_one_name_are_fused(device):
    """Each of the 17 preambles defines another helper(x)."""
    x = T.dvector("x")
    y = x
    for k in range(17):
        op = sw.kernel_op(
            f"step{k}",
            f"z = helper(x) + {k}",
            "T x",
            "T z",
            preamble=f"__device__ T helper(T x) {{ return x / {k + 1}; }}",
        )
        y = op(y)
    f = sw.function([x], y, device=device)
    assert len(op_names(f)) == 1
    values = eighths(20, "float64")
    expected = values
    for k in range(17):
        expected = expected / (k + 1) + k
    np.testing.assert_allclose(f(values).numpy(), expected, rtol=1e-14)
