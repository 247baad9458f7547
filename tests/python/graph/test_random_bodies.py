# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Random draws and other effects inside loops, OpFromGraph, lazy branches and copies of graphs: each use
takes the next numbers of its stream, and the function updates the stream."""

import pickle

import numpy as np
import pytest

import spanwise as sw

T = sw.tensor
scan = sw.graph.scan
MODES = pytest.mark.parametrize("mode", ["fast_run", "fast_compile", "debug"])


class Replay:
    """The numbers of the stream of the random variable `u`, from its present state on."""

    def __init__(self, u):
        self.rng = u.tag.rng
        self.counter = sw._core._random_counter(*self.rng.get_value().tolist())

    def __call__(self, kind, shape=()):
        new = sw._core._random_new
        return new(self.counter, kind, shape, "float64", "cpu", 0.0, 1.0, "").numpy()

    def agrees(self):
        """Whether the stream has taken as many numbers as this replay."""
        position = sw._core._random_position(self.counter, 0)
        return self.rng.get_value().tolist()[2] == position


def drawn_inside(kind, shape, seed=1):
    """(a function that makes a random variable of a step, the list of the variables that it made)."""
    streams, made = T.RandomStreams(seed), []

    def draw(*_):
        made.append(getattr(streams, kind)(shape))
        return made[-1]

    return draw, made


@MODES
def test_each_step_and_each_call_draw_the_next_numbers(device, mode):
    draw, made = drawn_inside("uniform", (2,))
    f = sw.function([], scan(draw, n_steps=4), mode=mode, device=device)
    replay = Replay(made[0])
    for _ in range(2):
        expected = [replay("uniform", (2,)) for _ in range(4)]
        np.testing.assert_array_equal(f().numpy(), expected)
        assert replay.agrees()


@MODES
def test_random_walk_and_noise_on_a_sequence_equal_a_replay(device, mode):
    draw, made = drawn_inside("normal", ())
    x = T.dvector("x")
    walk = scan(lambda s: s + draw(), outputs_info=T.constant(0.0), n_steps=6)
    noisy = scan(lambda a: a * 2 + draw(), sequences=x)
    f = sw.function([x], [walk, noisy], mode=mode, device=device)
    replays = [Replay(u) for u in made]
    for _ in range(2):
        w, n = (r.numpy() for r in f(np.arange(5.0)))
        steps = [replays[0]("normal") for _ in range(6)]
        np.testing.assert_allclose(w, np.cumsum(steps), rtol=1e-14)
        expected = [a * 2 + replays[1]("normal") for a in np.arange(5.0)]
        np.testing.assert_array_equal(n, expected)


def test_no_steps_draw_nothing(device):
    draw, made = drawn_inside("normal", (3,))
    n = T.iscalar("n")
    f = sw.function([n], scan(draw, n_steps=n), device=device)
    replay = Replay(made[0])
    assert len(f(0)) == 0 and replay.agrees()
    np.testing.assert_array_equal(f(1).numpy(), [replay("normal", (3,))])


def test_shape_of_a_draw_may_come_from_a_variable_of_the_step(device):
    streams, made = T.RandomStreams(3), []
    x, n = T.dmatrix("x"), T.lvector("n")

    def step(row, k):
        made.extend([streams.normal(row.shape), streams.uniform((k,))])
        return row * made[0], made[1].sum()

    products, sums = scan(step, sequences=[x, n])
    f = sw.function([x, n], [products, sums], device=device)
    normal, uniform = map(Replay, made)
    for _ in range(2):
        got = f(np.full((3, 4), 2.0), [1, 5, 2])
        expected = [2 * normal("normal", (4,)) for _ in range(3)]
        np.testing.assert_array_equal(got[0].numpy(), expected)
        expected = [uniform("uniform", (k,)).sum() for k in (1, 5, 2)]
        np.testing.assert_allclose(got[1].numpy(), expected, rtol=1e-14)
    assert normal.agrees() and uniform.agrees()


def test_variable_drawn_outside_has_one_value_in_all_steps(device):
    streams, x = T.RandomStreams(1), T.dvector("x")
    u = streams.uniform((2,))
    captured = scan(lambda a: a * u, sequences=x)
    passed = scan(lambda a, v: a * v, sequences=x, non_sequences=u)
    f = sw.function([x], [u, captured, passed], device=device)
    first = f(np.ones(3))
    for r in first[1:]:
        np.testing.assert_array_equal(r.numpy(), [first[0].numpy()] * 3)
    assert f(np.ones(3))[0].tolist() != first[0].tolist()


@MODES
def test_nested_loops_draw_in_each_inner_step(device, mode):
    draw, made = drawn_inside("normal", ())
    grid = scan(lambda: scan(draw, n_steps=3), n_steps=2)
    f = sw.function([], grid, mode=mode, device=device)
    replay = Replay(made[0])
    for _ in range(2):
        expected = [[replay("normal") for _ in range(3)] for _ in range(2)]
        np.testing.assert_array_equal(f().numpy(), expected)
    assert replay.agrees()


@MODES
@pytest.mark.parametrize("inline", [False, True])
def test_each_use_of_an_op_from_a_graph_draws(device, mode, inline):
    x, a = T.dvectors("xa")
    u = T.RandomStreams(1).normal(x.shape)
    op = sw.graph.OpFromGraph([x], [x + u, x * 2], inline)
    outputs = [u, op(a)[0], op(a[:1])[0], op(a)[0]]
    f = sw.function([a, x], outputs[::-1], mode=mode, device=device)
    replay = Replay(u)
    for _ in range(2):
        got = f(np.zeros(2), np.zeros(2))[::-1]
        for r in got:  # in the order in which the program made them
            np.testing.assert_array_equal(r.numpy(), replay("normal", r.shape))
    assert replay.agrees()


def test_op_from_graph_with_a_draw_inside_a_loop_draws_in_each_step(device):
    x, a = T.dscalars("xa")
    op = sw.graph.OpFromGraph([x], x + T.RandomStreams(1).normal(()))
    values = scan(lambda e: op(e) - op(e), sequences=np.zeros(4))
    got = sw.function([], values, device=device)().numpy()
    assert len(set(got)) == 4 and 0 not in got
    single = sw.function([a], [op(a), op(a)], device=device)(0.0)
    assert single[0].item() != single[1].item()


def test_copy_of_a_graph_draws_other_numbers_of_the_same_stream(device):
    x, y = T.dvectors("xy")
    noisy = x + T.RandomStreams(1).normal(x.shape)
    copied = sw.clone(noisy, {x: y})
    both = sw.function([x, y], [noisy, copied], device=device)
    alone = sw.function([y], copied, device=device)
    replay = Replay(next(n for n in sw.graph.ancestors([noisy]) if n.op.state_map).outputs[1])
    a, b = (r.numpy() for r in both(np.zeros(2), np.zeros(3)))
    np.testing.assert_array_equal(a, replay("normal", (2,)))
    np.testing.assert_array_equal(b, replay("normal", (3,)))
    np.testing.assert_array_equal(alone(np.zeros(5)).numpy(), replay("normal", (5,)))
    assert replay.agrees()


def test_variable_that_is_given_is_not_drawn(device):
    u = T.RandomStreams(1).uniform((2,))
    replay = Replay(u)
    as_input = sw.function([u], u * 2, device=device)
    replaced = sw.function([], u * 2, givens={u: T.constant([1.0, 2.0])}, device=device)
    assert as_input([3.0, 4.0]).tolist() == [6, 8] and replaced().tolist() == [2, 4]
    assert replay.agrees()


def test_copies_made_while_compiling_need_no_test_values():
    x = T.dvector("x")
    noisy = x + T.RandomStreams(1).normal(x.shape)
    outputs = [noisy, sw.clone(noisy)]
    with sw.config.change(compute_test_value="raise"):
        a, b = sw.function([x], outputs)(np.zeros(2))
    assert a.tolist() != b.tolist()


def test_two_functions_that_share_a_stream_take_turns(device):
    draw, made = drawn_inside("uniform", ())
    loop = scan(draw, n_steps=2)
    f = sw.function([], loop, device=device)
    g = sw.function([], made[0], device=device)
    both = sw.function([], [made[0], loop], device=device)
    replay = Replay(made[0])
    for _ in range(2):
        assert f().tolist() == [replay("uniform"), replay("uniform")]
        assert g().item() == replay("uniform")
    single, pair = both()
    assert [single.item(), *pair.tolist()] == [replay("uniform") for _ in range(3)]
    assert replay.agrees()


def test_options_of_updates_apply_to_streams_in_loops():
    streams = T.RandomStreams(1)
    loop = scan(lambda: streams.normal(()), n_steps=3)
    repeats = sw.function([], loop, no_default_updates=True)
    assert repeats().tolist() == repeats().tolist()
    f = sw.function([], loop, updates=streams.updates())
    first, second = f().tolist(), f().tolist()
    assert len({*first, *second}) == 6 and repeats().tolist() not in (first, second)
    streams.seed(1)
    assert [f().tolist(), f().tolist()] == [first, second]
    [(state, _)] = streams.updates()
    other = sw.shared(state.get_value(), target="cpu")
    streams.seed(1)
    assert f.copy(swap={state: other})().tolist() != first and f().tolist() == first
    still = f.copy(delete_updates=True)
    assert still().tolist() == still().tolist() == f().tolist()


def test_pickled_function_goes_on_where_the_stream_was():
    streams = T.RandomStreams(1)
    f = sw.function([], scan(lambda: streams.normal(()), n_steps=3))
    f()
    g = pickle.loads(pickle.dumps(f))
    assert [f().tolist(), f().tolist()] == [g().tolist(), g().tolist()]


@MODES
def test_derivative_of_a_loop_reads_the_numbers_of_the_forward_steps(device, mode):
    streams, made = T.RandomStreams(1), []
    x, m = T.dvector("x"), T.dscalar("m")

    def step(a, s):
        made.append(streams.normal((), avg=m, std=a))
        return s * made[0] + a

    last = scan(step, x, T.constant(1.0))[-1]
    f = sw.function([x, m], [last, *T.grad(last, [x, m])], mode=mode, device=device)
    value, mean = np.array([0.5, 2.0, 1.5]), 0.25
    replay = Replay(made[0])
    for _ in range(2):
        z = [replay("normal").item() for _ in value]
        s, dm, dx = 1.0, 0.0, np.zeros(3)
        for t, a in enumerate(value):
            factor = a * z[t] + mean
            dm, dx = dm * factor + s, dx * factor
            dx[t] = s * z[t] + 1
            s = s * factor + a
        got = [r.numpy() for r in f(value, mean)]
        np.testing.assert_allclose(got[0], s, rtol=1e-11)
        np.testing.assert_allclose(got[1], dx, rtol=1e-11)
        np.testing.assert_allclose(got[2], dm, rtol=1e-11)


@pytest.mark.parametrize("inline", [False, True])
def test_derivative_of_an_op_from_a_graph_reads_the_numbers_of_its_use(device, inline):
    x, a, b = T.dvectors("x", "a", "b")
    z = T.RandomStreams(1).normal(x.shape)
    op = sw.graph.OpFromGraph([x], x**2 * z, inline)
    p, q = op(a), op(b)
    slopes = T.grad((p * q).sum(), [a, b])
    second = T.grad(slopes[0].sum(), a)
    along = T.Rop(p, a, T.ones_like(a))
    f = sw.function([a, b], [p, q, *slopes, second, along], device=device)
    va, vb = np.array([0.5, 2.0]), np.array([3.0, -1.0])
    for _ in range(2):
        vp, vq, da, db, daa, tangent = (r.numpy() for r in f(va, vb))
        zp, zq = vp / va**2, vq / vb**2
        assert not np.allclose(zp, zq)
        np.testing.assert_allclose(da, 2 * va * zp * vq, rtol=1e-11)
        np.testing.assert_allclose(db, 2 * vb * zq * vp, rtol=1e-11)
        np.testing.assert_allclose(daa, 2 * zp * vq, rtol=1e-11)
        np.testing.assert_allclose(tangent, 2 * va * zp, rtol=1e-11)


def test_jacobian_by_a_loop_and_numeric_check_use_one_draw(device):
    streams, x = T.RandomStreams(1), T.dvector("x")
    y = scan(lambda e: e * streams.normal(()), sequences=x)
    rows = scan(lambda i: T.grad(y[i], x), T.arange(3))
    got, jacobian = sw.function([x], [y, rows], device=device)(np.ones(3))
    np.testing.assert_allclose(jacobian.numpy(), np.diag(got.numpy()), rtol=1e-14)
    T.verify_grad(lambda v: scan(lambda e: e**2 * streams.normal(()), v), [np.array([1.0, 2.0])])


def test_draw_in_a_lazy_branch_of_a_step_advances_in_each_step(device):
    streams, c = T.RandomStreams(1), T.dvector("c")
    loop = scan(lambda e: T.ifelse(e > 0, streams.normal(()), T.constant(0.0)), sequences=c)
    got = sw.function([c], loop, device=device)([1.0, 0.0, 1.0, 1.0]).tolist()
    assert got[1] == 0 and len(set(got)) == 4


def test_default_updates_of_variables_read_in_a_body_are_made_in_each_step(device):
    n = sw.shared(0, "n")
    n.default_update = n + 1
    w = sw.shared(1, "w")
    w.default_update = w + n
    tens = n * 10
    loops = scan(lambda: [n * 10, n + 0 * w, tens], n_steps=4)
    f = sw.function([], loops, device=device)
    assert [r.tolist() for r in f()] == [[0, 10, 20, 30], [0, 1, 2, 3], [0, 0, 0, 0]]
    assert (n.get_value().item(), w.get_value().item()) == (4, 1 + 0 + 1 + 2 + 3)
    op = sw.graph.OpFromGraph([], n * 1)
    assert sorted(r.item() for r in sw.function([], [op(), op()], device=device)()) == [4, 5]
    assert n.get_value().item() == 6


def test_updates_that_a_step_returns_are_made_in_each_step(device):
    draw, made = drawn_inside("normal", ())
    w, x = sw.shared(1.0, "w", target=device), T.dvector("x")

    def step(e):
        inner, updates = scan(draw, n_steps=2, return_updates=True)
        return [e * w, inner], {**updates, w: w * 2}

    (y, z), updates = scan(step, sequences=x, return_updates=True)
    f = sw.function([x], [y, z, w], updates=updates, device=device)
    replay = Replay(made[0])
    got = [r.numpy() for r in f([1.0, 1.0, 3.0])]
    np.testing.assert_array_equal(got[0], [1, 2, 12])
    np.testing.assert_array_equal(got[1].ravel(), [replay("normal") for _ in range(6)])
    assert replay.agrees() and got[2] == 1 and w.get_value().item() == 8
    _, only = scan(lambda: {w: w + 1}, n_steps=3, return_updates=True)
    sw.function([], [], updates=only)()
    assert w.get_value().item() == 11
    sw.function([x], y)([1.0])
    assert w.get_value().item() == 11
    with pytest.raises(sw.GraphError, match="scan: update of w: expected a variable of float64"):
        scan(lambda: {w: x}, n_steps=3, return_updates=True)
    with pytest.raises(sw.GraphError, match="scan: update: expected a shared variable, got x"):
        scan(lambda: {x: x}, n_steps=3, return_updates=True)


class Counted(sw.graph.Op):
    """x, with a list of the calls."""

    def __init__(self, calls):
        self.calls = calls

    def make_node(self, x):
        x = sw.graph.as_variable(x)
        return sw.graph.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        self.calls.append(1)
        output_storage[0][0] = inputs[0].copy()

    def do_constant_folding(self, node):
        return False


@pytest.mark.parametrize("mode", ["fast_run", "fast_compile"])
def test_op_with_an_effect_runs_in_each_step_and_for_each_use(device, mode):
    calls, x = [], T.dvector("x")
    op = Counted(calls)
    inner = sw.graph.OpFromGraph([x], op(x))
    loop = scan(lambda s: s + op(x), outputs_info=x, n_steps=3)
    for y, runs in (
        (loop, 3),
        (op(x) + op(x), 2),
        (inner(x) + inner(x), 2),
        (inner(T.constant([1.0])), 1),
    ):
        f = sw.function([x], y, mode=mode, device=device, on_unused_input="ignore")
        calls.clear()
        f([1.0])
        assert len(calls) == runs
