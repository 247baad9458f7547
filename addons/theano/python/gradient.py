# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.gradient``: the names of spanwise.gradient, and jacobian and hessian."""

from typing import Any

import spanwise as _sw
import spanwise.gradient as _gradient
from spanwise.gradient import *  # noqa: F403

from ._errors import DisconnectedInputError as DisconnectedInputError
from ._namespace import grad as grad, hessian as hessian, jacobian as jacobian

__all__ = [
    *_gradient.__all__,
    "grad_clip",
    "grad_scale",
    "DisconnectedInputError",
    "hessian",
    "jacobian",
]


def _with_slope(name: str, change: Any, settings: Any) -> Any:
    """An op whose output is its input, and whose slope `change` maps to the input's."""
    from ._ops import ArrayOp

    gradient = lambda inputs, outputs, slopes: [change(slopes[0])]  # noqa: E731
    return ArrayOp(name, lambda x: x.copy(), lambda x: x.type, gradient, settings)


def grad_clip(x: Any, lower_bound: Any, upper_bound: Any) -> Any:
    """`x`, whose slope is limited to the bounds."""
    bounds = lower_bound, upper_bound
    return _with_slope("GradClip", lambda slope: _sw.clip(slope, *bounds), bounds)(x)


def grad_scale(x: Any, multiplier: Any) -> Any:
    """`x`, whose slope is multiplied by a number."""
    return _with_slope("GradScale", lambda slope: slope * multiplier, multiplier)(x)
