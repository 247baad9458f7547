# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of ops and kernels: ``check_op``, and the layouts of arrays that users have. The pytest plug-in
``spanwise._pytest_plugin`` makes fixtures of them. And numpy.testing's assertions, which compare arrays
of any device by copies on the host."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any

from . import _core
from ._config import config as _config
from ._core import Array as _Array
from .graph._function import function as _function
from .graph._gradient import grad as _grad, is_differentiable as _is_differentiable

_ASSERTIONS = """
    assert_allclose assert_almost_equal assert_approx_equal assert_array_almost_equal
    assert_array_almost_equal_nulp assert_array_equal assert_array_less assert_equal assert_no_warnings
    assert_raises assert_raises_regex assert_string_equal
"""
__all__ = ["LAYOUTS", "check_op", "with_layout", *_ASSERTIONS.split()]


def __getattr__(name: str) -> Callable[..., Any]:
    if name not in _ASSERTIONS.split():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from numpy import testing

    from ._numpy.borrowed import reader

    globals()[name] = reader(getattr(testing, name))
    return globals()[name]  # type: ignore[no-any-return]


def __dir__() -> list[str]:
    return __all__


#: Layouts that users have: the names that with_layout() takes.
LAYOUTS = ("contiguous", "transposed", "reversed", "every_second", "offset")


def with_layout(x: Any, layout: str) -> _Array:
    """The elements of `x` as an array with other strides, one of LAYOUTS: "transposed" has the axes of
    memory reversed, "reversed" negative strides, "every_second" gaps between the elements of the last
    axis, and "offset" starts in the middle of its memory. The elements around are poisoned: the byte
    0xFF, NaN for floats."""
    array = _core._asarray(x)
    if layout == "contiguous":
        return _core.ascontiguousarray(array)
    if layout == "transposed":
        return _core.ascontiguousarray(array.T).T
    if array.ndim == 0:
        return array
    last = array.shape[-1]
    extents = {"reversed": last, "every_second": 2 * last, "offset": last + 3}
    if layout not in extents:
        raise _core.ArgumentError(
            f"with_layout: expected one of {', '.join(LAYOUTS)}, got {layout!r}"
        )
    memory = _core.empty((*array.shape[:-1], extents[layout]), array.dtype, device=array.device)
    if memory.size:
        memory.view("uint8")[...] = 0xFF
    part = {
        "reversed": slice(None, None, -1),
        "every_second": slice(None, None, 2),
        "offset": slice(3, None),
    }[layout]
    view = memory[..., part]
    view[...] = array
    return view


def check_op(
    op: Callable[..., Any],
    inputs: Sequence[Any],
    *,
    reference: Callable[..., Any] | None = None,
    gradient: bool | None = None,
    devices: Sequence[Any] | None = None,
    rtol: float | None = None,
    frameworks: bool = True,
) -> None:
    """Checks an op, or a function of variables, for the arrays `inputs`.

    On each of `devices` (default: all of this machine):

    - values, dtypes and shapes are those of `reference`, a function of NumPy arrays (default: the op's
      own for contiguous inputs), for the inputs in all LAYOUTS, at once and in a compiled function, up
      to `rtol` (default: by the dtype); the inputs are unchanged;
    - config kernel_check "all" finds no access out of bounds and no race;
    - inputs without elements, where all have an axis, give what the reference gives, or an error of
      Spanwise;
    - the gradient is that of differences in the op's own dtype (`gradient` False: is not checked; True:
      has to exist);
    - PyTorch and JAX, as far as they are installed, compute the same by torch_op and jax_op
      (`frameworks`).

    Raises AssertionError, with what differs and where, and the errors of the op.
    """
    import numpy as np

    values = [_host(x) for x in inputs]
    for device in devices or _core.devices():
        arrays = [_core.array(value, device=device) for value in values]
        expected = _listed(reference(*values) if reference else _call(op, arrays))
        expected = [_host(y) for y in expected]
        where = f"check_op: {op} on {device}"
        for layout in LAYOUTS:
            laid_out = [with_layout(x, layout) for x in arrays]
            _compare(f"{where}, inputs {layout}", _call(op, laid_out), expected, rtol, values)
            for k, (x, value) in enumerate(zip(laid_out, values, strict=True)):
                same = np.array_equal(_host(x), value, equal_nan=value.dtype.kind in "fc")
                _require(same, f"{where}, inputs {layout}: the op has changed input {k}")
        with _config.change(kernel_check="all"):
            _compare(f"{where}, kernel_check", _call(op, arrays), expected, rtol, values)
        _check_empty(where, op, values, reference, device)
        if gradient is not False:
            _check_gradient(where, op, values, device, must_exist=bool(gradient))
    if frameworks:
        for library, results in _framework_results(op, values, len(expected)):
            _compare(f"check_op: {op} in {library}", results, expected, rtol, values)


def _call(op: Any, arrays: Sequence[_Array]) -> list[Any]:
    """The outputs of a compiled function of the op; those of a call at once where it makes arrays."""
    variables = [_core.TensorType(str(x.dtype), (None,) * x.ndim)() for x in arrays]
    outputs = _listed(op(*variables))
    compiled = _function(
        variables, outputs, device=arrays[0].device if arrays else None, on_unused_input="ignore"
    )
    results = _listed(compiled(*arrays))
    for k, (result, output) in enumerate(zip(results, outputs, strict=True)):
        declared = output.type.shape
        fits = len(declared) == result.ndim and all(
            extent in (None, got) for extent, got in zip(declared, result.shape, strict=True)
        )
        _require(
            fits and str(output.dtype) == str(result.dtype),
            f"check_op: {op}: output {k} is declared as {output.type}, and is {result.dtype} {result.shape}",
        )
    return results


def _listed(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (list, tuple)) else [result]


def _host(x: Any) -> Any:
    """A copy as a NumPy array."""
    import numpy as np

    return np.array(_core._asarray(x, device="cpu").numpy())


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)


def _eps(dtype: Any) -> float:
    bits = {"float64": 52, "complex128": 52, "float16": 10, "bfloat16": 7}.get(str(dtype), 23)
    return float(2.0**-bits)


def _largest(values: Any) -> float:
    import numpy as np

    return float(np.nanmax(np.abs(values), initial=0.0, where=np.isfinite(values)))


def _compare(
    where: str,
    results: Sequence[Any],
    expected: Sequence[Any],
    rtol: Any,
    inputs: Sequence[Any] = (),
) -> None:
    import numpy as np

    # Rounding errors of sums are those of the terms, which may cancel each other.
    terms = max((_largest(x) for x in inputs if x.dtype.kind in "fc"), default=0.0)

    _require(len(results) == len(expected), f"{where}: {len(results)} outputs, not {len(expected)}")
    for k, (result, wanted) in enumerate(zip(results, expected, strict=True)):
        got = _host(result)
        _require(
            got.shape == wanted.shape,
            f"{where}: output {k} has the shape {got.shape}, expected {wanted.shape}",
        )
        tolerance = 32 * _eps(got.dtype) if rtol is None and got.dtype.kind not in "biu" else rtol
        np.testing.assert_allclose(
            got.astype(np.result_type(got.dtype, "float64")) if got.dtype.kind == "f" else got,
            wanted,
            rtol=tolerance or 0,
            atol=(tolerance or 0) * max(_largest(wanted), terms) if got.dtype.kind in "fc" else 0,
            err_msg=f"{where}: output {k}",
        )


def _check_empty(where: str, op: Any, values: Any, reference: Any, device: Any) -> None:
    if not values or any(value.ndim == 0 for value in values):
        return
    empty = [value[:0] for value in values]
    try:
        results = _call(op, [_core.array(value, device=device) for value in empty])
    except _core.Error:
        return
    if reference is not None:
        wanted = [_host(y) for y in _listed(reference(*empty))]
        _compare(f"{where}, inputs without elements", results, wanted, None)


def _check_gradient(where: str, op: Any, values: Any, device: Any, must_exist: bool) -> None:
    """Compares derivatives in random directions with central differences. The step is the cube root of
    the dtype's precision, which makes the errors of rounding and of the step equal."""
    import numpy as np

    variables = [_core.TensorType(str(value.dtype), value.shape)() for value in values]
    outputs = _listed(op(*variables))
    wrt = [k for k, x in enumerate(variables) if _is_differentiable(x) and x.dtype.kind != "c"]
    chosen = [k for k, y in enumerate(outputs) if _is_differentiable(y) and y.dtype.kind != "c"]
    if not wrt or not chosen:
        return
    weights = [outputs[k].type() for k in chosen]
    try:
        derivatives = _grad(
            None,
            [variables[k] for k in wrt],
            known_grads={outputs[k]: w for k, w in zip(chosen, weights, strict=True)},
            disconnected_inputs="ignore",
        )
    except _core.GraphError:
        if must_exist:
            raise
        return
    options = {"device": device, "on_unused_input": "ignore"}
    evaluate = _function(variables, [outputs[k] for k in chosen], **options)
    differentiate = _function([*variables, *weights], derivatives, **options)
    rng = np.random.default_rng(0)
    shapes = [y.shape for y in evaluate(*values)]
    dtypes = [str(outputs[k].dtype) for k in chosen]
    weight = [
        rng.uniform(0.5, 1.5, s).astype(_numpy_dtype(d))
        for s, d in zip(shapes, dtypes, strict=True)
    ]
    found = [_host(g).astype("float64") for g in differentiate(*values, *weight)]
    eps = max(_eps(values[k].dtype) for k in wrt)

    def weighted(arguments: list[Any]) -> float:
        terms = zip(evaluate(*arguments), weight, strict=True)
        return sum(float((_host(y).astype("float64") * w).sum()) for y, w in terms)

    for k, derivative in zip(wrt, found, strict=True):
        direction = rng.choice([-1.0, 1.0], values[k].shape)
        step = eps ** (1 / 3) * max(1.0, float(np.max(np.abs(values[k]), initial=0.0)))
        moved = [(values[k] + sign * step * direction).astype(values[k].dtype) for sign in (1, -1)]
        ends = [[*values[:k], x, *values[k + 1 :]] for x in moved]
        distance = (moved[0].astype("float64") - moved[1].astype("float64")) / 2
        numeric = (weighted(ends[0]) - weighted(ends[1])) / 2
        computed = float((derivative * distance).sum())
        scale = float(np.abs(derivative * distance).sum()) + abs(numeric) + 1e-30
        _require(
            abs(numeric - computed)
            <= 20 * eps ** (2 / 3) * scale + 4 * eps * abs(weighted(values)),
            f"{where}: the derivative with respect to input {k} changes the outputs by {computed:.6g} in a "
            f"direction in which they change by {numeric:.6g}",
        )


def _numpy_dtype(name: str) -> str:
    return "float32" if name == "bfloat16" else name


def _framework_results(op: Any, values: Any, outputs: int) -> Iterator[tuple[str, list[Any]]]:
    if find_spec("torch") is not None:
        import torch

        from ._frameworks.torch_op import torch_op

        tensors = [torch.from_numpy(value.copy()) for value in values]
        name = re.sub(r"\W+", "_", getattr(op, "name", None) or getattr(op, "__name__", "op"))
        operator = torch_op(op, name=f"check_{name}", outputs=outputs)
        yield "torch", _listed(operator(*tensors))
    if find_spec("jax") is not None:
        import jax

        from ._frameworks.jax_op import jax_op

        with jax.enable_x64(True):
            yield "jax", _listed(jax_op(op, outputs=outputs)(*map(jax.numpy.asarray, values)))
