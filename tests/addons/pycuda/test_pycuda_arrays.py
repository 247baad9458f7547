# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""spanwise.pycuda's GPUArray: layouts, views, copies and operators against NumPy."""

import operator
import pickle

import numpy as np
import pytest
from support.units import Metres

import spanwise as sw
from spanwise.pycuda import driver as drv, gpuarray
from spanwise.pycuda.gpuarray import GPUArray, to_gpu


@pytest.fixture(autouse=True)
def on_device(device):
    with device:
        yield


@pytest.fixture
def rng():
    return np.random.default_rng(7)


LAYOUTS = {
    "c": lambda x: x,
    "f": np.asfortranarray,
    "permuted": lambda x: np.ascontiguousarray(x.transpose(1, 2, 0)).transpose(2, 0, 1),
    "sliced": lambda x: x[:, ::2, 1:],
    "reversed": lambda x: x[::-1],
}
DTYPES = [
    "float32",
    "float64",
    "int32",
    "uint8",
    "complex64",
    "bool",
    "float16",
    "S3",
    ">f4",
    "V12",
]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_round_trips_keep_elements_and_order_of_axes(rng, layout, dtype):
    raw = rng.integers(0, 2, (4, 6, 5 * np.dtype(dtype).itemsize), dtype="uint8")
    x = LAYOUTS[layout](raw.view(dtype))
    g = to_gpu(x)
    assert g.shape == x.shape and g.dtype == x.dtype and g.size == x.size
    assert g.nbytes == x.nbytes and g.ndim == 3 and len(g) == len(x)
    if layout in ("c", "f", "permuted"):
        assert g.strides == x.strides
    back = g.get()
    assert back.strides == g.strides and back.tobytes() == x.tobytes()
    assert g.copy().strides == g.strides and g.copy().get().tobytes() == x.tobytes()
    other = np.empty(x.shape, x.dtype)
    assert g.get(other) is other and other.tobytes() == x.tobytes()
    pickled = pickle.loads(pickle.dumps(g)).get()  # NumPy pickles native byte order
    assert pickled.astype(x.dtype).tobytes() == x.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "S3"])
@pytest.mark.parametrize(
    "index",
    [
        1, -1, (slice(None), 2), (Ellipsis, 0), (slice(3, 1), 0), (slice(None, None, -2), 1),
        np.s_[1:, None, ::2], (2, 3, 1), np.s_[..., None, 1:],
    ],
    ids=str,
)  # fmt: skip
def test_indices_give_views(rng, dtype, index):
    x = rng.integers(0, 2, (4, 6, 5 * np.dtype(dtype).itemsize), dtype="uint8").view(dtype)
    g = to_gpu(x)
    part = g[index]
    key = index if isinstance(index, tuple) else (index,)
    expected = x[key if Ellipsis in key else (*key, Ellipsis)]
    assert part.shape == expected.shape and part.get().tobytes() == expected.tobytes()
    if expected.size:
        assert g.ptr <= part.ptr < g.ptr + g.nbytes and part.base is g
        part.fill(np.zeros((), dtype))
        x[index] = np.zeros((), dtype)
        assert g.get().tobytes() == x.tobytes()


def test_assignment_and_set_write_the_elements(rng):
    x, row = rng.standard_normal((4, 6)), rng.standard_normal(6)
    g = to_gpu(x)
    g[1], g[2, ::2], g[:, 0] = row, 5, to_gpu(row[:4])
    x[1], x[2, ::2], x[:, 0] = row, 5, row[:4]
    np.testing.assert_array_equal(g.get(), x)
    g.set(x.T.copy().T)
    g.set_async(x, stream=drv.Stream())
    np.testing.assert_array_equal(g.get_async(stream=drv.Stream()), x)
    for unsuitable in (x[:2], x.astype("float32")):
        with pytest.raises(ValueError, match="GPUArray.set: expected"):
            g.set(unsuitable)
    with pytest.raises(TypeError, match="expected dtype"):
        g.get(np.empty((4, 6), "float32"))
    with pytest.raises(ValueError, match="expected 24 elements"):
        g.get(np.empty(3))


def test_shape_methods_match_numpy(rng):
    x = rng.standard_normal((2, 1, 6))
    g = to_gpu(x)
    np.testing.assert_array_equal(g.transpose((2, 0, -2)).get(), x.transpose(2, 0, -2))
    np.testing.assert_array_equal(g.T.get(), x.T)
    np.testing.assert_array_equal(g.squeeze().get(), x.squeeze())
    np.testing.assert_array_equal(g.reshape(-1, 3).get(), x.reshape(-1, 3))
    np.testing.assert_array_equal(
        g.reshape((3, 4), order="F").get(), x.ravel().reshape(3, 4, order="F")
    )
    # ravel() keeps the order of memory, as PyCUDA's does.
    np.testing.assert_array_equal(g.T.ravel().get(), x.ravel())
    np.testing.assert_array_equal(g.view("complex128").get(), x.view("complex128"))
    np.testing.assert_array_equal(g.view(np.int32).get(), x.view("int32"))
    assert g.reshape(12).ptr == g.view("V16").ptr == g.ptr
    for call in (lambda: g.reshape(5), lambda: g.reshape(-1, -1), lambda: g.view("V5")):
        with pytest.raises(ValueError, match="expected|cannot be divided"):
            call()
    with pytest.raises(sw.CopyNeededError, match="copy()"):
        g[:, :, ::2].reshape(6)
    with pytest.raises(ValueError, match="expected 3 axes"):
        g.transpose((0, 1))


def test_arrays_over_existing_memory_share_it(rng):
    x = rng.standard_normal((6, 4)).astype("float32")
    memory = drv.to_device(x)
    np.testing.assert_array_equal(GPUArray((6, 4), np.float32, gpudata=memory).get(), x)
    f = GPUArray((4, 6), "f4", gpudata=int(memory), order="F")
    np.testing.assert_array_equal(f.get(), x.T)
    assert f.flags.f_contiguous and f.flags.forc and not f.flags.c_contiguous
    strided = GPUArray((3, 2), "f4", gpudata=memory + 4, strides=(32, 8), base=memory)
    np.testing.assert_array_equal(strided.get(), x[::2, 1::2])
    strided.fill(0)
    x[::2, 1::2] = 0
    np.testing.assert_array_equal(drv.from_device(memory, (6, 4), "f4"), x)
    empty = GPUArray((0, 3), np.float32)
    assert empty.gpudata is None and empty.get().shape == (0, 3) and empty[0:0].size == 0
    with pytest.raises(sw.ArgumentError, match="expected at least 100 bytes"):
        GPUArray(25, "f4", gpudata=memory)
    with pytest.raises(ValueError, match="order"):
        GPUArray(3, "f4", order="K")
    for shape in (3, np.int64(3), np.array(3), [3], np.array([3])):
        assert gpuarray.empty(shape, np.float32).shape == (3,)


def zeros_of_other_libraries(device):
    """Arrays of other classes on the device, as NumPy's on the CPU."""
    zeros = [sw.zeros((4, 4), dtype="f4", device=device)]
    return zeros if device.kind != "cpu" else [*zeros, np.zeros((4, 4), "f4")]


def test_arrays_over_memory_of_other_libraries_share_it(device):
    for other in zeros_of_other_libraries(device):
        GPUArray((2, 8), "i4", gpudata=other).fill(1)
        GPUArray((2, 2), "i4", gpudata=other, strides=(32, 8)).fill(2)
        expected = np.ones((4, 4), "i4")
        expected[::2, ::2] = 2
        np.testing.assert_array_equal(np.asarray(sw.asarray(other).numpy()).view("i4"), expected)
        x = GPUArray((4, 4), "i4", gpudata=other)
        assert int(x.gpudata) == x.ptr == sw.asarray(other).ptr
        assert int(x[:, 1::2].gpudata) == x.ptr + 4


def test_arrays_over_memory_that_is_not_contiguous_raise(device):
    for other in zeros_of_other_libraries(device):
        for part, n in ((other[::2], 8), (other[:, :2], 8), (other.T, 16)):
            for memory in (part, sw.driver.DeviceAllocation(sw.asarray(part))):
                with pytest.raises(sw.CopyNeededError, match="GPUArray: expected C-contiguous"):
                    GPUArray((n,), "f4", gpudata=memory)


def test_arrays_over_a_freed_allocation_raise():
    memory = drv.mem_alloc(64)
    memory.free()
    for strides in (None, (8,)):
        with pytest.raises(sw.ArgumentError, match="it was freed"):
            GPUArray((4,), "f4", gpudata=memory, strides=strides)


def test_memory_of_a_part_of_an_array_whose_base_is_an_allocation():
    memory = drv.to_device(np.arange(24, dtype="f4"))
    x = GPUArray((3, 4), "f4", gpudata=memory + 4, strides=(32, 8), base=memory)
    assert int(x[1:].gpudata) == memory + 36
    assert drv.from_device(x[1:].gpudata, (15,), "f4")[0] == 9


@pytest.mark.parametrize("dtype", ["float32", "S3"])
@pytest.mark.parametrize("kind", [list, np.array, to_gpu])
def test_assignment_writes_the_elements_that_index_arrays_select(dtype, kind):
    x = np.zeros((4, 3), dtype)
    g = to_gpu(x)
    values = np.arange(6).reshape(2, 3).astype(dtype)
    for index in (np.array([3, 1]), np.array([True, False, False, True])):
        key = index.tolist() if kind is list else kind(index)
        g[key] = values
        x[index] = values
        np.testing.assert_array_equal(g.get(), x)
    g[2, [0, 2]], x[2, [0, 2]] = values[1, 1], values[1, 1]
    np.testing.assert_array_equal(g.get(), x)


def test_other_libraries_share_the_memory(rng, device):
    x = rng.standard_normal((3, 4)).astype("float32")
    g = to_gpu(x)
    shared = sw.asarray(g.T, copy=False)
    assert shared.ptr == g.ptr and shared.strides == (4, 16) and shared.device == device
    description = g.__cuda_array_interface__
    assert description["data"] == (g.ptr, False) and description["strides"] == x.strides
    np.testing.assert_array_equal(np.asarray(g), x)
    assert str(g) == str(x) and repr(g) == repr(x)


BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow]
COMPARE = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


@pytest.mark.parametrize("op", BINARY + COMPARE)
def test_operators_of_strided_arrays_match_numpy(rng, op):
    x, y = rng.uniform(0.5, 2, (5, 8)), rng.uniform(0.5, 2, (4, 5)).T
    x[0, :4] = y[0]
    g, h = to_gpu(x), to_gpu(y)
    a, b = g[:, ::2], h
    np.testing.assert_allclose(op(a, b).get(), op(x[:, ::2], y), rtol=1e-14)
    np.testing.assert_allclose(op(a, 1.5).get(), op(x[:, ::2], 1.5), rtol=1e-14)
    np.testing.assert_allclose(op(1.5, a).get(), op(1.5, x[:, ::2]), rtol=1e-14)
    result = op(np.float32(1.5), g)
    assert isinstance(result, GPUArray) and result.dtype == np.float64
    single = to_gpu(x.astype("float32"))
    assert op(single, 2).dtype == np.float32 and op(single, g).dtype == np.float64
    np.testing.assert_allclose(op(a, h[:1]).get(), op(x[:, ::2], y[:1]), rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "itruediv", "ipow"])
def test_in_place_operators_keep_memory_and_dtype(rng, name, dtype):
    x = rng.integers(1, 5, (4, 6)).astype(dtype)
    g = to_gpu(x)
    part, address = g[1:, ::2], g.ptr
    result = getattr(operator, name)(part, 2.5)
    expected = getattr(operator, name[1:])(x[1:, ::2], 2.5).astype(dtype)
    x[1:, ::2] = expected
    assert result is part and g.ptr == address
    np.testing.assert_allclose(g.get(), x, rtol=1e-6)


def test_elementwise_methods_match_numpy(rng):
    z = rng.standard_normal((3, 4)) + 1j * rng.standard_normal((3, 4))
    g, x = to_gpu(z), to_gpu(z.real.copy())
    np.testing.assert_array_equal(g.real.get(), z.real)
    np.testing.assert_array_equal(g.imag.get(), z.imag)
    np.testing.assert_array_equal(g.conj().get(), z.conj())
    np.testing.assert_allclose(abs(g).get(), abs(z), rtol=1e-14)
    np.testing.assert_array_equal((-x).get(), -z.real)
    np.testing.assert_array_equal(x.imag.get(), np.zeros((3, 4)))
    np.testing.assert_array_equal(x.reverse().get(), z.real.ravel()[::-1].reshape(3, 4))
    np.testing.assert_array_equal(x.astype("float32").get(), z.real.astype("float32"))
    np.testing.assert_allclose(x.mul_add(2, x, 3).get(), 5 * z.real, rtol=1e-14)
    out = gpuarray.empty_like(x)
    assert x.mul_add(2, x, 3, out=out, stream=drv.Stream()) is out
    np.testing.assert_allclose(out.get(), 5 * z.real, rtol=1e-14)
    assert x.real is x and x.conj() is x and (+x) is x
    assert bool(x.any()) and bool((x == x).all()) and not bool((x != x).any())
    with pytest.raises(ValueError, match="ambiguous"):
        bool(x)
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)
    with pytest.raises(TypeError, match="unsupported operand"):
        x + "1"


def test_quantities_with_units_are_no_operands():
    x, length = to_gpu(np.array([1.0, 2.0])), np.array(3.0).view(Metres)
    for call in (
        lambda: x * length,
        lambda: length * x,
        lambda: x + length,
        lambda: x < length,
        lambda: operator.imul(x, length),
        lambda: x.fill(length),
    ):
        with pytest.raises(TypeError):
            call()
    assert x.get().tolist() == [1.0, 2.0]
    assert (x * np.array(3.0)).get().tolist() == [3.0, 6.0]


def test_derived_classes_set_the_memory_later(rng):
    class Later(gpuarray.GPUArray):
        def __init__(self, shape, dtype):
            super().__init__(shape, dtype, allocator=lambda nbytes: 0)
            self.nbytes = 4096

    x = rng.random((3, 5), "float32")
    later, memory = Later(x.shape, x.dtype), gpuarray.to_gpu(x)
    assert later.nbytes == 4096 and memory.nbytes == x.nbytes
    later.gpudata = int(memory.gpudata)
    assert int(later.gpudata) == int(memory.gpudata)
    np.testing.assert_array_equal(later.get(), x)
    later.fill(3)
    np.testing.assert_array_equal(memory.get(), np.full_like(x, 3))


def test_attributes_of_a_device_have_lower_case_names_too():
    device = drv.Device(0)
    assert device.max_threads_per_block == device.MAX_THREADS_PER_BLOCK > 0
    with pytest.raises(AttributeError, match="no_such_attribute"):
        _ = device.no_such_attribute
