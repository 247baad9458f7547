# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Random graphs with an eager twin: views, in-place and Python ops, several outputs, shared updates."""

import numpy as np

import spanwise as sw

T = sw.tensor


class Twice(sw.Op):
    """A Python op with a buffer that it fills again where it may."""

    __props__ = ()

    def make_node(self, x):
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        (x,) = inputs
        z = output_storage[0]
        if z[0] is None or z[0].shape != x.shape:
            z[0] = sw.empty(x.shape, dtype=x.dtype, device=x.device)
        z[0][...] = x * 2


class Negated(sw.Op):
    """Overwrites its input."""

    __props__ = ()
    destroy_map = {0: [0]}

    def make_node(self, x):
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        inputs[0][...] = -inputs[0]
        output_storage[0][0] = inputs[0]


class AddOne(sw.Op):
    """Overwrites its input; no two of them are equal."""

    destroy_map = {0: [0]}

    def make_node(self, x):
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        inputs[0][...] += 1
        output_storage[0][0] = inputs[0]


class Flipped(sw.Op):
    """A view of its input."""

    __props__ = ("axis",)
    view_map = {0: [0]}

    def __init__(self, axis):
        self.axis = axis

    def make_node(self, x):
        return sw.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        key = (slice(None, None, -1), slice(None))
        output_storage[0][0] = inputs[0][key if self.axis == 0 else key[::-1]]


class Both(sw.Op):
    """Two outputs, of which one may stay unused."""

    __props__ = ()

    def make_node(self, x, y):
        return sw.Apply(self, [x, y], [x.type(), x.type()])

    def perform(self, node, inputs, output_storage):
        x, y = inputs
        output_storage[0][0] = x + y
        output_storage[1][0] = x - y


def _set_first(x, y):
    result = x.copy()
    result[:1] = y[0]
    return result


def _softmax(x):
    powers = np.exp(x - x.max(0))
    return powers / powers.sum(0)


def _flip(axis):
    return lambda x: np.flip(x, axis)


#: How many operands, the op on variables, and what it means on NumPy arrays; each gives a list. Products
#: are bounded, so that values stay small and errors too; no step jumps where its operands are close.
STEPS = [
    (2, lambda x, y: [x + y], lambda x, y: [x + y]),
    (2, lambda x, y: [sw.tanh(x * y)], lambda x, y: [np.tanh(x * y)]),
    (2, lambda x, y: [sw.maximum(x, y)], lambda x, y: [np.maximum(x, y)]),
    (1, lambda x: [sw.tanh(x)], lambda x: [np.tanh(x)]),
    (1, lambda x: [x + 1], lambda x: [x + 1]),
    (1, lambda x: [sw.contiguous(x)], lambda x: [x]),
    (1, lambda x: [(x.transfer("cpu:1") * 0.5).transfer("cpu")], lambda x: [x * 0.5]),
    (2, lambda x, y: [sw.tanh(x @ y)], lambda x, y: [np.tanh(x @ y)]),
    (1, lambda x: [Twice()(x)], lambda x: [x * 2]),
    (1, lambda x: [Negated()(x)], lambda x: [-x]),
    (1, lambda x: [Flipped(0)(x)], lambda x: [_flip(0)(x)]),
    (1, lambda x: [Flipped(1)(x)], lambda x: [_flip(1)(x)]),
    (2, lambda x, y: Both()(x, y), lambda x, y: [x + y, x - y]),
    (1, lambda x: [x.T], lambda x: [x.T]),
    (1, lambda x: [x[::-1, ::-1]], lambda x: [x[::-1, ::-1]]),
    (1, lambda x: [x.T.reshape(x.shape)], lambda x: [x.T.reshape(x.shape)]),
    (2, lambda x, y: [x[-1] * 0.5 + y], lambda x, y: [x[-1] * 0.5 + y]),
    (1, lambda x: [x - x.mean(axis=1, keepdims=True)], lambda x: [x - x.mean(1, keepdims=True)]),
    (1, lambda x: [x.max(0).broadcast_to(x.shape)], lambda x: [np.broadcast_to(x.max(0), x.shape)]),
    (1, lambda x: [sw.tanh(x.cumsum(0))], lambda x: [np.tanh(x.cumsum(0))]),
    (
        2,
        lambda x, y: [T.concatenate([x, y], 1)[:, ::2]],
        lambda x, y: [np.concatenate([x, y], 1)[:, ::2]],
    ),
    (1, lambda x: [sw.where(x > 0, x, x * 0.5)], lambda x: [np.where(x > 0, x, x * 0.5)]),
    (1, lambda x: [x[[-1] * 2][:1] + x * 0.5], lambda x: [x[[-1] * 2][:1] + x * 0.5]),
    (2, lambda x, y: [T.set_subtensor(x[:1], y[0])], lambda x, y: [_set_first(x, y)]),
    (1, lambda x: [x.astype("complex128").astype("float64")], lambda x: [x]),
    (1, lambda x: [T.softmax(x, 0)], lambda x: [_softmax(x)]),
]
MODES = ("fast_run", "fast_compile", "debug")
#: float64 in our library and in NumPy: what another order of summation may change.
TOLERANCE = {"rtol": 1e-9, "atol": 1e-9}


class RandomGraph:
    """Of one seed: variables, what they mean, and which are results and updates."""

    def __init__(self, seed, device):
        self.rng = np.random.default_rng(seed)
        self.device = device
        n = int(self.rng.integers(1, 5))
        values = [self.rng.standard_normal((n, n)) for _ in range(3)]
        constant = self.rng.standard_normal((n, n))
        self.inputs = [T.dmatrix("x"), T.dmatrix("y")]
        self.shared = sw.shared(values[2], "w", target=device)
        self.values = values
        self.variables = [*self.inputs, self.shared, T.constant(constant)]
        self.meanings = [
            lambda v: v[0],
            lambda v: v[1],
            lambda v: v[2],
            lambda v: constant,
        ]
        for _ in range(int(self.rng.integers(1, 12))):
            self._grow()
        count = int(self.rng.integers(1, 4))
        self.chosen = self.rng.integers(0, len(self.variables), count).tolist()
        self.update = int(self.rng.integers(0, len(self.variables)))

    def _grow(self):
        arity, symbolic, eager = STEPS[int(self.rng.integers(len(STEPS)))]
        which = self.rng.integers(0, len(self.variables), arity).tolist()
        made = symbolic(*(self.variables[i] for i in which))
        meanings = [self.meanings[i] for i in which]
        for k, variable in enumerate(made):
            self.variables.append(variable)
            self.meanings.append(
                lambda v, k=k, eager=eager, meanings=meanings: eager(*(m(v) for m in meanings))[k]
            )

    def check(self, mode):
        """Two calls give what NumPy gives; a graph that overwrites what it still needs is refused."""
        self.shared.set_value(self.values[2])
        try:
            f = sw.function(
                self.inputs,
                [self.variables[i] for i in self.chosen],
                updates={self.shared: self.variables[self.update]},
                mode=mode,
                device=self.device,
                on_unused_input="ignore",
            )
        except sw.GraphError as error:
            assert "overwrites memory" in str(error), error
            return False
        state = list(self.values)
        given = [value.copy() for value in self.values[:2]]
        for _ in range(2):
            results = f(*given)
            for i, result in zip(self.chosen, results, strict=True):
                assert np.allclose(result.numpy(), self.meanings[i](state), **TOLERANCE), mode
                result[...] = np.nan
            state[2] = self.meanings[self.update](state)
            assert np.allclose(self.shared.get_value().numpy(), state[2], **TOLERANCE), mode
        assert all(np.array_equal(a, b) for a, b in zip(given, self.values[:2], strict=True))
        return True
