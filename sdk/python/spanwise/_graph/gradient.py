# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of graphs: grad, Lop and Rop, with Theano's arguments (theano/gradient.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import _core
from .._core import GraphError, Variable
from .op import apply_registered
from .op_gradient import is_differentiable, op_directional
from .traversal import ancestors, as_list

__all__ = ["Lop", "Rop", "consider_constant", "disconnected_grad", "grad", "zero_grad"]


def grad(
    cost: Variable | None,
    wrt: Any,
    consider_constant: Sequence[Variable] | None = None,
    disconnected_inputs: str = "raise",
    add_names: bool = True,
    known_grads: Mapping[Variable, Any] | None = None,
    return_disconnected: str = "zero",
    null_gradients: str = "raise",
) -> Any:
    """The derivatives of the scalar `cost` with respect to `wrt`: one variable, or a list for a list.

    Each has the rank, dtype and shape of its variable. No derivative passes through the variables of
    `consider_constant`. `known_grads` gives derivatives with respect to variables of the graph; with
    it `cost` may be None. For a variable on which the cost does not depend, `disconnected_inputs`
    selects GraphError ("raise"), zeros with a warning ("warn") or zeros ("ignore"); with
    return_disconnected="none" the derivative is None then. `add_names` names each derivative
    "(dcost/dx)". `null_gradients` may only be "raise".

    Raises GraphError for a cost that is not of rank 0, and where a derivative passes through an op
    that has none; DTypeError for a variable of `wrt` that is not of a floating dtype.
    """
    if null_gradients != "raise":
        raise _core.NotSupportedError(
            f'grad: null_gradients={null_gradients!r}: only "raise" is possible'
        )
    if return_disconnected not in ("zero", "none"):
        raise _core.ArgumentError(
            f'grad: return_disconnected: expected "zero" or "none", got {return_disconnected!r}'
        )
    known = [(variable, _core._as_variable(g)) for variable, g in (known_grads or {}).items()]
    if cost is not None:
        known.append((cost, _cotangent_of_cost(cost)))
    elif not known:
        raise GraphError("grad: expected a cost, or derivatives in known_grads")
    disconnected = "none" if return_disconnected == "none" else disconnected_inputs
    derivatives = _derivatives(known, wrt, consider_constant, disconnected)
    if add_names:
        _set_names(cost, wrt, derivatives)
    return derivatives


def Lop(  # noqa: N802  (Theano's name)
    f: Any,
    wrt: Any,
    eval_points: Any,
    consider_constant: Sequence[Variable] | None = None,
    disconnected_inputs: str = "raise",
) -> Any:
    """The product of the row `eval_points` and the Jacobian of `f` with respect to `wrt`: for each of
    `wrt` the sum over f of ``eval_points * df/dwrt``. `f` and `eval_points` are variables of equal
    shapes, or lists of them; the other arguments are those of grad()."""
    known = _pairs("Lop", f, eval_points)
    return _derivatives(known, wrt, consider_constant, disconnected_inputs)


def Rop(  # noqa: N802  (Theano's name)
    f: Any, wrt: Any, eval_points: Any, disconnected_outputs: str = "raise"
) -> Any:
    """The product of the Jacobian of `f` with respect to `wrt` and the column `eval_points`: the
    derivative of f in that direction. Ops with a method ``R_op`` compute it themselves. Elsewhere it
    is computed by Lop twice, so every other op between needs a gradient, and so do the ops of these
    gradients. `disconnected_outputs` is for outputs that do not depend on `wrt`, as
    disconnected_inputs of grad()."""
    outputs = as_list(f)
    known = dict(_pairs("Rop", wrt, eval_points))
    computed: list[Variable] = []  # outputs of ops with R_op
    for node in ancestors(outputs, known):
        if not hasattr(node.op, "R_op"):
            continue
        columns = _lop_twice(node.inputs, known, computed, "none")
        if all(column is None for column in columns):
            continue
        for output, column in zip(node.outputs, op_directional(node, columns), strict=True):
            computed.append(output)
            if column is not None:
                known[output] = column
    directional = _lop_twice(outputs, known, computed, disconnected_outputs)
    return directional if isinstance(f, (list, tuple)) else directional[0]


def _lop_twice(
    outputs: Sequence[Variable],
    known: Mapping[Variable, Variable],
    constants: list[Variable],
    disconnected: str,
) -> list[Variable | None]:
    """The derivatives of `outputs` in the direction in which each variable of `known` changes by its
    value and the others of `constants` are constant. "none" gives None for outputs of integer dtypes
    too."""
    rows = [_core._zeros_like(output) for output in outputs]
    pairs = [
        (output, row)
        for output, row in zip(outputs, rows, strict=True)
        if disconnected != "none" or is_differentiable(output)
    ]
    columns = _core._gradients(pairs, list(known), constants, "ignore")
    return _core._gradients(list(zip(columns, known.values(), strict=True)), rows, [], disconnected)


def consider_constant(x: Any) -> Variable:
    """`x`, as a view; the derivative of a cost with respect to `x` through it is zero."""
    return apply_registered("consider_constant", x)


zero_grad = consider_constant


def disconnected_grad(x: Any) -> Variable:
    """`x`, as a view through which nothing is connected: grad() treats a cost that depends on `x`
    only through it as independent of `x` (see its disconnected_inputs=)."""
    return apply_registered("disconnected_grad", x)


def _derivatives(
    known: list[tuple[Variable, Variable]],
    wrt: Any,
    consider_constant: Sequence[Variable] | None,
    disconnected: str,
) -> Any:
    variables, constants = as_list(wrt), list(consider_constant or ())
    for argument, values in (("wrt", variables), ("consider_constant", constants)):
        for x in values:
            if not isinstance(x, Variable):
                raise TypeError(f"grad: {argument}: expected variables, got {x!r}")
    derivatives = _core._gradients(known, variables, constants, disconnected)
    return derivatives if isinstance(wrt, (list, tuple)) else derivatives[0]


def _cotangent_of_cost(cost: Variable) -> Variable:
    """1, the derivative of the cost with respect to itself. Raises for what is no cost."""
    if not isinstance(cost, Variable):
        raise TypeError(f"grad: expected the cost as a variable, got {cost!r}")
    if cost.ndim != 0:
        raise GraphError(
            f"grad: expected a cost of rank 0, got {cost} of {cost.type}; take its sum() or mean(), or "
            "give the derivatives in known_grads="
        )
    if cost.dtype.kind == "c" or not is_differentiable(cost):
        raise _core.DTypeError(
            f"grad: expected a cost of a floating dtype, got {cost} of {cost.type}; cast it"
        )
    return _core._as_variable(_core.ones((), cost.dtype, device="cpu"))


def _set_names(cost: Variable | None, wrt: Any, derivatives: Any) -> None:
    for variable, derivative in zip(as_list(wrt), as_list(derivatives), strict=True):
        if derivative is None or not variable.name or derivative.name:
            continue
        if cost is not None and cost.name and derivative.owner is not None:
            derivative.name = f"(d{cost.name}/d{variable.name})"


def _pairs(caller: str, variables: Any, points: Any) -> list[tuple[Variable, Variable]]:
    listed, values = as_list(variables), [_core._as_variable(x) for x in as_list(points)]
    if len(listed) != len(values):
        raise GraphError(
            f"{caller}: {len(listed)} variables and {len(values)} eval_points; expected one each"
        )
    return list(zip(listed, values, strict=True))
