# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Random graphs whose gradients are compared with finite differences along a random direction."""

import numpy as np

import spanwise as sw

T = sw.tensor
MODES = ("fast_run", "fast_compile", "debug")
STEP = 1e-5  # of the differences


def _in_a_graph(v, inline):
    x = T.tensor("float64", (None,) * v.ndim)
    return sw.graph.OpFromGraph([x], T.tanh(x) * x.sum() * 0.3 + x, inline)(v)


#: Functions of variables of equal or broadcastable shapes, smooth enough for differences.
UNARY = [
    lambda v: T.tanh(v),
    lambda v: sw.sin(v) * 0.7,
    lambda v: -v,
    lambda v: 1 / (1 + T.exp(-v)),
    lambda v: T.log(1 + T.exp(v)),
    lambda v: T.log(1 - 0.9 / (1 + T.exp(-v))),
    lambda v: sw.sigmoid(v) + v,
    lambda v: T.exp(T.tanh(v)) - 1,
    lambda v: T.tanh(v) ** 2,
    lambda v: (v * v + 1) ** 0.5,
    lambda v: (v * v + 1) ** -1,
    lambda v: T.softmax(v, axis=-1) if v.ndim else v * 2,
    lambda v: T.log(T.softmax(v, axis=0)) * 0.1 if v.ndim else v - 1,
    lambda v: T.log(T.exp(v).sum(axis=-1, keepdims=True)) if v.ndim else T.log(T.exp(v)),
    lambda v: T.mean(v, axis=0, keepdims=True) if v.ndim else v,
    lambda v: v.sum(axis=-1) / 3 if v.ndim else v,
    lambda v: T.var(v, axis=-1, keepdims=True) if v.ndim else v + 0,
    lambda v: T.tanh((T.sin(v) * v).sum(axis=0, keepdims=True)) if v.ndim else v * 0.5,
    lambda v: T.cumsum(v, axis=0) / 2 if v.ndim else v * 1,
    lambda v: v.T,
    lambda v: v[::-1] if v.ndim else v,
    lambda v: v[:1] if v.ndim else v / 1,
    lambda v: v.dimshuffle("x", *range(v.ndim)) if v.ndim < 3 else v,
    lambda v: v.reshape(-1) if v.ndim else v,
    lambda v: T.concatenate([v, T.tanh(v)], axis=v.ndim - 1) if v.ndim else v,
    lambda v: T.set_subtensor(v[:1], T.sin(v[:1])) if v.ndim else v,
    lambda v: T.inc_subtensor(v[[0, 0]], 0.5) if v.ndim else v,
    lambda v: T.ones_like(v) * 0.5 + v,
    lambda v: _in_a_graph(v, inline=False),
    lambda v: _in_a_graph(v, inline=True),
]
BINARY = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b * 0.5,
    lambda a, b: a / (b * b + 1),
    lambda a, b: -a * -b,
    lambda a, b: a - (-b) * 0.3,
    lambda a, b: a * b.sum(),
    lambda a, b: sw.logaddexp(a, b),
    lambda a, b: sw.hypot(a, b + 3),
    lambda a, b: T.where(sw.isfinite(a), a, b) + b,
]
SHAPES = [(), (3,), (1,), (2, 3), (2, 1), (1, 3), (1, 1), (3, 3)]


class RandomCost:
    """A scalar cost of three float64 variables, determined by `seed`, whose first or first two derivatives
    are checked (`orders`)."""

    def __init__(self, seed, device, orders=2):
        self.orders = orders
        self.rng = np.random.default_rng(seed)
        self.device = device
        self.inputs, self.points = [], []
        for name in "xyz":
            shape = SHAPES[int(self.rng.integers(len(SHAPES)))]
            declared = shape if self._chance(2) else (None,) * len(shape)
            self.inputs.append(T.tensor("float64", declared, name))
            self.points.append(self.rng.uniform(-2, 2, shape))
        self.variables = list(self.inputs)
        for _ in range(int(self.rng.integers(1, 9))):
            self._grow()
        weight = self.rng.uniform(-1, 1)
        last, second_last = self.variables[-1], self.variables[-2]
        self.cost = (last * weight).sum() + 0.1 * T.tanh(second_last).mean()

    def _chance(self, one_in):
        return int(self.rng.integers(one_in)) == 0

    def _pick(self):
        # Prefers late variables, so that graphs are deep.
        count = len(self.variables)
        return count - 1 - min(int(self.rng.exponential(count / 3)), count - 1)

    def _grow(self):
        if self._chance(2):
            i = self._pick()
            new = UNARY[int(self.rng.integers(len(UNARY)))](self.variables[i])
        else:
            i, j = self._pick(), self._pick()
            try:
                new = BINARY[int(self.rng.integers(len(BINARY)))](
                    self.variables[i], self.variables[j]
                )
            except (ValueError, sw.GraphError):  # shapes that do not broadcast, by the types
                return
        if new.ndim > 3:
            return
        try:
            # On the CPU: a GPU would compile a kernel for each variable that is drawn.
            f = sw.function(
                self.inputs, new, mode="fast_compile", device="cpu", on_unused_input="ignore"
            )
            value = f(*self.points)
        except ValueError:  # unknown extents that do not broadcast
            return
        if value.size <= 64 and float(abs(value).max()) < 50:
            self.variables.append(new)

    def check(self, mode):
        """Raises AssertionError if a directional derivative differs from central differences.

        Returns True, as RandomGraph.check() does for a graph that ran.
        """
        derivatives = T.grad(self.cost, self.inputs, disconnected_inputs="ignore")
        directions = [self.rng.uniform(-1, 1, p.shape) for p in self.points]
        directional = sum(
            ((g * d).sum() for g, d in zip(derivatives, directions, strict=True)), T.constant(0.0)
        )
        costs = [self.cost, directional][: self.orders]
        if self.orders == 2:
            derivatives = derivatives + T.grad(
                directional, self.inputs, disconnected_inputs="ignore"
            )
        options = {"mode": mode, "device": self.device, "on_unused_input": "ignore"}
        evaluate = sw.function(self.inputs, costs, **options)
        differentiate = sw.function(self.inputs, derivatives, **options)
        gradients = [r.numpy() for r in differentiate(*self.points)]
        for result, point in zip(gradients, [*self.points] * self.orders, strict=True):
            assert result.shape == point.shape, (result.shape, point.shape)
        costs_beside = [  # at the two points STEP away along the directions
            [
                float(r)
                for r in evaluate(
                    *(p + sign * STEP * d for p, d in zip(self.points, directions, strict=True))
                )
            ]
            for sign in (1, -1)
        ]
        count = len(self.points)
        for order, name in enumerate(("first", "second")[: self.orders]):
            numeric = (costs_beside[0][order] - costs_beside[1][order]) / (2 * STEP)
            parts = [
                (g * d).sum()
                for g, d in zip(gradients[order * count :][:count], directions, strict=True)
            ]
            scale = 1 + abs(numeric) + sum(abs(p) for p in parts)
            assert abs(sum(parts) - numeric) <= 1e-6 * scale, (name, sum(parts), numeric)
        return True
