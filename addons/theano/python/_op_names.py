# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The names by which Theano shows the ops of a program."""

from __future__ import annotations

import re
from typing import Any

import spanwise as sw
from spanwise.graph import NativeOp

from .._graph.op import recipe_of
from . import _op_kinds as kinds
from ._index_names import INCREMENTS, index_name
from ._op import Op

#: Spanwise's name of an elementwise op -> Theano's name of the scalar op, and of its class.
_SCALARS = {
    "negative": ("neg", "Neg"),
    "subtract": ("sub", "Sub"),
    "multiply": ("mul", "Mul"),
    "divide": ("true_div", "TrueDiv"),
    "floor_divide": ("int_div", "IntDiv"),
    "remainder": ("mod", "Mod"),
    "power": ("pow", "Pow"),
    "square": ("sqr", "Sqr"),
    "reciprocal": ("inv", "Inv"),
    "absolute": ("abs_", "Abs"),
    "sign": ("sgn", "Sgn"),
    "greater": ("gt", "GT"),
    "greater_equal": ("ge", "GE"),
    "less": ("lt", "LT"),
    "less_equal": ("le", "LE"),
    "equal": ("eq", "EQ"),
    "not_equal": ("neq", "NEQ"),
    "bitwise_and": ("and_", "AND"),
    "bitwise_or": ("or_", "OR"),
    "bitwise_xor": ("xor", "XOR"),
    "invert": ("invert", "Invert"),
    "where": ("switch", "Switch"),
    "clip": ("clip", "Clip"),
    "sigmoid": ("scalar_sigmoid", "ScalarSigmoid"),
    "softplus": ("scalar_softplus", "ScalarSoftplus"),
    "arcsin": ("arcsin", "ArcSin"),
    "arccos": ("arccos", "ArcCos"),
    "arctan": ("arctan", "ArcTan"),
    "rint": ("round_half_to_even", "RoundHalfToEven"),
}
_REDUCTIONS = {
    "sum": "add",
    "prod": "mul",
    "max": "maximum",
    "min": "minimum",
    "any": "or",
    "all": "and",
}
_NAMED_BY_CLASS = {"broadcast_to": kinds.Alloc, "concatenate": kinds.Join, "shape": kinds.Shape}
#: dtype without its size -> the dtype of sums in Theano's names.
_ACCUMULATORS = {
    "bool": "int64",
    "int": "int64",
    "uint": "uint64",
    "float": "float64",
    "complex": "complex128",
}


def _is_elementwise(name: str) -> bool:
    is_ufunc = isinstance(getattr(sw, name, None), sw.ufunc)
    return is_ufunc or name in _SCALARS or name in ("cast", "composite")


def _elemwise_text(name: str, properties: str, inplace: str) -> str:
    if name == "cast":
        return f"{{Cast{properties}}}{inplace}"
    if name == "composite":  # a fused node, with Theano's names of the scalar ops
        named = re.sub(r"\w+(?=\()", lambda word: _SCALARS.get(word[0], (word[0],))[0], properties)
        return f"{{Composite{named}}}{inplace}"
    plain, class_name = _SCALARS.get(name, (name, name.title()))
    return f"{{{class_name}}}{inplace}" if inplace else f"{{{plain},no_inplace}}"


def _product_kind(node: Any) -> type[kinds.ProgramOp]:
    ranks = [v.ndim for v in node.inputs[:2]]
    if max(ranks) > 2:
        return kinds.BatchedDot
    if ranks == [2, 2] and len(node.inputs) == 3:
        return kinds.Gemm
    return {2: kinds.Dot, 3: kinds.CGemv, 4: kinds.Dot22}[sum(ranks)] if min(ranks) else kinds.Dot


def _reduced_axes(node: Any) -> list[int] | None:
    """The axes of a reduction; None for all. A reduction that computes the elements it reads has no
    recipe, but a name that begins as that of a plain one: "Sum{axis=(0,)}(Composite{...})"."""
    if node.op.recipe:
        axes = node.op.recipe[1].get("axis")
        return None if axes is None else list(axes)
    listed = re.match(r"\w+\{axis=\(([\d, ]*)\)", str(node.op))
    return [int(axis) for axis in re.findall(r"\d+", listed[1])] if listed else None


def _reduction(node: Any, name: str, on_gpu: bool) -> tuple[type[kinds.ProgramOp], str]:
    axes = _reduced_axes(node)
    rank = max(v.ndim for v in node.inputs)
    chosen = range(rank) if axes is None else [axis % rank for axis in axes]
    if on_gpu:
        mask = ",".join(str(int(i in chosen)) for i in range(rank))
        _, _, program = str(node.op).partition("(Composite")
        before = f"pre=Composite{program[:-1]},red=" if program else ""
        return kinds.CAReduce, f"{{{before}{_REDUCTIONS[name]}}}{{{mask}}}"
    listed = ", ".join(map(str, chosen))
    if name in ("sum", "prod"):
        kind = kinds.Sum if name == "sum" else kinds.Prod
        shown = "" if axes is None else f"axis=[{listed}], "
        dtype = str(node.outputs[0].dtype)
        accumulator = _ACCUMULATORS.get(dtype.rstrip("0123456789"), dtype)
        return kind, f"{kind.__name__}{{{shown}acc_dtype={accumulator}}}"
    if name in ("any", "all"):
        kind = kinds.Any_ if name == "any" else kinds.All
        return kind, kind.__name__ + ("" if axes is None else f"{{{listed}}}")
    return kinds.CAReduce, f"Reduce{{{_REDUCTIONS[name]}}}{{{listed}}}"


def describe(node: Any, on_gpu: bool, dialect: str) -> Op:
    """The op of `node`, a node of a compiled program, as Theano shows it. An op of a script is
    returned as it is."""
    if not isinstance(node.op, NativeOp):
        return node.op
    text = str(node.op)
    name = recipe_of(node.op)[0] or re.split(r"[{\[(]", text, maxsplit=1)[0].lower()
    if name == "ifelse":
        return kinds.IfElse("if{gpu}" if on_gpu else "if{}", node.op)
    properties = text[text.index("{") : text.rindex("}") + 1] if "{" in text else ""
    inplace = f"[{', '.join(f'({i}, {js[0]})' for i, js in node.op.destroy_map.items())}]"
    inplace = inplace if node.op.destroy_map else ""
    kind, shown = _kind_and_text(node, name, properties, inplace, on_gpu)
    if on_gpu:
        module = f"{kinds.PACKAGES[dialect]}.basic_ops"
        known = kinds.GPU_KINDS[dialect].get(kind.__name__)
        kind = known or kinds.kinds_of(module, f"Gpu{kind.__name__}")[0]
        if kind.__name__.startswith("GpuCAReduce") or shown.startswith("{"):
            shown = kind.__name__ + shown
        elif not shown.startswith("Gpu"):
            shown = "Gpu" + shown.removeprefix("Inplace")
        if dialect == "cuda" and kind.__name__ == "GpuElemwise" and "no_inplace" not in shown:
            shown += "<gpuarray>"
    op: Any = kind(shown, node.op)
    if kind.__name__.endswith("Elemwise"):
        plain, class_name = _SCALARS.get(name, (name, name.title()))
        scalar = type(class_name, (kinds.ScalarOp,), {"__module__": "theano.scalar.basic"})
        op.scalar_op = scalar(plain)
    return op


def _kind_and_text(
    node: Any, name: str, properties: str, inplace: str, on_gpu: bool
) -> tuple[type[kinds.ProgramOp], str]:
    """The class on the host, and the text; "{" starts a text that follows the class's name."""
    if _is_elementwise(name):
        text = _elemwise_text(name, properties, inplace)
        return kinds.Elemwise, text if on_gpu else "Elemwise" + text
    if name in ("matmul", "affine"):
        kind = _product_kind(node)
        prefix = "" if on_gpu else "C"
        setting = "{inplace}" if inplace else "{no_inplace}"
        texts = {
            kinds.CGemv: f"{prefix}Gemv{setting}", kinds.Gemm: f"Gemm{setting}", kinds.Dot: "dot",
        }  # fmt: skip
        return kind, texts.get(kind, kind.__name__)
    if name == "rowpass":  # two products with one matrix, on a GPU; scripts look for GpuGemv
        return kinds.CGemv, "Gemv{no_inplace}"
    if name == "dimshuffle":
        return kinds.DimShuffle, f"InplaceDimShuffle{properties}"
    if name in _REDUCTIONS:
        return _reduction(node, name, on_gpu)
    if name in _NAMED_BY_CLASS:
        return _NAMED_BY_CLASS[name], _NAMED_BY_CLASS[name].__name__
    if name == "reshape":
        return kinds.Reshape, f"Reshape{{{node.outputs[0].ndim}}}"
    if name == "subtensor" or name in INCREMENTS:
        return index_name(node)
    if name == "arange":
        return kinds.ARange, f"ARange{{dtype={str(node.outputs[0].dtype)!r}}}"
    class_name = "".join(part.title() for part in name.split("_"))
    return kinds.kinds_of("tensor.basic", class_name)[0], str(node.op)
