# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Theano's random variables: the numbers of numpy.random.RandomState and of MRG31k3p for a seed."""

import pickle

import numpy as np
import pytest
from addons.theano.in_process import T, streams, theano
from addons.theano.runner import run_script

import spanwise as sw

M1, M2 = 2**31 - 1, 2**31 - 21069


def value(variable, device="cpu", **options):
    return np.asarray(sw.function([], variable, device=device, **options)().numpy())


def stream(seed, number=0):
    """The RandomState of the stream `number` of RandomStreams(seed)."""
    seeds = np.random.RandomState(seed)
    return np.random.RandomState([int(seeds.randint(2**30)) for _ in range(number + 1)][-1])


MATRIX = np.arange(12.0).reshape(3, 4)
CASES = {
    "uniform": (lambda r: r.uniform((2, 3), -1, 2), lambda r: r.uniform(-1, 2, (2, 3))),
    "normal": (
        lambda r: r.normal(avg=MATRIX, std=2.0),
        lambda r: r.normal(MATRIX, 2.0),
    ),
    "binomial": (lambda r: r.binomial((5,), 10, 0.3), lambda r: r.binomial(10, 0.3, (5,))),
    "poisson": (lambda r: r.poisson(size=4, lam=3.5), lambda r: r.poisson(3.5, 4)),
    "random_integers": (
        lambda r: r.random_integers((7,), -3, 9),
        lambda r: r.randint(-3, 10, 7),
    ),
    "random_integers of arrays": (
        lambda r: r.random_integers(low=np.arange(3), high=np.array([[5], [9]])),
        lambda r: [[r.randint(low, high) for low in range(3)] for high in (6, 10)],
    ),
    "choice": (lambda r: r.choice((3,), a=5), lambda r: r.choice(5, 3)),
    "choice without replacement": (
        lambda r: r.choice((2,), [4, 5, 6], False, [0.2, 0.3, 0.5]),
        lambda r: r.choice([4, 5, 6], 2, False, [0.2, 0.3, 0.5]),
    ),
    "permutation": (lambda r: r.permutation(n=5), lambda r: r.permutation(5)),
    "permutations": (
        lambda r: r.permutation((2, 2), 3),
        lambda r: np.reshape([r.permutation(3) for _ in range(4)], (2, 2, 3)),
    ),
    "multinomial": (
        lambda r: r.multinomial(n=6, pvals=[[0.5, 0.5], [0.1, 0.9]]),
        lambda r: [r.multinomial(6, p) for p in ([0.5, 0.5], [0.1, 0.9])],
    ),
    "size -1": (lambda r: r.normal((2, -1), avg=np.zeros(3)), lambda r: r.normal(size=(2, 3))),
    "shuffle_row_elements": (
        lambda r: r.shuffle_row_elements(T.constant(MATRIX)),
        lambda r: [row[r.permutation(4)] for row in MATRIX],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_numbers_are_those_of_a_random_state_for_each_variable(device, case):
    ours, numpys = CASES[case]
    random = streams.RandomStreams(234)
    random.uniform()  # the next variable has a stream of its own
    f = sw.function([], ours(random), device=device)
    expected = stream(234, 1)
    for _ in range(2):  # the second call continues the stream
        got = np.asarray(f().numpy())
        want = np.asarray(numpys(expected))
        np.testing.assert_array_equal(got, want)


def test_dtype_size_of_variables_and_names_of_arguments():
    x = T.dmatrix("x")
    random = streams.RandomStreams(5)
    numbers = random.uniform(x.shape, dtype="float32")
    assert numbers.type.ndim == 2 and numbers.dtype == "float32"
    got = sw.function([x], numbers, device="cpu")(MATRIX).numpy()
    np.testing.assert_array_equal(got, stream(5).uniform(size=(3, 4)).astype("float32"))
    assert random.binomial(prob=0.5, size=(1,)).type.shape == (1,)
    with pytest.raises(TypeError, match="unknown argument lower; expected"):
        random.uniform(lower=3)
    with pytest.raises(ValueError, match="not fixed; pass ndim="):
        random.uniform(T.lvector())


def test_states_are_random_states_that_scripts_read_seed_and_copy():
    random = streams.RandomStreams(7)
    numbers = random.normal((2,))
    f = sw.function([], numbers, device="cpu")
    first = f().numpy()
    state = numbers.tag.rng
    kept = state.get_value()
    assert isinstance(kept, np.random.RandomState)
    second = f().numpy()
    state.set_value(kept)
    np.testing.assert_array_equal(f().numpy(), second)
    random.seed(7)
    np.testing.assert_array_equal(f().numpy(), first)
    random.seed()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(f))().numpy(), first)
    random[state] = np.random.RandomState(3)
    np.testing.assert_array_equal(f().numpy(), np.random.RandomState(3).normal(size=2))
    assert random.updates()[0][0] is state


def test_draws_in_scan_advance_the_stream():
    random = streams.RandomStreams(9)
    numbers, updates = theano.scan(lambda: random.uniform(()), n_steps=4)
    f = sw.function([], numbers, updates=updates, device="cpu")
    expected = stream(9).uniform(size=8)
    np.testing.assert_array_equal(np.concatenate([f().numpy(), f().numpy()]), expected)


# ---- MRG31k3p, in integers ----


def powered(matrix, exponent, modulus):
    result = np.identity(3, dtype=object)
    base = np.array(matrix, dtype=object)
    while exponent:
        result = result.dot(base) % modulus if exponent & 1 else result
        base, exponent = base.dot(base) % modulus, exponent >> 1
    return result


def jumped(state, exponent):
    a = powered([[0, 2**22, 129], [1, 0, 0], [0, 1, 0]], exponent, M1).dot(state[:3]) % M1
    b = powered([[2**15, 0, 2**15 + 1], [1, 0, 0], [0, 1, 0]], exponent, M2).dot(state[3:]) % M2
    return [*map(int, a), *map(int, b)]


def mrg(seed, count, streams, number=0):
    """Uniform numbers of the random variable `number`."""
    state = jumped([seed] * 6, number * 2**134)
    states = [jumped(state, i * 2**72) for i in range(min(streams, count))]
    numbers = []
    for i in range(count):
        x = states[i % streams] = jumped(states[i % streams], 1)
        numbers.append((x[0] - x[3] if x[0] > x[3] else x[0] - x[3] + M1) / 2**31)
    return np.array(numbers)


@pytest.mark.parametrize("size", [(1,), (5,), (3, 7), (4, 4, 5)])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_uniform_numbers_of_mrg31k3p(device, size, dtype):
    random = streams.MRG_RandomStreams(1234)
    random.uniform((2,))
    numbers = random.uniform(size, dtype=dtype)
    count = int(np.prod(size))
    expected = mrg(1234, 2 * count, count // 6 or 1 if count > 6 else count, 1)
    if count > 6:  # the second call continues each stream, the first ones with one number more
        expected = expected[:count]
    got = value(numbers, device)
    np.testing.assert_array_equal(got, expected[:count].astype(dtype).reshape(size))


def test_numbers_that_theano_printed():
    random = streams.MRG_RandomStreams
    normal = [2.97493, 1.670176, 1.208575, -0.5837687]
    np.testing.assert_allclose(value(random(3).normal((2, 2))).ravel(), normal, rtol=1e-6)
    uniform = [0.005768001, 0.2090595, 0.06141557, 0.9464839, 0.4176249, 0.9627993]
    x = T.dmatrix()
    got = sw.function([x], random(3).uniform(x.shape, ndim=2), device="cpu")(MATRIX).numpy()
    np.testing.assert_allclose(got.ravel()[:6], uniform, rtol=1e-6)


def test_draws_that_are_made_of_uniform_numbers():
    random = streams.MRG_RandomStreams(11)
    pvals = np.array([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]])
    numbers = mrg(11, 8, 60 * 256)
    counted = value(random.multinomial(n=4, pvals=pvals))
    expected = np.zeros((2, 3))
    for i, u in enumerate(numbers):
        expected[i % 2, np.argmax(np.cumsum(pvals[i % 2]) > u)] += 1
    np.testing.assert_array_equal(counted, expected)
    chosen = value(random.choice(3, replace=False, p=pvals))
    np.testing.assert_array_equal(np.sort(chosen, axis=1), [[0, 1, 2]] * 2)
    trials = value(random.binomial((1000,), p=0.25))
    assert set(trials.tolist()) == {0, 1} and 200 < trials.sum() < 300
    normal = value(random.truncated_normal((2000,), 1.0, 2.0))
    assert abs(normal.mean() - 1) < 0.15 and abs(normal.std() - 2) < 0.15
    assert np.abs(normal - 1).max() <= 2 * 2 / 0.8796
    with pytest.raises(ValueError, match="seed: expected an integer from 1 to"):
        streams.MRG_RandomStreams(0)
    with pytest.raises(NotImplementedError, match="replace=False"):
        random.choice(p=pvals)


def test_seed_restarts_mrg_streams():
    random = streams.MRG_RandomStreams(5)
    numbers = random.uniform((10,))
    f = sw.function([], numbers, device="cpu")
    first, second = f().numpy(), f().numpy()
    assert not (first == second).any()
    random.seed()
    np.testing.assert_array_equal(f().numpy(), first)
    random.seed(6)
    np.testing.assert_array_equal(f().numpy(), value(streams.MRG_RandomStreams(6).uniform((10,))))


def test_documented_script_prints_the_numbers_of_theano(tmp_path):
    printed, _ = run_script(
        tmp_path / "script.py",
        """
        import numpy, theano, theano.tensor as T
        from theano.tensor.shared_randomstreams import RandomStreams
        from theano import function
        srng = RandomStreams(seed=234)
        rv_u = srng.uniform((2, 2))
        rv_n = srng.normal((2, 2))
        f = function([], rv_u)
        g = function([], rv_n, no_default_updates=True)
        nearly_zeros = function([], rv_u + rv_u - 2 * rv_u)
        print((f() != f()).all(), (g() == g()).all(), nearly_zeros().tolist())
        state_after_v0 = rv_u.rng.get_value().get_state()
        rng_val = rv_u.rng.get_value(borrow=True)
        rng_val.seed(89234)
        rv_u.rng.set_value(rng_val, borrow=True)
        assert (f() == numpy.random.RandomState(89234).uniform(size=(2, 2))).all()
        rng = rv_u.rng.get_value(borrow=True)
        rng.set_state(state_after_v0)
        rv_u.rng.set_value(rng, borrow=True)
        state = theano.shared(numpy.random.RandomState(1))
        new_state, order = T.raw_random.permutation(state, n=5)
        print(function([], order, updates=[(state, new_state)])())
        print(numpy.random.RandomState(1).permutation(5))
        """,
    )
    lines = printed.splitlines()
    assert lines[0] == "True True [[0.0, 0.0], [0.0, 0.0]]" and lines[1] == lines[2]
