# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Random graphs, with their values computed by NumPy.

A seed determines the graph (views, overwriting, Python ops and kernel ops, lazy ops, several outputs,
two devices, shared updates), its compilation and its calls.
"""

import numpy as np
from support.graph_steps import STEPS

import spanwise as sw

T = sw.tensor
MODES = ("fast_run", "fast_compile", "debug")
#: The tolerance for float64: the order of summation may differ.
TOLERANCE = {"rtol": 1e-9, "atol": 1e-9}
#: Results of the large size are big enough that their memory is reused within a call.
SIZES, LARGE = (1, 2, 3, 4), 48


def op_names(f):
    """The names of a compiled function's ops, in the order of execution."""
    return [str(node.op) for node in f.maker.fgraph.toposort()]


def second_device(device):
    """A second device: another GPU if there is one, else the CPU with another name."""
    names = [str(d) for d in sw.devices()]
    return sw.device("cuda:1" if str(device) == "cuda:0" and "cuda:1" in names else "cpu:1")


class RandomGraph:
    """The graph of a seed: variables, their values by NumPy, outputs and updates."""

    def __init__(self, seed, device):
        self.rng = np.random.default_rng(seed)
        self.device, self.other = sw.device(device), second_device(device)
        self.size = LARGE if self._chance(8) else int(self.rng.choice(SIZES))
        self.values = [self.rng.standard_normal((self.size, self.size)) for _ in range(4)]
        constant = self.rng.standard_normal((self.size, self.size))
        shape = (self.size,) * 2 if self._chance(2) else (None, None)
        self.inputs = [T.tensor("float64", shape, name) for name in "xy"]
        self.condition = T.iscalar("condition")
        # "near" is on the device of the function, "far" on the other one.
        self.near = sw.shared(self.values[2], "near", target=self.device)
        self.far = sw.shared(self.values[3], "far", target=self.other)
        self.given = T.dmatrix("given")  # replaced by near * 0.5 when compiled
        self.variables = [
            *self.inputs,
            self.near,
            self.far.transfer(self.device),
            T.constant(constant),
            self.given,
        ]
        self._constant = constant
        self._steps = []  # (function of NumPy arrays, indices of its operands among the variables)
        for _ in range(int(self.rng.integers(1, 14))):
            self._grow()
        count = int(self.rng.integers(1, 4))
        last = len(self.variables) - 1
        self.outputs = [last, *self.rng.integers(0, last + 1, count - 1).tolist()]
        self.updates = self.rng.integers(0, len(self.variables), 2).tolist()
        self._draw_options()

    def _chance(self, one_in):
        return int(self.rng.integers(one_in)) == 0

    def _grow(self):
        arity, symbolic, eager = STEPS[int(self.rng.integers(len(STEPS)))]
        operands = self.rng.integers(0, len(self.variables), arity).tolist()
        self.variables += symbolic(self, *(self.variables[i] for i in operands))
        self._steps.append((eager, operands))

    def _draw_options(self):
        allow_gc = [None, True, False][int(self.rng.integers(3))]
        self.options = {
            "allow_gc": allow_gc,
            "preallocate": allow_gc is False and self._chance(2),
        }
        self.borrows_results = self._chance(4)
        self.is_mutable = self._chance(4)
        self.is_strided = self._chance(3)
        self.passes_one_array = self._chance(6)  # for both inputs
        self.frees_between_calls = self._chance(3)

    def values_of(self, state, condition):
        """The values of all variables, computed by NumPy. `state`: the values of x, y, near and far."""
        values = [*state, self._constant, state[2] * 0.5]
        for eager, operands in self._steps:
            values += eager(condition, *(values[i] for i in operands))
        return values

    def compile(self, mode):
        """The function, or None if compiling fails because the graph overwrites a value that it needs later."""
        try:
            return sw.function(
                [*(sw.In(v, mutable=self.is_mutable) for v in self.inputs), self.condition],
                [sw.Out(self.variables[i], borrow=self.borrows_results) for i in self.outputs],
                updates={
                    self.near: self.variables[self.updates[0]],
                    self.far: self.variables[self.updates[1]].transfer(self.other),
                },
                givens={self.given: self.near * 0.5},
                mode=mode,
                device=self.device,
                on_unused_input="ignore",
                **self.options,
            )
        except sw.GraphError as error:
            assert "overwrites memory" in str(error), error
            return None

    def _arguments(self, state):
        if self.passes_one_array:
            state[1] = state[0]
        layout = (lambda a: np.repeat(a, 2, 1)[:, ::2]) if self.is_strided else np.copy
        x = sw.array(layout(state[0]), device=self.device)
        return [x, x if self.passes_one_array else layout(state[1])]

    def check(self, mode):
        """Compares three calls with NumPy. Returns False if the graph could not be compiled."""
        self.near.set_value(self.values[2])
        self.far.set_value(self.values[3])
        f = self.compile(mode)
        if f is None:
            return False
        state = list(self.values)
        for condition in (1, 0, 1):
            arguments = self._arguments(state)
            before = [sw.asarray(a).numpy().copy() for a in arguments]
            results = f(*arguments, condition)
            expected = self.values_of(state, condition)
            for i, result in zip(self.outputs, results, strict=True):
                self._compare(result, expected[i], f"output {i}")
            state[2:] = [expected[i] for i in self.updates]
            self._compare(self.near.get_value(), state[2], "near")
            self._compare(self.far.get_value(), state[3], "far")
            if not self.is_mutable:
                assert all(np.array_equal(a, b) for a, b in zip(arguments, before, strict=True))
            if not self.borrows_results:  # results belong to the caller, who may change them
                for result in results:
                    result[...] = np.nan
            if self.frees_between_calls:
                f.free()
        return True

    def _compare(self, result, expected, name):
        assert np.allclose(result.numpy(), expected, **TOLERANCE), name
