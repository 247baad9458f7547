# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Solutions of the exercises that the tutorials set on PyCUDADoubleOp, in the code style of the
tutorials."""

import importlib.util

import pytest
from addons.theano.runner import run_script

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("spanwise.pycuda") is None, reason="needs spanwise.pycuda"
)

HEAD = """
import numpy, theano, theano.tensor as T
import theano.misc.pycuda_init
from pycuda.compiler import SourceModule
import theano.sandbox.cuda as cuda
class Base(theano.Op):
    def __eq__(self, other):
        return type(self) == type(other)
    def __hash__(self):
        return hash(type(self))
rng = numpy.random.RandomState(3)
a, b = (rng.rand(20, 10).astype('float32') for i in xrange(2))
x, y = T.fmatrices('x', 'y')
"""

TWO_OUTPUTS = """
class SumAndDifference(Base):
    def make_node(self, x, y):
        x, y = [cuda.basic_ops.gpu_contiguous(cuda.basic_ops.as_cuda_ndarray_variable(v)) for v in (x, y)]
        return theano.Apply(self, [x, y], [x.type(), y.type(), x.type()])
    def make_thunk(self, node, storage_map, _, _2):
        mod = SourceModule('''
__global__ void both(float *x, float *y, float *sum, float *difference, float *product, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size) {
    sum[i] = x[i] + y[i];
    difference[i] = x[i] - y[i];
    product[i] = x[i] * y[i];
  }
}''')
        both = mod.get_function('both')
        inputs = [storage_map[v] for v in node.inputs]
        outputs = [storage_map[v] for v in node.outputs]
        def thunk():
            shape = inputs[0][0].shape
            for z in outputs:
                if z[0] is None or z[0].shape != shape:
                    z[0] = cuda.CudaNdarray.zeros(shape)
            size = inputs[0][0].size
            arrays = [cell[0] for cell in inputs + outputs]
            both(*(arrays + [numpy.intc(size)]), block=(512, 1, 1), grid=((size + 511) / 512, 1))
        return thunk
f = theano.function([x, y], SumAndDifference()(x, y))
for i in xrange(2):
    total, difference, product = f(a, b)
    assert isinstance(total, cuda.CudaNdarray) and total.strides == (10, 1)
    assert (numpy.asarray(total) == a + b).all() and (numpy.asarray(difference) == a - b).all()
    assert (numpy.asarray(product) == a * b).all()
print 'done'
"""

STRIDED = """
class StridedDouble(Base):
    def make_node(self, x):
        x = cuda.basic_ops.as_cuda_ndarray_variable(x)
        return theano.Apply(self, [x], [x.type()])
    def make_thunk(self, node, storage_map, _, _2):
        mod = SourceModule('''
__global__ void twice(float *x, int rows, int columns, int step0, int step1, float *z) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * columns) z[i] = 2 * x[i / columns * step0 + i % columns * step1];
}''')
        twice = mod.get_function('twice')
        cell, z = storage_map[node.inputs[0]], storage_map[node.outputs[0]]
        def thunk():
            x = cell[0]
            if z[0] is None or z[0].shape != x.shape:
                z[0] = cuda.CudaNdarray.zeros(x.shape)
            numbers = [numpy.intc(n) for n in x.shape + x._strides]
            twice(x, *(numbers + [z[0]]), block=(512, 1, 1), grid=(1, 1))
            seen.append(x._strides)
        return thunk
seen = []
f = theano.function([x], StridedDouble()(cuda.basic_ops.as_cuda_ndarray_variable(x).T[::-2]))
assert (numpy.asarray(f(a)) == 2 * a.T[::-2]).all()
print seen
"""


@pytest.mark.parametrize("flags", ["", "device=gpu,floatX=float32"])
def test_one_kernel_computes_several_outputs(tmp_path, flags):
    printed, errors = run_script(tmp_path / "script.py", HEAD + TWO_OUTPUTS, flags)
    assert printed == "done\n" and "integer division" in errors


def test_exercise_op_accepts_strided_input(tmp_path):
    printed, _ = run_script(tmp_path / "script.py", HEAD + STRIDED, "device=gpu,floatX=float32")
    assert printed == "[(-2, 10)]\n"
