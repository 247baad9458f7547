# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls that repeat a recorded call on a GPU, beside the same functions whose nodes run one by one
(allow_gc=True): equal bits, with shapes that change between calls."""

import numpy as np
import pytest

import spanwise as sw

T = sw.tensor


@pytest.fixture(params=["never", "always"], autouse=True)
def specialise(request):
    """Compiled again at the same call in both functions of a pair, or in none."""
    with sw.config.change(specialise=request.param):
        yield


def pair(inputs, outputs, device):
    """The function twice: recorded from its third call on where the device is a GPU, and not."""
    return [sw.function(inputs, outputs, device=device, allow_gc=gc) for gc in (False, True)]


def assert_equal_bits(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a.numpy().view("u1"), b.numpy().view("u1"))


def assert_repeated(function, device, calls):
    """Every like call after the first few, which count and compile, repeats a recording."""
    expected = 0 if device == "cpu" else calls
    assert function.repeated_calls >= expected


def rows(x):
    """At least twelve nodes with reductions, views and results that overwrite others."""
    y = x
    for i in range(6):
        y = T.tanh(y - y.mean(axis=i % 2, keepdims=True)).T[::-1]
    return y


def test_shapes_that_change_between_calls(device):
    x = T.fmatrix("x")
    recorded, plain = pair([x], [rows(x), T.softmax(rows(x) @ rows(x).T)], device)
    draw = np.random.default_rng(0)
    held = []
    for call in range(60):
        shape = [(5, 7), (1, 7), (5, 1), (64, 33), (3, 2)][0 if call < 20 else draw.integers(5)]
        values = draw.standard_normal(shape).astype("float32")
        argument = sw.asarray(values if call % 3 else values[::-1].copy(), device=device)
        if call % 4 == 3 and shape[0] > 1:
            argument = argument[::-1]  # other strides
        results = recorded(argument)
        expected = [r.numpy() for r in plain(argument)]
        assert_equal_bits(results, [sw.asarray(e) for e in expected])
        held.append((results, expected))
        if call == 19:
            assert_repeated(recorded, device, 15)
    for results, expected in held:  # later calls write to other memory
        assert_equal_bits(results, [sw.asarray(e) for e in expected])


def test_training_with_labels(device):
    """Products, an index of labels, reductions and updates, which stay in their memory."""
    draw = np.random.default_rng(1)
    start = [draw.standard_normal(s).astype("float32") / 8 for s in ((20, 16), (16,), (16, 5))]
    weights = [[sw.shared(v, target=device) for v in start] for _ in range(2)]
    x, labels = T.fmatrix("x"), T.ivector("labels")
    functions = []
    for i in range(2):
        w, b, u = weights[i]
        scores = T.log_softmax(T.maximum(x @ w + b, 0) @ u)
        cost = -scores[T.arange(labels.shape[0]), labels].mean()
        slopes = T.grad(cost, weights[i])
        updates = {p: p - np.float32(0.1) * g for p, g in zip(weights[i], slopes, strict=True)}
        functions.append(
            sw.function([x, labels], cost, updates=updates, device=device, allow_gc=i == 1)
        )
    for step in range(40):
        size = 32 if step < 30 else 1 + step % 7
        batch = sw.asarray(draw.standard_normal((size, 20)).astype("float32"), device=device)
        picks = sw.asarray(draw.integers(0, 5, size).astype("int32"), device=device)
        costs = [f(batch, picks) for f in functions]
        np.testing.assert_array_equal(costs[0].numpy(), costs[1].numpy())
        if step == 20:
            held = weights[0][0].get_value(borrow=True)
            held_values = held.numpy()
    for ours, theirs in zip(*weights, strict=True):
        np.testing.assert_allclose(ours.get_value(), theirs.get_value(), 1e-5, 1e-6)
    np.testing.assert_array_equal(held.numpy(), held_values)
    assert_repeated(functions[0], device, 15)


def test_labels_outside_raise_at_the_next_wait(device):
    x, labels = T.fmatrix("x"), T.ivector("labels")
    f = sw.function([x, labels], x[T.arange(labels.shape[0]), labels], device=device)
    values = sw.asarray(np.arange(12, dtype="float32").reshape(3, 4), device=device)
    good = sw.asarray(np.array([0, 3, -4], "int32"), device=device)
    for _ in range(5):
        assert f(values, good).tolist() == [0, 7, 8]
    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 1 with size 4"):
        f(values, sw.asarray(np.array([0, 4, 1], "int32"), device=device)).numpy()
    assert f(values, good).tolist() == [0, 7, 8]


def test_settings_streams_and_numbers_of_the_host(device):
    x, rate = T.fmatrix("x"), T.fscalar("rate")
    recorded, plain = pair([x, rate], [rows(x) * rate], device)
    values = sw.asarray(np.random.default_rng(2).random((6, 5), "float32"), device=device)
    for call in range(30):
        number = np.float32(call // 5)
        assert_equal_bits(recorded(values, number), plain(values, number))
    with sw.config.change(launch_blocking=True):
        assert_equal_bits(recorded(values, 3), plain(values, 3))
    for _ in range(5):
        with sw.Stream(device):
            assert_equal_bits(recorded(values, 3), plain(values, 3))


def test_memory_over_many_shapes_is_bounded(device):
    x = T.fmatrix("x")
    f = sw.function([x], rows(x).sum(), device=device)

    def used():
        return sw.memory.stats(device)["used"]

    for rows_of in range(1, 20):
        for _ in range(4):
            f(sw.zeros((rows_of, 4096), "float32", device=device))
    early = used()
    for rows_of in range(20, 1, -1):
        for _ in range(4):
            f(sw.zeros((rows_of, 4096), "float32", device=device))
    assert used() <= 2 * early + (1 << 20)
    f.free()


def test_copies_that_an_op_keeps_from_call_to_call(device):
    """A call with another shape releases the op's copy in C order: recordings have one of their own."""
    op = sw.kernel_op(
        "tripled",
        """__global__ void k(const float *x, float *z, int h, int w) {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i < h * w) z[i] = 3 * x[i];
        }""",
        inputs="x: contiguous float32[h, w]",
        outputs="z: contiguous float32[h, w]",
    )
    x = T.fmatrix("x")
    recorded, plain = pair([x], [rows(op(rows(x)))], device)
    draw, held = np.random.default_rng(5), []
    for call in range(32):
        shape = (300, 200) if call % 8 < 6 else (3, 2)
        argument = sw.asarray(draw.standard_normal(shape).astype("float32"), device=device)
        assert_equal_bits(recorded(argument), plain(argument))
        held.append([sw.full((300, 200), np.nan, "float32", device=device) for _ in range(2)])
        for array in held[-1]:
            assert np.isnan(array.numpy()).all()
    assert all(np.isnan(array.numpy()).all() for arrays in held for array in arrays)
    assert_repeated(recorded, device, 16)
