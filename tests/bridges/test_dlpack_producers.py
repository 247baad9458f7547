# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Import by DLPack: the calls of the producer, versions, capsules and devices."""

import ctypes
import threading

import numpy as np
import pytest
from support import dlpack
from support.dlpack import Producer

import spanwise as sw


def test_tensor_of_another_major_version_is_only_deleted():
    producer = Producer(np.arange(3.0))
    producer.managed.version = dlpack.Version(2, 0)
    producer.tensor.ndim = -7
    with pytest.raises(sw.BridgeError, match="version 2.0"):
        sw.from_dlpack(producer)
    assert producer.deleted == 1


def test_a_later_minor_version_is_taken():
    producer = Producer(np.arange(3.0))
    producer.managed.version = dlpack.Version(1, 99)
    assert sw.from_dlpack(producer).tolist() == [0.0, 1.0, 2.0]


def test_our_version_is_requested():
    producer = Producer(np.arange(3.0))
    sw.from_dlpack(producer)
    sw.from_dlpack(producer, copy=False)
    assert producer.calls == [{"max_version": (1, 3)}, {"max_version": (1, 3), "copy": False}]


def test_producers_before_1_0_are_called_again_without_keywords():
    class Old(Producer):
        def __dlpack__(self, stream=None):
            return self.capsule()

    assert sw.from_dlpack(Old(np.arange(3.0), versioned=False)).tolist() == [0.0, 1.0, 2.0]
    assert sw.from_dlpack(Old(np.arange(3.0), versioned=False), copy=False).size == 3


def test_producers_refusal_is_reported():
    class Refuses(Producer):
        def __dlpack__(self, **kwargs):
            raise BufferError("not in this state")

    with pytest.raises(sw.BridgeError, match="not in this state"):
        sw.from_dlpack(Refuses(np.arange(3.0)))
    with pytest.raises(sw.CopyNeededError, match="not in this state"):
        sw.from_dlpack(Refuses(np.arange(3.0)), copy=False)


def test_producers_own_error_propagates():
    class Broken(Producer):
        def __dlpack__(self, **kwargs):
            raise ZeroDivisionError("inside")

    with pytest.raises(ZeroDivisionError, match="inside"):
        sw.from_dlpack(Broken(np.arange(3.0)))


@pytest.mark.parametrize("device", [None, 1, (1,), ("cpu", 0), (1, 0, 0)], ids=repr)
def test_a_malformed_device_is_an_error(device):
    class Odd(Producer):
        def __dlpack_device__(self):
            return device

    with pytest.raises(sw.BridgeError, match="__dlpack_device__"):
        sw.from_dlpack(Odd(np.arange(3.0)))


def test_result_other_than_a_capsule_is_refused():
    class Odd(Producer):
        def __dlpack__(self, **kwargs):
            return 3

    with pytest.raises(sw.BridgeError, match="capsule"):
        sw.from_dlpack(Odd(np.arange(3.0)))


def test_objects_without_dlpack_are_refused():
    with pytest.raises(sw.BridgeError, match="__dlpack__"):
        sw.from_dlpack([1, 2])


def test_arguments_are_checked():
    with pytest.raises(TypeError):
        sw.from_dlpack()
    with pytest.raises(TypeError, match="device, copy"):
        sw.from_dlpack(np.zeros(2), dtype="float32")


def test_device_can_be_requested(device):
    ours = sw.from_dlpack(np.arange(3.0), device=device)
    assert ours.device == device
    assert ours.tolist() == [0.0, 1.0, 2.0]


def test_copy_true_copies():
    values = np.arange(3.0)
    producer = Producer(values)
    ours = sw.from_dlpack(producer, copy=True)
    assert ours.ptr != values.ctypes.data
    assert producer.deleted == 1


def test_the_deleter_may_run_on_another_thread():
    producer = Producer(np.arange(3.0))
    held = [sw.from_dlpack(producer)]
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    assert producer.deleted == 1


def test_our_own_tensors_can_be_deleted_without_the_gil():
    # A CDLL function runs without the GIL, as a thread of a foreign library would.
    ours = sw.asarray(np.arange(1000.0))
    managed = dlpack.consume(ours.__dlpack__(max_version=(1, 0)))
    address = ctypes.cast(managed.deleter, ctypes.c_void_p).value
    delete = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)
    del ours
    thread = threading.Thread(target=delete, args=(ctypes.addressof(managed),))
    thread.start()
    thread.join()
