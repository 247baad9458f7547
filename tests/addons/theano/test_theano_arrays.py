# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""CudaNdarray and GpuArray, and their conversions."""

from addons.theano.runner import run_script
from support.tree import ROOT

CUDANDARRAY_SCRIPT = """
    import copy, pickle, numpy as np
    import theano, theano.sandbox.cuda as cuda
    from theano.sandbox.cuda import CudaNdarray
    def raises(error, call):
        try:
            call()
        except error:
            return True
    values = np.arange(24, dtype='float32').reshape(2, 3, 4)
    a = CudaNdarray(values)
    assert isinstance(a, CudaNdarray) and a.dtype == 'float32' and type(a.dtype) is str
    assert a.shape == (2, 3, 4) and a.strides == a._strides == (12, 4, 1) and a.ndim == 3
    assert a.size == a.mem_size == 24 and len(a) == 2 and a.is_c_contiguous()
    assert (np.asarray(a) == values).all()

    # Elements are counted, axes of extent 1 have stride 0, and the address moves with the view.
    b = a[1:, ::-1, ::2]
    assert type(b) is CudaNdarray and b.shape == (1, 3, 2) and b.strides == (0, -4, 2)
    assert int(b.gpudata) == int(a.gpudata) + 4 * (12 + 8)
    assert (np.asarray(b) == values[1:, ::-1, ::2]).all() and not b.is_c_contiguous()
    assert int(a[1, 2].gpudata) == int(a.gpudata) + 80 and a[1, 2, 3].shape == ()
    assert raises(IndexError, lambda: a[2]) and raises(IndexError, lambda: a[0, 0, 0, 0])

    # Assignment writes into the views' memory and broadcasts.
    b[...] = CudaNdarray(np.float32([7, 8]))
    assert (np.asarray(a)[1, :, ::2] == [7, 8]).all() and np.asarray(a)[0, 0, 1] == 1
    a[:, 0] = 0.5
    assert (np.asarray(a)[:, 0] == 0.5).all()
    a[...] = values
    c = a + a
    assert type(c) is CudaNdarray and (np.asarray(c) == 2 * values).all()
    c += CudaNdarray(np.ones(4, 'float32'))
    assert type(c) is CudaNdarray and (np.asarray(c) == 2 * values + 1).all()
    assert np.allclose(np.asarray(a.exp()), np.exp(values)) and (np.asarray(2 * a) == 2 * values).all()

    # copy.copy is a view, copy.deepcopy is not; pickles hold the values.
    view, deep = copy.copy(a), copy.deepcopy(a)
    assert int(view.gpudata) == int(a.gpudata) != int(deep.gpudata)
    assert (np.asarray(pickle.loads(pickle.dumps(b))) == np.asarray(b)).all()
    assert a.copy().strides == (12, 4, 1) and a.view().shape == a.shape and a.reshape((6, 4)).shape == (6, 4)

    assert np.allclose(np.asarray(a.reduce_sum((1, 0, 1))), values.sum((0, 2)))
    d = cuda.dimshuffle(a, (2, -1, 0, 1))
    assert d.shape == (4, 1, 2, 3) and d.strides == (1, 0, 12, 4)
    assert raises(ValueError, lambda: cuda.dimshuffle(a, (0, 0, 1, 2)))
    assert raises(ValueError, lambda: cuda.dimshuffle(a, (0, 1)))
    m = a[0]
    assert np.allclose(np.asarray(cuda.dot(m, cuda.dimshuffle(m, (1, 0)))), values[0].dot(values[0].T))
    assert raises(TypeError, lambda: cuda.dot(a, m))
    w = cuda.from_gpu_pointer(a.gpudata, (2, 4), (12, 1), a)
    assert (np.asarray(w) == values[:, 0]).all() and int(w.gpudata) == int(a.gpudata)
    assert w.base is a and w[:1].base is a and w.view().base is a and a.base is None

    z = CudaNdarray.zeros((2, 0))
    assert z.size == 0 and CudaNdarray.zeros(()).shape == ()
    assert raises(ValueError, lambda: CudaNdarray.zeros((-1,))) and raises(TypeError, lambda: CudaNdarray.zeros(3))
    assert raises(TypeError, lambda: CudaNdarray(np.zeros(3)))
    print repr(CudaNdarray(np.float32([1, 2])))

    # Functions take and return them; arguments are not overwritten.
    x = theano.tensor.fmatrix('x')
    f = theano.function([x], cuda.gpu_from_host(theano.tensor.exp(x)))
    r = f(m)
    assert type(r) is CudaNdarray and np.allclose(np.asarray(r), np.exp(values[0]))
    assert (np.asarray(m) == values[0]).all()
    s = theano.shared(CudaNdarray(values[0]))
    assert raises(TypeError, lambda: cuda.gpu_from_host(theano.tensor.dvector()))
    assert (s.get_value() == values[0]).all() and type(s.get_value(return_internal_type=True)) is CudaNdarray
    assert isinstance(s, cuda.var.CudaNdarraySharedVariable) and not isinstance(x, cuda.CudaNdarraySharedVariable)
    assert isinstance(cuda.gpu_contiguous(x), cuda.var.CudaNdarrayVariable)
    s.set_value(CudaNdarray(values[1]))
    assert (s.get_value() == values[1]).all()
    t = cuda.CudaNdarrayType((False, True))('t')
    assert t.type.broadcastable == (False, True) and t.dtype == 'float32'
"""


def test_cudandarray_script_prints_as_theano(tmp_path):
    printed, _ = run_script(tmp_path / "script.py", CUDANDARRAY_SCRIPT, "device=gpu,floatX=float32")
    assert printed == "CudaNdarray([ 1.  2.])\n"


GPUARRAY_SCRIPT = """
    import copy, numpy as np, theano, theano.gpuarray
    from theano.gpuarray import GpuArray
    x = theano.tensor.dmatrix('x')
    values = np.arange(6.).reshape(2, 3)
    r = theano.function([x], theano.gpuarray.gpu_from_host(x * 2))(values)
    assert type(r) is GpuArray and r.dtype == np.dtype('float64') and r.strides == (24, 8)
    assert (np.asarray(r) == 2 * values).all() and type(r[0]) is GpuArray and r[:1].strides == (24, 8)
    assert r.T.shape == (3, 2) and r.transpose(1, 0).shape == (3, 2) and r.astype('float32').dtype == 'float32'
    assert int(copy.copy(r).gpudata) != int(r.gpudata) and r.flags.c_contiguous
    r += 1
    assert type(r) is GpuArray and (np.asarray(r) == 2 * values + 1).all()
    print repr(r), str(r)
"""


def test_gpuarray_script_prints_as_theano(tmp_path):
    printed, _ = run_script(tmp_path / "script.py", GPUARRAY_SCRIPT, "device=cuda")
    text = "[[  1.   3.   5.]\n [  7.   9.  11.]]"
    assert printed == f"gpuarray.array({text}, dtype=float64) {text}\n"


CONVERSIONS_SCRIPT = """
    import sys, numpy as np
    sys.path.insert(0, sys.argv[1])
    from support.peers import fake_cudamat
    sys.modules['cudamat'] = fake_cudamat
    from support.peers import fake_gnumpy
    sys.modules['gnumpy'] = fake_gnumpy
    from theano.sandbox.cuda import CudaNdarray
    from theano.misc.cudamat_utils import cudandarray_to_cudamat, cudamat_to_cudandarray
    from theano.misc.gnumpy_utils import cudandarray_to_garray, garray_to_cudandarray
    from theano.misc.pycuda_utils import to_gpuarray, to_cudandarray
    def raises(error, call):
        try:
            call()
        except error:
            return True
    for function, error in ((to_gpuarray, ValueError), (to_cudandarray, ValueError), (cudandarray_to_cudamat, TypeError), (cudandarray_to_garray, ValueError)):
        assert raises(error, lambda: function(np.zeros((2, 2), 'float32')))
    a = CudaNdarray(np.arange(6, dtype='float32').reshape(2, 3))
    assert raises(ValueError, lambda: to_gpuarray(a[:, ::2]))
    assert raises(TypeError, lambda: cudandarray_to_cudamat(a[0]))
    m = cudandarray_to_cudamat(a)
    assert (m.asarray().T.reshape(2, 3) == np.asarray(a)).all()
    back = cudamat_to_cudandarray(m)
    assert type(back) is CudaNdarray and int(back.gpudata) == int(a.gpudata)
    g = cudandarray_to_garray(a)
    assert type(garray_to_cudandarray(g)) is CudaNdarray and g.shape == (2, 3)
    print 'done'
"""


def test_conversions_to_other_libraries_share_memory(tmp_path):
    on_cpu = {"SPANWISE_DEVICE": "cpu"}  # the fakes of CUDAMat and Gnumpy are in host memory
    folder = str(ROOT / "tests")
    printed, _ = run_script(
        tmp_path / "script.py", CONVERSIONS_SCRIPT, arguments=[folder], environment=on_cpu
    )
    assert printed == "done\n"
