# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of theano.tensor and its modules: values of NumPy and SciPy, and derivatives."""

import textwrap

import numpy as np
import pytest
from addons.theano.in_process import (
    Assert,
    T,
    extra_ops,
    grad_clip,
    grad_scale,
    nlinalg,
    nnet,
    slinalg,
    theano,
)
from addons.theano.runner import run_script
from hypothesis import given, strategies as st

import spanwise as sw

pytest.importorskip("scipy")

import scipy.linalg
import scipy.special

R = np.random.default_rng(6)
M, N, V, W = (
    R.standard_normal((4, 5)),
    R.standard_normal((4, 5)),
    R.standard_normal(5),
    R.standard_normal(4),
)
A, B3, C3 = R.standard_normal((4, 4)), R.standard_normal((3, 4, 5)), R.standard_normal((3, 5, 2))
S = A @ A.T + 4 * np.eye(4)
I = np.array([2, 0, 3, 1, 2])  # noqa: E741


def value(build, *arrays, device="cpu"):
    """What the function of `build` gives for the arrays, as NumPy arrays."""
    inputs = [T.tensor(x.dtype, (None,) * x.ndim) for x in map(np.asarray, arrays)]
    outputs = build(*inputs)
    is_single = not isinstance(outputs, (list, tuple))
    f = sw.function(
        inputs, [outputs] if is_single else list(outputs), device=device, on_unused_input="ignore"
    )
    results = [np.asarray(x.numpy() if hasattr(x, "numpy") else x) for x in f(*arrays)]
    return results[0] if is_single else results


# build, arrays, expected
CASES = {
    "dot_high_rank": (T.dot, (M, R.standard_normal((3, 5, 2))), lambda a, b: np.dot(a, b)),
    "dot_vector": (T.dot, (B3, V), np.dot),
    "batched_tensordot": (lambda a, b: T.batched_tensordot(a, b, [2, 1]), (B3, C3), np.matmul),
    "batched_tensordot_count": (lambda a, b: T.batched_tensordot(a, b, 1), (B3, C3), np.matmul),
    "add": (lambda a, b: T.add(a, b, a), (M, N), lambda a, b: a + b + a),
    "mul": (lambda a, b: T.mul(a, b, a), (M, N), lambda a, b: a * b * a),
    "smallest": (lambda a, b: T.smallest(a, b, 0.5), (M, N), lambda a, b: np.minimum(np.minimum(a, b), 0.5)),
    "largest": (lambda a, b: T.largest(a, b), (M, N), np.maximum),
    "tensor_copy": (T.tensor_copy, (M,), lambda a: a),
    "complex": (T.complex, (M, N), lambda a, b: a + 1j * b),
    "real": (lambda a, b: T.real(T.complex(a, b)), (M, N), lambda a, b: a),
    "imag": (lambda a, b: T.imag(T.complex(a, b)), (M, N), lambda a, b: b),
    "addbroadcast": (lambda a, b: T.addbroadcast(a[:1], 0) + b, (M, N), lambda a, b: a[:1] + b),
    "patternbroadcast": (lambda a, b: T.patternbroadcast(a[:1], (True, False)) + b, (M, N), lambda a, b: a[:1] + b),
    "shape_padaxis": (lambda a: T.shape_padaxis(a, 1), (M,), lambda a: a[:, None]),
    "stack": (lambda a, b: T.stack(a, b), (M, N), lambda a, b: np.stack([a, b])),
    "stack_axis": (lambda a, b: T.stack([a, b], axis=1), (M, N), lambda a, b: np.stack([a, b], 1)),
    "stacklists": (lambda a: T.stacklists([[a[0], 1.0], [2.0, a[1]]]), (V,), lambda a: np.array([[a[0], 1], [2, a[1]]])),
    "vertical_stack": (T.vertical_stack, (M, N), lambda a, b: np.vstack([a, b])),
    "horizontal_stack": (T.horizontal_stack, (M, N), lambda a, b: np.hstack([a, b])),
    "split": (lambda a: T.split(a, [1, 3, 1], 3, axis=1), (M,), lambda a: np.split(a, [1, 4], 1)),
    "roll": (lambda a: T.roll(a, 2, axis=1), (M,), lambda a: np.roll(a, 2, 1)),
    "roll_back": (lambda a: T.roll(a, -7), (M,), lambda a: np.roll(a, -7)),
    "choose": (lambda i, a: T.choose(i, [a[0], a[1], a[2], a[3]]), (I, M), lambda i, a: np.choose(i, list(a))),
    "choose_wrap": (lambda i, a: T.choose(i - 3, [a[0], a[1]], mode="wrap"), (I, M), lambda i, a: np.choose(i - 3, list(a[:2]), mode="wrap")),
    "choose_clip": (lambda i, a: T.choose(i, [a[0], a[1]], mode="clip"), (I, M), lambda i, a: np.choose(i, list(a[:2]), mode="clip")),
    "mgrid": (lambda a: T.mgrid[0 : a.shape[0], 1:3], (M,), lambda a: list(np.mgrid[0:4, 1:3])),
    "ogrid": (lambda a: T.ogrid[0 : a.shape[0], 1:3], (M,), lambda a: list(np.ogrid[0:4, 1:3])),
    "max_and_argmax": (lambda a: T.max_and_argmax(a, axis=1), (M,), lambda a: [a.max(1), a.argmax(1)]),
    "norm": (lambda a: [T.norm(a, p, axis=0) for p in (0, 1, 2, 3, "inf", "-inf")], (M,), lambda a: [np.linalg.norm(a, p, 0) for p in (0, 1, 2, 3, np.inf, -np.inf)]),
    "allclose": (T.allclose, (M, M + 1e-9), np.allclose),
    "isclose": (lambda a, b: T.isclose(a, b, equal_nan=True), (np.array([1, np.nan, np.inf, 2]), np.array([1, np.nan, np.inf, 3])), lambda a, b: np.isclose(a, b, equal_nan=True)),
    "nonzero": (lambda a: list(T.nonzero(a > 0)), (M,), lambda a: list(np.nonzero(a > 0))),
    "nonzero_matrix": (lambda a: T.nonzero(a > 0, True), (M,), lambda a: np.stack(np.nonzero(a > 0))),
    "flatnonzero": (lambda a: T.flatnonzero(a > 0), (M,), lambda a: np.flatnonzero(a > 0)),
    "nonzero_values": (lambda a: T.nonzero_values(T.maximum(a, 0)), (M,), lambda a: np.maximum(a, 0)[a > 0]),
    "second": (T.second, (M, np.array(2.0)), lambda a, b: np.full_like(a, 2)),
    "gamma": (lambda a: T.gamma(abs(a) + 1), (M,), lambda a: scipy.special.gamma(abs(a) + 1)),
    "gammaln": (lambda a: T.gammaln(abs(a) + 1), (M,), lambda a: scipy.special.gammaln(abs(a) + 1)),
    "psi": (lambda a: T.psi(abs(a) + 1), (M,), lambda a: scipy.special.psi(abs(a) + 1)),
    "erfc": (T.erfc, (M,), scipy.special.erfc),
    "erfcx": (T.erfcx, (M,), scipy.special.erfcx),
    "erfinv": (lambda a: T.erfinv(T.tanh(a)), (M,), lambda a: scipy.special.erfinv(np.tanh(a))),
    "erfcinv": (lambda a: T.erfcinv(T.exp(-abs(a))), (M,), lambda a: scipy.special.erfcinv(np.exp(-abs(a)))),
    "j0": (T.j0, (M,), scipy.special.j0),
    "j1": (T.j1, (M,), scipy.special.j1),
    "chi2sf": (lambda a: T.chi2sf(abs(a), 2.0), (M,), lambda a: scipy.special.chdtrc(2.0, abs(a))),
    "bincount": (lambda i: extra_ops.bincount(i, minlength=6), (I,), lambda i: np.bincount(i, minlength=6)),
    "bincount_weights": (extra_ops.bincount, (I, V), np.bincount),
    "to_one_hot": (lambda i: extra_ops.to_one_hot(i, 5, "float64"), (I,), lambda i: np.eye(5)[i]),
    "compress": (lambda a: extra_ops.compress([1, 0, 1, 0], a, 0), (M,), lambda a: a[::2]),
    "diff": (lambda a: extra_ops.diff(a, 2, axis=0), (M,), lambda a: np.diff(a, 2, 0)),
    "fill_diagonal": (lambda a: extra_ops.fill_diagonal(a, 7.0), (A,), lambda a: a - np.diag(np.diag(a)) + 7 * np.eye(4)),
    "fill_diagonal_offset": (lambda a: extra_ops.fill_diagonal_offset(a, 7.0, -1), (A,), lambda a: np.where(np.eye(4, k=-1) > 0, 7, a)),
    "unique": (lambda i: extra_ops.Unique(True, True, True)(i), (I,), lambda i: list(np.unique(i, True, True, True))),
    "searchsorted": (lambda a: extra_ops.searchsorted(T.sort(a), a, "right"), (V,), lambda a: np.searchsorted(np.sort(a), a, "right")),
    "unravel_index": (lambda i: extra_ops.unravel_index(i * 5, (4, 6)), (I,), lambda i: list(np.unravel_index(i * 5, (4, 6)))),
    "unravel_index_f": (lambda i: extra_ops.unravel_index(i * 5, (4, 6), "F"), (I,), lambda i: list(np.unravel_index(i * 5, (4, 6), "F"))),
    "logsoftmax": (nnet.logsoftmax, (M,), lambda a: scipy.special.log_softmax(a, 1)),
    "crossentropy_softmax_1hot": (lambda a, i: list(nnet.crossentropy_softmax_1hot(a, i)), (M, I[:4]), lambda a, i: [-scipy.special.log_softmax(a, 1)[range(4), i], scipy.special.softmax(a, 1)]),
    "crossentropy_with_bias": (lambda a, b, i: list(nnet.crossentropy_softmax_1hot_with_bias(a, b, i)), (M, V, I[:4]), lambda a, b, i: [-scipy.special.log_softmax(a + b, 1)[range(4), i], scipy.special.softmax(a + b, 1)]),
    "sigmoid_binary_crossentropy": (nnet.sigmoid_binary_crossentropy, (M * 40, abs(N) % 1), lambda a, t: t * np.logaddexp(0, -a) + (1 - t) * np.logaddexp(0, a)),
    "softsign": (nnet.softsign, (M,), lambda a: a / (1 + abs(a))),
    "selu": (nnet.selu, (M,), lambda a: 1.0507009873554805 * np.where(a > 0, a, 1.6732632423543772 * np.expm1(a))),
    "confusion_matrix": (lambda i: nnet.confusion_matrix(i, i[::-1]), (I,), lambda i: [np.array([[0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0]]) * 0 + sum(np.outer(np.eye(4, dtype="i8")[x], np.eye(4, dtype="i8")[y]) for x, y in zip(i, i[::-1], strict=False)), np.arange(4)]),
    "batch_normalization": (lambda a, v: nnet.batch_normalization(a, v, v, v, abs(v) + 1), (M, V), lambda a, v: (a - v) * v / (abs(v) + 1) + v),
    "det": (nlinalg.det, (A,), np.linalg.det),
    "matrix_inverse": (nlinalg.matrix_inverse, (A,), np.linalg.inv),
    "pinv": (nlinalg.pinv, (M,), np.linalg.pinv),
    "matrix_dot": (lambda a: nlinalg.matrix_dot(a, a, a), (A,), lambda a: a @ a @ a),
    "matrix_power": (lambda a: [nlinalg.matrix_power(a, n) for n in (3, 0, -2)], (A,), lambda a: [np.linalg.matrix_power(a, n) for n in (3, 0, -2)]),
    "extract_diag": (nlinalg.extract_diag, (A,), np.diag),
    "alloc_diag": (nlinalg.alloc_diag, (V,), np.diag),
    "svd_values": (lambda a: nlinalg.svd(a, compute_uv=False), (M,), lambda a: np.linalg.svd(a, compute_uv=False)),
    "svd": (lambda a: nlinalg.svd(a, full_matrices=False), (M,), lambda a: list(np.linalg.svd(a, full_matrices=False))),
    "qr": (nlinalg.qr, (M.T.copy(),), lambda a: list(np.linalg.qr(a))),
    "qr_r": (lambda a: nlinalg.qr(a, "r"), (M.T.copy(),), lambda a: np.linalg.qr(a, "r")),
    "eig": (nlinalg.eig, (np.triu(A),), lambda a: list(np.linalg.eig(a))),
    "eigh": (nlinalg.eigh, (S,), lambda a: list(np.linalg.eigh(a))),
    "lstsq": (lambda a, b: nlinalg.lstsq(a, b)[0], (M.T.copy(), V), lambda a, b: np.linalg.lstsq(a, b)[0]),
    "cholesky": (nlinalg.cholesky, (S,), np.linalg.cholesky),
    "tensorinv": (lambda a: nlinalg.tensorinv(a, 1), (A,), lambda a: np.linalg.tensorinv(a, 1)),
    "tensorsolve": (nlinalg.tensorsolve, (A, W), np.linalg.tensorsolve),
    "matrix_norms": (lambda a: [nlinalg.norm(a, p) for p in ("fro", 1, -1, 2, -2, "inf", "-inf", "nuc")], (M,), lambda a: [np.linalg.norm(a, p) for p in ("fro", 1, -1, 2, -2, np.inf, -np.inf, "nuc")]),
    "solve": (slinalg.solve, (A, W), np.linalg.solve),
    "solve_lower": (slinalg.solve_lower_triangular, (S, M), lambda a, b: np.linalg.solve(np.tril(a), b)),
    "solve_upper": (slinalg.solve_upper_triangular, (S, M), lambda a, b: np.linalg.solve(np.triu(a), b)),
    "expm": (slinalg.expm, (A,), scipy.linalg.expm),
    "eigvalsh": (lambda a: slinalg.eigvalsh(a, a), (S,), lambda a: np.ones(4)),
    "kron": (slinalg.kron, (M, A), np.kron),
    "upper_factor": (slinalg.Cholesky(lower=False), (S,), lambda a: np.linalg.cholesky(a).T),
}  # fmt: skip


FACTORS = {
    "svd": lambda u, s, v: [s, (u * s) @ v],
    "eigh": lambda w, v: [w, (v * w) @ v.T],
}


@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_numpy_and_scipy(name, device):
    build, arrays, expected = CASES[name]
    try:
        result = value(build, *arrays, device=device)
    except sw.NotSupportedError as error:
        if device.kind == "cpu":
            raise
        pytest.skip(str(error))
    theirs = expected(*arrays)
    if name in FACTORS:  # signs of the vectors are not unique
        result, theirs = FACTORS[name](*result), FACTORS[name](*theirs)
    if not isinstance(theirs, list):
        result, theirs = [result], [theirs]
    assert len(result) == len(theirs)
    for mine, reference in zip(result, theirs, strict=True):
        assert mine.shape == np.shape(reference)
        np.testing.assert_allclose(mine, reference, 1e-9, 1e-11)


DERIVATIVES = {
    "det": (nlinalg.det, [A]),
    "inverse": (nlinalg.matrix_inverse, [A + 3 * np.eye(4)]),
    "cholesky": (lambda a: nlinalg.cholesky(T.dot(a, a.T) + 4 * np.eye(4)), [A]),
    "eigh_values": (lambda a: nlinalg.eigh(a + a.T)[0], [A]),
    "eigh_vectors": (lambda a: abs(nlinalg.eigh(a + a.T)[1]), [A]),
    "solve": (slinalg.solve, [A + 3 * np.eye(4), W]),
    "solve_matrix": (slinalg.solve, [A + 3 * np.eye(4), M]),
    "solve_lower": (slinalg.solve_lower_triangular, [A + 3 * np.eye(4), M]),
    "solve_upper": (slinalg.solve_upper_triangular, [A + 3 * np.eye(4), W]),
    "expm": (slinalg.expm, [A]),
    "erfc": (T.erfc, [M]),
    "erfcx": (T.erfcx, [M]),
    "erfinv": (lambda a: T.erfinv(T.tanh(a)), [M]),
    "erfcinv": (lambda a: T.erfcinv(T.exp(-a * a) * 0.5 + 0.2), [M]),
    "gamma": (lambda a: T.gamma(a * a + 1), [M]),
    "gammaln": (lambda a: T.gammaln(a * a + 1), [M]),
    "j0": (T.j0, [M]),
    "batched_tensordot": (lambda a, b: T.batched_tensordot(a, b, [2, 1]), [B3, C3]),
    "roll": (lambda a: T.roll(a, 2, axis=1) ** 2, [M]),
    "split": (lambda a: T.split(a, [1, 4], 2, axis=1)[1] ** 2, [M]),
    "nonzero_values": (lambda a: T.nonzero_values(T.maximum(a, 0)) ** 2, [M]),
    "norm": (lambda a: T.norm(a, 3, axis=0), [M]),
    "logsoftmax": (nnet.logsoftmax, [M]),
    "kron": (slinalg.kron, [A[:2], M[:2]]),
}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives_agree_with_differences(name):
    build, points = DERIVATIVES[name]
    sw.tensor.verify_grad(build, points, rng=np.random.RandomState(4))


def test_clipped_and_scaled_slopes_keep_the_value():
    x = T.dvector("x")
    for y, slope in ((grad_clip(x, -1, 1), [-1.0, 0.5, 1.0]), (grad_scale(x, 3), [-6.0, 1.5, 9.0])):
        f = sw.function(
            [x], [y, sw.tensor.grad((y * np.array([-2, 0.5, 3])).sum(), x)], device="cpu"
        )
        same, derivative = f(np.arange(3.0))
        assert (same.tolist(), derivative.tolist()) == ([0, 1, 2], slope)


def test_assertion_of_a_graph_raises_its_message():
    x = T.dvector("x")
    f = sw.function([x], Assert("too large")(x, T.all(x < 2)) * 2, device="cpu")
    assert f([1.0]).tolist() == [2.0]
    with pytest.raises(AssertionError, match="too large"):
        f([3.0])


def test_singular_matrix_and_complex_eigenvalues_raise():
    with pytest.raises(np.linalg.LinAlgError):
        value(nlinalg.matrix_inverse, np.zeros((2, 2)))
    with pytest.raises(ValueError, match="complex"):
        value(nlinalg.eig, np.array([[0.0, 1.0], [-1.0, 0.0]]))


@given(st.lists(st.integers(-2, 2), min_size=1, max_size=3, unique=True), st.integers(6, 9))
def test_taps_of_a_sequence_are_its_shifted_elements(taps, count):
    x = T.dvector("x")
    y, _ = theano.scan(lambda *parts: sum(parts), sequences={"input": x, "taps": taps})
    host = np.arange(float(count)) ** 2
    first, last = min(*taps, 0), max(*taps, 0)
    expected = [sum(host[t + k] for k in taps) for t in range(-first, count - last)]
    assert sw.function([x], y, device="cpu")(host).tolist() == expected


@given(
    st.lists(st.integers(-4, -1), min_size=1, max_size=3, unique=True),
    st.lists(st.integers(-3, -1), min_size=1, max_size=2, unique=True),
    st.integers(0, 6),
)
def test_steps_read_older_results_of_outputs(taps, other_taps, steps):
    x, start, other = T.dvector("x"), T.dvector("start"), T.dvector("other")

    def step(element, *rest):
        first, second, factor = rest[: len(taps)], rest[len(taps) : -1], rest[-1]
        return [sum(first) + element, element * 3, sum(second) * factor + first[0]]

    (a, b, c), _ = theano.scan(
        step,
        sequences=x,
        outputs_info=[
            {"initial": start if taps != [-1] else start[0], "taps": taps},
            None,
            {"initial": other if other_taps != [-1] else other[0], "taps": other_taps},
        ],
        non_sequences=T.constant(np.float64(0.5)),
    )
    f = sw.function([x, start, other], [a, b, c], device="cpu")
    elements = np.arange(float(steps)) + 1
    starts = [np.arange(float(-min(t))) + 2 for t in (taps, other_taps)]
    first, second, middle = list(starts[0]), list(starts[1]), []
    for element in elements:
        new = sum(first[t] for t in taps) + element
        second.append(sum(second[t] for t in other_taps) * 0.5 + first[taps[0]])
        first.append(new)
        middle.append(element * 3)
    got = [y.tolist() for y in f(elements, *starts)]
    assert got == [first[len(starts[0]) :], middle, second[len(starts[1]) :]]


def test_derivative_goes_through_older_results():
    def build(x):
        step = lambda element, two_ago, one_ago: element * two_ago + one_ago  # noqa: E731
        y, _ = theano.scan(step, sequences=x, outputs_info={"initial": x[:2], "taps": [-2, -1]})
        return y

    sw.tensor.verify_grad(build, [R.standard_normal(6)], rng=np.random.RandomState(3))


@pytest.mark.parametrize("taps", [[-1], [-2, -1]])
@pytest.mark.parametrize("form", ["until", "dict", "pairs", "updates alone"])
def test_scan_ends_with_until_beside_outputs_and_updates(taps, form):
    bound = T.dscalar("bound")
    calls = theano.shared(np.int64(0), "calls")

    def step(*rest):
        value = sum(rest) * 2
        condition = theano.until(value > bound)
        if form == "until":
            return value, condition
        changes = [(calls, calls + 1)] if form == "pairs" else {calls: calls + 1}
        return (changes, condition) if form == "updates alone" else ([value], changes, condition)

    if form == "updates alone":
        outputs, updates = theano.scan(lambda: step(bound), n_steps=3)
        assert outputs is None and list(updates) == [calls]
        return
    initial = T.constant(np.ones(len(taps))) if len(taps) > 1 else T.constant(np.float64(1))
    values, updates = theano.scan(
        step, outputs_info=[{"initial": initial, "taps": taps}], n_steps=1024
    )
    slope = T.grad(values[-1], bound, disconnected_inputs="ignore")
    got, _ = sw.function([bound], [values, slope], updates=updates, device="cpu")(45.0)
    expected = [1.0] * len(taps)
    while len(expected) == len(taps) or expected[-1] <= 45:
        expected.append(sum(expected[t] for t in taps) * 2)
    assert got.tolist() == expected[len(taps) :]
    assert int(calls.get_value()) == (0 if form == "until" else len(got))


def test_truncated_gradient_of_older_results():
    x, w = T.dvector("x"), T.dscalar("w")
    start = T.constant(np.array([1.0, 2.0]))
    slopes = []
    for limit in (-1, 2, 20):
        y, _ = theano.scan(
            lambda e, two_ago, one_ago, w: w * two_ago + one_ago * e, x,
            [{"initial": start, "taps": [-2, -1]}], w, truncate_gradient=limit,
        )  # fmt: skip
        slopes.append(T.grad(y[-1], w))
    values = np.array([0.5, 0.7, 1.1, 1.3])
    whole, two, twenty = (float(g) for g in sw.function([x, w], slopes, device="cpu")(values, 0.3))

    def last(w, frozen=None):
        a, b = 1.0, 2.0
        for t, e in enumerate(values):
            a, b = b, (frozen if frozen is not None and t < 2 else w) * a + b * e
        return b

    def slope(f):
        return (f(0.3 + 1e-6) - f(0.3 - 1e-6)) / 2e-6

    assert whole == pytest.approx(slope(last), rel=1e-7) == pytest.approx(twenty, rel=1e-7)
    assert two == pytest.approx(slope(lambda w: last(w, 0.3)), rel=1e-7)


def test_folds_return_the_last_state():
    x = T.dvector("x")
    zero = T.constant(np.float64(0))
    step = lambda a, state: a + 2 * state  # noqa: E731
    outputs = [theano.reduce(step, x, zero)[0], theano.foldl(step, x, zero)[0]]
    outputs += [theano.foldr(step, x, zero)[0], theano.map(lambda a: a * a, x)[0][1]]
    assert [float(y) for y in sw.function([x], outputs, device="cpu")([1.0, 2.0, 3.0])] == [
        11,
        11,
        17,
        4,
    ]


@pytest.mark.parametrize(
    ("number", "dtype"),
    [
        (1, "int8"),
        (300, "int16"),
        (-(2**31), "int32"),
        (2**40, "int64"),
        (1.5, "float32"),
        (0.1, "float64"),
    ],
)
def test_constants_have_the_smallest_dtype(number, dtype):
    assert T.constant(number).dtype == T.as_tensor_variable(number).dtype == dtype
    assert T.constant(np.float64(1)).dtype == "float64"


@pytest.mark.parametrize(
    "of",
    [
        lambda x, axis: T.addbroadcast(x, axis),
        lambda x, axis: T.extra_ops.diff(x, axis=axis),
        lambda x, axis: T.split(x, [1, 1], 2, axis),
        lambda x, axis: T.roll(x, 1, axis),
        lambda x, axis: T.topk(x, 1, axis),
        lambda x, axis: T.makeKeepDims(x, x.sum(0), axis),
    ],
)
def test_axes_out_of_range_are_errors(of):
    for x, axes in ((T.dmatrix("x"), (2, -3, 5)), (T.dscalar("s"), (0, -1))):
        for axis in axes:
            with pytest.raises((ValueError, IndexError), match="axis|out of bounds"):
                of(x, axis)


METHODS = """
    import numpy as np, theano, theano.tensor as T
    m = T.dmatrix('m')
    a = np.array([[1.25, -2.5, 0.], [4., 3., -1.5]])
    outputs = [m.sum(axis=[0, 1]), m.sum(acc_dtype='float64'), m.norm(1, axis=0), m.sort(axis=0), m.argsort(),
               m.repeat(2, axis=1), m.copy(), m.fill(2), m.real, m.imag, m.ones_like(), m.zeros_like(), m.trunc(),
               abs(m).sqrt(), m.round(mode='half_to_even'), m.round('half_away_from_zero'), m.diagonal(),
               m.nonzero_values(), m[(m > 0).nonzero()], m.ptp(), m.mean(axis=[1])]
    results = theano.function([m], outputs)(a)
    expected = [a.sum(), a.sum(), abs(a).sum(0), np.sort(a, 0), a.argsort(), a.repeat(2, 1), a, a * 0 + 2, a, a * 0,
                a * 0 + 1, a * 0, np.trunc(a), np.sqrt(abs(a)), np.round(a), np.sign(a) * np.floor(abs(a) + .5),
                np.diagonal(a), a[a != 0], a[a > 0], a.max() - a.min(), a.mean(1)]
    for got, want in zip(results, expected):
        assert np.array_equal(got, want), (got, want)
    assert m and theano.function([m], m > 0)(a).dtype == bool
    try:
        bool(m > 0)
    except TypeError as error:
        print('comparison' in str(error))
"""


REDUCTIONS = """
    import numpy as np, theano, theano.tensor as T
    m = T.dmatrix('m')
    a = np.array([[1.25, -2.5, 2.], [4., 3., -1.5]])
    outputs = [T.prod(m, no_zeros_in_input=True), T.prod(m, 1, None, True, None, True), m.prod(0, None, False, None, True),
               T.grad(T.prod(m, no_zeros_in_input=True), m), T.sum(m, 0, None, True), T.mean(m, 0, None, False, True),
               m.mean(0, None, True), T.max(m, 0, True), m.min(1, True), T.var(m, 0, 1, True), m.std(0, 1), T.argmax(m, 0, True),
               T.any(m > 0, 1, True), m.sum([0], 'float32')]
    results = theano.function([m], outputs)(a)
    expected = [a.prod(), a.prod(1, keepdims=True), a.prod(0), a.prod() / a, a.sum(0, keepdims=True),
                a.mean(0, keepdims=True), a.mean(0, keepdims=True), a.max(0, keepdims=True), a.min(1, keepdims=True),
                a.var(0, ddof=1, keepdims=True), a.std(0, ddof=1), a.argmax(0)[None], (a > 0).any(1)[:, None],
                a.sum(0).astype('float32')]
    for got, want in zip(results, expected):
        assert got.shape == want.shape and np.allclose(got, want), (got, want)
    try:
        T.max(m, 0, True, None)
    except TypeError as error:
        print(error)
"""


def test_reductions_take_theanos_arguments_by_position(tmp_path):
    printed, _ = run_script(tmp_path / "script.py", REDUCTIONS)
    assert printed.strip() == "max: expected at most keepdims after the axis"


def test_variables_have_theanos_methods(tmp_path):
    printed, _ = run_script(
        tmp_path / "script.py",
        METHODS.replace("print('comparison' in str(error))", "print ('comparison' in str(error))"),
    )
    assert printed.split() == ["True"]


OLD_PATHS = """
    import theano, theano.tensor as T
    from theano.compile.ops import as_op
    from theano.compile.io import In
    from theano.gof.graph import Variable, inputs
    from theano.tensor.nnet.conv import conv2d
    from theano.tensor.nnet.nnet import softsign
    from theano.tensor.var import TensorVariable
    from theano.tests import unittest_tools as utt
    from theano.updates import OrderedUpdates
    import theano.scan_module, theano.tensor.sharedvar, theano.sandbox.linalg, theano.scalar.basic
    x, y = T.dvector('x'), T.dvector('y')
    print([v.name for v in inputs([x * y + x])], isinstance(x, TensorVariable), theano.tensor.nnet.bn.softsign is softsign)
    print(theano.sandbox.linalg.det is T.nlinalg.det, utt.fetch_seed(), isinstance(OrderedUpdates(), dict))
"""


def test_modules_are_found_by_their_old_paths(tmp_path):
    printed, _ = run_script(
        tmp_path / "script.py",
        "from __future__ import print_function\n" + textwrap.dedent(OLD_PATHS),
    )
    assert printed.splitlines() == ["['x', 'y'] True True", "True 666 True"]


@pytest.mark.parametrize("shapes", [((3, 2), (3, 2, 4)), ((3, 2, 4), (3, 4)), ((3, 4), (3, 4)), ((3, 2, 4), (3, 4, 2)), ((3, 2, 1, 4), (3, 4, 2)), ((3,), (3, 2))])  # fmt: skip
def test_batched_dot_takes_each_product(shapes):
    a, b = (np.random.default_rng(3).standard_normal(s) for s in shapes)
    left, right = (T.tensor("float64", (None,) * len(s)) for s in shapes)
    got = sw.function([left, right], T.batched_dot(left, right))(a, b).numpy()
    expected = [np.dot(x, y) for x, y in zip(a, b, strict=True)]
    np.testing.assert_allclose(got, expected, 1e-13)


def test_hierarchical_softmax_and_positions():
    rng = np.random.default_rng(4)
    x, w1, b1 = rng.standard_normal((3, 4)), rng.standard_normal((4, 3)), rng.standard_normal(3)
    w2, b2 = rng.standard_normal((3, 4, 2)), rng.standard_normal((3, 2))
    classes = scipy.special.softmax(x @ w1 + b1, 1)
    inner = scipy.special.softmax(np.einsum("bi,cio->bco", x, w2) + b2, 2)
    expected = (classes[:, :, None] * inner).reshape(3, 6)
    variables = [T.tensor("float64", (None,) * v.ndim) for v in (x, w1, b1, w2, b2)]
    first, *rest = variables
    everything = nnet.h_softmax(first, 3, 5, 3, 2, *rest)
    chosen = nnet.h_softmax(first, 3, 6, 3, 2, *rest, T.constant(np.array([0, 5, 2])))
    all_, some = sw.function(variables, [everything, chosen])(x, w1, b1, w2, b2)
    np.testing.assert_allclose(all_.numpy(), expected[:, :5], 1e-12)
    np.testing.assert_allclose(some.numpy(), expected[range(3), [0, 5, 2]], 1e-12)

    index = (np.array([1, 5, -1]), np.array([1, 3, 2]))
    for mode in ("wrap", "clip"):
        for order in "CF":
            got = extra_ops.ravel_multi_index(index, (3, 4), mode, order).eval()
            want = np.ravel_multi_index(index, (3, 4), mode=mode, order=order)
            np.testing.assert_array_equal(np.asarray(got), want)
    for n in (1, 2, 7):
        np.testing.assert_allclose(
            np.asarray(extra_ops.bartlett(T.constant(n)).eval()), np.bartlett(n), 1e-15, 1e-15
        )


#: Logits so far apart that a probability is 0, and ops that only move probabilities.
FAR = np.array([[800.0, -800.0, 3.0, 0.0], [0.0, 1.0, -2000.0, 5.0]])
MOVES = {
    "join": (lambda p: T.join(0, p, p), lambda y: np.concatenate([y, y])),
    "stack": (lambda p: T.stack([p, p[::-1]]), lambda y: np.stack([y, y[::-1]])),
    "switch": (
        lambda p: T.switch(T.eye(2, 4), p, p[::-1]),
        lambda y: np.where(np.eye(2, 4), y, y[::-1]),
    ),
    "split": (lambda p: T.split(p, [1, 3], 2, axis=1)[1], lambda y: y[:, 1:]),
    "take": (lambda p: T.take(p, [1, 2], axis=1), lambda y: y[:, 1:3]),
    "repeat": (lambda p: T.repeat(p, 2, axis=1), lambda y: np.repeat(y, 2, axis=1)),
    "tile": (lambda p: T.tile(p, (2, 1)), lambda y: np.tile(y, (2, 1))),
    "roll": (lambda p: T.roll(p, 1, axis=1), lambda y: np.roll(y, 1, axis=1)),
    "flatten": (lambda p: p.flatten(), np.ravel),
    "diag": (lambda p: T.diag(p[:, :2]), lambda y: np.diag(y[:, :2])),
    "max": (lambda p: p.max(axis=0), lambda y: y.max(axis=0)),
    "minimum": (lambda p: T.minimum(p, p[:, ::-1]), lambda y: np.minimum(y, y[:, ::-1])),
    "clip": (lambda p: T.clip(p, 0, 1), lambda y: y),
    "set_subtensor": (
        lambda p: T.set_subtensor(T.ones((2, 5))[:, 1:], p),
        lambda y: np.pad(y, ((0, 0), (1, 0))),
    ),
    "ifelse": (lambda p: T.ifelse(T.gt(p[0, 0], 0), p, p + 1), lambda y: y),
}


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
@pytest.mark.parametrize("probability", [nnet.softmax, nnet.sigmoid])
@pytest.mark.parametrize("name", MOVES)
def test_logarithms_of_moved_probabilities_are_finite(name, probability, mode):
    move, expected = MOVES[name]
    x = T.dmatrix()
    y = T.log(move(probability(x)))
    f = theano.function([x], [y, T.grad(y.sum(), x)], mode=mode)
    value, derivative = f(FAR)
    logarithm = (
        scipy.special.log_softmax(FAR, 1) if probability is nnet.softmax else -np.logaddexp(0, -FAR)
    )
    np.testing.assert_allclose(value, expected(logarithm), rtol=1e-12, atol=1e-12)
    assert np.isfinite(derivative).all()
