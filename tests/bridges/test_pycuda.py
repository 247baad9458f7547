# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""PyCUDA: the real library on a GPU, elsewhere a fake with the same attributes on the host."""

import gc
import os
import subprocess
import sys
import textwrap
import weakref

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.arrays import COMPLEX, FLOATS, INTEGERS, assert_same, pair, windows

import spanwise as sw

DTYPES = ("bool", *INTEGERS, *FLOATS, *COMPLEX)


def needs_copy(ours):
    """Whether PyCUDA cannot hold the array: it is read-only, or has strides that are not positive."""
    strides = zip(ours.shape, ours.strides, strict=True)
    not_positive = any(extent > 1 and stride <= 0 for extent, stride in strides)
    return not ours.flags.writeable or (not_positive and ours.size > 0)


@given(window=windows(), dtype=st.sampled_from(DTYPES), seed=st.integers(0, 2**32))
def test_any_view_is_shared_or_copied_on_export(pycuda, window, dtype, seed):
    ours, oracle = pair(window, dtype, sw.device(pycuda.device), seed)
    is_copied = needs_copy(ours)
    assert sw.explain(ours, "pycuda").shares != is_copied
    if is_copied:
        with pytest.raises(sw.CopyNeededError, match="read-only|positive"):
            sw.to_pycuda(ours)
    theirs = sw.to_pycuda(ours, copyif=is_copied)
    assert isinstance(theirs, pycuda.module.GPUArray)
    assert (theirs.shape, theirs.dtype) == (oracle.shape, oracle.dtype)
    if oracle.size:
        assert (int(theirs.gpudata) == ours.ptr) == (not is_copied)
        assert_same(sw.from_pycuda(theirs), oracle)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_gpuarray_is_imported_as_a_view(pycuda, dtype, order):
    values = np.asarray(np.arange(12).reshape(3, 4) % 7, dtype, order=order)
    theirs = pycuda.module.to_gpu(values)
    ours = sw.from_pycuda(theirs)
    assert (str(ours.device), ours.ptr) == (pycuda.device, int(theirs.gpudata))
    assert ours.strides == theirs.strides == values.strides
    assert_same(ours, values)


@pytest.mark.parametrize("order", ["C", "F"])
def test_writes_are_visible_to_both(pycuda, order):
    theirs = pycuda.module.to_gpu(np.zeros((3, 4), np.float32, order=order))
    ours = sw.asarray(theirs)
    ours[1:, ::2] = 3
    ours.sync()
    expected = np.zeros((3, 4), np.float32)
    expected[1:, ::2] = 3
    np.testing.assert_array_equal(theirs.get(), expected)
    pycuda.write(theirs, 7)
    assert (ours.numpy() == 7).all()
    again = sw.to_pycuda(ours)
    pycuda.write(again, 8)
    assert (theirs.get() == 8).all()


def test_views_of_gpuarrays_are_imported_with_their_strides(pycuda):
    values = np.arange(24, dtype=np.float32).reshape(4, 6)
    theirs = pycuda.module.to_gpu(values)
    for window in (
        lambda x: x[1:3],
        lambda x: x[:, 2:5],
        lambda x: x[::2, 1::3],
        lambda x: x.T,
        lambda x: x.T[1:, ::2],
    ):
        assert_same(sw.asarray(window(theirs)), window(values))


def test_arrays_without_elements_and_of_rank_0_go_both_ways(pycuda):
    for shape in [(0,), (0, 3), (3, 0)]:
        theirs = sw.to_pycuda(sw.zeros(shape, device=pycuda.device))
        assert (theirs.shape, theirs.gpudata) == (shape, None)
        assert sw.from_pycuda(theirs).shape == shape
    ours = sw.asarray(np.float32(3), device=pycuda.device)
    theirs = sw.to_pycuda(ours)
    assert theirs.shape == ()
    assert sw.from_pycuda(theirs).item() == 3


def test_imported_view_keeps_the_owning_gpuarray_alive(pycuda):
    theirs = pycuda.module.to_gpu(np.arange(6, dtype=np.float32))
    owner = weakref.ref(theirs)
    ours = sw.asarray(theirs[2:])
    del theirs
    gc.collect()
    assert owner() is not None
    assert ours.numpy().tolist() == [2, 3, 4, 5]
    del ours
    sw.synchronize()
    gc.collect()
    assert owner() is None


def test_gpuarray_keeps_the_exported_array_alive(pycuda):
    ours = sw.asarray(np.arange(6, dtype=np.float32), device=pycuda.device)
    theirs = sw.to_gpuarray(ours)[1:]
    owner = weakref.ref(ours)
    del ours
    gc.collect()
    assert owner() is not None or theirs.base is not None
    assert theirs.get().tolist() == [1, 2, 3, 4, 5]


def test_pool_block_with_a_live_view_is_not_reused(pycuda):
    if pycuda.is_fake:
        from support.peers.fake_pycuda import DeviceMemoryPool
    else:
        from pycuda.tools import DeviceMemoryPool
    pool = DeviceMemoryPool()
    theirs = pycuda.module.to_gpu(np.arange(64, dtype=np.float32), allocator=pool.allocate)
    ours = sw.asarray(theirs)
    del theirs
    gc.collect()
    later = pycuda.module.to_gpu(np.full(64, -1, np.float32), allocator=pool.allocate)
    assert ours.numpy().tolist() == list(range(64))
    assert int(later.gpudata) != ours.ptr
    del later, ours
    sw.synchronize()
    gc.collect()


@pytest.mark.parametrize("name", ["to_gpuarray", "from_gpuarray"])
def test_pycuda_and_gpuarray_name_the_same_bridge(name):
    assert getattr(sw, name) is getattr(sw, name.replace("gpuarray", "pycuda"))


def test_theanos_conversion_functions_share_memory_or_need_copyif(pycuda):
    from spanwise.compat import pycuda_utils

    ours = sw.array(np.arange(12, dtype=np.float32).reshape(3, 4), device=pycuda.device)
    theirs = pycuda_utils.to_gpuarray(ours)
    assert int(theirs.gpudata) == ours.ptr
    with pytest.raises(ValueError, match="copyif"):
        pycuda_utils.to_gpuarray(ours[::2])
    with pytest.raises(ValueError, match="C order"):
        pycuda_utils.to_gpuarray(ours.T)
    copied = pycuda_utils.to_gpuarray(ours[::2], copyif=True)
    assert copied.strides == (16, 4)
    pycuda.write(copied, 0)
    assert ours.numpy()[2].tolist() == [8, 9, 10, 11]
    with pytest.raises(ValueError, match="expected a spanwise.Array"):
        pycuda_utils.to_gpuarray(theirs)
    back = pycuda_utils.to_cudandarray(theirs)
    assert back.ptr == ours.ptr
    # Theano ignored strides and read any GPUArray in C order; here they count.
    assert_same(
        pycuda_utils.to_cudandarray(theirs.T), np.arange(12, dtype=np.float32).reshape(3, 4).T
    )
    with pytest.raises(ValueError, match="to_cudandarray: expected float32, got float64"):
        pycuda_utils.to_cudandarray(pycuda.module.GPUArray((3,), np.float64))


@pytest.mark.parametrize("dtype", ["float32", "float64", object()])  # PyTorch's equals no text
def test_to_cudandarray_names_the_type_of_an_object_that_is_no_gpuarray(dtype):
    from spanwise.compat import pycuda_utils

    class Tensor:
        pass

    tensor = Tensor()
    tensor.dtype = dtype
    message = "to_cudandarray: expected an array of pycuda, got an object of type Tensor"
    with pytest.raises(ValueError, match=message):
        pycuda_utils.to_cudandarray(tensor)


def output_on_gpu(program):
    """The words that a program prints; in a new process, since PyCUDA may create a second context."""
    if all(device.kind != "cuda" for device in sw.devices()):
        pytest.skip("needs a GPU")
    pytest.importorskip("pycuda", reason="pycuda is not installed")
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_memory_of_another_context_is_refused_or_copied():
    """pycuda.autoinit makes a second context of the GPU; Spanwise uses the primary one."""
    out = output_on_gpu("""
        import pycuda.autoinit, numpy as np
        from pycuda import gpuarray
        import spanwise as sw
        theirs = gpuarray.to_gpu(np.arange(5, dtype="float32"))
        for call in (lambda: sw.from_pycuda(theirs),
                     lambda: sw.to_pycuda(sw.ones(3, dtype="float32", device="cuda"))):
            try:
                call()
            except sw.CopyNeededError as error:
                assert "autoprimaryctx" in str(error), error
                print("refused")
        print(sw.from_pycuda(theirs, copyif=True).numpy().sum())
        print(sw.to_pycuda(sw.ones(3, dtype="float32", device="cuda"), copyif=True).get().sum())
        try:
            import spanwise.compat.pycuda_init
        except sw.DeviceError as error:
            print("refused")
    """)
    assert out == ["refused", "refused", "10.0", "3.0", "refused"]


def test_kernels_of_each_library_take_arrays_of_the_other():
    out = output_on_gpu("""
        import spanwise as sw, numpy as np
        import spanwise.compat.pycuda_init
        from pycuda import gpuarray
        from pycuda.compiler import SourceModule
        source = "__global__ void twice(float* x) { x[threadIdx.x] *= 2; }"
        ours = sw.asarray(np.arange(8, dtype="float32"), device="cuda")
        SourceModule(source).get_function("twice")(sw.to_pycuda(ours), block=(8, 1, 1))
        print(ours.numpy().sum())
        theirs = gpuarray.to_gpu(np.arange(8, dtype="float32"))
        sw.SourceModule(source).get_function("twice")(theirs, block=(8, 1, 1))
        sw.synchronize()
        print(theirs.get().sum())
    """)
    assert out == ["56.0", "56.0"]


def test_error_without_a_context_gives_the_remedy():
    out = output_on_gpu("""
        import pycuda.driver, spanwise as sw
        pycuda.driver.init()
        try:
            sw.to_pycuda(sw.ones(3, device="cuda"))
        except sw.DeviceError as error:
            assert "autoprimaryctx" in str(error), error
            print("refused")
    """)
    assert out == ["refused"]
