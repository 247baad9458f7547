# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.tensor.nnet``: functions of neural networks."""

from __future__ import annotations

from typing import Any

from spanwise import tensor as T  # noqa: N812
from spanwise.graph import Variable
from spanwise.tensor import as_variable, exp, log, sigmoid, softplus, where

from .._old_paths import submodules as _submodules
from . import _convolutions
from ._convolutions import *  # noqa: F403
from ._windows import padded, windows
from .basic import batched_dot

__all__ = [
    "batch_normalization", "batch_normalization_test", "batch_normalization_train", "binary_crossentropy", "categorical_crossentropy", "confusion_matrix",
    *_convolutions.__all__,
    "crossentropy_categorical_1hot", "crossentropy_softmax_1hot", "crossentropy_softmax_1hot_with_bias",
    "elu", "h_softmax", "hard_sigmoid", "images2neibs", "logsoftmax_op", "neibs2images", "logsoftmax", "relu", "selu", "sigmoid", "sigmoid_binary_crossentropy", "softmax",
    "softmax_graph", "softmax_op", "softmax_with_bias", "softplus", "softsign", "ultra_fast_sigmoid",
]  # fmt: skip

__path__: list[str] = []  # a package in Theano
__getattr__ = _submodules("tensor.nnet")

#: Theano approximated it; here it is exact.
ultra_fast_sigmoid = sigmoid


def relu(x: Any, alpha: float = 0) -> Variable:
    """x where it is positive, else alpha * x."""
    x = as_variable(x)
    return where(x > 0, x, alpha * x) if alpha else T.maximum(x, 0)


def elu(x: Any, alpha: float = 1) -> Variable:
    """x where it is positive, else alpha * (exp(x) - 1)."""
    x = as_variable(x)
    return where(x > 0, x, alpha * (exp(x) - 1))


def hard_sigmoid(x: Any) -> Variable:
    """0.2 * x + 0.5, limited to 0 and 1."""
    return T.clip(0.2 * as_variable(x) + 0.5, 0, 1)


def binary_crossentropy(output: Any, target: Any) -> Variable:
    """-(target * log(output) + (1 - target) * log(1 - output)), for each element."""
    output = as_variable(output)
    return -(target * log(output) + (1.0 - target) * log(1.0 - output))


def categorical_crossentropy(coding_dist: Any, true_dist: Any) -> Variable:
    """The cross-entropy of each row: `true_dist` is a matrix of probabilities, or a vector of the
    indices of the true classes."""
    coding_dist, true_dist = as_variable(coding_dist), as_variable(true_dist)
    if true_dist.ndim == coding_dist.ndim:
        return -(true_dist * log(coding_dist)).sum(axis=coding_dist.ndim - 1)
    return -log(coding_dist[_rows(coding_dist), true_dist])


def _rows(x: Any) -> Variable:
    """0, 1, ..., one for each row of the matrix `x`."""
    return T.cumsum(T.ones_like(x[:, 0], dtype="int64"), axis=0) - 1


crossentropy_categorical_1hot = categorical_crossentropy


def logsoftmax(c: Any) -> Variable:
    """The logarithm of softmax(c), exact also where that is 0."""
    return T.log_softmax(_rows_of(c), axis=-1)


def softmax(c: Any) -> Variable:
    """exp(c) divided by its sum over each row; of a vector a matrix of one row."""
    return T.softmax(_rows_of(c), axis=-1)


softmax_graph = softmax_op = softmax
logsoftmax_op = logsoftmax


def _rows_of(c: Any) -> Variable:
    """`c` as a matrix: a vector is one row. Raises ValueError for other ranks and for integers."""
    c = as_variable(c)
    if c.ndim not in (1, 2) or "float" not in str(c.dtype):
        raise ValueError(f"x must be 1-d or 2-d tensor of floats. Got {c.type}")
    return T.shape_padleft(c) if c.ndim == 1 else c


def softmax_with_bias(x: Any, b: Any) -> Variable:
    """softmax() of the rows of x + b."""
    return softmax_graph(as_variable(x) + b)


def crossentropy_softmax_1hot(x: Any, y_idx: Any, **options: Any) -> tuple[Variable, Variable]:
    """(the cross-entropy of each row of softmax(x) with the class y_idx, softmax(x))."""
    x = _rows_of(x)
    return -logsoftmax(x)[_rows(x), as_variable(y_idx)], softmax_graph(x)


def crossentropy_softmax_1hot_with_bias(
    x: Any, b: Any, y_idx: Any, **options: Any
) -> tuple[Variable, Variable]:
    """crossentropy_softmax_1hot() of x + b."""
    return crossentropy_softmax_1hot(as_variable(x) + b, y_idx)


def sigmoid_binary_crossentropy(output: Any, target: Any) -> Variable:
    """binary_crossentropy() of sigmoid(output), exact also where that is 0 or 1."""
    output, target = as_variable(output), as_variable(target)
    return target * softplus(-output) + (1 - target) * softplus(output)


def softsign(x: Any) -> Variable:
    """x / (1 + |x|)."""
    x = as_variable(x)
    return x / (1 + abs(x))


def selu(x: Any) -> Variable:
    """The scaled elu() of Klambauer et al. (arXiv:1706.02515)."""
    return 1.0507009873554804934193349852946 * elu(x, 1.6732632423543772848170429916717)


def confusion_matrix(actual: Any, pred: Any) -> list[Variable]:
    """[how often class i was predicted as class j, the classes that occur, sorted]."""
    from .extra_ops import Unique

    actual, pred = as_variable(actual), as_variable(pred)
    order = Unique()(T.concatenate([actual.flatten(), pred.flatten()]))
    rows = T.eq(actual.dimshuffle(0, "x"), order.dimshuffle("x", 0)).astype("int64")
    columns = T.eq(pred.dimshuffle(0, "x"), order.dimshuffle("x", 0)).astype("int64")
    return [T.dot(rows.T, columns), order]


def batch_normalization(
    inputs: Any, gamma: Any, beta: Any, mean: Any, std: Any, mode: str = "low_mem"
) -> Variable:
    """(inputs - mean) * gamma / std + beta; `mode` has no effect."""
    return (as_variable(inputs) - mean) * (as_variable(gamma) / std) + beta


def _normalized_axes(
    inputs: Variable, axes: Any, parameters: list[Any]
) -> tuple[Any, list[Any], Any]:
    """(the axes to normalize over, the parameters with the rank of `inputs`, and the axes that statistics
    have, or None where those keep all axes)."""
    if axes == "per-activation":
        axes = (0,)
    elif axes == "spatial":
        axes = (0, *range(2, inputs.ndim))
    over = sorted(axis % inputs.ndim for axis in ([axes] if isinstance(axes, int) else axes))
    others = [axis for axis in range(inputs.ndim) if axis not in over]
    variables = [as_variable(p) for p in parameters]
    if variables[0].ndim == inputs.ndim:
        return tuple(over), variables, None
    pattern: list[Any] = ["x"] * inputs.ndim
    for i, axis in enumerate(others):
        pattern[axis] = i
    return tuple(over), [p.dimshuffle(*pattern) for p in variables], others


def batch_normalization_train(
    inputs: Any,
    gamma: Any,
    beta: Any,
    axes: Any = "per-activation",
    epsilon: float = 1e-4,
    running_average_factor: float = 0.1,
    running_mean: Any = None,
    running_var: Any = None,
) -> tuple[Variable, ...]:
    """(the normalized inputs * gamma + beta, mean, 1 / standard deviation), and with running averages
    their next values."""
    inputs = as_variable(inputs)
    running = [r for r in (running_mean, running_var) if r is not None]
    over, parameters, kept = _normalized_axes(inputs, axes, [gamma, beta, *running])
    mean, var = inputs.mean(over, keepdims=True), inputs.var(over, keepdims=True)
    inverse = T.reciprocal(T.sqrt(var + epsilon))
    results = [mean, inverse]
    if running:
        count = T.prod(inputs.shape) // T.prod(mean.shape)
        count, old = count.astype(str(inputs.dtype)), 1 - running_average_factor
        results.append(parameters[2] * old + mean * running_average_factor)
        unbiased = var * (count / (count - 1))
        results.append(parameters[3] * old + unbiased * running_average_factor)
    if kept is not None:
        results = [r.dimshuffle(*kept) for r in results]
    return (inputs - mean) * inverse * parameters[0] + parameters[1], *results


def batch_normalization_test(
    inputs: Any,
    gamma: Any,
    beta: Any,
    mean: Any,
    var: Any,
    axes: Any = "per-activation",
    epsilon: float = 1e-4,
) -> Variable:
    """(inputs - mean) / sqrt(var + epsilon) * gamma + beta"""
    inputs = as_variable(inputs)
    _, (gamma, beta, mean, var), _ = _normalized_axes(inputs, axes, [gamma, beta, mean, var])
    return (inputs - mean) * gamma / T.sqrt(var + epsilon) + beta


# ---- Windows ----


def images2neibs(
    ten4: Any, neib_shape: Any, neib_step: Any = None, mode: str = "valid"
) -> Variable:
    """A matrix with a row for each window of the last two axes, which has the extents `neib_shape`;
    windows are `neib_step` apart, by default their extents. Windows that leave the image are left
    out: of the image itself with the modes "valid" and "ignore_borders", of the image in a frame of
    zeros with "half" and "full", and of the image repeated on all sides with "wrap_centered"."""
    x = as_variable(ten4)
    steps = neib_shape if neib_step is None else neib_step
    sizes = [neib_shape[0], neib_shape[1]]
    if mode in ("half", "full"):
        edges = [n // 2 if mode == "half" else n - 1 for n in sizes]
        x = padded(x, [(n, n) for n in edges], 0)
    elif mode == "wrap_centered":
        for axis, size, step in zip((2, 3), sizes, steps, strict=True):
            count = -(-x.shape[axis] // step)
            places = T.arange((count - 1) * step + size) - size // 2
            x = T.take(x, places % x.shape[axis], axis=axis)
    elif mode not in ("valid", "ignore_borders"):
        raise ValueError(
            "images2neibs: expected the mode valid, ignore_borders, half, full or wrap_centered, got "
            f"{mode!r}"
        )
    parts, counts = windows(x, sizes, [steps[0], steps[1]], (1, 1))
    rows = parts.dimshuffle(0, 1, 4, 5, 2, 3)
    count = x.shape[0] * x.shape[1] * counts[0] * counts[1]
    return rows.reshape((count, sizes[0] * sizes[1]))


def neibs2images(neibs: Any, neib_shape: Any, original_shape: Any, mode: str = "valid") -> Variable:
    """The images of `original_shape` (batch, channels, rows, columns) of which images2neibs() makes
    `neibs`, with windows that do not overlap; what is outside of all windows is 0 with "ignore_borders"."""
    neibs, (height, width) = as_variable(neibs), (neib_shape[0], neib_shape[1])
    batch, channels, rows, columns = (original_shape[i] for i in range(4))
    down, across = rows // height, columns // width
    parts = neibs.reshape((batch, channels, down, across, height, width))
    images = parts.dimshuffle(0, 1, 2, 4, 3, 5).reshape(
        (batch, channels, down * height, across * width)
    )
    if mode == "valid":
        return images
    return padded(images, [(0, rows - down * height), (0, columns - across * width)], 0)


def h_softmax(
    x: Any,
    batch_size: Any,
    n_outputs: int,
    n_classes: int,
    n_outputs_per_class: int,
    W1: Any,  # noqa: N803
    b1: Any,
    W2: Any,  # noqa: N803
    b2: Any,
    target: Any = None,
) -> Variable:
    """The softmax in two levels of rows `x`: of the class, by `W1` and `b1`, times that of the output in its
    class, by W2[class] and b2[class]; for all outputs, or for those in `target`."""
    x, inner = as_variable(x), as_variable(W2)
    classes = softmax(T.dot(x, W1) + b1)
    if target is None:
        each = T.softmax(T.tensordot(x, inner, ([1], [1])) + b2, axis=-1)
        both = classes.dimshuffle(0, 1, "x") * each
        return both.reshape((batch_size, n_classes * n_outputs_per_class))[:, :n_outputs]
    target = as_variable(target).flatten()
    chosen, place, rows = target // n_outputs_per_class, target % n_outputs_per_class, _rows(x)
    given = batched_dot(x, inner[chosen]) + as_variable(b2)[chosen]
    return classes[rows, chosen] * softmax(given)[rows, place]
