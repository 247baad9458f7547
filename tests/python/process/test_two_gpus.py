# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Two GPUs in one program: names, transfers in order, kernels and graphs on both at once.

Work that must not be overtaken is held up by a kernel that spins, so that a missing order shows.
"""

import ctypes
import threading

import numpy as np
import pytest
from support.graphs import MODES, RandomGraph

import spanwise as sw

T = sw.tensor
SPIN = """
__global__ void late(float *x, int n, float value, long long ticks) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const long long start = clock64();
  while (clock64() - start < ticks) {}
  if (i < n) x[i] += value;
}
"""
TICKS = np.int64(50_000_000)  # some 30 ms: long beside all that is queued after it
SIZE = 5000


@pytest.fixture(scope="module")
def pair():
    """Two GPUs; the tests are skipped where there are not two."""
    gpus = [device for device in sw.devices() if device.kind == "cuda"]
    if len(gpus) < 2:
        pytest.skip(f"needs two GPUs, and there {'is' if len(gpus) == 1 else 'are'} {len(gpus)}")
    return gpus[0], gpus[1]


@pytest.fixture(params=[(0, 1), (1, 0)], ids=["from 0 to 1", "from 1 to 0"])
def way(request, pair):
    """Where from and where to: either way."""
    return tuple(pair[i] for i in request.param)


def add_late(x, value=1.0):
    """Queues ``x += value`` behind a spinning kernel on the current stream of x's device."""
    kernel = sw.SourceModule(SPIN, device=x.device).get_function("late")
    kernel(x, np.int32(x.size), np.float32(value), TICKS, block=256, grid=-(-x.size // 256))


def numbers(shape=(SIZE,), dtype="float32", seed=1):
    return np.random.default_rng(seed).integers(-50, 50, shape).astype(dtype)


def late_op():
    """x + 1, late."""
    return sw.kernel_op(
        "late_copy",
        """
        __global__ void late_copy(const float *x, float *y, int n, long long ticks) {
          const int i = blockIdx.x * blockDim.x + threadIdx.x;
          const long long start = clock64();
          while (clock64() - start < ticks) {}
          if (i < n) y[i] = x[i] + 1;
        }
        """,
        inputs=["x: contiguous float32[n]"],
        outputs=["y: contiguous float32[n]"],
        scalars={"ticks": TICKS},
        arguments=["x", "y", "n", "ticks"],
    )


# ---- Arrays


VIEWS = {
    "all": lambda a: a,
    "transposed": lambda a: a.T,
    "backwards": lambda a: a[::-1, ::-2],
    "a window": lambda a: a[3:-5, 7:90:3],
    "stretched": lambda a: a[:1].broadcast_to((40, a.shape[1]))
    if hasattr(a, "sync")
    else np.broadcast_to(a[:1], (40, a.shape[1])),
    "empty": lambda a: a[:0],
}


@pytest.mark.parametrize("dtype", ["uint8", "float32", "complex128"])
@pytest.mark.parametrize("view", VIEWS)
def test_views_are_copied_between_gpus(way, view, dtype):
    source, target = way
    values = numbers((120, 101), dtype)
    ours = VIEWS[view](sw.array(values, device=source))
    there = ours.to(target)
    assert there.device == target and np.array_equal(there.numpy(), VIEWS[view](values))
    back = there.to(source)
    assert back.device == source and np.array_equal(back.numpy(), VIEWS[view](values))


def test_values_go_into_a_window_of_another_dtype(way):
    source, target = way
    values = numbers((60, 40))
    whole = sw.zeros((80, 80), "float64", device=target)
    sw.copyto(whole[10:70, ::2].T, sw.array(values, device=source).T)
    expected = np.zeros((80, 80))
    expected[10:70, ::2] = values
    assert np.array_equal(whole.numpy(), expected)
    whole[10:70, ::2] = sw.array(values[::-1], device=source)
    expected[10:70, ::2] = values[::-1]
    assert np.array_equal(whole.numpy(), expected)


def test_large_arrays_go_across(way):
    source, target = way
    values = np.arange(1 << 24, dtype="float32")
    assert np.array_equal(sw.array(values, device=source).to(target).numpy(), values)


def test_copy_waits_for_the_writer_of_its_source(way):
    source, target = way
    a = sw.array(numbers(), device=source)
    add_late(a)
    assert np.array_equal(a.to(target).numpy(), numbers() + 1)


def test_a_source_is_written_only_after_it_was_copied(way):
    source, target = way
    a = sw.array(numbers(), device=source)
    b = sw.zeros(SIZE, "float32", device=target)
    add_late(b)  # the copy into b waits for it
    sw.copyto(b, a)
    a.fill(np.nan)
    assert np.array_equal(b.numpy(), numbers())


def test_memory_is_used_again_only_after_it_was_copied(way):
    source, target = way
    for count in (SIZE, 1 << 20):
        b = sw.zeros(count, "float32", device=target)
        add_late(b)
        a = sw.array(numbers((count,)), device=source)
        sw.copyto(b, a)
        del a
        others = [sw.full(count, np.nan, "float32", device=source) for _ in range(4)]
        assert np.array_equal(b.numpy(), numbers((count,)))
        assert len(others) == 4


def test_order_between_streams_of_the_two(way):
    source, target = way
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


def test_event_of_one_gpu_is_awaited_on_the_other(way):
    source, target = way
    a, b = (sw.array(numbers(), device=d) for d in way)
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


def test_families_of_ops_run_on_either_while_the_first_is_the_default(pair):
    values = numbers((64, 64))
    rows = np.array([3, 1, 3])
    for device in pair:
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
        for name, (got, expected) in results.items():
            assert got.device == device, name
            np.testing.assert_allclose(got.numpy(), expected, rtol=1e-6, err_msg=name)
        drawn = []
        for place in (device, sw.device("cpu")):
            with place:
                drawn.append(sw.random.default_rng(7).random(1000))
            assert drawn[-1].device == place
        assert np.array_equal(drawn[0].numpy(), drawn[1].numpy())


def test_operands_on_both_are_refused(pair):
    a, b = (sw.ones(3, "float32", device=device) for device in pair)
    for action in (
        lambda: a + b,
        lambda: a @ b,
        lambda: sw.concatenate([a, b]),
        lambda: sw.add(a, a, out=b),
    ):
        with pytest.raises(sw.DeviceError, match=r"cuda:0.*cuda:1|cuda:1.*cuda:0"):
            action()
    assert b.tolist() == [1, 1, 1]


def test_a_device_is_the_default_inside_with(pair):
    with pair[1]:
        assert sw.zeros(2).device == pair[1] and sw.default_device() == pair[1]
        with pair[0]:
            assert sw.zeros(2).device == pair[0]
        assert sw.current_stream().device == pair[1]
    assert sw.zeros(2).device == pair[0]


def test_current_device_of_the_caller_is_restored(pair):
    driver = ctypes.CDLL("libcuda.so.1")

    def current():
        context = ctypes.c_void_p()
        assert driver.cuCtxGetCurrent(ctypes.byref(context)) == 0
        return context.value

    before = current()
    for device in (*pair, *pair[::-1]):
        a = sw.ones(SIZE, "float32", device=device)
        add_late(a)
        (a + a).to(pair[0]).to(pair[1])
        a.sync()
        assert current() == before


# ---- Kernels


def test_a_kernel_refuses_an_array_and_a_stream_of_the_other(way):
    here, there = way
    kernel = sw.SourceModule(SPIN, device=here).get_function("late")
    a = sw.zeros(4, "float32", device=there)
    with pytest.raises(
        sw.KernelArgumentError, match=rf"on {here}.*on {there}.*x\.to\(\"{here}\"\)"
    ):
        kernel(a, np.int32(4), np.float32(1), np.int64(0), block=4, grid=1)
    ours = sw.zeros(4, "float32", device=here)
    with pytest.raises(sw.Error, match=f"expected one of {here}, got a stream of {there}"):
        kernel(
            ours, np.int32(4), np.float32(1), np.int64(0), block=4, grid=1, stream=sw.Stream(there)
        )
    assert a.tolist() == ours.tolist() == [0, 0, 0, 0]
    axpy = sw.ElementwiseKernel("float a, float *x, float *y", "y[i] += a * x[i]", "axpy")
    with pytest.raises(sw.DeviceError, match=f"{here}|{there}"):
        axpy(2.0, a, ours)


def test_one_source_on_both(pair):
    kernels = [sw.SourceModule(SPIN, device=device).get_function("late") for device in pair]
    arrays = [sw.zeros(SIZE, "float32", device=device) for device in pair]
    for _ in range(3):
        for kernel, array in zip(kernels, arrays, strict=True):
            kernel(array, np.int32(SIZE), np.float32(1), np.int64(10), block=256, grid=20)
    assert all(np.array_equal(array.numpy(), np.full(SIZE, 3)) for array in arrays)


def test_a_thread_for_each(pair):
    results, problems = {}, []

    def work(device):
        try:
            with device:
                a = sw.array(numbers((200, 200), "float64"))
                for _ in range(50):
                    a = sw.tanh(a @ a.T * 1e-3) + a[::-1].sum(0) * 1e-3
                results[str(device)] = a.to("cpu").numpy()
        except Exception as error:
            problems.append(error)

    threads = [threading.Thread(target=work, args=(device,)) for device in (*pair, *pair)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    first, second = results.values()
    assert np.array_equal(first, second)


# ---- Graphs


def test_a_function_of_two_contexts(pair):
    with sw.using("dev0->cuda:0;dev1->cuda:1"):
        assert [sw.device("dev0"), sw.device("dev1")] == list(pair)
        values = numbers((32, 32))
        v01, v02, v11, v12 = (
            sw.shared(values, target=name) for name in ("dev0", "dev0", "dev1", "dev1")
        )
        f = sw.function([], [v01 @ v02, v11 @ v12, (v01 @ v02).transfer("dev1") + v11])
    first, second, third = f()
    assert [r.device for r in (first, second, third)] == [pair[0], pair[1], pair[1]]
    np.testing.assert_array_equal(first.numpy(), values @ values)
    np.testing.assert_array_equal(second.numpy(), values @ values)
    np.testing.assert_array_equal(third.numpy(), values @ values + values)


@pytest.mark.parametrize("mode", MODES)
def test_nodes_on_one_gpu_wait_for_those_on_the_other(way, mode):
    here, there = way
    x = T.tensor("float32", (None,), "x", device=here)
    op = late_op()
    away = op(op(x).transfer(there))
    f = sw.function([x], [away.transfer(here) + op(x), away], device=here, mode=mode)
    for seed in (1, 2):
        back, kept = f(sw.array(numbers(seed=seed), device=here))
        assert back.device == here and kept.device == there
        np.testing.assert_array_equal(kept.numpy(), numbers(seed=seed) + 2)
        np.testing.assert_array_equal(back.numpy(), 2 * numbers(seed=seed) + 3)


def test_shared_variables_of_both_gpus_are_updated(way):
    here, there = way
    a, b = sw.shared(numbers(seed=1), target=here), sw.shared(numbers(seed=2), target=there)
    op = late_op()
    f = sw.function([], updates={a: b.transfer(here), b: op(a).transfer(there)}, device=here)
    first, second = numbers(seed=1), numbers(seed=2)
    for _ in range(3):
        f()
        first, second = second, first + 1
        assert a.get_value().device == here and b.get_value().device == there
    np.testing.assert_array_equal(a.get_value().numpy(), first)
    np.testing.assert_array_equal(b.get_value().numpy(), second)


def test_results_of_freed_memory_are_not_overwritten(way):
    here, there = way
    x = T.tensor("float32", (None,), "x", device=here)
    y = x
    for _ in range(6):
        y = ((y + 1).transfer(there) + 1).transfer(here)
    for allow_gc in (True, False):
        f = sw.function([x], y, device=here, allow_gc=allow_gc)
        given = sw.array(numbers((1 << 16,)), device=here)
        for _ in range(20):
            result = f(given)
        np.testing.assert_array_equal(result.numpy(), numbers((1 << 16,)) + 12)


def test_a_profile_of_both(pair):
    x = T.tensor("float32", (None,), "x", device=pair[0])
    op = late_op()
    f = sw.function([x], op(op(x).transfer(pair[1])), device=pair[0], profile=True)
    f(sw.array(numbers(), device=pair[0]))
    late = [node for node in f.profile.ops() if "late" in node.name]
    assert len(late) == 1 and late[0].seconds > 0.02, "device time of both kernels"


@pytest.mark.parametrize("mode", MODES)
def test_random_graphs_across(pair, mode):
    assert RandomGraph(0, pair[0]).other == pair[1]
    with np.errstate(all="ignore"):
        assert sum(RandomGraph(seed, pair[0]).check(mode) for seed in range(40)) > 20
