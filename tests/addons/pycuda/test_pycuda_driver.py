# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""spanwise.pycuda.driver: memory by address, contexts, devices, streams and events."""

import numpy as np
import pytest

import spanwise as sw
import spanwise.pycuda.driver as drv
from spanwise.pycuda import gpuarray


@pytest.fixture(autouse=True)
def on_device(device):
    with device:
        yield


def test_memory_converts_to_integer_addresses():
    x = np.random.default_rng(1).standard_normal(16).astype("float32")
    memory = drv.mem_alloc(x.nbytes)
    drv.memcpy_htod(memory, x)
    back = np.empty(12, "float32")
    drv.memcpy_dtoh(back, memory + 16)
    np.testing.assert_array_equal(back, x[4:])
    drv.memcpy_htod(int(memory) + 60, np.float32(7))
    drv.memcpy_dtod(np.uintp(int(memory)), memory + 56, 8)
    result = drv.from_device(int(memory), 16, "float32")
    np.testing.assert_array_equal(result, [x[14], 7, *x[2:15], 7])
    assert drv.mem_get_address_range(memory + 16) == (int(memory) + 16, 48)


def test_copy_beyond_the_allocation_raises():
    memory = drv.mem_alloc(16)
    with pytest.raises(sw.ArgumentError, match="at least 16 bytes"):
        drv.memcpy_htod(memory + 8, np.zeros(2))
    with pytest.raises(ValueError, match="contiguous host memory"):
        drv.memcpy_htod(memory, np.zeros(4)[::2])
    memory.free()
    with pytest.raises(sw.ArgumentError, match="freed"):
        int(memory)
    with pytest.raises(drv.LogicError, match="no allocation"):
        drv.mem_get_address_range(8)


def test_address_is_valid_after_other_allocations_are_freed():
    allocations = [drv.to_device(np.full(8, n, "int32")) for n in range(50)]
    addresses = [int(memory) for memory in allocations]
    del allocations[::2]
    for n in range(1, 50, 2):
        np.testing.assert_array_equal(drv.from_device(addresses[n] + 4, 7, "int32"), np.full(7, n))


def test_addresses_are_resolved_while_others_are_allocated_and_freed():
    rng = np.random.default_rng(1)
    allocations = {}
    for _ in range(30):
        new = [drv.mem_alloc(int(nbytes)) for nbytes in rng.integers(2, 500, 40)]
        allocations.update((int(memory), memory) for memory in new)
        new.clear()
        freed = [int(a) for a in rng.permutation(list(allocations))[: rng.integers(10, 60)]]
        for n, address in enumerate(freed):
            if n % 2:
                allocations[address].free()
            del allocations[address]
        for address in allocations:
            nbytes = allocations[address].nbytes
            offset = int(rng.integers(1, nbytes))
            inside = address + offset
            assert drv.mem_get_address_range(inside) == (inside, nbytes - offset)
        for address in freed:
            with pytest.raises(drv.LogicError, match="no allocation"):
                drv.mem_get_address_range(address)


@pytest.mark.parametrize("order", ["C", "F"])
def test_to_and_from_device_keep_c_or_f_order(order):
    x = np.asarray(np.arange(12).reshape(3, 4), order=order)
    back = drv.from_device_like(drv.to_device(x), x)
    np.testing.assert_array_equal(back, x)
    assert back.flags.f_contiguous == x.flags.f_contiguous
    assert drv.from_device(drv.to_device(b"abcd"), 4, "S1").tobytes() == b"abcd"


@pytest.mark.parametrize(("bits", "dtype"), [(8, "uint8"), (16, "uint16"), (32, "uint32")])
def test_memset_writes_only_its_range(bits, dtype):
    stream, itemsize = drv.Stream(), bits // 8
    memory = drv.to_device(np.zeros(12, dtype))
    getattr(drv, f"memset_d{bits}")(memory + itemsize, 5, 3)
    getattr(drv, f"memset_d{bits}_async")(memory + 8 * itemsize, np.uint8(6), 2, stream)
    stream.synchronize()
    expected = np.zeros(12, dtype)
    expected[1:4], expected[8:10] = 5, 6
    np.testing.assert_array_equal(drv.from_device(memory, 12, dtype), expected)
    getattr(drv, f"memset_d2d{bits}")(int(memory), 4 * itemsize, 9, 2, 3)
    expected.reshape(3, 4)[:, :2] = 9
    np.testing.assert_array_equal(drv.from_device(memory, 12, dtype), expected)


def test_memcpy_2d_copies_to_pitched_memory():
    memory, pitch = drv.mem_alloc_pitch(20, 3, 4)
    assert pitch >= 20 and memory.nbytes == 3 * pitch
    x = np.arange(15, dtype="int32").reshape(3, 5)
    copy = drv.Memcpy2D()
    copy.set_src_host(x)
    copy.set_dst_device(int(memory))
    copy.width_in_bytes, copy.height, copy.dst_pitch = 20, 3, pitch
    copy(aligned=True)
    rows = drv.from_device(memory, (3, pitch // 4), "int32")
    np.testing.assert_array_equal(rows[:, :5], x)


def test_address_of_a_spanwise_array_is_accepted(device):
    x = sw.array(np.arange(8, dtype="int64"), device=device)
    np.testing.assert_array_equal(drv.from_device(x.ptr + 16, 6, "int64"), np.arange(2, 8))


def test_address_in_a_view_is_valid_to_the_end_of_the_array():
    x = gpuarray.zeros(16, np.float32) + 1  # memory of an expression's result, not of mem_alloc()
    view = x[4:6]
    address = int(view.gpudata)
    drv.memcpy_htod(address, np.full(12, 3, "float32"))
    np.testing.assert_array_equal(x.get(), [1] * 4 + [3] * 12)
    assert drv.mem_get_address_range(x.gpudata + 16) == (address, 48)
    with pytest.raises(sw.ArgumentError, match="at least 12 bytes"):
        drv.memcpy_htod(view.gpudata, np.zeros(3, "float32"))


def test_addresses_behind_a_view_are_in_the_array_that_has_its_memory():
    x = sw.zeros(40, dtype="uint8")
    for order in ([(0, 40), (4, 12), (8, 10), (16, 20)], [(8, 10), (16, 20), (4, 12), (0, 40)]):
        parts = [gpuarray.GPUArray.of(x[start:end]) for start, end in order]
        for part in parts:
            int(part.gpudata)  # makes its addresses known
        for offset in range(40):
            assert drv.mem_get_address_range(x.ptr + offset) == (x.ptr + offset, 40 - offset)
        parts.pop(order.index((0, 40)))
        part = None
        ends = [12] * 12 + [0] * 4 + [20] * 4 + [0] * 20
        for offset in range(4, 40):
            address = x.ptr + offset
            if ends[offset]:
                assert drv.mem_get_address_range(address) == (address, ends[offset] - offset)
            else:
                with pytest.raises(drv.LogicError, match="no allocation"):
                    drv.mem_get_address_range(address)


def test_bytes_of_an_allocation_with_a_dtype_are_counted_as_bytes():
    memory = sw.driver.DeviceAllocation(sw.zeros(4, dtype="uint32"))
    drv.memset_d8(memory, 1, 8)
    np.testing.assert_array_equal(
        drv.from_device(memory, 4, "uint32"), np.array([0x01010101, 0x01010101, 0, 0])
    )


def test_copy_to_a_numpy_scalar_raises():
    source = drv.to_device(np.float32(5))
    assert drv.from_device(source, (), "float32") == 5
    with pytest.raises(sw.ReadOnlyError):
        drv.memcpy_dtoh(np.float32(0), source)


def test_pointer_holder_subclass_is_accepted_as_memory():
    class Holder(drv.PointerHolderBase):
        def __init__(self, memory):
            self.memory = memory

        def get_pointer(self):
            return int(self.memory)

    holder = Holder(drv.to_device(np.arange(4, dtype="uint8")))
    x = gpuarray.GPUArray((4,), np.uint8, gpudata=holder)
    np.testing.assert_array_equal(x.get(), np.arange(4))
    assert int(holder) == x.ptr


def test_contexts_are_pushed_and_popped_as_a_stack(device):
    first = drv.Device(sw.device()).make_context()
    second = first.get_device().retain_primary_context()
    assert second == first and hash(second) == hash(first)
    second.push()
    assert drv.Context.get_current() is second
    second.detach()
    assert drv.Context.get_current() is first
    assert drv.Context.get_device().spanwise_device == device
    drv.Context.synchronize()
    first.pop()
    first.detach()  # not current: no effect


def test_device_reports_attributes_and_rejects_unknown_ids():
    assert drv.Device.count() >= 1
    device = drv.Device(0)
    assert isinstance(device.name(), str) and device.total_memory() > 0
    assert device.compute_capability() >= (5, 0)
    attribute = drv.device_attribute.CONCURRENT_KERNELS
    assert device.get_attribute(attribute) == device.CONCURRENT_KERNELS
    assert device.get_attributes()[attribute] == device.CONCURRENT_KERNELS
    assert drv.Device(device.pci_bus_id()) == device
    assert not device.can_access_peer(device)
    assert drv.get_version()[0] == drv.get_driver_version() // 1000
    with pytest.raises(drv.LogicError, match="expected an ordinal"):
        drv.Device(drv.Device.count())
    with pytest.raises(drv.LogicError, match="PCI id"):
        drv.Device("ffff:99:00.0")


def test_events_measure_asynchronous_copies():
    stream, start, end = drv.Stream(), drv.Event(), drv.Event()
    start.record(stream)
    x = drv.pagelocked_zeros(1000, "float32")
    memory = drv.mem_alloc_like(x)
    drv.memcpy_htod_async(memory, x + 1, stream)
    drv.memcpy_dtoh_async(x, memory, stream)
    end.record(stream).synchronize()
    assert stream.is_done() and end.query() and start.time_till(end) >= 0
    np.testing.assert_array_equal(x, np.ones(1000))


def test_unsupported_name_raises_naming_the_replacement():
    with pytest.raises(AttributeError, match=r"spanwise\.Surface"):
        drv.SurfaceReference  # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute 'abacus'"):
        drv.abacus  # noqa: B018
