# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""verify_grad: derivatives of graphs against central differences (theano/gradient.py)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import _core
from .._core import Variable
from .compiled import function
from .gradient import grad
from .test_value_scope import without_test_values


class GradientError(Exception):
    """verify_grad() found a derivative that differs from the numeric one."""


def verify_grad(
    fun: Callable[..., Variable],
    pt: Sequence[Any],
    n_tests: int = 2,
    rng: Any = None,
    eps: float = 1e-6,
    abs_tol: float = 1e-5,
    rel_tol: float = 1e-5,
    mode: Any = None,
    device: Any = None,
) -> None:
    """Compares the gradient of ``fun(*variables)`` at the float64 arrays `pt` with central
    differences of step `eps`, for `n_tests` random weights of the elements of the output.

    `rng` is a numpy.random.Generator, by default one with a fixed seed. The computation is in
    float64 on `device` (default: the default device). Raises GradientError naming the argument and
    the element where the difference exceeds `abs_tol` plus `rel_tol` times the numeric derivative,
    and what grad() raises.
    """
    import numpy as np

    rng = np.random.default_rng(0) if rng is None else rng
    points = [np.array(value, dtype="float64") for value in pt]
    variables = [
        _core.TensorType("float64", value.shape)(f"x{i}") for i, value in enumerate(points)
    ]
    with without_test_values():
        output = fun(*variables)
        weights = _core.TensorType("float64", (None,) * output.ndim)("weights")
        cost = _core.sum(output.astype("float64") * weights)
        derivatives = grad(cost, variables, disconnected_inputs="ignore")
    options = {"mode": mode, "device": device, "on_unused_input": "ignore"}
    evaluate = function(variables, output, **options)
    differentiate = function([*variables, weights], derivatives, **options)

    def weighted(arguments: list[Any], weight: Any) -> float:
        return float((evaluate(*arguments).numpy().astype("float64") * weight).sum())

    shape = evaluate(*points).shape
    for _ in range(n_tests):
        weight = rng.uniform(0.5, 1.5, shape)
        computed = [value.numpy() for value in differentiate(*points, weight)]
        for k, point in enumerate(points):
            numeric = _central_differences(weighted, points, k, weight, eps)
            wrong = ~(abs(computed[k] - numeric) <= abs_tol + rel_tol * abs(numeric))
            if wrong.any():
                at = tuple(int(i) for i in np.argwhere(wrong)[0])
                raise GradientError(
                    f"verify_grad: the derivative with respect to argument {k} at element {at}, where "
                    f"the argument is {point[at]}: expected {numeric[at]} by differences, got "
                    f"{computed[k][at]}"
                )


def _central_differences(
    weighted: Callable[[list[Any], Any], float], points: list[Any], k: int, weight: Any, eps: float
) -> Any:
    import numpy as np

    numeric = np.zeros_like(points[k])
    for at in np.ndindex(points[k].shape):
        values = []
        for step in (eps, -eps):
            moved = [*points]
            moved[k] = points[k].copy()
            moved[k][at] += step
            values.append(weighted(moved, weight))
        numeric[at] = (values[0] - values[1]) / (2 * eps)
    return numeric
