# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The ops of Theano's tutorials on PyCUDA and on using the GPU, with Spanwise's names."""

import numpy as np
import pytest

import spanwise as sw

T = sw.tensor


class PyCUDADoubleOp(sw.Op):
    """The op of the tutorial, whose make_thunk has four parameters and which defines equality itself."""

    def __eq__(self, other):
        return type(self) is type(other)

    def __hash__(self):
        return hash(type(self))

    def __str__(self):
        return self.__class__.__name__

    def make_node(self, inp):
        inp = sw.contiguous(sw.graph.as_variable(inp))
        assert inp.dtype == "float32"
        return sw.Apply(self, [inp], [inp.type()])

    def make_thunk(self, node, storage_map, _, _2):
        mod = sw.SourceModule("""
        __global__ void my_fct(float * i0, float * o0, int size) {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i < size) {
            o0[i] = i0[i] * 2;
          }
        }""")
        pycuda_fct = mod.get_function("my_fct")
        inputs = [storage_map[v] for v in node.inputs]
        outputs = [storage_map[v] for v in node.outputs]

        def thunk():
            z = outputs[0]
            if z[0] is None or z[0].shape != inputs[0][0].shape:
                z[0] = sw.zeros(inputs[0][0].shape, dtype="float32")
            grid = (int(np.ceil(inputs[0][0].size / 512.0)), 1)
            pycuda_fct(inputs[0][0], z[0], np.intc(inputs[0][0].size), block=(512, 1, 1), grid=grid)

        thunk.lazy = False
        return thunk


TWO_INPUTS = """
__global__ void both(const float *x, const float *y, float *o, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size) o[i] = x[i] * y[i];
}"""

TWO_OUTPUTS = """
__global__ void both(const float *x, const float *y, float *total, float *difference, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size) {
    total[i] = x[i] + y[i];
    difference[i] = x[i] - y[i];
  }
}"""


class KernelOp(sw.Op):
    """x and y, matrices of one shape, and as many outputs as the kernel writes."""

    __props__ = ("source", "outputs")

    def __init__(self, source, outputs):
        self.source = source
        self.outputs = outputs

    def make_node(self, x, y):
        x, y = sw.contiguous(x), sw.contiguous(y)
        return sw.Apply(self, [x, y], [x.type() for _ in range(self.outputs)])

    def make_thunk(self, node, storage_map, compute_map, no_recycling):
        both = sw.SourceModule(self.source).get_function("both")
        x, y = (storage_map[v] for v in node.inputs)
        outputs = [storage_map[v] for v in node.outputs]

        def thunk():
            for z in outputs:
                if z[0] is None or z[0].shape != x[0].shape:
                    z[0] = sw.empty(x[0].shape, dtype="float32")
            size = x[0].size
            arrays = [x[0], y[0], *(z[0] for z in outputs)]
            both(*arrays, np.intc(size), block=(512, 1, 1), grid=(-(-size // 512), 1))

        return thunk


strided_double = sw.kernel_op(
    "strided_double",
    """
    #include <spanwise/view.cuh>
    __global__ void strided_double(spanwise::View<const float, 2> x, float *y, int rows, int columns) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < rows * columns) y[i] = 2 * x(i / columns, i % columns);
    }""",
    inputs=["x: strided float32[rows, columns]"],
    outputs=["y: contiguous float32[rows, columns]"],
)


@pytest.fixture(params=["fast_run", "fast_compile", "debug"])
def mode(request):
    return request.param


@pytest.fixture
def matrices():
    rng = np.random.default_rng(7)
    return [rng.standard_normal((20, 10)).astype("float32") for _ in range(2)]


def test_op_of_the_tutorial_doubles_any_layout(device, mode, matrices):
    x = T.fmatrix("x")
    f = sw.function([x], PyCUDADoubleOp()(x), mode=mode, device=device)
    xv = np.ones((4, 5), dtype="float32")
    assert np.array_equal(f(xv), xv * 2)
    assert np.array_equal(f(matrices[0]), matrices[0] * 2)
    assert np.array_equal(f(matrices[0].T[::-1]), matrices[0].T[::-1] * 2)


def test_exercise_one_multiplies_two_matrices(device, mode, matrices):
    x, y = T.fmatrices("x", "y")
    f = sw.function([x, y], KernelOp(TWO_INPUTS, 1)(x, y), mode=mode, device=device)
    a, b = matrices
    assert np.array_equal(f(a, b), a * b)


def test_exercise_two_computes_sum_and_difference_in_one_kernel(device, mode, matrices):
    x, y = T.fmatrices("x", "y")
    f = sw.function([x, y], KernelOp(TWO_OUTPUTS, 2)(x, y), mode=mode, device=device)
    a, b = matrices
    total, difference = f(a, b)
    assert np.array_equal(total, a + b) and np.array_equal(difference, a - b)
    assert [str(n.op) for n in f.maker.fgraph.toposort()][-1].startswith("KernelOp")


def test_exercise_three_reads_a_strided_input_without_a_copy(device, mode, matrices):
    x = T.fmatrix("x")
    f = sw.function([x], strided_double(x), mode=mode, device=device)
    a = sw.asarray(matrices[0], device=device)
    for view in (a.T, a[::-2, 1::3], a[:, :1], a[5:5]):
        with sw.strict_copies():
            result = f(view)
        assert np.array_equal(result, view.numpy() * 2)


def test_shared_counter_of_the_tutorial_is_updated(device):
    with device:
        state = sw.shared(0)
        assert repr(state) == "<TensorType(int64, scalar)>"
        assert state.get_value().item() == 0
        state.set_value(1)
        assert state.get_value().item() == 1
        inc = T.iscalar("inc")
        f = sw.function([inc], state, updates=[(state, state + inc)])
    assert f(1).item() == 1 and state.get_value().item() == 2
    assert f(300).item() == 2 and state.get_value().item() == 302


#: The first and last three elements that the tutorial prints.
VALUES = {
    "float32": [1.23178029, 1.61879337, 1.52278066, 2.20771813, 2.29967761, 1.62323284],
    "float64": [1.23178032, 1.61879341, 1.52278065, 2.20771815, 2.29967753, 1.62323285],
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("stays_on_device", [False, True], ids=["to_the_host", "on_the_device"])
def test_exp_loop_gives_the_numbers_of_the_tutorial(dtype, stays_on_device, device):
    vlen, iters = 10 * 30 * 768, 5
    with sw.config.change(floatX=dtype), device:
        rng = np.random.RandomState(22)
        x = sw.shared(np.asarray(rng.rand(vlen), sw.config.floatX))
        y = sw.exp(x).transfer(device) if stays_on_device else sw.Out(sw.exp(x), as_="numpy")
        f = sw.function([], y)
    assert str(f.maker.fgraph.toposort()[0].op) == "Exp"
    for _ in range(iters):
        r = f()
    if stays_on_device:
        assert isinstance(r, sw.Array) and r.device == device
    else:
        assert type(r) is np.ndarray
    r = np.asarray(r)
    assert r.dtype == dtype
    ends = np.concatenate([r[:3], r[-3:]])
    assert np.allclose(ends, VALUES[dtype], rtol=4e-7 if dtype == "float32" else 5e-9)
    exact = np.exp(x.get_value().numpy().astype("float64"))
    assert np.allclose(r, exact, rtol=4e-7 if dtype == "float32" else 1e-15)
