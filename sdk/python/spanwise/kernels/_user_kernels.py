# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels compiled from an expression, with the constructor arguments of PyCUDA or of CuPy.

PyCUDA declares pointers, ``("float *z, float *x", "z[i] = x[i]")``; CuPy declares values,
``("T x", "T z", "z = x")``.
"""

from typing import Any

from .. import _core

ArgumentError = _core.ArgumentError


def _options(options) -> tuple:
    if options is None:
        return ()
    return (options,) if isinstance(options, str) else tuple(options)


def _text(label, name, value) -> str:
    if isinstance(value, str):
        return value
    raise TypeError(f"{label}: expected {name} as a string of CUDA C, got {value!r}")


def _declarations(label, value) -> str:
    """PyCUDA's `arguments` as one string; it may be a list of its VectorArg and ScalarArg."""
    if isinstance(value, (list, tuple)) and all(hasattr(item, "declarator") for item in value):
        return ", ".join(item.declarator() for item in value)
    return _text(label, "arguments", value)


class _Signature:
    """The parameters of one constructor signature, by position: `required`, then `defaults`."""

    def __init__(self, label, required, **defaults):
        self.label, self.required, self.defaults = label, required, defaults
        self.names = (*required, *defaults)

    def bind(self, args, kwargs) -> dict:
        """{name: value} of all parameters of a call. Raises TypeError for arguments that do not fit,
        ArgumentError for a true `keep`."""
        if len(args) > len(self.names):
            raise TypeError(
                f"{self.label}: expected at most {len(self.names)} arguments, got {len(args)}"
            )
        values = dict(zip(self.names, args, strict=False))
        for name in values:
            if name in kwargs:
                raise TypeError(f"{self.label}: {name!r} is given by position and by name")
        values.update(kwargs)
        if values.pop("keep", False):
            raise ArgumentError(
                f"{self.label}: expected no keep=; the compiler's files are kept by "
                "SourceModule(..., keep=True), and a CompileError has the whole source"
            )
        expected = ", ".join(self.names)
        if unknown := sorted(set(values) - set(self.names)):
            raise TypeError(f"{self.label}: unexpected arguments {unknown}; it takes {expected}")
        if missing := [name for name in self.required if name not in values]:
            raise TypeError(f"{self.label}: missing {missing}; it takes {expected}")
        return {**self.defaults, **values}


_ELEMENTWISE_POINTERS = _Signature(
    "ElementwiseKernel", ("arguments", "operation"),
    name="kernel", keep=False, options=None, preamble="", loop_prep="", after_loop="",
)  # fmt: skip
_ELEMENTWISE_VALUES = _Signature(
    "ElementwiseKernel", ("in_params", "out_params", "operation"),
    name="kernel", reduce_dims=True, preamble="", no_return=False, return_tuple=False,
    loop_prep="", after_loop="", options=None,
)  # fmt: skip


class ElementwiseKernel(_core._ElementwiseKernel):
    """A CUDA C statement that runs once for each element of arrays with any strides.

    PyCUDA's signature: ``ElementwiseKernel("float *z, float a, float *x", "z[i] = a * x[i]")``; a
    call takes all arguments and returns None. CuPy's: ``ElementwiseKernel("T x, T y", "T z", "z = x
    * y")``; a call takes the inputs and returns new outputs, or writes to the outputs that are
    passed as well.

    In the statement, ``i`` is the index of the element in C order and ``n`` the number of elements.
    Arrays are broadcast to one shape. The kernel is compiled by the first call.
    """

    __slots__ = ("declared",)

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        label = "ElementwiseKernel"
        first = args[0] if args else kwargs.get("arguments", "")
        if "arguments" in kwargs or not isinstance(first, str) or "*" in first:
            given = _ELEMENTWISE_POINTERS.bind(args, kwargs)
            spec = {"arguments": _declarations(label, given["arguments"])}
            declared = (spec["arguments"], "")
        else:
            given = _ELEMENTWISE_VALUES.bind(args, kwargs)
            spec = {name: _text(label, name, given[name]) for name in ("in_params", "out_params")}
            declared = tuple(spec.values())
            spec |= {name: bool(given[name]) for name in ("return_tuple", "no_return")}
        for name in ("operation", "name", "preamble", "loop_prep", "after_loop"):
            spec[name] = _text(label, name, given[name])
        kernel = super().__new__(cls, **spec, options=_options(given["options"]))
        #: The declarations of inputs and outputs; of all arguments and "" for PyCUDA's signature.
        kernel.declared = declared
        return kernel

    def get_texref(self, name, use_double=False):
        """Always raises NotSupportedError: CUDA 12 removed texture references."""
        raise _core.NotSupportedError(
            f"ElementwiseKernel: get_texref({name!r}) is not supported: CUDA 12 removed texture "
            "references. Pass the array as an argument, declared `const float *`"
        )


_REDUCTION_POINTERS = _Signature(
    "ReductionKernel", ("dtype_out", "neutral", "reduce_expr"),
    map_expr=None, arguments=None, name="reduce_kernel", keep=False, options=None, preamble="",
    allocator=None,
)  # fmt: skip
_REDUCTION_VALUES = _Signature(
    "ReductionKernel", ("in_params", "out_params", "map_expr", "reduce_expr"),
    post_map_expr="", identity=None, name="reduce_kernel", reduce_type=None, reduce_dims=True,
    preamble="", options=None,
)  # fmt: skip


def _expression(value) -> str:
    """A neutral element or identity (text or a number) as C text; "" for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value.item() if hasattr(value, "item") else value)


class ReductionKernel(_core._ReductionKernel):
    """Maps each element and combines the results over axes, for arrays with any strides.

    PyCUDA's signature: ``ReductionKernel(np.float32, neutral="0", reduce_expr="a+b",
    map_expr="x[i]*y[i]", arguments="float *x, float *y")``. CuPy's: ``ReductionKernel("T x", "T y",
    "x * x", "a + b", "y = sqrt(a)", "0")``. The operation of `reduce_expr` must be associative and
    commutative. A call takes the inputs, and ``axis=``, ``keepdims=``, ``out=`` and ``stream=``.
    """

    __slots__ = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        label = "ReductionKernel"
        first = args[0] if args else kwargs.get("in_params")
        if isinstance(first, str) and len(first.split()) > 1:
            given = _REDUCTION_VALUES.bind(args, kwargs)
            spec = {name: given[name] for name in ("in_params", "out_params")}
            spec["map_expr"] = _text(label, "map_expr", given["map_expr"])
            spec["post_map_expr"] = _text(label, "post_map_expr", given["post_map_expr"])
            spec["reduce_type"] = given["reduce_type"] or ""
            identity = given["identity"]
        else:
            given = _REDUCTION_POINTERS.bind(args, kwargs)
            if given["allocator"] is not None:
                raise ArgumentError(
                    f"{label}: expected no allocator=; results come from the device's pool, "
                    "see spanwise.memory, or pass out= when calling"
                )
            spec = {"arguments": _declarations(label, given["arguments"])}
            spec["result_type"] = _core.dtype(given["dtype_out"]).name
            spec["map_expr"] = given["map_expr"] or ""
            identity = given["neutral"]
        return super().__new__(
            cls,
            **spec,
            reduce_expr=_text(label, "reduce_expr", given["reduce_expr"]),
            identity=_expression(identity),
            name=given["name"],
            preamble=given["preamble"],
            options=_options(given["options"]),
        )


_SCAN = _Signature(
    "ScanKernel", ("dtype", "scan_expr"),
    neutral=None, name_prefix="scan", options=None, preamble="", exclusive=False,
)  # fmt: skip


class ScanKernel(_core._ScanKernel):
    """A scan (prefix sum) with any associative operation: a running sum, maximum, ...

    ``ScanKernel(np.int32, "a + b")`` is inclusive, as PyCUDA's InclusiveScanKernel; with
    ``exclusive=True`` each result combines the elements before its own, and the first is `neutral`.
    ``scan(x)`` works in place, ``scan(x, out)`` writes to `out`, which ``"new"`` allocates. Arrays
    of more than one dimension need ``axis=``.
    """

    __slots__ = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        given = _SCAN.bind(args, kwargs)
        return super().__new__(
            cls,
            type=_core.dtype(given["dtype"]).name,
            scan_expr=_text("ScanKernel", "scan_expr", given["scan_expr"]),
            neutral=_expression(given["neutral"]),
            exclusive=bool(given["exclusive"]),
            name=given["name_prefix"],
            preamble=given["preamble"],
            options=_options(given["options"]),
        )


class InclusiveScanKernel(ScanKernel):
    """PyCUDA's name for an inclusive ScanKernel: each result includes its own element."""

    __slots__ = ()


class ExclusiveScanKernel(ScanKernel):
    """PyCUDA's name for an exclusive ScanKernel: each result excludes its own element."""

    __slots__ = ()

    def __new__(cls, dtype: Any, scan_expr: str, neutral: Any, *args: Any, **kwargs: Any) -> Any:
        return super().__new__(cls, dtype, scan_expr, neutral, *args, exclusive=True, **kwargs)
