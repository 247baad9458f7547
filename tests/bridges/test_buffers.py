# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Host objects that are imported by a protocol: buffers, array interfaces, __array__."""

import array
import ctypes
import gc
import mmap
import weakref

import numpy as np
import pytest

import spanwise as sw

# --- the buffer protocol


@pytest.mark.parametrize(
    ("values", "dtype", "writeable"),
    [
        (b"\x01\x02\x03", "uint8", False),
        (bytearray(b"\x01\x02\x03"), "uint8", True),
        (memoryview(b"\x01\x02\x03"), "uint8", False),
        (array.array("d", [1, 2, 3]), "float64", True),
        (array.array("h", [1, 2, 3]), "int16", True),
        (array.array("L", [1, 2, 3]), "uint64", True),
        ((ctypes.c_float * 3)(1, 2, 3), "float32", True),
        ((ctypes.c_int32 * 3)(1, 2, 3), "int32", True),
    ],
    ids=lambda value: type(value).__name__,
)
def test_buffers_are_shared(values, dtype, writeable):
    ours = sw.asarray(values, copy=False)
    assert ours.dtype == dtype
    assert ours.flags.writeable == writeable
    assert ours.tolist() == [1, 2, 3]
    assert ours.ptr == np.frombuffer(values, dtype).ctypes.data


def test_a_bytearray_cannot_be_resized_while_it_is_shared():
    values = bytearray(8)
    ours = sw.asarray(values)
    with pytest.raises(BufferError):
        values.append(1)
    del ours
    gc.collect()
    values.append(1)


def test_strided_and_multidimensional_views_keep_their_layout():
    view = memoryview(np.arange(24, dtype=np.int32).reshape(4, 6)[::-1, ::2])
    ours = sw.asarray(view, copy=False)
    assert ours.tolist() == view.tolist()
    assert ours.strides == view.strides


def test_complex_and_half_formats_are_imported():
    for dtype in ("complex64", "complex128", "float16", "bool"):
        values = np.ones(3, dtype)
        assert sw.asarray(memoryview(values), copy=False).dtype == dtype


def test_a_big_endian_ctypes_array_is_copied():
    values = (ctypes.c_int32.__ctype_be__ * 3)(1, 2, 3)
    assert sw.asarray(values).tolist() == [1, 2, 3]
    with pytest.raises(sw.CopyNeededError):
        sw.asarray(values, copy=False)


def test_structs_are_refused():
    class Point(ctypes.Structure):
        _fields_ = (("x", ctypes.c_float), ("y", ctypes.c_float))

    with pytest.raises(sw.DTypeError, match="cast"):
        sw.asarray((Point * 2)())


def test_a_mapped_file_is_shared(tmp_path):
    path = tmp_path / "bytes"
    path.write_bytes(bytes(range(16)))
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        ours = sw.asarray(mapped)
        assert ours.tolist() == list(range(16))
        ours[0] = 99
        assert mapped[0] == 99
        del ours


# --- the array interface


class Exporter:
    """An object with __array_interface__ and nothing else."""

    def __init__(self, **entries):
        self.__array_interface__ = entries


@pytest.fixture
def values():
    return np.arange(6, dtype=np.float32).reshape(2, 3)


def test_an_array_interface_is_shared(values):
    exporter = Exporter(**values.T.__array_interface__)
    ours = sw.asarray(exporter, copy=False)
    assert ours.ptr == values.ctypes.data
    assert ours.tolist() == values.T.tolist()
    owner = weakref.ref(exporter)
    del exporter
    assert owner() is not None
    del ours
    gc.collect()
    assert owner() is None


def test_data_may_be_a_buffer_with_an_offset():
    raw = bytearray(np.arange(6, dtype=np.int16).tobytes())
    ours = sw.asarray(Exporter(shape=(4,), typestr="<i2", data=raw, offset=4, version=3))
    assert ours.tolist() == [2, 3, 4, 5]
    assert ours.flags.writeable


@pytest.mark.parametrize(
    "entries",
    [
        {"shape": (4,)},
        {"shape": (3,), "offset": 2},
        {"shape": (3,), "offset": -2},
        {"shape": (2,), "strides": (-2,)},
        {"shape": (2, 2), "strides": (4, 2)},
    ],
    ids=str,
)
def test_an_interface_that_leaves_its_buffer_is_refused(entries):
    raw = bytes(6)
    with pytest.raises(sw.BridgeError, match="outside"):
        sw.asarray(Exporter(**({"typestr": "<i2", "data": raw, "version": 3} | entries)))


@pytest.mark.parametrize("data", [3, "text", object()], ids=["number", "text", "object"])
def test_invalid_data_is_refused(data):
    with pytest.raises(sw.BridgeError, match="data"):
        sw.asarray(Exporter(shape=(1,), typestr="<i2", data=data, version=3))


def test_image_of_pillow_is_imported():
    image = pytest.importorskip("PIL.Image")
    picture = image.new("RGB", (3, 2), (1, 2, 3))
    ours = sw.asarray(picture)
    assert ours.shape == (2, 3, 3)
    assert ours.tolist()[0][0] == [1, 2, 3]


def test_an_array_struct_is_shared(values):
    class StructExporter:
        def __init__(self, source):
            self.__array_struct__ = source.__array_struct__

    ours = sw.asarray(StructExporter(values[::-1]), copy=False)
    assert ours.ptr == values[::-1].ctypes.data
    assert ours.tolist() == values[::-1].tolist()
    swapped = values.astype(">f4")
    assert sw.asarray(StructExporter(swapped)).tolist() == values.tolist()


def test_cpu_array_has_numpys_array_interface(values):
    ours = sw.asarray(values[:, ::-1])
    numpys = values[:, ::-1].__array_interface__
    interface = ours.__array_interface__
    for key in ("shape", "typestr", "data", "strides", "version"):
        assert interface[key] == numpys[key]
    assert sw.asarray(values).__array_interface__["strides"] is None
    again = np.asarray(Exporter(**interface))
    assert again.ctypes.data == ours.ptr


def test_gpu_array_has_no_array_interface(device):
    if device.kind == "cpu":
        pytest.skip("needs a GPU")
    assert not hasattr(sw.zeros(3, device=device), "__array_interface__")


# --- __array__


def test_array_methods_are_the_last_resort(values):
    class Method:
        def __array__(self, dtype=None, copy=None):
            return values.copy() if copy else values

    ours = sw.asarray(Method())
    assert ours.ptr == values.ctypes.data
    assert sw.asarray(Method(), copy=False).ptr == values.ctypes.data


def test_array_method_without_a_copy_argument_is_copied_or_refused(values):
    class Old:
        def __array__(self):
            return values

    assert sw.asarray(Old()).tolist() == values.tolist()
    with pytest.raises(sw.CopyNeededError, match="__array__"):
        sw.asarray(Old(), copy=False)


def test_array_method_that_returns_no_array_raises():
    class Wrong:
        def __array__(self, dtype=None, copy=None):
            return [1, 2]

    with pytest.raises(sw.BridgeError, match="returned a list"):
        sw.asarray(Wrong())


def test_class_with_the_protocol_is_refused():
    with pytest.raises(sw.BridgeError):
        sw.asarray(np.ndarray)
