# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The same random program as a graph of Spanwise and as one of Theano's face, compared with NumPy.

    PYTHONPATH=build/release/python:tests python -m fuzz.faces --cases 10000 --seed 7

A case is a list of steps, applied to matrices, vectors and scalars of several dtypes. Each face compiles it
with and without rewrites, as outputs, updates of shared variables, and gradients of its sum, and calls it
three times. Values must be NumPy's; the dtype of each result must be the declared one; gradients of the two
faces and of all modes must be equal. A case is determined by the seed and its number; `--case N` repeats it.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from types import SimpleNamespace

import numpy as np

import spanwise as sw
import spanwise.theano as theano
from spanwise.theano import tensor as theano_tensor
from spanwise.theano.ifelse import ifelse as theano_ifelse

NATIVE = SimpleNamespace(
    name="spanwise",
    T=sw.tensor,
    switch=sw.where,
    softmax=lambda x: sw.tensor.softmax(x, axis=-1),
    ifelse=sw.tensor.ifelse,
    scan=lambda *args, **kwargs: (sw.graph.scan(*args, **kwargs), {}),
    grad=sw.tensor.grad,
    shared=sw.shared,
    function=sw.function,
    modes=("fast_run", "fast_compile", "debug"),
)
THEANO = SimpleNamespace(
    name="spanwise.theano",
    T=theano_tensor,
    switch=theano_tensor.switch,
    # Theano's takes floats only.
    softmax=lambda x: theano_tensor.nnet.softmax(theano_tensor.cast(x, theano_tensor.exp(x).dtype)),
    ifelse=theano_ifelse,
    scan=theano.scan,
    grad=theano.grad,
    shared=theano.shared,
    function=theano.function,
    modes=("FAST_RUN", "FAST_COMPILE"),
)
TOLERANCE = 2e-4  # of float32 after a few steps


def _softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def _cumulated(face, x):
    total, _ = face.scan(
        lambda row, sum_: sum_ * 0.5 + row, sequences=[x], outputs_info=[x[0] * 0.0]
    )
    return total


def _np_cumulated(x):
    rows, total = [], x[0] * 0.0
    for row in x:
        total = total * 0.5 + row
        rows.append(total)
    return np.array(rows)


def _selected(face, condition, x, y):
    """One of the branches; the other one is NaN."""
    return face.ifelse(condition, face.T.cast(x, "float64"), face.T.cast(y, "float64"))


def _set(x, key, value):
    result = np.array(x)
    result[key] = value
    return result


def _added(x, key, value):
    result = np.array(x)
    np.add.at(result, key, value)
    return result


#: (number of operands, number of axes of the first or None, the step by a face, by NumPy). Bounded and
#: continuous, so that rounding stays small.
STEPS = [
    (2, None, lambda f, x, y: x + y, lambda x, y: x + y),
    (2, None, lambda f, x, y: x - y * 0.5, lambda x, y: x - y * 0.5),
    (2, None, lambda f, x, y: f.T.tanh(x * y), lambda x, y: np.tanh(x * y)),
    (2, None, lambda f, x, y: f.T.maximum(x, y), np.maximum),
    (2, None, lambda f, x, y: f.T.minimum(x, y) / 2, lambda x, y: np.minimum(x, y) / 2),
    (2, None, lambda f, x, y: x / (f.T.sqr(y) + 1), lambda x, y: x / (y * y + 1)),
    (2, None, lambda f, x, y: f.switch(x > y, x - y, (y - x) * 0.5), lambda x, y: np.where(x > y, x - y, (y - x) * 0.5)),
    (1, None, lambda f, x: _selected(f, f.T.sqr(x).sum() > -1, x, f.T.sqrt(-1.0 - f.T.sqr(x))), lambda x: x),
    (1, None, lambda f, x: _selected(f, f.T.sqr(x).sum() < -1, f.T.sqrt(-1.0 - f.T.sqr(x)), x), lambda x: x),
    (1, None, lambda f, x: f.T.exp(f.T.tanh(x)), lambda x: np.exp(np.tanh(x))),
    (1, None, lambda f, x: f.T.log(1 + f.T.exp(x)), lambda x: np.log(1 + np.exp(x))),
    (1, None, lambda f, x: f.T.sqrt(f.T.abs(x) + 1), lambda x: np.sqrt(np.abs(x) + 1)),
    (1, None, lambda f, x: f.T.clip(x, -1, 2), lambda x: np.clip(x, -1, 2)),
    (1, None, lambda f, x: -x, lambda x: -x),
    (1, None, lambda f, x: x * 1, lambda x: x),
    (1, None, lambda f, x: (x + 0) * 2 / 2, lambda x: x),
    (1, None, lambda f, x: f.T.cast(x, "float64"), lambda x: x),
    (1, None, lambda f, x: f.T.zeros_like(x) + x, lambda x: x),
    (1, None, lambda f, x: f.T.sqr(f.T.sin(x)) + f.T.sqr(f.T.cos(x)), lambda x: np.ones_like(x)),
    (1, 2, lambda f, x: x.T, lambda x: x.T),
    (1, 2, lambda f, x: x[::-1, ::-1], lambda x: x[::-1, ::-1]),
    (1, 2, lambda f, x: x.dimshuffle(1, 0) * 0.5, lambda x: x.T * 0.5),
    (1, 2, lambda f, x: x.sum(axis=0) * 0.2, lambda x: x.sum(0) * 0.2),
    (1, 2, lambda f, x: x.mean(axis=1), lambda x: x.mean(1)),
    (1, 2, lambda f, x: x.max(axis=1), lambda x: x.max(1)),
    (1, 2, lambda f, x: x - x.mean(axis=1, keepdims=True), lambda x: x - x.mean(1, keepdims=True)),
    (1, 2, lambda f, x: f.softmax(x), _softmax),
    (1, 2, lambda f, x: f.T.log(f.softmax(x)) * 0.2, lambda x: np.log(_softmax(x)) * 0.2),
    (1, 2, lambda f, x: x[0], lambda x: x[0]),
    (1, 2, lambda f, x: x[:, -1], lambda x: x[:, -1]),
    (1, 2, lambda f, x: x.flatten()[: x.shape[0]], lambda x: x.flatten()[: len(x)]),
    (1, 2, lambda f, x: x.reshape((x.shape[1], x.shape[0])).T, lambda x: x.reshape(x.shape[::-1]).T),
    (1, 2, lambda f, x: f.T.set_subtensor(x[0], x[-1] * 2), lambda x: _set(x, 0, x[-1] * 2)),
    (1, 2, lambda f, x: f.T.inc_subtensor(x[::2], 1), lambda x: _added(x, np.s_[::2], 1)),
    (1, 2, lambda f, x: f.T.inc_subtensor(x[[0, 0]], 2), lambda x: _added(x, [0, 0], 2)),
    (1, 2, lambda f, x: _cumulated(f, x), _np_cumulated),
    (2, 2, lambda f, x, y: f.T.tanh(f.T.dot(x, y)), lambda x, y: np.tanh(np.dot(x, y))),
    (2, 2, lambda f, x, y: f.T.tanh(f.T.dot(x.T, y)), lambda x, y: np.tanh(np.dot(x.T, y))),
    (1, 1, lambda f, x: x[::-1], lambda x: x[::-1]),
    (1, 1, lambda f, x: x.dimshuffle(0, "x") + x, lambda x: x[:, None] + x),
    (1, 1, lambda f, x: f.T.concatenate([x, x * 2])[::2], lambda x: np.concatenate([x, x * 2])[::2]),
    (1, 1, lambda f, x: f.T.stack([x, -x])[1], lambda x: -x),
    (1, 1, lambda f, x: x.sum() * 0.3, lambda x: x.sum() * 0.3),
    (1, 1, lambda f, x: x.cumsum() * 0.3, lambda x: x.cumsum() * 0.3),
    (1, 1, lambda f, x: f.T.outer(x, x) * 0.1, lambda x: np.outer(x, x) * 0.1),
]  # fmt: skip
DTYPES = ("float64", "float64", "float32", "int32", "int16")


class Case:
    """The steps and the values of a case."""

    def __init__(self, seed: int, number: int) -> None:
        self.chance = chance = random.Random(f"{seed} {number}")
        rng = np.random.default_rng([seed, number])
        self.size = chance.choice((1, 2, 3, 4, 33))
        shapes = [(self.size, self.size), (self.size, self.size), (self.size,), ()]
        self.dtypes = [chance.choice(DTYPES) for _ in shapes]
        self.calls = [
            [
                rng.uniform(-3, 3, shape).astype(dtype)
                for shape, dtype in zip(shapes, self.dtypes, strict=True)
            ]
            for _ in range(3)
        ]
        self.state = rng.uniform(-1, 1, (self.size, self.size))
        self.steps: list[tuple[int, list[int]]] = []
        values = self.evaluate(self.calls[0], self.state)
        for _ in range(chance.randrange(1, 12)):
            self._grow(values)
        count = len(values)
        self.outputs = sorted({count - 1, chance.randrange(count)})
        self.is_borrowed = chance.randrange(4) == 0

    def _grow(self, values: list[np.ndarray]) -> None:
        index = self.chance.randrange(len(STEPS))
        arity, rank, _, reference = STEPS[index]
        usable = [i for i, v in enumerate(values) if rank is None or v.ndim == rank]
        if not usable:
            return
        operands = [self.chance.choice(usable) for _ in range(arity)]
        value = np.asarray(reference(*(values[i] for i in operands)))
        if value.ndim <= 2 and set(value.shape) <= {self.size} and np.abs(value).max() < 60:
            self.steps.append((index, operands))
            values.append(value)

    def evaluate(self, inputs: list[np.ndarray], state: np.ndarray) -> list[np.ndarray]:
        """All values by NumPy, in float64."""
        values = [*(np.asarray(v, dtype="float64") for v in inputs), state]
        for index, operands in self.steps:
            values.append(np.asarray(STEPS[index][3](*(values[i] for i in operands))))
        return values

    def description(self) -> str:
        steps = [(index, *operands) for index, operands in self.steps]
        return f"size {self.size}, {self.dtypes}, steps {steps}, outputs {self.outputs}"

    def graph(self, face):
        """(inputs, shared variable, variables)."""
        inputs = [
            face.T.TensorType(dtype, (False,) * v.ndim if face is THEANO else (None,) * v.ndim)(
                f"x{i}"
            )
            for i, (dtype, v) in enumerate(zip(self.dtypes, self.calls[0], strict=True))
        ]
        state = face.shared(self.state.copy(), "state")
        variables = [*inputs, state]
        for index, operands in self.steps:
            variables.append(STEPS[index][2](face, *(variables[i] for i in operands)))
        return inputs, state, variables

    def check(self) -> None:
        """Raises AssertionError if a result is wrong."""
        gradients = [
            self.check_face(face, mode) for face in (NATIVE, THEANO) for mode in face.modes
        ]
        for other in gradients[1:]:
            for a, b in zip(gradients[0], other, strict=True):
                compare(a, b, "a gradient of another face or mode")

    def check_face(self, face, mode: str) -> list[np.ndarray]:
        """Checks values; returns the gradients of the sum of the outputs."""
        inputs, state, variables = self.graph(face)
        outputs = [variables[i] for i in self.outputs]
        squares = [i for i, v in enumerate(variables) if v.ndim == 2][-1]
        new_state = face.T.cast(face.T.tanh(variables[squares]), "float64")
        f = face.function(
            inputs, outputs, updates=[(state, new_state)], mode=mode, on_unused_input="ignore"
        )
        expected_state = self.state
        for call in self.calls:
            values = self.evaluate(call, expected_state)
            expected_state = np.tanh(values[squares])
            before = [v.copy() for v in call]
            results = f(*call)
            assert all(np.array_equal(a, b) for a, b in zip(call, before, strict=True)), "input"
            for i, variable, result in zip(self.outputs, outputs, results, strict=True):
                result = on_host(result)
                assert str(result.dtype) == variable.dtype, (result.dtype, variable.dtype)
                compare(result, values[i], f"{face.name}, {mode}, variable {i}")
            compare(on_host(state.get_value()), expected_state, f"{face.name}, {mode}, state")
        return self.gradients(face, mode, inputs, outputs)

    def gradients(self, face, mode: str, inputs, outputs) -> list[np.ndarray]:
        wanted = [v for v, dtype in zip(inputs, self.dtypes, strict=True) if dtype[0] == "f"]
        cost = sum(face.T.cast(v, "float64").sum() for v in outputs)
        if not wanted or "float" not in str(cost.dtype):
            return []
        found = face.grad(cost, wanted, disconnected_inputs="ignore")
        g = face.function(inputs, found, mode=mode, on_unused_input="ignore")
        return [on_host(v) for v in g(*self.calls[0])]


def on_host(array) -> np.ndarray:
    return array.numpy() if isinstance(array, sw.Array) else np.asarray(array)


def compare(result: np.ndarray, expected: np.ndarray, name: str) -> None:
    assert result.shape == expected.shape, (name, result.shape, expected.shape)
    scale = TOLERANCE * (1 + np.abs(expected).max(initial=0))
    assert np.allclose(result, expected, rtol=TOLERANCE, atol=scale), (name, result, expected)


def problem_of(seed: int, number: int) -> str | None:
    """What is wrong with a case."""
    case = Case(seed, number)
    try:
        case.check()
    except Exception as error:
        return f"--seed {seed} --case {number}: {type(error).__name__}: {error}\n  {case.description()}"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz.faces", description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="number of one case to repeat")
    parser.add_argument("--seconds", type=float, help="begin no case after this time")
    options = parser.parse_args()
    if options.case is not None:
        Case(options.seed, options.case).check()
        return 0
    end, done, wrong = time.monotonic() + (options.seconds or float("inf")), 0, 0
    for number in range(options.first, options.first + options.cases):
        if time.monotonic() > end:
            break
        done += 1
        if problem := problem_of(options.seed, number):
            wrong += 1
            print(problem, flush=True)
    print(f"{done} cases, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
