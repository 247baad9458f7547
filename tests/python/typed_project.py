# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A user's project that uses each part of Spanwise, for test_stubs.py and `make lint`: mypy and pyright
accept it in strict mode, and it runs. At its end, lines with an ignore have intended errors: where a type became Any, the
ignore would be unused, which is an error too."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import spanwise as sw
from spanwise import tensor as T  # noqa: N812

log = logging.getLogger(__name__)


# ---- arrays


class Image:
    """A picture in memory of any library."""

    def __init__(self, pixels: npt.NDArray[np.float32] | sw.Array) -> None:
        self.pixels: sw.Array = sw.asarray(pixels, dtype="float32")
        if self.pixels.ndim != 2:
            raise sw.ArgumentError(f"expected two axes, got {self.pixels.ndim}")

    @property
    def height(self) -> int:
        return self.pixels.shape[0]

    @property
    def is_dark(self) -> bool:
        return bool(self.pixels.mean() < 0.5)

    def rows(self) -> Iterator[sw.Array]:
        yield from self.pixels

    def normalised(self) -> Image:
        low, high = self.pixels.min(), self.pixels.max()
        return Image((self.pixels - low) / (high - low))

    def flipped(self) -> Image:
        return Image(self.pixels[::-1, ...])

    def histogram(self, bins: int) -> tuple[sw.Array, sw.Array]:
        return sw.histogram(self.pixels, bins=bins)

    def __add__(self, other: Image) -> Image:
        return Image(self.pixels + other.pixels)


def statistics(x: sw.Array) -> dict[str, float]:
    """Reductions and functions that NumPy computes."""
    return {
        "mean": float(x.mean()),
        "spread": float(sw.std(x)),
        "median": float(sw.median(x)),
        "largest": float(sw.max(x)),
        "norm": float(sw.linalg.norm(x)),
    }


def blended(parts: Sequence[sw.Array], weight: float) -> sw.Array:
    """Operators, ufuncs, joins and selections."""
    total: sw.Array = sw.zeros_like(parts[0])
    for part in parts:
        total = total * (1 - weight) + sw.sqrt(part) * weight
    total += sw.exp(-total)
    both = sw.concatenate([total, parts[-1]])
    return sw.where(both > 1, 1, both)


def mask_of(x: sw.Array[np.float32]) -> sw.Array[np.bool_]:
    """Arrays whose scalar type is known to the checker."""
    return (x > 0).astype(np.bool_)


def chosen(x: sw.Array, indices: sw.Array) -> sw.Array:
    """Indexing by arrays and masks; assignment to parts."""
    picked = x[indices]
    picked[picked > 2] = 0
    sw.add.at(picked, np.array([0, 0]), 1)
    return picked


# ---- kernels

SOURCE = """
__global__ void scale(float *x, float by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= by;
}
"""


class Scaler:
    """A kernel in CUDA C, and what it needs to run."""

    def __init__(self, device: sw.device) -> None:
        module: sw.SourceModule = sw.SourceModule(SOURCE, device=device)
        self.kernel: sw.KernelFunction = module.get_function("scale")
        self.device = device

    def parameters(self) -> list[str]:
        return [parameter.name for parameter in self.kernel.parameters]

    def __call__(self, x: sw.Array, by: float) -> None:
        blocks = (x.size + 63) // 64
        try:
            self.kernel(x, np.float32(by), np.int32(x.size), block=(64, 1, 1), grid=(blocks, 1))
        except sw.KernelArgumentError as error:
            log.error("%s", error)
            raise


def distances(x: sw.Array, y: sw.Array) -> sw.Array:
    """Kernels from one expression."""
    difference = sw.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "difference")
    total = sw.ReductionKernel("T x", "T y", "x", "a + b", "y = sqrt(a)", "0", "total")
    return sw.asarray(total(difference(x, y), axis=1))


def running_total(x: sw.Array) -> sw.Array:
    out = sw.empty_like(x)
    sw.InclusiveScanKernel("float32", "a + b")(x, out)
    return out


# ---- graphs


class Regression:
    """Logistic regression: variables, gradients, shared variables and updates."""

    def __init__(self, features: int, rate: float) -> None:
        x: sw.graph.Variable = T.fmatrix("x")
        wanted = T.fvector("wanted")
        self.weights: sw.graph.SharedVariable = sw.shared(np.zeros(features, np.float32), "weights")
        guess = T.sigmoid(T.dot(x, self.weights))
        cost = T.mean((guess - wanted) ** 2)
        slope = T.grad(cost, self.weights)
        self.step: sw.CompiledFunction = sw.function(
            [x, wanted], cost, updates=[(self.weights, self.weights - rate * slope)], device="cpu"
        )
        self.predict = sw.function([x], guess > 0.5, device="cpu")

    def fit(self, x: sw.Array, wanted: sw.Array, rounds: int) -> list[float]:
        return [float(self.step(x, wanted)) for _ in range(rounds)]

    def values(self) -> sw.Array:
        return self.weights.get_value()


def cube_op() -> sw.graph.KernelOp:
    return sw.kernel_op(
        "typed_cube",
        """__global__ void typed_cube(const T *x, T *y, int n) {
          const int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i < n) y[i] = x[i] * x[i] * x[i];
        }""",
        inputs="x: contiguous T[n]",
        outputs="y: contiguous T[n]",
        grad=lambda inputs, g: [g[0] * 3 * inputs[0] ** 2],
    )


class Doubled(sw.Op):
    """An op in Python."""

    def make_node(self, x: Any) -> sw.Apply:
        variable = sw.graph.as_variable(x)
        return sw.Apply(self, [variable], [variable.type()])

    def perform(self, node: sw.Apply, inputs: list[Any], outputs: list[list[Any]]) -> None:
        outputs[0][0] = sw.asarray(inputs[0]) * 2


def slope_of(op: sw.graph.KernelOp) -> sw.CompiledFunction:
    x = T.fvector("x")
    y: sw.graph.Variable = op(x)  # Any: an op may have several outputs
    return sw.function([x], T.grad(T.sum(y), x), device="cpu")


# ---- devices, streams, exchange


def timed(x: sw.Array) -> float:
    begin, end = sw.Event(timing=True), sw.Event(timing=True)
    with sw.Stream(x.device) as stream:
        begin.record(stream)
        x.fill(1)
        end.record(stream)
        end.synchronize()
    return begin.elapsed(end)


def shared_with_numpy(x: sw.Array) -> bool:
    host: npt.NDArray[Any] = x.numpy()
    explanation: sw.Exchange = sw.explain(x, "numpy")
    return explanation.shares and bool(np.shares_memory(host, sw.to_numpy(x)))


def samples(seed: int, count: int) -> sw.Array:
    generator = sw.random.default_rng(seed)
    return generator.normal(0, 1, count) + generator.random(count)


def spectrum(x: sw.Array) -> sw.Array:
    return abs(sw.fft.fft(x))


def device_names() -> list[str]:
    return [device.name for device in sw.devices()]


def used_bytes() -> int:
    return int(sw.memory.stats("cpu")["used"])


def dtype_of(x: sw.Array | npt.NDArray[Any]) -> sw.dtype:
    return sw.result_type(x, sw.float32)


# ---- the program


def main() -> dict[str, object]:
    """Runs each part on the CPU; the results, for the test."""
    cpu = sw.device("cpu")
    with cpu, sw.config.change(floatX="float32"):
        image = Image(np.arange(12, dtype=np.float32).reshape(3, 4))
        both = image.normalised() + image.flipped().normalised()
        x = sw.linspace(0, 1, 4, dtype="float32")
        Scaler(cpu)(x, 3)
        model = Regression(2, 0.5)
        points = sw.array([[0, 1], [1, 0], [1, 1], [2, 1]], "float32")
        costs = model.fit(points, sw.array([0, 1, 1, 1], "float32"), 20)
        try:
            Image(np.zeros(3, np.float32))
        except sw.Error as error:
            log.debug("%s", error)
        return {
            "sum": both.pixels.sum().tolist(),
            "rows": len(list(both.rows())),
            "statistics": statistics(image.pixels),
            "blended": blended([x, x], 0.5).shape,
            "mask": mask_of(sw.zeros(2, np.float32)).tolist(),
            "chosen": chosen(sw.arange(5), sw.array([1, 4])).tolist(),
            "scaled": x.tolist(),
            "names": Scaler(cpu).parameters(),
            "distances": distances(image.pixels, image.pixels + 1).tolist(),
            "running": running_total(x).tolist(),
            "learns": costs[-1] < costs[0],
            "slope": slope_of(cube_op())(np.array([1, 2], np.float32)).tolist(),
            "doubled": sw.function([], Doubled()(T.constant(np.float32(3))), device="cpu")().item(),
            "seconds": timed(x) >= 0,
            "shares": shared_with_numpy(x),
            "samples": samples(3, 5).shape,
            "spectrum": spectrum(image.pixels).shape,
            "dtype": dtype_of(x).name,
            "pickled": pickle.loads(pickle.dumps(x)).shape,
            "devices": device_names()[0],
            "used": used_bytes() >= 0,
            "histogram": image.histogram(3)[0].tolist(),
        }


if TYPE_CHECKING:
    a, v = sw.zeros(3), T.fvector("v")
    t01: str = a + 1  # type: ignore[assignment]
    t02: str = 1 - a  # type: ignore[assignment]
    t03: str = a @ a  # type: ignore[assignment]
    t04: str = a > 1  # type: ignore[assignment]
    t05: str = a == 1  # type: ignore[assignment]
    t06: sw.Array = a + v  # type: ignore[assignment]
    t07: str = sw.exp(a)  # type: ignore[assignment]
    t08: sw.Array = sw.exp(v)  # type: ignore[assignment]
    t09: sw.Array = sw.add(a, v)  # type: ignore[assignment]
    t10: str = sw.where(a, a, 1)  # type: ignore[assignment]
    t11: str = sw.median(a)  # type: ignore[assignment]
    t12: sw.Array = T.exp(v)  # type: ignore[assignment]
    t13: sw.Array = T.dot(v, v)  # type: ignore[assignment]
    t14: sw.Array = T.mean(v)  # type: ignore[assignment]
    t15: str = T.fmatrix("m")  # type: ignore[assignment]
    t16: str = T.dvectors("ab")[0]  # type: ignore[assignment]
    t17: sw.Array = T.grad(v, v)  # type: ignore[assignment]
    t18: str = T.switch(v, 1, 2)  # type: ignore[assignment]
    t19: str = sw.sum(a)  # type: ignore[assignment]
    t20: str = v + 1  # type: ignore[assignment]
    t21: str = sw.fft.fft(a)  # type: ignore[assignment]
    t22: str = sw.to_numpy(a)  # type: ignore[assignment]
    t23: str = sw.concatenate([a, a])  # type: ignore[assignment]
    t24: sw.Array = T.concatenate([v, v])  # type: ignore[assignment]
    t25: str = sw.unique_all(a).values  # type: ignore[assignment]
    f32 = sw.zeros(3, np.float32)
    t26: sw.Array[np.float64] = f32  # type: ignore[assignment]
    t27: npt.NDArray[np.int64] = f32.reshape(3, 1)[0].T.numpy()  # type: ignore[assignment]
    i8, f64 = f32.astype(np.int8), sw.asarray(np.ones(3))
    t28: sw.Array[np.float32] = i8  # type: ignore[assignment]
    t29: sw.Array[np.int8] = f64  # type: ignore[assignment]
    t30: sw.Array[np.float32] = f32 + 1  # Any: of operands of all libraries
    T.no_such_function(v)  # type: ignore[attr-defined]
