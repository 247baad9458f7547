# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Custom ops: PyCUDADoubleOp of Theano's tutorial and its exercises, two of them with kernel_op.

    python examples/03_custom_op.py [--device cuda:0]

The class PyCUDADoubleOp is unchanged; only its imports, formerly theano, theano.sandbox.cuda and
pycuda, are different. Its CUDA C is compiled by NVRTC on a GPU, and by the system's C++ compiler on
a machine without one.
"""

import argparse

import numpy

import spanwise as theano
import spanwise.compat.sandbox_cuda as cuda
from spanwise import SourceModule


class PyCUDADoubleOp(theano.Op):
    def __eq__(self, other):
        return type(self) == type(other)

    def __hash__(self):
        return hash(type(self))

    def __str__(self):
        return self.__class__.__name__

    def make_node(self, inp):
        inp = cuda.basic_ops.gpu_contiguous(cuda.basic_ops.as_cuda_ndarray_variable(inp))
        assert inp.dtype == "float32"
        return theano.Apply(self, [inp], [inp.type()])

    def make_thunk(self, node, storage_map, _, _2):
        mod = SourceModule("""
    __global__ void my_fct(float * i0, float * o0, int size) {
    int i = blockIdx.x*blockDim.x + threadIdx.x;
    if(i<size){
        o0[i] = i0[i]*2;
    }
  }""")
        pycuda_fct = mod.get_function("my_fct")
        inputs = [storage_map[v] for v in node.inputs]
        outputs = [storage_map[v] for v in node.outputs]

        def thunk():
            z = outputs[0]
            if z[0] is None or z[0].shape != inputs[0][0].shape:
                z[0] = cuda.CudaNdarray.zeros(inputs[0][0].shape)
            grid = (int(numpy.ceil(inputs[0][0].size / 512.0)), 1)
            pycuda_fct(
                inputs[0][0], z[0], numpy.intc(inputs[0][0].size), block=(512, 1, 1), grid=grid
            )

        return thunk


class MultiplyOp(theano.Op):
    """The second exercise: x * y. __props__ generates __eq__, __hash__ and __str__."""

    __props__ = ()

    def make_node(self, x, y):
        x, y = (theano.contiguous(v) for v in (x, y))
        return theano.Apply(self, [x, y], [x.type()])

    def make_thunk(self, node, storage_map, compute_map, no_recycling):
        kernel = SourceModule("""
    __global__ void multiply(const float *x, const float *y, float *z, int size) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < size) z[i] = x[i] * y[i];
    }""").get_function("multiply")
        x, y = (storage_map[v] for v in node.inputs)
        z = storage_map[node.outputs[0]]

        def thunk():
            size = x[0].size
            if z[0] is None or z[0].shape != x[0].shape:
                z[0] = theano.empty(x[0].shape, dtype="float32")
            kernel(x[0], y[0], z[0], size, block=(256, 1, 1), grid=(-(-size // 256), 1))

        return thunk


# The third exercise, x + y and x - y in one kernel. kernel_op checks shapes, allocates outputs and
# computes the launch configuration from the declaration.
sum_and_difference = theano.kernel_op(
    "sum_and_difference",
    """
    __global__ void sum_and_difference(const float *x, const float *y, float *sum, float *difference,
                                       long long n) {
      long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
      if (i >= n) return;
      sum[i] = x[i] + y[i];
      difference[i] = x[i] - y[i];
    }""",
    inputs=["x: contiguous float32[h, w]", "y: contiguous float32[h, w]"],
    outputs=["sum: contiguous float32[h, w]", "difference: contiguous float32[h, w]"],
    arguments=["x", "y", "sum", "difference", "h * w"],
)

# The fourth, "support stride": a View passes the strides with the pointer, so inputs are not
# copied. T stands for any dtype.
double_strided = theano.kernel_op(
    "double_strided",
    """
    #include <spanwise/view.cuh>

    __global__ void double_strided(spanwise::View<const T, 2> x, spanwise::View<T, 2> z) {
      long long column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
      if (column < x.shape[1]) z(row, column) = x(row, column) * 2;
    }""",
    inputs="x: strided T[h, w]",
    outputs="z: strided T[h, w]",
    block=64,
    grid=("cdiv(w, 64)", "h"),
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default=str(theano.default_device()))
    with theano.device(parser.parse_args().device) as device:
        run(device)


def run(device) -> None:
    x, y = theano.tensor.fmatrices("x", "y")
    xv, yv = numpy.random.default_rng(0).standard_normal((2, 20, 10), dtype="float32")

    f = theano.function([x], PyCUDADoubleOp()(x))
    assert numpy.allclose(f(xv), xv * 2)
    assert numpy.allclose(f(numpy.ones((4, 5), dtype="float32")), 2)
    print(f"PyCUDADoubleOp on {device}: {f.maker.fgraph.toposort()}")

    multiply = theano.function([x, y], MultiplyOp()(x, y))
    assert numpy.allclose(multiply(xv, yv), xv * yv)
    print("MultiplyOp: x * y of 20 x 10 matrices")

    both = theano.function([x, y], sum_and_difference(x, y))
    total, difference = both(xv, yv)
    assert numpy.allclose(total, xv + yv) and numpy.allclose(difference, xv - yv)
    print("sum_and_difference: two outputs from one kernel")

    strided = theano.function([x], double_strided(x))
    every_other = theano.asarray(xv, device=device)[::-2, 1::3]
    assert numpy.allclose(strided(every_other), xv[::-2, 1::3] * 2)
    print(f"double_strided: a view with strides {every_other.strides}, as it is")


if __name__ == "__main__":
    main()
