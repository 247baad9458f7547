# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Programs of random draws in loops, ops from graphs, copies and lazy branches, drawn by hypothesis and
compared with a replay by NumPy that draws in the order of the program."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

import spanwise as sw

T = sw.tensor

# An expression is a tuple of a kind and its parts. ("var", i) is variable i of the innermost scope, modulo
# their number; variable 0 is x, or the input of an op from a graph.
LEAVES = st.one_of(
    st.tuples(st.just("var"), st.integers(0, 3)),
    st.tuples(st.just("draw"), st.sampled_from(["normal", "uniform"]), st.integers(0, 3)),
)


def larger(parts):
    return st.one_of(
        st.tuples(st.just("add"), parts, parts),
        st.tuples(st.just("tanh"), parts),
        st.tuples(st.just("let"), parts, parts),
        st.tuples(st.just("states"), parts, parts, st.integers(0, 3)),
        st.tuples(st.just("elements"), parts, st.integers(1, 3)),
        st.tuples(st.just("twice"), parts, parts, st.booleans()),
        st.tuples(st.just("copy"), parts),
        st.tuples(st.just("choose"), parts, parts, st.booleans()),
    )


EXPRESSIONS = st.recursive(LEAVES, larger, max_leaves=8)


class Evaluation:
    """What graphs and the replay have in common: sums of products, which keep values of any program small."""

    def value(self, e, scope):
        kind, *parts = e
        if kind == "var":
            return scope[parts[0] % len(scope)]
        if kind == "add":
            return 0.5 * (self.value(parts[0], scope) + self.value(parts[1], scope))
        if kind == "tanh":
            return self.tanh(self.value(parts[0], scope))
        if kind == "let":
            first = self.value(parts[0], scope)
            return 0.5 * (first + self.value(parts[1], [*scope, first]))
        return getattr(self, kind)(e, scope, *parts)


class Graph(Evaluation):
    """The variables of a program. `streams` has the state of the stream of each draw."""

    tanh = staticmethod(T.tanh)

    def __init__(self, seed):
        self.random, self.streams = T.RandomStreams(seed), {}

    def draw(self, e, scope, kind, size):
        # The extent is computed: in a loop it depends on the step where the variable does.
        extent = (scope[-1] * 0 + size).astype("int64")
        drawn = getattr(self.random, kind)((extent,))
        self.streams[id(e)] = drawn.tag.rng
        return (drawn * scope[-1]).sum() * 0.25

    def states(self, e, scope, first, body, steps):
        start = self.value(first, scope)
        return sw.graph.scan(
            lambda s: self.value(body, [*scope, s]), outputs_info=start, n_steps=steps
        ).sum()

    def elements(self, e, scope, body, steps):
        rows = np.linspace(0.5, 1, steps)
        return sw.graph.scan(lambda a: self.value(body, [*scope, a]), sequences=rows).sum()

    def twice(self, e, scope, body, argument, inline):
        x = T.dscalar("x")
        op = sw.graph.OpFromGraph([x], self.value(body, [x]), inline)
        return op(op(self.value(argument, scope)))

    def copy(self, e, scope, part):
        once = self.value(part, scope[:1])
        return 0.5 * (once - sw.clone(once))

    def choose(self, e, scope, a, b, condition):
        branches = self.value(a, scope), self.value(b, scope)
        return T.ifelse(T.constant(int(condition)), *branches)


class Replay(Evaluation):
    """The values of a program, which advance the streams of `graph` from their present states."""

    tanh = staticmethod(np.tanh)

    def __init__(self, graph):
        self.counters = {
            key: sw._core._random_counter(*state.get_value().tolist())
            for key, state in graph.streams.items()
        }

    def draw(self, e, scope, kind, size):
        new = sw._core._random_new
        drawn = new(self.counters[id(e)], kind, (size,), "float64", "cpu", 0.0, 1.0, "").numpy()
        return (drawn * scope[-1]).sum() * 0.25

    def states(self, e, scope, first, body, steps):
        values = [self.value(first, scope)]
        for _ in range(steps):
            values.append(self.value(body, [*scope, values[-1]]))
        return np.sum(values[1:])

    def elements(self, e, scope, body, steps):
        return np.sum([self.value(body, [*scope, a]) for a in np.linspace(0.5, 1, steps)])

    def twice(self, e, scope, body, argument, inline):
        first = self.value(body, [self.value(argument, scope)])
        return self.value(body, [first])

    def copy(self, e, scope, part):
        return 0.5 * (self.value(part, scope[:1]) - self.value(part, scope[:1]))

    def choose(self, e, scope, a, b, condition):
        branches = self.value(a, scope), self.value(b, scope)
        return branches[0] if condition else branches[1]


def distinct(e):
    """A copy of `e` of which no two parts are the same object."""
    return tuple([distinct(part) if isinstance(part, tuple) else part for part in e])


@pytest.mark.parametrize("mode", ["fast_run", "fast_compile", "debug"])
@given(EXPRESSIONS, st.integers(0, 2**32))
def test_random_program_equals_its_replay(device, mode, expression, seed):
    program = distinct(expression)
    x, graph = T.dscalar("x"), Graph(seed)
    y = graph.value(program, [x])
    f = sw.function([x], y, mode=mode, device=device, on_unused_input="ignore")
    replay = Replay(graph)
    for value in (0.75, -0.5):
        np.testing.assert_allclose(
            f(value).item(), replay.value(program, [value]), rtol=1e-11, atol=1e-12
        )
        for key, state in graph.streams.items():
            position = sw._core._random_position(replay.counters[key], 0)
            assert state.get_value().tolist()[2] == position


@given(EXPRESSIONS, st.integers(0, 2**32))
def test_derivative_of_a_random_program_is_that_of_its_draws(device, expression, seed):
    x, graph = T.dscalar("x"), Graph(seed)
    y = graph.value(distinct(expression), [x])
    slope = T.grad(y + 0 * x, x)
    options = {"device": device, "on_unused_input": "ignore"}
    both = sw.function([x], [y, slope], **options)
    repeated = sw.function([x], y, no_default_updates=True, **options)
    for value in itertools.repeat(0.75, 2):
        above, below = repeated(value + 1e-6).item(), repeated(value - 1e-6).item()
        middle = repeated(value).item()
        got, derivative = (r.item() for r in both(value))
        np.testing.assert_allclose(got, middle, rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(derivative, (above - below) / 2e-6, rtol=1e-4, atol=1e-5)
