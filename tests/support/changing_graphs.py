# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Random functions of arrays whose shapes change between calls, with their gradients.

The values are computed by NumPy in long double by the same steps; the gradients are compared with
differences of them along a random direction.
"""

import numpy as np

import spanwise as sw

T = sw.tensor
MODES = ("fast_run", "fast_compile", "debug")
#: Steps of the differences, in long double. One has to fit: the other may pass a kink.
DIFFERENCES = 1e-7, 1e-9
TOLERANCES = {"float64": (1e-9, 1e-7), "float32": (2e-3, 2e-2)}  # of values and of derivatives


def _in_a_graph(inline):
    x, y = T.dmatrix("x"), T.dmatrix("y")
    return sw.graph.OpFromGraph([x, y], T.tanh(x * y) + x.mean(axis=0), inline)


class _Symbolic:
    """Functions that graphs and NumPy write differently, for graphs."""

    inner_graphs = tuple(map(_in_a_graph, (False, True)))

    def __getattr__(self, name):
        return getattr(T, name)

    def put(self, x, key, value):
        return T.set_subtensor(x[key], value)

    def add_at(self, x, key, value):
        return T.inc_subtensor(x[key], value)

    def scan(self, step, sequence, start, steps=None):
        """The results of all steps; `step` gets an element of the sequence, if any, and the state."""

        def typed(*arguments):
            return step(*arguments).astype(start.dtype)

        return sw.graph.scan(typed, [] if sequence is None else sequence, start, n_steps=steps)

    def nested(self, x, y, inline):
        if x.type.dtype == y.type.dtype == "float64" and x.ndim == y.ndim == 2:
            return self.inner_graphs[inline](x, y)
        return T.tanh(x * y) + x.mean(axis=0)


class _Numeric:
    """The same functions of NumPy arrays."""

    def __getattr__(self, name):
        return getattr(np, name)

    def softmax(self, x, axis):
        powers = np.exp(x - x.max(axis, keepdims=True))
        return powers / powers.sum(axis, keepdims=True)

    def log_softmax(self, x, axis):
        shifted = x - x.max(axis, keepdims=True)
        return shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))

    def sigmoid(self, x):
        return 1 / (1 + np.exp(-x))

    def ifelse(self, condition, x, y):
        return x if condition else y

    def put(self, x, key, value):
        result = x.copy()
        result[key] = value
        return result

    def add_at(self, x, key, value):
        result = x.copy()
        np.add.at(result, key, value)
        return result

    def scan(self, step, sequence, start, steps=None):
        results = []
        for t in range(len(sequence) if steps is None else int(steps)):
            start = step(start) if sequence is None else step(sequence[t], start)
            results.append(start)
        return np.array(results)

    def nested(self, x, y, inline):
        return np.tanh(x * y) + x.mean(axis=0)


def _ramp(m, x, axis):
    """Distinct offsets along an axis, so that maxima are not ties."""
    ramp = 0.01 * m.arange(x.shape[axis])
    return x + (ramp[:, None] if axis == 0 else ramp)


#: Steps to a matrix (n, m). f, g: matrices (n, m); a: anything that broadcasts to them; c: the inputs
#: `condition`, `count`, `rows` (n indices of rows) and the shared matrix `w` (m, m).
FULL = [
    lambda m, c, f, g, a: f + a,
    lambda m, c, f, g, a: f - a * 0.5,
    lambda m, c, f, g, a: m.tanh(f * a),
    lambda m, c, f, g, a: f / (1 + a * a),
    lambda m, c, f, g, a: m.sigmoid(f + a) - g * 0.2,
    lambda m, c, f, g, a: m.exp(-(f**2)) + a,
    lambda m, c, f, g, a: m.log(1 + m.exp(f - 1)) * 0.3,
    lambda m, c, f, g, a: m.sqrt(f * f + 1) - 1,
    lambda m, c, f, g, a: m.maximum(f, 0.7 * a + 0.131),
    lambda m, c, f, g, a: m.where(f > 0.113, f, g * 0.5),
    lambda m, c, f, g, a: m.abs(f - 0.171) * 0.5,
    lambda m, c, f, g, a: m.clip(f, -1.237, 0.973),
    lambda m, c, f, g, a: f.astype("float64") + a,
    # products
    lambda m, c, f, g, a: m.tanh(f @ c.w),
    lambda m, c, f, g, a: m.tanh(f @ c.w + a),
    lambda m, c, f, g, a: m.maximum(f @ c.w + g, 0.0517) * 0.4,
    lambda m, c, f, g, a: m.tanh(f @ g.T @ f / f.size),
    lambda m, c, f, g, a: m.tanh(0.5 / f.size * (f @ (g.T @ f)) - 2 * a),
    lambda m, c, f, g, a: m.tanh(f @ c.w + g @ c.w.T),
    lambda m, c, f, g, a: m.tanh(m.einsum("ij,kj->ik", f, g) @ f / f.size),
    lambda m, c, f, g, a: f * m.tanh(m.dot(f[0], g[-1]) / f.shape[1]),
    # reductions
    lambda m, c, f, g, a: f - f.mean(axis=0),
    lambda m, c, f, g, a: f - f.mean(axis=1, keepdims=True),
    lambda m, c, f, g, a: (f - f.mean(axis=1, keepdims=True))
    / m.sqrt(f.var(axis=1, keepdims=True) + 0.1),
    lambda m, c, f, g, a: m.tanh((f * g).sum(axis=0) / f.shape[0]) + a + f,
    lambda m, c, f, g, a: f - _ramp(m, f, 0).max(axis=0),
    lambda m, c, f, g, a: f - _ramp(m, f, 1).max(axis=1, keepdims=True) * 0.5,
    lambda m, c, f, g, a: m.softmax(f + a, 0) + g * 0.1,
    lambda m, c, f, g, a: m.softmax(f, 1) - a,
    lambda m, c, f, g, a: m.log_softmax(f, 1) * 0.2,
    lambda m, c, f, g, a: f - m.log(m.exp(f).sum(axis=1, keepdims=True)),
    lambda m, c, f, g, a: m.tanh(f.cumsum(0) / f.shape[0]),
    lambda m, c, f, g, a: m.tanh(f.T.cumsum(0).T / f.shape[1] + a),
    lambda m, c, f, g, a: f * (1 + 0.1 * m.prod(m.tanh(g), axis=0)),
    # views, shapes and indices
    lambda m, c, f, g, a: f[::-1],
    lambda m, c, f, g, a: f[::-1, ::-1] + g,
    lambda m, c, f, g, a: f.T.reshape((f.shape[0], f.shape[1])),
    lambda m, c, f, g, a: f.reshape((-1,))[::-1].reshape(f.shape),
    lambda m, c, f, g, a: m.concatenate([f, g], 1)[:, ::2],
    lambda m, c, f, g, a: m.concatenate([f, g], 0)[1::2],
    lambda m, c, f, g, a: m.concatenate([f[:1], g], 0)[: f.shape[0]],
    lambda m, c, f, g, a: m.stack([f, g]).sum(axis=0),
    lambda m, c, f, g, a: m.broadcast_to(f[-1], f.shape) * 0.5 + a,
    lambda m, c, f, g, a: f[c.rows],
    lambda m, c, f, g, a: m.take(f, c.rows, axis=0) + a,
    lambda m, c, f, g, a: f * f[m.arange(f.shape[0]), c.rows % f.shape[1]][:, None],
    lambda m, c, f, g, a: m.put(f, np.s_[:1], g[-1] * 0.5),
    lambda m, c, f, g, a: m.put(f, np.s_[:, 0], g[:, -1]),
    lambda m, c, f, g, a: m.add_at(f, np.s_[::2], g[0]),
    lambda m, c, f, g, a: m.add_at(f, c.rows, g * 0.3),
    lambda m, c, f, g, a: m.add_at(f, (c.rows, 0), 0.25),
    lambda m, c, f, g, a: f + f[f > 0.093].sum() / f.size,
    lambda m, c, f, g, a: m.sort(_ramp(m, f, 0), axis=0),
    # control and graphs as ops
    lambda m, c, f, g, a: m.ifelse(c.condition, f, m.tanh(g).astype(f.dtype)),
    lambda m, c, f, g, a: m.nested(f, g, False),
    lambda m, c, f, g, a: m.nested(f, g, True),
    lambda m, c, f, g, a: m.scan(lambda row, s: m.tanh(row + 0.5 * s), f, g[0] * 1.0),
    lambda m, c, f, g, a: m.scan(lambda row, s: m.tanh(row + s @ c.w), f, g.mean(axis=0)),
    lambda m, c, f, g, a: m.scan(lambda s: m.tanh(s * 0.9 + g), None, f, c.count)[-1],
    lambda m, c, f, g, a: m.scan(lambda s: m.sigmoid(s @ c.w) - f, None, g, c.count).mean(axis=0),
]
#: Steps to what broadcasts to (n, m).
PART = [
    lambda m, c, f, a: f.sum(axis=0) / f.shape[0],
    lambda m, c, f, a: f.mean(axis=1, keepdims=True),
    lambda m, c, f, a: f.mean(),
    lambda m, c, f, a: m.tanh(f.sum() / f.size),
    lambda m, c, f, a: m.sqrt(f.var(axis=0) + 0.1),
    lambda m, c, f, a: f[0],
    lambda m, c, f, a: f[:, :1],
    lambda m, c, f, a: m.tanh(f[0] @ c.w),
    lambda m, c, f, a: m.tanh(a) * 0.7,
    lambda m, c, f, a: (f * a).mean(axis=0, keepdims=True),
    lambda m, c, f, a: f.var(axis=1, keepdims=True),
]
#: Steps of integer matrices (n, m), exact.
WHOLE = [
    lambda m, c, i, j: i + j,
    lambda m, c, i, j: (i * 3) % 7,
    lambda m, c, i, j: i.cumsum(1) - j,
    lambda m, c, i, j: m.where(i > j, i, j + 1),
    lambda m, c, i, j: i[c.rows],
    lambda m, c, i, j: m.maximum(i, j.max(axis=0)),
    lambda m, c, i, j: i - i.sum(axis=1, keepdims=True) // 2,
    lambda m, c, i, j: j + m.argmax(i, axis=0),
    lambda m, c, i, j: m.put(i, np.s_[::2], j[::2] - 1),
    lambda m, c, i, j: m.concatenate([i, j], 0)[::2],
    lambda m, c, i, j: (i.T @ j).sum() % 5 + i,
    lambda m, c, i, j: m.equal(i, j).astype("int64") + i,
]


class _Given:
    """The inputs of one call, or their variables."""

    def __init__(self, **values):
        self.__dict__.update(values)


class ChangingGraph:
    """The function of a seed, and its calls."""

    def __init__(self, seed, device):
        self.rng = np.random.default_rng((seed, 42))
        self.device = device
        self.dtype = "float32" if self._chance(4) else "float64"
        unknown = (None, None)
        self.calls = [self._extents() for _ in range(3)]
        columns = self.calls[0][1]
        if self._chance(4):  # the second extent is part of the types
            self.calls = [(n, columns) for n, _ in self.calls]
            unknown = (None, columns)
        other = "float64" if self._chance(4) else self.dtype
        self.symbols = _Given(
            x=T.tensor(self.dtype, unknown, "x"),
            y=T.tensor(other, (None, None), "y"),
            v=T.tensor(self.dtype, (None,), "v"),
            i=T.tensor("int64", (None, None), "i"),
            rows=T.tensor("int64", (None,), "rows"),
            condition=T.iscalar("condition"),
            count=T.lscalar("count"),
            w=sw.shared(np.zeros((columns, columns), self.dtype), "w", target=device),
        )
        self.plan = [self._draw_step() for _ in range(int(self.rng.integers(4, 16)))]
        self.gradient_of = [n for n in "xyvw" if not self._chance(3)] or ["x"]
        self.specialise = "never" if self._chance(4) else "always"
        self.ops = self._values(_Symbolic(), self.symbols)

    @property
    def variables(self):
        """All variables of the graph."""
        nodes = sw.graph.ancestors([*vars(self.ops).values()])
        return [v for node in nodes for v in node.outputs]

    def _chance(self, one_in):
        return int(self.rng.integers(one_in)) == 0

    def _extents(self):
        if self._chance(12):
            return tuple(int(n) for n in self.rng.integers(20, 70, 2))
        return tuple(int(n) for n in self.rng.integers(1, 6, 2))

    def _draw_step(self):
        kind = str(self.rng.choice(["full", "full", "full", "part", "whole"]))
        steps = {"full": FULL, "part": PART, "whole": WHOLE}[kind]
        return kind, int(self.rng.integers(len(steps))), self.rng.random(3)

    def _values(self, m, c):
        """(matrices, parts, integers, cost) of the plan."""
        full, part, whole = [c.x], [c.y, c.v], [c.i, c.i * 2 - 1]

        def late(pool, share):  # later results are drawn more often
            return pool[int(len(pool) * share**0.5)]

        for kind, number, (u, v, w) in self.plan:
            if kind == "full":
                full.append(FULL[number](m, c, late(full, u), late(full, v), late(part, w)))
            elif kind == "part":
                part.append(PART[number](m, c, late(full, u), late(part, v)))
            else:
                whole.append(WHOLE[number](m, c, late(whole, u), late(whole, v)))
        last = full[-1] * (1 + 0.1 * m.cos(c.y)) + (whole[-1] % 3) * 0.05 * full[len(full) // 2]
        cost = m.tanh(last * 0.5).sum() * 0.3 + m.tanh(part[-1]).mean()
        new_w = c.w * 0.9 + 0.1 * m.tanh(full[-1].T @ full[0])
        return _Given(full=full[-1], part=part[-1], whole=whole[-1], cost=cost, new_w=new_w)

    def compile(self, mode):
        s, r = self.symbols, self.ops
        wrt = [getattr(s, n) for n in self.gradient_of]
        slopes = T.grad(r.cost, wrt, disconnected_inputs="ignore")
        inputs = [s.x, s.y, s.v, s.i, s.rows, s.condition, s.count]
        return sw.function(
            inputs,
            [r.full, r.part, r.whole, r.cost, *slopes],
            updates={s.w: r.new_w.astype(self.dtype)},
            mode=mode,
            device=self.device,
            on_unused_input="ignore",
        )

    def _draw(self, n, m, w):
        rng = self.rng
        y_shape = [(n, m), (1, m), (n, 1), (1, 1)][int(rng.integers(4))]
        return _Given(
            x=rng.standard_normal((n, m)).astype(self.dtype),
            y=rng.standard_normal(y_shape).astype(self.symbols.y.type.dtype),
            v=rng.standard_normal(m).astype(self.dtype),
            i=rng.integers(-9, 10, (n, m)),
            rows=rng.integers(-n, n, n),
            condition=int(rng.integers(2)),
            count=int(rng.integers(1, 4)),
            w=w,
        )

    def _laid_out(self, array):
        """The array in another layout."""
        choice = int(self.rng.integers(4)) if array.ndim == 2 else 0
        if choice == 1:
            array = np.asfortranarray(array)
        elif choice == 2:
            array = np.repeat(array, 2, 1)[:, ::2]
        elif choice == 3:
            array = array[::-1].copy()[::-1]
        return sw.array(array, device=self.device) if self._chance(2) and choice < 2 else array

    @staticmethod
    def _wide(given, direction=None, step=0.0):
        wide = {}
        for name, value in vars(given).items():
            if isinstance(value, np.ndarray) and value.dtype.kind == "f":
                value = value.astype(np.longdouble)
                if direction is not None and name in direction:
                    value = value + np.longdouble(step) * direction[name]
            wide[name] = value
        return _Given(**wide)

    def check(self, mode):
        """Compares calls of changing shapes with NumPy; raises AssertionError."""
        with sw.config.change(specialise=self.specialise):
            self._check(mode)
        return True

    def _check(self, mode):
        f, w, last = self.compile(mode), None, None
        values, slopes = TOLERANCES[self.dtype]
        for call in range(10):
            n, m = self.calls[int(self.rng.integers(3)) if call % 4 else min(call // 4, 2)]
            if last is None or w.shape[0] != m:
                w = (self.rng.standard_normal((m, m)) / m**0.5).astype(self.dtype)
                self.symbols.w.set_value(w)
            last = self._draw(n, m, w)
            self._check_call(f, last, (values, slopes), f"call {call} of {(n, m)}")
            w = self.symbols.w.get_value().numpy()

    def _check_call(self, f, given, tolerances, name):
        arrays = [self._laid_out(a) for a in (given.x, given.y, given.v, given.i, given.rows)]
        results = f(*arrays, given.condition, given.count)
        expected = self._values(_Numeric(), self._wide(given))
        found = [sw.asarray(r).numpy() for r in results]
        for part, result in zip(
            ("full", "part", "cost"), (found[0], found[1], found[3]), strict=True
        ):
            self._compare(result, getattr(expected, part), tolerances[0], f"{name}: {part}")
        assert np.array_equal(found[2], expected.whole), f"{name}: whole"
        self._compare(
            self.symbols.w.get_value().numpy(), expected.new_w, tolerances[0], f"{name}: w"
        )
        direction = {n: self.rng.uniform(-1, 1, getattr(given, n).shape) for n in self.gradient_of}
        parts = []
        for n, slope in zip(self.gradient_of, found[4:], strict=True):
            assert slope.shape == getattr(given, n).shape, f"{name}: shape of d{n} {slope.shape}"
            parts.append((slope * direction[n]).sum())
        total, misses = sum(parts), []
        for step in DIFFERENCES:
            ends = [
                self._values(_Numeric(), self._wide(given, direction, sign * step)).cost
                for sign in (1, -1)
            ]
            numeric = (ends[0] - ends[1]) / (2 * np.longdouble(step))
            if abs(total - numeric) <= tolerances[1] * (1 + abs(numeric) + sum(map(abs, parts))):
                break
            misses.append(float(numeric))
        assert len(misses) < len(DIFFERENCES), f"{name}: d{self.gradient_of} {total} {misses}"
        for result in results:  # they belong to the caller, who may change them
            if result.ndim:
                result[...] = -7

    @staticmethod
    def _compare(result, expected, tolerance, name):
        assert result.shape == np.shape(expected), f"{name}: {result.shape} {np.shape(expected)}"
        scale = 1 + np.abs(expected).max(initial=0)
        error = np.abs(result - expected).max(initial=0)
        assert error <= tolerance * scale, f"{name}: error {error} of {scale}"
