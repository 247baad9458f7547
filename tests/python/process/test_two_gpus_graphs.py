# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Two GPUs in one program: kernels and graphs on both at once."""

import threading

import numpy as np
import pytest
from python.process.two_gpus import SPIN, TICKS, numbers
from support.graphs import MODES, RandomGraph

import spanwise as sw

T = sw.tensor

SIZE = 5000


def late_op():
    """An op for x + 1 whose kernel first waits `TICKS` cycles."""
    return sw.kernel_op(
        "late_increment",
        """
        __global__ void late_increment(const float *x, float *y, int n, long long ticks) {
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


def test_a_kernel_refuses_an_array_and_a_stream_of_the_other(direction):
    source, target = direction
    kernel = sw.SourceModule(SPIN, device=source).get_function("late")
    a = sw.zeros(4, "float32", device=target)
    with pytest.raises(
        sw.KernelArgumentError, match=rf"on {source}.*on {target}.*x\.to\(\"{source}\"\)"
    ):
        kernel(a, np.int32(4), np.float32(1), np.int64(0), block=4, grid=1)
    ours = sw.zeros(4, "float32", device=source)
    with pytest.raises(sw.Error, match=f"expected a stream of {source}, got one of {target}"):
        kernel(
            ours, np.int32(4), np.float32(1), np.int64(0), block=4, grid=1, stream=sw.Stream(target)
        )
    assert a.tolist() == ours.tolist() == [0, 0, 0, 0]
    axpy = sw.ElementwiseKernel("float a, float *x, float *y", "y[i] += a * x[i]", "axpy")
    with pytest.raises(sw.DeviceError, match=f"{source}|{target}"):
        axpy(2.0, a, ours)


def test_one_source_is_compiled_for_both_gpus(two_gpus):
    kernels = [sw.SourceModule(SPIN, device=device).get_function("late") for device in two_gpus]
    arrays = [sw.zeros(SIZE, "float32", device=device) for device in two_gpus]
    for _ in range(3):
        for kernel, array in zip(kernels, arrays, strict=True):
            kernel(array, np.int32(SIZE), np.float32(1), np.int64(10), block=256, grid=20)
    assert all(np.array_equal(array.numpy(), np.full(SIZE, 3)) for array in arrays)


def test_threads_compute_on_both_gpus(two_gpus):
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

    threads = [threading.Thread(target=work, args=(device,)) for device in (*two_gpus, *two_gpus)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    first, second = results.values()
    assert np.array_equal(first, second)


def test_a_function_uses_two_contexts(two_gpus):
    with sw.using("dev0->cuda:0;dev1->cuda:1"):
        assert [sw.device("dev0"), sw.device("dev1")] == list(two_gpus)
        values = numbers((32, 32))
        v01, v02, v11, v12 = (
            sw.shared(values, target=name) for name in ("dev0", "dev0", "dev1", "dev1")
        )
        f = sw.function([], [v01 @ v02, v11 @ v12, (v01 @ v02).transfer("dev1") + v11])
    first, second, third = f()
    assert [r.device for r in (first, second, third)] == [two_gpus[0], two_gpus[1], two_gpus[1]]
    np.testing.assert_array_equal(first.numpy(), values @ values)
    np.testing.assert_array_equal(second.numpy(), values @ values)
    np.testing.assert_array_equal(third.numpy(), values @ values + values)


@pytest.mark.parametrize("mode", MODES)
def test_nodes_on_one_gpu_wait_for_those_on_the_other(direction, mode):
    source, target = direction
    x = T.tensor("float32", (None,), "x", device=source)
    op = late_op()
    away = op(op(x).transfer(target))
    f = sw.function([x], [away.transfer(source) + op(x), away], device=source, mode=mode)
    for seed in (1, 2):
        back, stayed = f(sw.array(numbers(seed=seed), device=source))
        assert back.device == source and stayed.device == target
        np.testing.assert_array_equal(stayed.numpy(), numbers(seed=seed) + 2)
        np.testing.assert_array_equal(back.numpy(), 2 * numbers(seed=seed) + 3)


def test_shared_variables_of_both_gpus_are_updated(direction):
    source, target = direction
    a, b = sw.shared(numbers(seed=1), target=source), sw.shared(numbers(seed=2), target=target)
    op = late_op()
    f = sw.function([], updates={a: b.transfer(source), b: op(a).transfer(target)}, device=source)
    first, second = numbers(seed=1), numbers(seed=2)
    for _ in range(3):
        f()
        first, second = second, first + 1
        assert a.get_value().device == source and b.get_value().device == target
    np.testing.assert_array_equal(a.get_value().numpy(), first)
    np.testing.assert_array_equal(b.get_value().numpy(), second)


def test_memory_freed_during_a_call_is_not_reused_too_early(direction):
    source, target = direction
    x = T.tensor("float32", (None,), "x", device=source)
    y = x
    for _ in range(6):
        y = ((y + 1).transfer(target) + 1).transfer(source)
    for allow_gc in (True, False):
        f = sw.function([x], y, device=source, allow_gc=allow_gc)
        argument = sw.array(numbers((1 << 16,)), device=source)
        for _ in range(20):
            result = f(argument)
        np.testing.assert_array_equal(result.numpy(), numbers((1 << 16,)) + 12)


def test_a_profile_contains_the_kernels_of_both_gpus(two_gpus):
    x = T.tensor("float32", (None,), "x", device=two_gpus[0])
    op = late_op()
    f = sw.function([x], op(op(x).transfer(two_gpus[1])), device=two_gpus[0], profile=True)
    f(sw.array(numbers(), device=two_gpus[0]))
    late = [node for node in f.profile.ops() if "late" in node.name]
    assert len(late) == 1 and late[0].seconds > 0.02, "one row for the op, with its device time"


@pytest.mark.parametrize("mode", MODES)
def test_random_graphs_on_both_gpus_match_numpy(two_gpus, mode):
    assert RandomGraph(0, two_gpus[0]).other == two_gpus[1]
    with np.errstate(all="ignore"):
        # Some graphs are invalid and not compiled; most have to be.
        assert sum(RandomGraph(seed, two_gpus[0]).check(mode) for seed in range(40)) > 20
