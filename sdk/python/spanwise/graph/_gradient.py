# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of graphs, with Theano's arguments (theano/gradient.py): ``grad``, ``Lop``, ``Rop`` and
their check ``verify_grad``; and the gradient methods of Python ops (``grad``, ``L_op``, ``R_op``,
``connection_pattern``) and ``grad=`` of ``kernel_op``, with their results that are no variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

from .. import _core
from .._core import Apply, ArgumentError, GraphError, Variable
from ._function import function, without_test_values
from ._op import apply_registered
from ._traversal import ancestors, as_list

__all__ = ["Lop", "Rop", "consider_constant", "disconnected_grad", "grad", "zero_grad"]


@overload
def grad(cost: Variable | None, wrt: Variable, *args: Any, **options: Any) -> Variable: ...
@overload
def grad(
    cost: Variable | None, wrt: Sequence[Variable], *args: Any, **options: Any
) -> list[Variable]: ...
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


# ---- The gradient methods of Python ops, and their results that are no variables ----

GradFunction = Callable[[Sequence[Variable], Sequence[Any]], Sequence[Any]]


class DisconnectedType:
    """The type of a derivative of a cost that does not depend on the variable:
    ``DisconnectedType()()`` is such a derivative, and ``isinstance(g.type, DisconnectedType)``
    recognises one."""

    def __call__(self, name: str | None = None) -> _Disconnected:
        return _Disconnected()

    def __str__(self) -> str:
        return "DisconnectedType"


class _Disconnected:
    type = DisconnectedType()

    def __repr__(self) -> str:
        return "<DisconnectedType>"


class _Undefined:
    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __repr__(self) -> str:
        return f"<undefined derivative: {self.reason}>"


def grad_undefined(op: Any, x_pos: int, x: Variable, comment: str = "") -> Any:
    """A derivative with respect to input `x_pos` of `op` that is not defined mathematically.
    grad() raises GraphError with `comment` where it is needed."""
    return _Undefined(comment or f"{op} has no derivative with respect to input {x_pos}")


def grad_not_implemented(op: Any, x_pos: int, x: Variable, comment: str = "") -> Any:
    """As grad_undefined(), for a derivative that `op` does not implement."""
    return _Undefined(comment or f"{op} does not implement the derivative of input {x_pos}")


def without_none(derivatives: Sequence[Variable | None]) -> list[Any]:
    """The derivatives, with a disconnected one in the place of None."""
    return [DisconnectedType()() if g is None else g for g in derivatives]


def op_gradient(op: Any, node: Apply, cotangents: list[Variable | None]) -> list[Any]:
    """The derivatives with respect to the inputs of `node` by ``op.L_op`` or ``op.grad``, from those
    with respect to its outputs: a Variable, None if disconnected, or the reason why it is undefined.
    Raises GraphError for another result."""
    output_gradients = without_none(cotangents)
    if hasattr(op, "L_op"):
        result = op.L_op(node.inputs, node.outputs, output_gradients)
    elif hasattr(op, "grad"):
        result = op.grad(node.inputs, output_gradients)
    else:
        return ["the op defines neither grad() nor L_op()"] * len(node.inputs)
    return converted_gradients(op, result)


def converted_gradients(op: Any, result: Any) -> list[Any]:
    """The `result` of a gradient method of `op`, in the form of op_gradient()."""
    if not isinstance(result, (list, tuple)):
        raise GraphError(
            f"{op}: grad must return a list with one derivative for each input, got {result!r}"
        )
    return [_converted(op, derivative) for derivative in result]


def _converted(op: Any, derivative: Any) -> Any:
    """One derivative in the form of op_gradient()."""
    if derivative is None or isinstance(getattr(derivative, "type", None), DisconnectedType):
        return None
    if isinstance(derivative, _Undefined):
        return derivative.reason
    if not isinstance(derivative, Variable):
        raise GraphError(f"{op}: grad must return variables, got {derivative!r}")
    return derivative


def is_differentiable(x: Variable) -> bool:
    """Whether `x` is of a floating or complex dtype."""
    return x.dtype.kind in "fc" or x.dtype.name == "bfloat16"


def op_directional(node: Apply, columns: Sequence[Variable | None]) -> list[Variable | None]:
    """The derivatives of the outputs of `node` by its op's ``R_op(inputs, eval_points)``, where its
    inputs change by `columns` (None: not at all); None for an output that does not change. Raises
    GraphError for another result."""
    op: Any = node.op
    result = op.R_op(node.inputs, list(columns))
    if not isinstance(result, (list, tuple)) or len(result) != len(node.outputs):
        raise GraphError(
            f"{op}: R_op must return a list with one derivative for each of the {len(node.outputs)} "
            f"outputs, got {result!r}"
        )
    derivatives = []
    for output, derivative in zip(node.outputs, result, strict=True):
        if derivative is not None and not isinstance(derivative, Variable):
            derivative = _converted(op, derivative)
        if isinstance(derivative, str):
            raise GraphError(f"Rop: no derivative of {output} by {op}: {derivative}")
        if derivative is not None and derivative.ndim != output.ndim:
            raise GraphError(
                f"{op}: R_op gives a derivative of rank {derivative.ndim} for {output} of "
                f"{output.type}; expected the rank of the output"
            )
        derivatives.append(None if derivative is None else derivative.astype(output.dtype))
    return derivatives


def op_connects(op: Any, node: Apply, input: int, output: int) -> bool:
    """Whether `output` depends on the values of `input`, by ``op.connection_pattern(node)``: a list
    with a row of booleans for each input; without that method every output on every input."""
    if not hasattr(op, "connection_pattern"):
        return True
    return bool(op.connection_pattern(node)[input][output])


# ---- grad= of kernel_op ----


def _array_names(op: Any, kind: str) -> list[str]:
    """The names of the "inputs" or "outputs" of a kernel op."""
    declaration = getattr(getattr(op, "_handle", None), "declaration", None)
    if declaration is None:
        raise ArgumentError(f"kernel_op: grad: expected an op made by kernel_op, got {op!r}")
    return _names(declaration[kind])


def _names(declared: Sequence[str]) -> list[str]:
    return [text.partition(":")[0].strip() for text in declared]


def check_kernel_gradient(op: Any) -> None:
    """Raises TypeError or ArgumentError where grad= of the kernel op does not fit its declaration."""
    declaration = op._handle.declaration
    grad, name = declaration["grad"], declaration["name"]
    if grad is None or callable(grad):
        return
    if not isinstance(grad, Mapping):
        raise TypeError(f"kernel_op {name}: grad: expected a function or a dict, got {grad!r}")
    inputs, outputs = _names(declaration["inputs"]), _names(declaration["outputs"])
    known = [*inputs, *outputs, *("d" + output for output in outputs)]
    for key, gradient_op in grad.items():
        if key not in inputs:
            raise ArgumentError(
                f"kernel_op {name}: grad has an entry for {key!r}; the op has the inputs: "
                + ", ".join(inputs)
            )
        for input_name in _array_names(gradient_op, "inputs"):
            if input_name not in known:
                raise ArgumentError(
                    f"kernel_op {name}: grad[{key!r}] has an input {input_name!r}; expected "
                    + ", ".join(known[:-1])
                    + f" or {known[-1]}"
                )
        if len(_array_names(gradient_op, "outputs")) != 1:
            raise ArgumentError(f"kernel_op {name}: grad[{key!r}]: expected an op with one output")


def kernel_gradient(
    declaration: Mapping[str, Any], node: Apply, cotangents: list[Variable | None]
) -> list[Any]:
    """op_gradient() for a kernel op with grad=."""
    grad = declaration["grad"]
    if callable(grad):
        return converted_gradients(node.op, grad(node.inputs, without_none(cotangents)))
    inputs, names = _names(declaration["inputs"]), _names(declaration["outputs"])
    values = dict(zip(inputs, node.inputs, strict=True))
    for name, output, derivative in zip(names, node.outputs, cotangents, strict=True):
        values[name] = output
        values["d" + name] = _core._zeros_like(output) if derivative is None else derivative

    def derivative_of(name: str) -> Any:
        if name not in grad:
            return f"grad= has no entry for {name}"
        return grad[name](*(values[key] for key in _array_names(grad[name], "inputs")))

    return [derivative_of(name) for name in inputs]


# ---- verify_grad ----


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
    # Without updates random draws repeat, so that the differences are those of one draw.
    options = {
        "mode": mode, "device": device, "on_unused_input": "ignore", "no_default_updates": True,
    }  # fmt: skip
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
