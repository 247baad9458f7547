# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The CUDA Array Interface: malformed dictionaries, errors of CPU arrays, and round trips on a
GPU."""

import numpy as np
import pytest

import spanwise as sw


class Exporter:
    """An object with __cuda_array_interface__ and nothing else.

    The address of the defaults is no address of GPU memory.
    """

    def __init__(self, **entries):
        self.__cuda_array_interface__ = {
            "shape": (2, 3),
            "typestr": "<f4",
            "data": (0x7F0000000000, False),
            "version": 3,
            "strides": None,
            "stream": None,
        } | entries


def has_gpu():
    return any(device.kind == "cuda" for device in sw.devices())


def test_error_without_a_gpu_gives_the_reason():
    if has_gpu():
        pytest.skip("there is a GPU")
    with pytest.raises(sw.DeviceError, match="cuda_array_interface.*GPU"):
        sw.asarray(Exporter())
    with pytest.raises(sw.DeviceError, match="GPU"):
        sw.asarray(Exporter(shape=(0,), data=(0, False)))


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"shape": None}, "shape"),
        ({"shape": 3}, "shape"),
        ({"shape": (2, "3")}, "shape"),
        ({"shape": (2**70,)}, "shape"),
        ({"shape": (1,) * 65}, "axes"),
        ({"typestr": None}, "typestr"),
        ({"typestr": 4}, "typestr"),
        ({"typestr": "f"}, "typestr|type string"),
        ({"typestr": "<fx"}, "type string"),
        ({"data": None}, "data"),
        ({"data": (1, 2, 3)}, "data"),
        ({"data": ("a", False)}, "data"),
        ({"data": (2**65, False)}, "data"),
        ({"strides": "no"}, "strides"),
        ({"version": 4}, "version 4"),
        ({"version": "3"}, "version"),
        ({"stream": "s"}, "stream"),
    ],
    ids=str,
)
def test_malformed_dictionaries_name_the_entry(entries, message):
    with pytest.raises(sw.BridgeError, match=message):
        sw.asarray(Exporter(**entries))


def test_interface_that_is_no_dictionary_raises():
    exporter = Exporter()
    exporter.__cuda_array_interface__ = 3
    with pytest.raises(sw.BridgeError, match="expected a dict"):
        sw.asarray(exporter)


def test_a_mask_is_refused():
    with pytest.raises(sw.ArgumentError, match="mask"):
        sw.asarray(Exporter(mask=Exporter()))


@pytest.mark.parametrize(
    ("typestr", "remedy"),
    [
        ("|V12", "uint8"),
        ("<M8[s]", "int64"),
        ("|O8", "astype"),
        ("<U4", "numbers"),
        ("<f16", "float64"),
    ],
)
def test_non_numeric_elements_are_refused(typestr, remedy):
    with pytest.raises(sw.DTypeError, match=remedy):
        sw.asarray(Exporter(typestr=typestr))


def test_failing_attribute_is_ignored():
    class OnCpu:
        @property
        def __cuda_array_interface__(self):
            raise RuntimeError("on the CPU")

        def __array__(self, dtype=None, copy=None):
            return np.arange(3.0)

    assert sw.asarray(OnCpu()).tolist() == [0.0, 1.0, 2.0]


def test_cpu_array_has_no_cuda_array_interface():
    array = sw.zeros(3, device="cpu")
    assert not hasattr(array, "__cuda_array_interface__")
    with pytest.raises(AttributeError, match="CPU"):
        array.__cuda_array_interface__  # noqa: B018


def test_the_dictionary_describes_the_array(gpu):
    array = sw.asarray(np.arange(6, dtype=np.float32).reshape(2, 3), device=gpu)
    interface = array.__cuda_array_interface__
    assert interface["shape"] == (2, 3)
    assert interface["typestr"] == "<f4"
    assert interface["data"] == (array.ptr, False)
    assert interface["strides"] is None
    assert interface["version"] == 3
    assert interface["stream"] not in (None, 0)
    assert array.T.__cuda_array_interface__["strides"] == (4, 12)
    assert sw.zeros((0, 3), device=gpu).__cuda_array_interface__["data"] == (0, False)


@pytest.mark.parametrize("stream", [None, 1, 2])
@pytest.mark.parametrize("version", [2, 3])
def test_memory_is_shared_from_and_to_a_gpu(gpu, version, stream):
    array = sw.asarray(np.arange(24, dtype=np.int32).reshape(4, 6), device=gpu)
    for view in (array, array[::-1, ::2], array.T, array[1]):
        interface = dict(view.__cuda_array_interface__) | {"version": version, "stream": stream}
        sw.synchronize(gpu)
        again = sw.asarray(Exporter(**interface), copy=False)
        assert again.ptr == view.ptr
        assert again.device == gpu
        assert again.tolist() == view.tolist()


def test_stream_0_is_refused(gpu):
    owner = sw.zeros(3, device=gpu)
    interface = owner.__cuda_array_interface__
    with pytest.raises(sw.BridgeError, match="stream 0"):
        sw.asarray(Exporter(**dict(interface) | {"stream": 0}))


def test_address_outside_gpu_memory_is_refused(gpu):
    with pytest.raises(sw.BridgeError, match="does not recognize the address"):
        sw.asarray(Exporter())


def test_address_of_an_empty_array_is_ignored(gpu):
    array = sw.asarray(Exporter(shape=(0, 3), data=(0, False)))
    assert array.shape == (0, 3)
    assert array.device == gpu


def test_read_only_flag_is_preserved(gpu):
    owner = sw.zeros(3, device=gpu)
    interface = dict(owner.__cuda_array_interface__)
    interface["data"] = (interface["data"][0], True)
    assert not sw.asarray(Exporter(**interface)).flags.writeable
