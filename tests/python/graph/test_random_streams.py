# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""T.RandomStreams: random variables of graphs."""

import gc
import pickle
import weakref

import numpy as np
import pytest

import spanwise as sw

T = sw.tensor


def test_each_call_draws_the_next_numbers_of_one_generator(device):
    u = T.RandomStreams(5).uniform((3, 2))
    f = sw.function([], u, device=device)
    key, stream, _ = u.tag.rng.get_value().tolist()
    counter = sw._core._random_counter(key, stream, 0)
    for _ in range(3):
        expected = sw._core._random_new(counter, "uniform", (3, 2), "float64", "cpu", 0.0, 1.0, "")
        got = f()
        assert str(got.device) == str(device)
        np.testing.assert_array_equal(got.numpy(), expected.numpy())


def test_a_function_without_updates_repeats_its_numbers():
    u = T.RandomStreams(5).uniform((4,))
    f = sw.function([], u, no_default_updates=True)
    assert f().tolist() == f().tolist()


def test_one_variable_has_one_value_in_a_call_and_streams_differ(device):
    streams = T.RandomStreams(5)
    u, v = streams.normal((100,)), streams.normal((100,))
    same, a, b = sw.function([], [u + u - 2 * u, u, v], device=device)()
    assert not same.numpy().any()
    assert abs(np.corrcoef(a.numpy(), b.numpy())[0, 1]) < 0.4  # four standard errors


def test_seed_determines_all_streams_also_of_compiled_functions(device):
    streams, equal_streams = T.RandomStreams([1, 2]), T.RandomStreams([1, 2])
    f, g = (
        sw.function([], [s.uniform((2,)), s.random_integers((5,), 0, 9)], device=device)
        for s in (streams, equal_streams)
    )
    first = [a.tolist() for a in f()]
    assert [a.tolist() for a in g()] == first
    assert [a.tolist() for a in f()] != first
    streams.seed([1, 2])
    assert [a.tolist() for a in f()] == first
    streams.seed(7)
    assert [a.tolist() for a in f()] != first


@pytest.mark.parametrize(
    ("draw", "mean", "std"),
    [
        (lambda s, n: s.uniform(n, -1, 3), 1, 4 / 12**0.5),
        (lambda s, n: s.normal(n, avg=2, std=0.5), 2, 0.5),
        (lambda s, n: s.exponential(n, scale=3), 3, 3),
        (lambda s, n: s.binomial(n, n=10, p=0.3), 3, 2.1**0.5),
        (lambda s, n: s.random_integers(n, 1, 6), 3.5, (35 / 12) ** 0.5),
    ],
)
def test_mean_and_deviation_are_those_of_the_distribution(draw, mean, std, device):
    n = 40_000
    got = sw.function([], draw(T.RandomStreams(3), (n,)), device=device)().numpy()
    assert abs(got.mean() - mean) < 5 * std / n**0.5  # five standard errors
    assert abs(got.std() / std - 1) < 0.05


def test_numbers_are_within_bounds_and_of_the_dtype(device):
    streams = T.RandomStreams(1)
    integers = streams.random_integers((1000,), -2, 2, dtype="int8")
    u = streams.uniform((1000,), 2, 3, dtype="float32")
    counts = streams.binomial((1000,), dtype="float32")
    p = streams.permutation(50)
    i, a, b, c = (r.numpy() for r in sw.function([], [integers, u, counts, p], device=device)())
    assert i.dtype == "int8" and set(i) == {-2, -1, 0, 1, 2}
    assert a.dtype == "float32" and a.min() >= 2 and a.max() <= 3
    assert b.dtype == "float32" and set(b) == {0, 1}
    assert sorted(c) == list(range(50)) and list(c) != list(range(50))
    with sw.config.change(floatX="float32"):
        assert streams.normal((2,)).dtype == "float32"


def test_size_may_be_variables_or_come_from_the_parameters(device):
    streams, x, n = T.RandomStreams(1), T.dmatrix("x"), T.lscalar("n")
    outputs = [
        streams.normal(x.shape),
        streams.uniform((n, 3)),
        streams.normal(avg=x, std=1.0),
        streams.binomial(p=x),
        streams.uniform(),
        streams.uniform(7),
    ]
    assert [v.type.shape for v in outputs[:2]] == [(None, None), (None, 3)]
    got = sw.function([x, n], outputs, device=device)(np.ones((4, 2)), 5)
    assert [r.shape for r in got] == [(4, 2), (5, 3), (4, 2), (4, 2), (), (7,)]
    assert (got[3].numpy() == 1).all()


def test_derivatives_with_respect_to_mean_and_deviation_are_exact(device):
    streams = T.RandomStreams(1)
    m, s = T.dscalar("m"), T.dscalar("s")
    z = streams.normal((50,), avg=m, std=s)
    dm, ds, mean = sw.function([m, s], [*T.grad(z.mean(), [m, s]), z.mean()], device=device)(1, 2)
    assert dm.item() == 1
    np.testing.assert_allclose(1 + 2 * ds.item(), mean.item())


def test_updates_of_the_streams_can_be_passed_to_function():
    streams = T.RandomStreams(1)
    u = streams.uniform((2,))
    f = sw.function([], u, updates=streams.updates())
    assert f().tolist() != f().tolist()
    assert [state is u.tag.rng for state, _ in streams.updates()] == [True]


def test_debug_mode_and_pickled_functions_draw_the_same():
    u = T.RandomStreams(1).normal((3,))
    f = sw.function([], u, no_default_updates=True)
    g = pickle.loads(pickle.dumps(sw.function([], u)))
    h = sw.function([], u, mode="debug")
    first = f().tolist()
    assert [g().tolist(), h().tolist()] == [first, first]
    assert g().tolist() == h().tolist() != first


def test_wrong_bounds_sizes_dtypes_and_seeds_raise():
    streams = T.RandomStreams(1)
    with pytest.raises(
        sw.ArgumentError, match="-128 <= low <= high <= 127 for int8, got 0 and 200"
    ):
        streams.random_integers((2,), 0, 200, dtype="int8")
    with pytest.raises(sw.ArgumentError, match="got 3 and 2"):
        streams.random_integers((2,), 3, 2)
    with pytest.raises(sw.GraphError, match="length of the size n is not fixed"):
        streams.uniform(T.lvector("n"))
    with pytest.raises(sw.DTypeError, match="uniform: expected a floating dtype, got int64"):
        streams.uniform((2,), dtype="int64")
    with pytest.raises(sw.ArgumentError, match="non-negative"):
        T.RandomStreams(-1)


def test_a_draw_that_is_not_used_any_more_leaves_nothing():
    class Token:
        pass

    def draw(streams):
        token = Token()
        numbers = streams.uniform((3,))
        numbers.tag.rng.tag.token = token
        sw.function([], [numbers, sw.graph.scan(lambda: streams.normal(()), n_steps=2)])()
        return weakref.ref(token)

    for copied in (lambda streams: streams, lambda streams: pickle.loads(pickle.dumps(streams))):
        kept = draw(copied(T.RandomStreams(5)))
        gc.collect()
        assert kept() is None


def test_the_next_state_exists_as_long_as_the_streams_or_the_draw():
    streams = T.RandomStreams(5)
    numbers = streams.permutation(3)
    state = numbers.tag.rng
    assert state.default_update is numbers.owner.outputs[0]
    assert [(x is state, y is state.default_update) for x, y in streams.updates()] == [(True, True)]
    copied, again = pickle.loads(pickle.dumps((numbers, state)))
    assert again.default_update is copied.owner.outputs[0]
    doubled = numbers * 2
    del numbers, streams
    first, second = sw.function([], doubled), sw.function([], state)
    first(), first()
    assert state.default_update is not None and second().tolist()[2] > 0
    del doubled, first, second
    gc.collect()
    assert state.default_update is None
    assert sw.function([], state)().tolist()[2] > 0
