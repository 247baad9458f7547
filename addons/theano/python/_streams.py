# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Random variables with Theano's numbers: ``theano.tensor.raw_random`` and ``shared_randomstreams``, which
draw by numpy.random.RandomState on the host, and ``theano.sandbox.rng_mrg``, the generator MRG31k3p
(P. L'Ecuyer and R. Touzin, Fast combined multiple recursive generators with multipliers of the form
a = +-2^q +-2^r, 2000), a kernel of the device."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import spanwise as sw
import spanwise.tensor as T  # noqa: N812
from spanwise.gradient import disconnected_grad
from spanwise.graph import SharedVariable, Variable

from ._config import config, devices
from ._ops import ArrayOp, tensor_of
from .tensor.basic import as_tensor_variable, nonzero, row_permutation

__all__ = ["MRG_RandomStreams", "RandomStreams"]

# ---- States ----
# A state is the words of a RandomState: 624 keys, the position, and the normal number that is kept.

_WORDS = 628


def _words(random: np.random.RandomState) -> np.ndarray:
    _, keys, position, has_gauss, gauss = random.get_state(legacy=True)
    kept = np.array([gauss]).view(np.uint32)
    return np.concatenate([keys, [position, has_gauss], kept]).astype(np.uint32)


def _restored(words: np.ndarray) -> np.random.RandomState:
    random = np.random.RandomState(0)
    kept = words[626:].view(np.float64)[0]
    random.set_state(("MT19937", words[:624], int(words[624]), int(words[625]), float(kept)))
    return random


def _is_state(x: SharedVariable) -> bool:
    return getattr(x.tag, "is_random_state", False)


@functools.cache
def _adapt_values() -> None:
    """Makes values of states RandomStates. Not before the first one exists: other variables need no
    check."""
    get_value, set_value = SharedVariable.get_value, SharedVariable.set_value

    def get(self: Any, *args: Any, **options: Any) -> Any:
        value = get_value(self, *args, **options)
        return _restored(np.asarray(value)) if _is_state(self) else value

    def set_(self: Any, value: Any, *args: Any, **options: Any) -> None:
        value = _words(value) if isinstance(value, np.random.RandomState) else value
        set_value(self, value, *args, **options)

    SharedVariable.get_value, SharedVariable.set_value = get, set_  # type: ignore[method-assign]


def shared_state(random: np.random.RandomState, name: str | None = None) -> SharedVariable:
    """A shared variable whose value is a RandomState."""
    _adapt_values()
    state = sw.shared(_words(random), name, target="cpu")
    state.tag.is_rng = state.tag.is_random_state = True
    return state


# ---- Draws of a RandomState, each for (the RandomState, parameters, the size or None) ----


def _integers(random: Any, low: Any, high: Any, size: Any) -> Any:
    if low.size == high.size == 1:
        return random.randint(low.item(), high.item() + 1, size)
    size = np.broadcast_shapes(low.shape, high.shape) if size is None else size
    pairs = np.broadcast(np.broadcast_to(low, size), np.broadcast_to(high, size))
    return np.array([random.randint(a, b + 1) for a, b in pairs]).reshape(size)


def _choice(random: Any, a: Any, replace: Any, p: Any, size: Any) -> Any:
    return random.choice(a if a.ndim else a.item(), size, bool(replace), p if p.size else None)


def _permutations(random: Any, n: Any, size: Any) -> Any:
    size = () if size is None else size
    rows = [random.permutation(int(n)) for _ in range(int(np.prod(size)))]
    return np.array(rows, dtype=np.int64).reshape(*size, int(n))


def _multinomials(random: Any, n: Any, pvals: Any, size: Any) -> Any:
    size = np.broadcast_shapes(n.shape, pvals.shape[:-1]) if size is None else size
    n, pvals = np.broadcast_to(n, size), np.broadcast_to(pvals, (*size, pvals.shape[-1]))
    out = np.empty(pvals.shape)
    for index in np.ndindex(*size):
        p = pvals[index]
        # A sum that rounding made larger than 1, which NumPy refuses, is scaled as in Theano.
        p = p * (1 - 5e-5) if 1 < np.sum(p) < 1 + 1e-5 or p[-1] < 5e-5 else p
        out[index] = random.multinomial(n[index], p.astype("float64"))
    return out


_DRAWS: dict[str, Callable[..., Any]] = {
    name: getattr(np.random.RandomState, name)
    for name in ("uniform", "normal", "binomial", "poisson")
}
_DRAWS.update(
    random_integers=_integers, choice=_choice, permutation=_permutations, multinomial=_multinomials
)
#: Names of the parameters and their default values.
_PARAMETERS: dict[str, dict[str, Any]] = {
    "uniform": {"low": 0.0, "high": 1.0},
    "normal": {"avg": 0.0, "std": 1.0},
    "binomial": {"n": 1, "p": 0.5},
    "poisson": {"lam": 1.0},
    "random_integers": {"low": 0, "high": 1},
    "choice": {"a": 2, "replace": True, "p": None},
    "permutation": {"n": 1},
    "multinomial": {"n": 1, "pvals": (0.5, 0.5)},
}
_ADDED_RANK = {"permutation": 1, "multinomial": 1}


class RandomFunction(sw.Op):
    """(state, size, *parameters) -> (next state, numbers); without a size, that of the parameters."""

    __props__ = ("kind", "dtype", "shape", "has_size")
    eager = False
    state_map = {0: 0}

    def __init__(
        self, kind: str, dtype: str, shape: tuple[int | None, ...], has_size: bool
    ) -> None:
        self.kind, self.dtype, self.shape, self.has_size = kind, dtype, shape, has_size

    def make_node(self, *inputs: Any) -> Any:
        types = sw.TensorType("uint32", (_WORDS,), "cpu"), sw.TensorType(self.dtype, self.shape)
        return sw.Apply(self, list(inputs), [type_() for type_ in types])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        state, *host = (x.numpy() for x in inputs)
        random = _restored(state)
        size = tuple(map(int, host.pop(0))) if self.has_size else None
        if size is not None and -1 in size:  # as the parameters
            added = _ADDED_RANK.get(self.kind, 0)
            shapes = [x.shape[: x.ndim - added * (x is host[-1])] for x in host]
            own = (1,) * len(size) + np.broadcast_shapes(*shapes)
            size = tuple(own[i - len(size)] if n == -1 else n for i, n in enumerate(size))
        numbers = np.asarray(_DRAWS[self.kind](random, *host, size)).astype(self.dtype)
        if numbers.ndim != len(self.shape):
            raise ValueError(
                f"{self.kind}: expected numbers of rank {len(self.shape)}, got shape {numbers.shape}; "
                "pass ndim="
            )
        output_storage[0][0] = sw.asarray(_words(random))
        output_storage[1][0] = sw.asarray(numbers)

    def connection_pattern(self, node: Any) -> list[list[bool]]:
        return [[False, False] for _ in node.inputs]


def _static_extents(size: Any, ndim: int | None, rank: int) -> tuple[int | None, ...]:
    """The extents that are known; `rank` is that of the parameters."""
    if size is None:
        return (None,) * (rank if ndim is None else ndim)
    if isinstance(size, Variable):
        count = size.type.shape[0] if ndim is None else ndim
        if count is None:
            raise ValueError(f"the length of the size {size} is not fixed; pass ndim=")
        return (None,) * count
    known = tuple(int(n) if isinstance(n, (int, np.integer)) and n >= 0 else None for n in size)
    if ndim is not None and ndim != len(known):
        raise ValueError(f"expected a size of length ndim={ndim}, got {size}")
    return known


def _size_vector(size: Any) -> Any:
    """`size`, a number, a sequence or a vector, as a vector of int64."""
    if isinstance(size, Variable):
        return size.astype("int64")
    if len(size) == 0:
        return T.constant(np.zeros(0, "int64"))
    return T.stack([as_tensor_variable(n).astype("int64") for n in size])


def _as_size(size: Any) -> Any:
    is_one = isinstance(size, (int, np.integer)) or (isinstance(size, Variable) and size.ndim == 0)
    return (size,) if is_one else size


def _real_dtype(parameters: Sequence[Variable]) -> str:
    """The dtype of uniform and normal numbers where none is given."""
    return str(sw.result_type(config.floatX, *(x.type.dtype for x in parameters)))


def _distribution(kind: str) -> Callable[..., Any]:
    """``raw_random.<kind>``: (next state, numbers) for a state, a size and parameters."""
    names = _PARAMETERS[kind]
    order = ("size", *names, "ndim", "dtype")

    def draw(random_state: Any, *args: Any, **named: Any) -> Any:
        given = {"size": None, **names, "ndim": None, "dtype": None}
        given.update(zip(order, args, strict=False))
        if "prob" in named:  # the name of p in old scripts
            named["p"] = named.pop("prob")
        if unknown := set(named) - set(given):
            raise TypeError(f"{kind}: unknown argument {sorted(unknown)[0]}; expected {order}")
        given.update(named)
        values = [given[name] for name in names]
        if kind == "choice" and values[2] is None:
            values[2] = np.zeros(0)
        parameters = [
            as_tensor_variable(np.asarray(x) if isinstance(x, tuple) else x) for x in values
        ]
        dtype = given["dtype"] or "int64"
        if kind in ("uniform", "normal") and given["dtype"] is None:
            dtype = _real_dtype(parameters)
        size, added = _as_size(given["size"]), _ADDED_RANK.get(kind, 0)
        rank = 0 if kind == "choice" else max(x.ndim for x in parameters) - (kind == "multinomial")
        extents = _static_extents(size, given["ndim"], rank)
        op = RandomFunction(kind, str(dtype), (*extents, *(None,) * added), size is not None)
        sizes = [] if size is None else [_size_vector(size)]
        return op(random_state, *sizes, *map(disconnected_grad, parameters))

    draw.__name__ = draw.__qualname__ = kind
    draw.__doc__ = f"(next state, numbers): RandomState.{kind} of the state {', '.join(order)}."
    return draw


uniform, normal, binomial, poisson = map(
    _distribution, ("uniform", "normal", "binomial", "poisson")
)
random_integers, choice, permutation, multinomial = map(
    _distribution, ("random_integers", "choice", "permutation", "multinomial")
)


class RandomStreams:
    """Random variables, each with a stream of its own: a RandomState that is seeded by one of `seed`. A
    call of a function that computes one advances its stream, ``x.rng``."""

    def __init__(self, seed: Any = None) -> None:
        self.state_updates: list[tuple[Any, Any]] = []
        self.default_instance_seed = seed
        self.gen_seedgen = np.random.RandomState(seed)

    def updates(self) -> list[tuple[Any, Any]]:
        """(state, next state) of each stream."""
        return list(self.state_updates)

    def seed(self, seed: Any = None) -> None:
        """Restarts all streams, by `seed` or the first one."""
        seeds = np.random.RandomState(self.default_instance_seed if seed is None else seed)
        for state, _ in self.state_updates:
            state.set_value(np.random.RandomState(int(seeds.randint(2**30))), borrow=True)

    def gen(self, op: Callable[..., Any], *args: Any, **named: Any) -> Any:
        """A random variable by a function of raw_random, of a new stream."""
        state = shared_state(np.random.RandomState(int(self.gen_seedgen.randint(2**30))))
        next_state, numbers = op(state, *args, **named)
        state.default_update = next_state
        numbers.tag.rng, numbers.tag.update = state, (state, next_state)
        self.state_updates.append(numbers.tag.update)
        return numbers

    def shuffle_row_elements(self, input: Any) -> Any:
        """`input` with the elements of each row in random order."""
        x = as_tensor_variable(input)
        extents = tuple(x.shape[i] for i in range(x.ndim - 1))
        order = self.gen(permutation, extents, x.shape[x.ndim - 1])
        return row_permutation(x, order)

    def __getitem__(self, item: Any) -> Any:
        return item.get_value(borrow=True)

    def __setitem__(self, item: Any, value: Any) -> None:
        item.set_value(value, borrow=True)


def _method(name: str) -> Callable[..., Any]:
    function = globals()[name]

    def method(self: RandomStreams, *args: Any, **named: Any) -> Any:
        return self.gen(function, *args, **named)

    method.__name__, method.__doc__ = name, function.__doc__
    return method


for _name in _PARAMETERS:
    setattr(RandomStreams, _name, _method(_name))

# ---- MRG31k3p ----

_M1, _M2 = 2**31 - 1, 2**31 - 21069
_STEP1 = [[0, 2**22, 2**7 + 1], [1, 0, 0], [0, 1, 0]]
_STEP2 = [[2**15, 0, 2**15 + 1], [1, 0, 0], [0, 1, 0]]
_SOURCE = """
// A thread continues one stream; element i is of stream i modulo their number.
template <class T>
__global__ void draw(long n, int streams, const int *before, int *after, T *out, int mask, int offset,
                     T norm) {
  const long long m1 = 2147483647, m2 = 2147462579;
  for (int s = blockIdx.x * blockDim.x + threadIdx.x; s < streams; s += gridDim.x * blockDim.x) {
    const int *x = before + 6 * s;
    long long a0 = x[0], a1 = x[1], a2 = x[2], b0 = x[3], b1 = x[4], b2 = x[5];
    for (long i = s; i < n; i += streams) {
      const long long a = (a1 * (1 << 22) + a2 * 129) % m1, b = (b0 * 32768 + b2 * 32769) % m2;
      a2 = a1, a1 = a0, a0 = a;
      b2 = b1, b1 = b0, b0 = b;
      const int z = int(a0 <= b0 ? a0 - b0 + m1 : a0 - b0);
      out[i] = T((z & mask) + offset) * norm;
    }
    int *y = after + 6 * s;
    y[0] = a0, y[1] = a1, y[2] = a2, y[3] = b0, y[4] = b1, y[5] = b2;
  }
}
"""
_THREADS = 128


@functools.cache
def _kernel(element: str, device: str) -> Any:
    return sw.SourceModule(_SOURCE, names=[f"draw<{element}>"]).get_function(f"draw<{element}>")


def _power(matrix: Any, exponent: int, modulus: int) -> np.ndarray:
    """``matrix ** (2 ** exponent)`` modulo `modulus`; its products with states fit into int64."""
    result = np.array(matrix, dtype=object)
    for _ in range(exponent):
        result = result.dot(result) % modulus
    return result.astype(np.int64)


@functools.cache
def _jump(exponent: int) -> tuple[np.ndarray, np.ndarray]:
    return _power(_STEP1, exponent, _M1), _power(_STEP2, exponent, _M2)


def _advanced(states: np.ndarray, jump: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Rows of states after a jump."""
    parts = []
    for part, matrix, modulus in zip((states[:, :3], states[:, 3:]), jump, (_M1, _M2), strict=True):
        products = matrix[None] * part.astype(np.int64)[:, None] % modulus
        parts.append(products.sum(2) % modulus)
    return np.concatenate(parts, 1).astype(np.int32)


class MRGUniform(sw.Op):
    """(states, size) -> (next states, uniform numbers in (0, 1))."""

    __props__ = ("dtype", "shape")
    eager = False
    state_map = {0: 0}

    def __init__(self, dtype: str, shape: tuple[int | None, ...]) -> None:
        self.dtype, self.shape = dtype, shape

    def make_node(self, states: Any, size: Any) -> Any:
        numbers = sw.TensorType(self.dtype, self.shape)()
        return sw.Apply(self, [states, size], [states.type(), numbers])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        states, shape = inputs[0], tuple(map(int, inputs[1].tolist()))
        count, streams = int(np.prod(shape)), states.shape[0]
        is_half, is_double = self.dtype == "float16", self.dtype == "float64"
        out = sw.empty(shape, "float64" if is_double else "float32", device=states.device)
        after = sw.empty_like(states)
        norm = 3.0458e-05 if is_half else 4.656612873077392578125e-10
        grid = max(1, min(-(-streams // _THREADS), 65535))
        kernel = _kernel("double" if is_double else "float", str(states.device))
        limits = (0x7FFF, 1) if is_half else (-1, 0)
        kernel(count, streams, states, after, out, *limits, norm, block=_THREADS, grid=grid)
        output_storage[0][0] = after
        output_storage[1][0] = out.astype("float16") if is_half else out

    def connection_pattern(self, node: Any) -> list[list[bool]]:
        return [[False, False], [False, False]]


class MRG_RandomStreams:  # noqa: N801  (Theano's name)
    """Random variables by MRG31k3p. `seed` is a positive integer or six of them; `use_cuda` is accepted
    for compatibility."""

    def __init__(self, seed: Any = 12345, use_cuda: Any = None) -> None:
        self.state_updates: list[tuple[Any, ...]] = []
        self.default_instance_seed = seed
        self.set_rstate(seed)

    def updates(self) -> list[tuple[Any, ...]]:
        """(states, next states, size, number of streams) of each random variable."""
        return list(self.state_updates)

    def set_rstate(self, seed: Any) -> None:
        """Sets the state of the next stream. Raises ValueError for a seed out of range."""
        words = [int(seed)] * 6 if isinstance(seed, (int, np.integer)) else list(seed)
        is_valid = len(words) == 6 and any(words[:3]) and any(words[3:])
        if not is_valid or not all(0 <= w < (_M1, _M2)[i > 2] for i, w in enumerate(words)):
            raise ValueError(
                f"seed: expected an integer from 1 to {_M2 - 1} or six, three of them not all 0 and below "
                f"{_M1} and three not all 0 and below {_M2}, got {seed}"
            )
        self.rstate = np.array(words, dtype=np.int32)

    def seed(self, seed: Any = None) -> None:
        """Restarts all random variables, by `seed` or the first one."""
        self.set_rstate(self.default_instance_seed if seed is None else seed)
        for states, _, size, count in self.state_updates:
            count = self.n_streams(size) if count is None else count
            states.set_value(self.get_substream_rstates(count), borrow=True)

    def inc_rstate(self) -> None:
        """Jumps to the next stream, 2**134 numbers ahead."""
        self.rstate = _advanced(self.rstate[None], _jump(134))[0]

    def get_substream_rstates(
        self, n_streams: int, dtype: Any = None, inc_rstate: bool = True
    ) -> np.ndarray:
        """The states of streams that are 2**72 numbers apart."""
        states, exponent = self.rstate[None], 72
        while len(states) < n_streams:  # 2, 4, 8, ... streams
            states = np.concatenate([states, _advanced(states, _jump(exponent))])
            exponent += 1
        if inc_rstate:
            self.inc_rstate()
        return np.ascontiguousarray(states[:n_streams])

    def n_streams(self, size: Any) -> int:
        """How many streams the numbers are drawn from."""
        if isinstance(size, (tuple, list)) and all(isinstance(n, (int, np.integer)) for n in size):
            count = int(np.prod(size))
            return min(count // 6 if count > 6 else count, 60 * 256)
        return 60 * 256

    def uniform(
        self,
        size: Any,
        low: Any = 0.0,
        high: Any = 1.0,
        ndim: Any = None,
        dtype: Any = None,
        nstreams: Any = None,
        target: Any = None,
    ) -> Variable:
        """Uniform numbers between `low` and `high`, both excluded."""
        low, high = (disconnected_grad(as_tensor_variable(x)) for x in (low, high))
        dtype = _real_dtype([low, high]) if dtype is None else dtype
        size = tuple(size) if isinstance(size, list) else _as_size(size)
        if isinstance(size, tuple) and any(
            isinstance(n, (int, np.integer)) and n <= 0 for n in size
        ):
            raise ValueError(f"size: expected extents of 1 or more, got {size}")
        count = self.n_streams(size) if nstreams is None else nstreams
        device = devices.default if target is None else devices.target(target)
        states = sw.shared(self.get_substream_rstates(count), target=device)
        op = MRGUniform(str(dtype), _static_extents(size, ndim, 0))
        after, numbers = op(states, _size_vector(size))
        states.default_update = after
        self.state_updates.append((states, after, size, nstreams))
        result = numbers * (high.astype(dtype) - low.astype(dtype)) + low.astype(dtype)
        for variable in (numbers, result):
            variable.tag.rng, variable.tag.update = states, (states, after)
        return result

    def normal(
        self,
        size: Any,
        avg: Any = 0.0,
        std: Any = 1.0,
        ndim: Any = None,
        dtype: Any = None,
        nstreams: Any = None,
        truncate: bool = False,
        **options: Any,
    ) -> Variable:
        """Normal numbers; with `truncate` those within two standard deviations."""
        size = _as_size(size)
        avg, std = (disconnected_grad(as_tensor_variable(x)) for x in (avg, std))
        dtype = _real_dtype([avg, std]) if dtype is None else dtype
        is_known = isinstance(size, (tuple, list)) and not any(
            isinstance(n, Variable) for n in size
        )
        count: Any = int(np.prod(size)) if is_known else T.prod(_size_vector(size))
        even = count + count % 2
        # Theano makes a variable of it, so that the number of streams is the one for unknown sizes.
        drawn = as_tensor_variable(even).astype("int64")
        numbers = self.uniform((drawn,), dtype=dtype, nstreams=nstreams, **options)
        radius = T.sqrt(-2.0 * T.log(numbers[: even // 2]))
        angle = T.constant(2.0 * np.pi, dtype=dtype) * numbers[even // 2 :]
        parts = [radius * T.cos(angle), radius * T.sin(angle)]
        if truncate:
            parts = self._truncated(parts, angle, str(dtype), nstreams, options)
        samples = T.concatenate(parts)[:count]
        extents = _static_extents(size, ndim, 0)
        vector = _size_vector(size)
        shape = tuple(vector[i] if n is None else n for i, n in enumerate(extents))
        return samples.reshape(shape) * std.astype(dtype) + avg.astype(dtype)

    def _truncated(
        self, parts: Sequence[Any], angle: Any, dtype: str, nstreams: Any, options: Any
    ) -> list[Any]:
        """The two halves with those beyond two deviations drawn again, at the end of each half."""
        outside = [(z < -2.0) | (z > 2.0) for z in parts]
        again = [nonzero(x)[0] for x in outside]
        counts = [x.shape[0] for x in again]
        lowest = T.constant(1.0 / np.e**2, dtype=dtype)
        drawn = self.uniform(
            (counts[0] + counts[1],), lowest, 1.0, dtype=dtype, nstreams=nstreams, **options
        )
        radius = T.sqrt(-2.0 * T.log(drawn))
        fixed = [
            radius[: counts[0]] * T.cos(angle)[again[0]],
            radius[counts[0] :] * T.sin(angle)[again[1]],
        ]
        kept = [z[nonzero(~x)[0]] for z, x in zip(parts, outside, strict=True)]
        return [kept[0], fixed[0], kept[1], fixed[1]]

    def truncated_normal(
        self, size: Any, avg: Any = 0.0, std: Any = 1.0, **options: Any
    ) -> Variable:
        """Normal numbers within two standard deviations; `std` is that of the result."""
        return self.normal(
            size, avg, std / T.constant(0.87962566103423978), truncate=True, **options
        )

    def binomial(
        self, size: Any = None, n: int = 1, p: Any = 0.5, ndim: Any = None, dtype: Any = "int64",
        nstreams: Any = None, **options: Any,
    ) -> Variable:  # fmt: skip
        """Whether a trial of probability `p` succeeds. Raises NotImplementedError for n > 1."""
        if n != 1:
            raise NotImplementedError(f"MRG_RandomStreams.binomial: expected n=1, got {n}")
        numbers = self.uniform(size, ndim=ndim, nstreams=nstreams, **options)
        result = T.lt(numbers, disconnected_grad(as_tensor_variable(p))).astype(dtype)
        result.tag.rng, result.tag.update = numbers.tag.rng, numbers.tag.update
        return result

    def multinomial(
        self, size: Any = None, n: Any = 1, pvals: Any = None, ndim: Any = None, dtype: Any = "int64",
        nstreams: Any = None, **options: Any,
    ) -> Variable:  # fmt: skip
        """How often each outcome is drawn in `n` trials, for each row of probabilities."""
        return self._by_rows(
            "multinomial", _counted, size, n, pvals, ndim, dtype, nstreams, options
        )

    def choice(
        self, size: Any = 1, a: Any = None, replace: bool = True, p: Any = None, ndim: Any = None,
        dtype: Any = "int64", nstreams: Any = None, **options: Any,
    ) -> Variable:  # fmt: skip
        """`size` outcomes without replacement, for each row of probabilities."""
        if replace or a is not None:
            raise NotImplementedError("MRG_RandomStreams.choice: expected replace=False and no a")
        return self._by_rows("choice", _chosen, None, size, p, ndim, dtype, nstreams, options)

    def multinomial_wo_replacement(
        self, size: Any = None, n: Any = 1, pvals: Any = None, **options: Any
    ) -> Variable:
        """The former name of choice()."""
        return self.choice(n, None, False, pvals, **options)

    def _by_rows(
        self, name: str, function: Any, size: Any, n: Any, pvals: Any, ndim: Any, dtype: Any,
        nstreams: Any, options: Any,
    ) -> Variable:  # fmt: skip
        if pvals is None or size is not None or ndim is not None:
            raise TypeError(
                f"MRG_RandomStreams.{name}: expected probabilities, no size and no ndim"
            )
        pvals = disconnected_grad(as_tensor_variable(pvals))
        if pvals.ndim != 2:
            raise NotImplementedError(
                f"MRG_RandomStreams.{name}: expected a matrix of probabilities, got {pvals.type}"
            )
        count = as_tensor_variable(n).astype("int64")
        numbers = self.uniform((pvals.shape[0] * count,), nstreams=nstreams, **options)

        def computed(pvals: Any, numbers: Any, count: Any) -> Any:
            return sw.asarray(function(pvals.numpy(), numbers.numpy(), int(count.item())))

        op = ArrayOp(name, computed, lambda *_: tensor_of(dtype, 2), _no_slopes, str(dtype))
        return op(pvals, numbers, count)


def _no_slopes(inputs: Any, outputs: Any, slopes: Any) -> Any:
    return [T.zeros_like(x) for x in inputs]


def _first_above(pvals: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(rows, columns) of the first cumulative probability above the number of each row."""
    above = np.cumsum(pvals, axis=1) > numbers[:, None]
    rows = np.flatnonzero(above.any(axis=1))
    return rows, above[rows].argmax(axis=1)


def _counted(pvals: np.ndarray, numbers: np.ndarray, count: int) -> np.ndarray:
    out = np.zeros(pvals.shape, np.int64)
    for c in range(count):
        np.add.at(out, _first_above(pvals, numbers[c * len(pvals) : (c + 1) * len(pvals)]), 1)
    return out


def _chosen(pvals: np.ndarray, numbers: np.ndarray, count: int) -> np.ndarray:
    if count > pvals.shape[1]:
        raise ValueError(
            f"choice: expected at most {pvals.shape[1]} outcomes without replacement, got {count}"
        )
    pvals, out = pvals.copy(), np.full((len(pvals), count), -1)
    for c in range(count):
        rows, columns = _first_above(pvals, numbers[c * len(pvals) : (c + 1) * len(pvals)])
        out[rows, c] = columns
        pvals[rows, columns] = 0
        if c + 1 < count:
            pvals[rows] /= pvals[rows].sum(axis=1, keepdims=True)
    return out
