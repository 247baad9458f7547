# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Two GPUs in one program: names, transfers in order, kernels and graphs on both at once.

A kernel that spins delays the work that must come first, so that a missing order gives wrong values.
"""

import ctypes

import numpy as np
import pytest
from python.process.two_gpus import SPIN, TICKS, numbers

import spanwise as sw

SIZE = 5000


def add_late(x, value=1.0):
    """Queues ``x += value`` behind a spinning kernel on the current stream of x's device."""
    kernel = sw.SourceModule(SPIN, device=x.device).get_function("late")
    kernel(x, np.int32(x.size), np.float32(value), TICKS, block=256, grid=-(-x.size // 256))


VIEWS = {
    "all": lambda a: a,
    "transposed": lambda a: a.T,
    "backwards": lambda a: a[::-1, ::-2],
    "a window": lambda a: a[3:-5, 7:90:3],
    "broadcast": lambda a: a[:1].broadcast_to((40, a.shape[1]))
    if hasattr(a, "sync")
    else np.broadcast_to(a[:1], (40, a.shape[1])),
    "empty": lambda a: a[:0],
}


@pytest.mark.parametrize("dtype", ["uint8", "float32", "complex128"])
@pytest.mark.parametrize("view", VIEWS)
def test_views_are_copied_between_gpus(direction, view, dtype):
    source, target = direction
    values = numbers((120, 101), dtype)
    ours = VIEWS[view](sw.array(values, device=source))
    copied = ours.to(target)
    assert copied.device == target and np.array_equal(copied.numpy(), VIEWS[view](values))
    back = copied.to(source)
    assert back.device == source and np.array_equal(back.numpy(), VIEWS[view](values))


def test_values_are_copied_into_a_window_of_another_dtype(direction):
    source, target = direction
    values = numbers((60, 40))
    whole = sw.zeros((80, 80), "float64", device=target)
    sw.copyto(whole[10:70, ::2].T, sw.array(values, device=source).T)
    expected = np.zeros((80, 80))
    expected[10:70, ::2] = values
    assert np.array_equal(whole.numpy(), expected)
    whole[10:70, ::2] = sw.array(values[::-1], device=source)
    expected[10:70, ::2] = values[::-1]
    assert np.array_equal(whole.numpy(), expected)


def test_large_arrays_are_copied_between_gpus(direction):
    source, target = direction
    values = np.arange(1 << 24, dtype="float32")
    assert np.array_equal(sw.array(values, device=source).to(target).numpy(), values)


def test_copy_waits_for_the_writer_of_its_source(direction):
    source, target = direction
    a = sw.array(numbers(), device=source)
    add_late(a)
    assert np.array_equal(a.to(target).numpy(), numbers() + 1)


def test_a_source_is_written_only_after_it_was_copied(direction):
    source, target = direction
    a = sw.array(numbers(), device=source)
    b = sw.zeros(SIZE, "float32", device=target)
    add_late(b)  # the copy into b waits for it
    sw.copyto(b, a)
    a.fill(np.nan)
    assert np.array_equal(b.numpy(), numbers())


def test_freed_memory_is_reused_only_after_it_was_copied(direction):
    source, target = direction
    for count in (SIZE, 1 << 20):
        b = sw.zeros(count, "float32", device=target)
        add_late(b)
        a = sw.array(numbers((count,)), device=source)
        sw.copyto(b, a)
        del a
        later = [sw.full(count, np.nan, "float32", device=source) for _ in range(4)]
        assert np.array_equal(b.numpy(), numbers((count,)))
        del later


def test_arrays_order_the_streams_of_both_gpus(direction):
    source, target = direction
    first, second = sw.Stream(source), sw.Stream(target)
    a = sw.array(numbers(), device=source)
    with first:
        add_late(a)
    with second:
        b = a.to(target)
        b += 1
    with first:
        c = b.to(source)
    assert np.array_equal(c.numpy(), numbers() + 2)


def test_event_of_one_gpu_is_awaited_on_the_other(direction):
    source, target = direction
    a, b = (sw.array(numbers(), device=d) for d in direction)
    add_late(a)
    event = sw.current_stream(source).record()
    assert event.device == source and not event.query()
    stream = sw.Stream(target)
    stream.wait(event)
    done = stream.record()
    assert not done.query(), "the stream has to wait"
    done.synchronize()
    assert event.query()
    stream.wait(sw.current_stream(source))
    stream.wait(b)
    stream.synchronize()


def test_families_of_ops_run_on_each_gpu_while_the_first_is_the_default(two_gpus):
    values = numbers((64, 64))
    rows = np.array([3, 1, 3])
    for device in two_gpus:
        a = sw.array(values, device=device)
        summed = values.astype("float64")
        np.add.at(summed, rows, 1)
        ours = a.astype("float64")
        sw.add.at(ours, sw.array(rows, device=device), 1)
        results = {
            "elementwise": (sw.exp(a * 0.01), np.exp(values * np.float32(0.01))),
            "sum": (a.sum(0), values.sum(0)),
            "cumsum": (a.cumsum(1), values.cumsum(1)),
            "product": (a @ a.T, values @ values.T),
            "indices": (a[sw.array(rows, device=device)], values[rows]),
            "mask": (a[a > 0], values[values > 0]),
            "add.at": (ours, summed),
            "copy": (a.T.copy(), values.T),
        }
        for name, (actual, expected) in results.items():
            assert actual.device == device, name
            np.testing.assert_allclose(actual.numpy(), expected, rtol=1e-6, err_msg=name)
        drawn = []
        for default in (device, sw.device("cpu")):
            with default:
                drawn.append(sw.random.default_rng(7).random(1000))
            assert drawn[-1].device == default
        assert np.array_equal(drawn[0].numpy(), drawn[1].numpy())


def test_operands_on_both_are_refused(two_gpus):
    a, b = (sw.ones(3, "float32", device=device) for device in two_gpus)
    for action in (
        lambda: a + b,
        lambda: a @ b,
        lambda: sw.concatenate([a, b]),
        lambda: sw.add(a, a, out=b),
    ):
        with pytest.raises(sw.DeviceError, match=r"cuda:0.*cuda:1|cuda:1.*cuda:0"):
            action()
    assert b.tolist() == [1, 1, 1]


def test_a_device_is_the_default_inside_with(two_gpus):
    with two_gpus[1]:
        assert sw.zeros(2).device == two_gpus[1] and sw.default_device() == two_gpus[1]
        with two_gpus[0]:
            assert sw.zeros(2).device == two_gpus[0]
        assert sw.current_stream().device == two_gpus[1]
    assert sw.zeros(2).device == two_gpus[0]


def test_current_device_of_the_caller_is_restored(two_gpus):
    driver = ctypes.CDLL("libcuda.so.1")

    def current():
        context = ctypes.c_void_p()
        assert driver.cuCtxGetCurrent(ctypes.byref(context)) == 0
        return context.value

    before = current()
    for device in (*two_gpus, *two_gpus[::-1]):
        a = sw.ones(SIZE, "float32", device=device)
        add_late(a)
        (a + a).to(two_gpus[0]).to(two_gpus[1])
        a.sync()
        assert current() == before
