# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Ops: ``theano.Op``, whose thunks and ``perform`` get the arrays that Theano gave them; classes that
describe the ops of a compiled program, for the host and the GPU; and Theano's names of ops.

Scripts test the names of op classes and their modules, and profiles print them.
"""

from __future__ import annotations

import functools
import re
from typing import Any

import numpy as np

import spanwise as sw
import spanwise.tensor as T  # noqa: N812
from spanwise.graph import NativeOp, recipe_of

from ._device_array import as_theano, unwrap


class _Cell(list[Any]):
    """A cell of one element, read as NumPy array or device array and written as spanwise.Array."""

    def __init__(self, cell: Any) -> None:
        self._cell = cell
        self._read: tuple[Any, Any] = (None, None)

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Any:
        return iter([self[0]])

    def __getitem__(self, index: Any) -> Any:
        value = self._cell[index]
        if not isinstance(value, sw.Array):
            return value
        if self._read[0] is not value:
            self._read = (value, as_theano(value))
        return self._read[1]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._cell[index] = unwrap(value)


class _Storage(dict[Any, Any]):
    """The storage map of a node, with cells as Theano had them."""

    def __init__(self, storage: Any, node: Any) -> None:
        super().__init__((v, _Cell(storage[v])) for v in (*node.inputs, *node.outputs))
        self._storage = storage

    def __missing__(self, variable: Any) -> Any:
        return _Cell(self._storage[variable])


def _adapted_thunk(make_thunk: Any) -> Any:
    @functools.wraps(make_thunk)
    def adapted(self: Any, node: Any, storage_map: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(storage_map, _Storage):
            storage_map = _Storage(storage_map, node)
        return make_thunk(self, node, storage_map, *args, **kwargs)

    return adapted


def _adapted_perform(perform: Any) -> Any:
    @functools.wraps(perform)
    def adapted(self: Any, node: Any, inputs: Any, output_storage: Any, *args: Any) -> Any:
        cells = [cell if isinstance(cell, _Cell) else _Cell(cell) for cell in output_storage]
        return perform(self, node, [as_theano(x) for x in inputs], cells, *args)

    return adapted


def _needs_c_code(self: Any, node: Any, *args: Any, **kwargs: Any) -> Any:
    raise sw.NotSupportedError(
        f"{self}: has C code only (c_code), which is not compiled; give the op a method perform(), or make it "
        "of its kernel with spanwise.kernel_op (docs/guides/theano_ops.md)"
    )


class Op(sw.Op):
    """Base class of ops, as in Theano. A subclass defines ``make_node`` and one of ``make_thunk``
    and ``perform``; inputs on the host are NumPy arrays there, and those on the GPU CudaNdarray or
    GpuArray. A call makes variables, also of arrays."""

    eager = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, adapt in (("make_thunk", _adapted_thunk), ("perform", _adapted_perform)):
            if name in cls.__dict__:
                setattr(cls, name, adapt(cls.__dict__[name]))
        has_own = cls.perform is not sw.Op.perform
        if not has_own and cls.make_thunk is sw.Op.make_thunk and hasattr(cls, "c_code"):
            cls.make_thunk = _needs_c_code  # type: ignore[method-assign]
        elif has_own and cls.make_thunk is _needs_c_code:
            cls.make_thunk = sw.Op.make_thunk  # type: ignore[method-assign]


class ArrayOp(sw.Op):
    """Calls `function` with the arrays of its inputs when the program runs. `types` gives the types of
    the results for the inputs; `gradient` the slopes of the inputs for (inputs, outputs, slopes).
    Ops of one name and `settings` are equal."""

    eager = False

    def __init__(
        self, name: str, function: Any, types: Any, gradient: Any = None, settings: Any = ()
    ) -> None:
        self.name, self.settings = name, settings
        self._function, self._types, self._gradient = function, types, gradient

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ArrayOp) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> Any:
        return self.name, self.settings

    def make_node(self, *inputs: Any) -> Any:
        variables = [sw.tensor.as_variable(x) for x in inputs]
        types = self._types(*variables)
        types = types if isinstance(types, list) else [types]
        return sw.Apply(self, variables, [type_() for type_ in types])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        results = self._function(*inputs)
        results = results if isinstance(results, tuple) else (results,)
        for cell, result, output in zip(output_storage, results, node.outputs, strict=True):
            cell[0] = sw.asarray(result, output.dtype)

    def L_op(self, inputs: Any, outputs: Any, output_gradients: Any) -> Any:  # noqa: N802
        if self._gradient is None:
            raise sw.NotSupportedError(f"{self}: has no derivative")
        return self._gradient(inputs, outputs, output_gradients)

    def connection_pattern(self, node: Any) -> list[list[bool]]:
        return [[self._gradient is not None] * len(node.outputs) for _ in node.inputs]


def tensor_of(dtype: Any, ndim: int, like: Any = None) -> Any:
    """A type of any extents, on the device of the variable `like`."""
    device = like.type.device if like is not None else None
    return sw.TensorType(dtype, (None,) * ndim, device)


class Assert(sw.Op):
    """Assert(message)(value, *conditions): `value`; raises AssertionError with the message when the
    function runs and an element of a condition is false."""

    __props__ = ("msg",)
    eager = False
    view_map = {0: [0]}

    def __init__(self, msg: str = "Theano Assert failed!") -> None:
        self.msg = msg

    def make_node(self, value: Any, *conditions: Any) -> Any:
        inputs = [sw.tensor.as_variable(x) for x in (value, *conditions)]
        return sw.Apply(self, inputs, [inputs[0].type()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        for condition in inputs[1:]:
            if not bool(sw.all(condition)):
                raise AssertionError(self.msg)
        output_storage[0][0] = inputs[0]

    def grad(self, inputs: Any, output_gradients: list[Any]) -> Any:
        return [output_gradients[0]] + [sw.tensor.zeros_like(x) for x in inputs[1:]]

    def connection_pattern(self, node: Any) -> list[list[bool]]:
        return [[True]] + [[False]] * (len(node.inputs) - 1)


assert_ = assert_op = Assert()


# ---- Classes of the ops of programs ----


class ProgramOp(Op):
    """An op of a compiled program; ``str(op)`` is its name in Theano. `native` is the op of Spanwise
    that runs. Scripts also make such ops, whose calls make graphs of Spanwise's ops: `maker`, if the
    class has one, is called with the arguments of the class and returns the function."""

    maker: Any = None

    def __init__(self, *args: Any, **named: Any) -> None:
        if type(self).maker is None:
            raise sw.NotSupportedError(
                f"{type(self).__name__}: scripts cannot make this op; use the function of theano.tensor"
            )
        self._describe(type(self).__name__, None)
        self._function = type(self).maker(*args, **named)

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        return self._function(*inputs)

    @classmethod
    def described(cls, text: str, native: Any = None) -> Any:
        """An op of a program."""
        op = cls.__new__(cls)
        op._describe(text, native)
        return op

    def _describe(self, text: str, native: Any) -> None:
        self.name = text
        self.native = native
        self.view_map = dict(getattr(native, "view_map", None) or {})
        self.destroy_map = dict(getattr(native, "destroy_map", None) or {})
        self.inplace_pattern = {i: js[0] for i, js in self.destroy_map.items()}

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.name))


class ScalarOp:
    """The scalar operation of an Elemwise; the name of its class is Theano's. Scripts derive classes with
    ``impl(self, *numbers)``, and ``grad(self, inputs, slopes)`` for derivatives; `output_types` gives
    the dtypes of the results for those of the inputs."""

    def __init__(self, output_types_preference: Any = None, name: str | None = None) -> None:
        if isinstance(output_types_preference, str):  # of a program
            output_types_preference, name = None, output_types_preference
        self.output_types = output_types_preference
        self.name = type(self).__name__ if name is None else name

    def __str__(self) -> str:
        return self.name

    def __call__(self, *inputs: Any) -> Any:
        """The operation on variables of any rank."""
        variables = [T.as_variable(x) for x in inputs]

        def types(*variables: Any) -> Any:
            dtypes = [v.type.dtype for v in variables]
            dtype = self.output_types(*dtypes)[0] if self.output_types else sw.result_type(*dtypes)
            return tensor_of(str(dtype), max(v.ndim for v in variables), variables[0])

        def compute(*arrays: Any) -> Any:
            results = np.vectorize(self.impl, otypes=[str(types(*variables).dtype)])
            return sw.asarray(np.asarray(results(*(array.numpy() for array in arrays))))

        slope_of = getattr(self, "grad", None)

        def gradient(inputs: Any, outputs: Any, slopes: Any) -> Any:
            return slope_of(inputs, slopes) if slope_of else None

        op = ArrayOp(self.name, compute, types, gradient if slope_of else None, id(type(self)))
        return op(*variables)

    def impl(self, *numbers: Any) -> Any:
        raise sw.NotSupportedError(
            f"{self}: expected a method impl(self, *numbers): C code alone (c_code) is not compiled"
        )


def kinds_of(module: str, *names: str) -> list[type[ProgramOp]]:
    """New subclasses of ProgramOp with these names in ``theano.<module>``."""
    return [type(name, (ProgramOp,), {"__module__": f"theano.{module}"}) for name in names]


Elemwise, DimShuffle, CAReduce, Sum, Prod, Any_, All = kinds_of(
    "tensor.elemwise", "Elemwise", "DimShuffle", "CAReduce", "Sum", "Prod", "Any", "All"
)
(CGemv,) = kinds_of("tensor.blas_c", "CGemv")
Gemm, Dot22, BatchedDot = kinds_of("tensor.blas", "Gemm", "Dot22", "BatchedDot")
Dot, Alloc, Reshape, Join, ARange, ScalarFromTensor = kinds_of(
    "tensor.basic", "Dot", "Alloc", "Reshape", "Join", "ARange", "ScalarFromTensor"
)
(MakeVector,) = kinds_of("tensor.opt", "MakeVector")
Subtensor, AdvancedSubtensor, AdvancedSubtensor1 = kinds_of(
    "tensor.subtensor", "Subtensor", "AdvancedSubtensor", "AdvancedSubtensor1"
)
IncSubtensor, AdvancedIncSubtensor, AdvancedIncSubtensor1 = kinds_of(
    "tensor.subtensor", "IncSubtensor", "AdvancedIncSubtensor", "AdvancedIncSubtensor1"
)
(IfElse,) = kinds_of("ifelse", "IfElse")
(Shape,) = kinds_of("compile.ops", "Shape")


def _reduced_by(function: Any) -> Any:
    def maker(axis: Any = None, dtype: Any = None, acc_dtype: Any = None) -> Any:
        axis = tuple(axis) if isinstance(axis, list) else axis
        options = {} if dtype is None else {"dtype": dtype}
        return lambda x: function(T.as_variable(x), axis=axis, **options)

    return maker


_REDUCTION_OF = {
    "add": "sum",
    "mul": "prod",
    "maximum": "max",
    "minimum": "min",
    "or_": "any",
    "and_": "all",
}


def _reduce(scalar_op: Any, axis: Any = None) -> Any:
    name = _REDUCTION_OF.get(str(scalar_op))
    if name is None:
        raise sw.NotSupportedError(
            f"CAReduce: expected a scalar op of {', '.join(_REDUCTION_OF)}, got {scalar_op}; write a loop "
            "with theano.reduce"
        )
    return _reduced_by(getattr(T, name))(axis)


def _incremented(inplace: bool = False, set_instead_of_inc: bool = False) -> Any:
    change = T.set_subtensor if set_instead_of_inc else T.inc_subtensor
    return lambda x, y, *index: change(T.as_variable(x)[index if len(index) > 1 else index[0]], y)


def _taken() -> Any:
    return lambda x, *index: T.as_variable(x)[index if len(index) > 1 else index[0]]


def _maker(function: Any) -> Any:
    return staticmethod(lambda *args, **named: function)


Elemwise.maker = staticmethod(lambda scalar_op, *args, **named: scalar_op)
DimShuffle.maker = staticmethod(
    lambda input_broadcastable, new_order, inplace=True: lambda x: T.as_variable(x).dimshuffle(
        *new_order
    )
)
CAReduce.maker = staticmethod(_reduce)
for _kind, _function in ((Sum, T.sum), (Prod, T.prod), (Any_, T.any), (All, T.all)):
    _kind.maker = staticmethod(_reduced_by(_function))
for _kind in (AdvancedIncSubtensor, AdvancedIncSubtensor1):
    _kind.maker = staticmethod(_incremented)
for _kind in (AdvancedSubtensor, AdvancedSubtensor1):
    _kind.maker = staticmethod(_taken)
Dot.maker, BatchedDot.maker = _maker(T.dot), _maker(T.batched_dot)
Dot22.maker = _maker(T.dot)
Alloc.maker = _maker(lambda value, *shape: T.as_variable(value).broadcast_to(shape))
Shape.maker = _maker(lambda x: T.as_variable(x).shape)
Reshape.maker = staticmethod(lambda ndim, name=None: lambda x, shape: T.reshape(x, shape))
Join.maker = _maker(lambda axis, *parts: T.join(axis, *parts))
Gemm.maker = staticmethod(lambda inplace=False: lambda z, a, x, y, b: b * z + a * T.dot(x, y))

#: Name of a class on the host -> name on the GPU, the same in both GPU back ends of Theano.
_GPU_NAMES = {
    name: f"Gpu{name.removeprefix('C')}"
    for name in (
        *("Elemwise", "DimShuffle", "Alloc", "Reshape", "Join", "Subtensor", "IncSubtensor"),
        *("CGemv", "Gemm", "Dot22", "BatchedDot"),
    )
}
#: First part of a device name of Theano -> the package of its back end.
PACKAGES = {"gpu": "sandbox.cuda", "cuda": "gpuarray"}
_TRANSFERS = ("HostFromGpu", "GpuFromHost", "GpuToGpu", "GpuContiguous")


def _gpu_kinds(dialect: str) -> dict[str, type[ProgramOp]]:
    """Name of a class on the host -> class on the GPU, and the classes of transfers."""
    package = PACKAGES[dialect]
    reduce = "GpuCAReduce" if dialect == "gpu" else "GpuCAReduceCuda"
    kinds = {}
    for host, name in {**_GPU_NAMES, "CAReduce": reduce, "Sum": reduce}.items():
        module = (
            "blas" if name in ("GpuGemv", "GpuGemm", "GpuDot22", "GpuBatchedDot") else "basic_ops"
        )
        (kinds[host],) = kinds_of(f"{package}.{module}", name)
    for name in _TRANSFERS:
        (kinds[name],) = kinds_of(f"{package}.basic_ops", name)
    return kinds


GPU_KINDS = {dialect: _gpu_kinds(dialect) for dialect in ("gpu", "cuda")}


def gpu_classes_of(module: str) -> dict[str, type[ProgramOp]]:
    """The classes of GPU_KINDS in ``theano.<module>``, by name."""
    kinds = (kind for of_dialect in GPU_KINDS.values() for kind in of_dialect.values())
    return {kind.__name__: kind for kind in kinds if kind.__module__ == f"theano.{module}"}


# ---- Names of the ops for x[i] ----
# Theano's name holds the types of the integers of an index; their values are inputs of the node.


INCREMENTS = {"set_subtensor": "Set", "inc_subtensor": "Inc"}


def operand_count(node: Any) -> int:
    """How many inputs of a node for ``x[i]`` precede those of the index."""
    return 2 if node.op.recipe[0] in INCREMENTS else 1


def integers_of(node: Any) -> list[list[str]] | None:
    """The integers of each entry of the index of `node`: one, or start, stop and step; "?" is an
    input, "" an integer that is missing; a new axis is a full slice. None if `node` is another op,
    or if the index has arrays."""
    name, _ = recipe_of(node.op)
    if name != "subtensor" and name not in INCREMENTS:
        return None
    entries = _entries(node)
    if "[]" in entries:
        return None
    entries = [":" if entry == "None" else entry for entry in entries]
    return [[*e.split(":"), ""][:3] if ":" in e else [e] for e in entries]


def _entries(node: Any) -> list[str]:
    """The entries of an index, without an Ellipsis."""
    entries = node.op.recipe[1]["index"].split(", ")
    if "..." in entries:
        i = entries.index("...")
        rank = node.inputs[0].ndim + entries.count("None")
        entries[i : i + 1] = [":"] * (rank - len(entries) + 1)
    return entries


def new_axes_of(node: Any) -> list[Any] | None:
    """The axes of x for ``x[i]``, "x" where the index has a new axis; None if it has none."""
    entries = _entries(node)
    if "None" not in entries:
        return None
    axes = iter(range(node.inputs[0].ndim))
    order = ["x" if entry == "None" else next(axes) for entry in entries]
    return [*order, *axes]


def index_name(node: Any) -> tuple[type[ProgramOp], str]:
    """The class of the op of `node`, which is for ``x[i]``, and its name."""
    name, settings = node.op.recipe
    entries = integers_of(node)
    is_read = name == "subtensor"
    if entries is not None:
        types = (str(v.dtype) for v in node.inputs[operand_count(node) :])
        order = new_axes_of(node)
        if is_read and order is not None and not any(map(any, entries)):
            return DimShuffle, f"InplaceDimShuffle{{{','.join(map(str, order))}}}"
        # A missing integer stays "".
        named = [[i and (next(types) if i == "?" else "int64") for i in each] for each in entries]
        text = ", ".join(map(":".join, named))
        if is_read:
            return Subtensor, f"Subtensor{{{text}}}"
        inplace = "Inplace" if node.op.destroy_map else ""
        return IncSubtensor, f"IncSubtensor{{{inplace}{INCREMENTS[name]};{text}}}"
    is_of_rows = settings["index"] == "[]" and node.inputs[-1].dtype != "bool"
    if is_read:
        kind = AdvancedSubtensor1 if is_of_rows else AdvancedSubtensor
        return kind, kind.__name__
    inplace, is_set = bool(node.op.destroy_map), name == "set_subtensor"
    if is_of_rows:
        text = f"{'inplace' if inplace else 'no_inplace'},{INCREMENTS[name].lower()}"
        return AdvancedIncSubtensor1, f"AdvancedIncSubtensor1{{{text}}}"
    text = f"inplace={inplace},  set_instead_of_inc={is_set}"
    return AdvancedIncSubtensor, f"AdvancedIncSubtensor{{{text}}}"


# ---- Names of ops ----


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
_NAMED_BY_CLASS = {"broadcast_to": Alloc, "concatenate": Join, "shape": Shape}
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


def _product_kind(node: Any) -> type[ProgramOp]:
    ranks = [v.ndim for v in node.inputs[:2]]
    if max(ranks) > 2:
        return BatchedDot
    if ranks == [2, 2] and len(node.inputs) == 3:
        return Gemm
    return {2: Dot, 3: CGemv, 4: Dot22}[sum(ranks)] if min(ranks) else Dot


def _reduced_axes(node: Any) -> list[int] | None:
    """The axes of a reduction; None for all. A reduction that computes the elements it reads has no
    recipe, but a name that begins as that of a plain one: "Sum{axis=(0,)}(Composite{...})"."""
    if node.op.recipe:
        axes = node.op.recipe[1].get("axis")
        return None if axes is None else list(axes)
    listed = re.match(r"\w+\{axis=\(([\d, ]*)\)", str(node.op))
    return [int(axis) for axis in re.findall(r"\d+", listed[1])] if listed else None


def _reduction(node: Any, name: str, on_gpu: bool) -> tuple[type[ProgramOp], str]:
    axes = _reduced_axes(node)
    rank = max(v.ndim for v in node.inputs)
    chosen = range(rank) if axes is None else [axis % rank for axis in axes]
    if on_gpu:
        mask = ",".join(str(int(i in chosen)) for i in range(rank))
        _, _, program = str(node.op).partition("(Composite")
        before = f"pre=Composite{program[:-1]},red=" if program else ""
        return CAReduce, f"{{{before}{_REDUCTIONS[name]}}}{{{mask}}}"
    listed = ", ".join(map(str, chosen))
    if name in ("sum", "prod"):
        kind = Sum if name == "sum" else Prod
        shown = "" if axes is None else f"axis=[{listed}], "
        dtype = str(node.outputs[0].dtype)
        accumulator = _ACCUMULATORS.get(dtype.rstrip("0123456789"), dtype)
        return kind, f"{kind.__name__}{{{shown}acc_dtype={accumulator}}}"
    if name in ("any", "all"):
        kind = Any_ if name == "any" else All
        return kind, kind.__name__ + ("" if axes is None else f"{{{listed}}}")
    return CAReduce, f"Reduce{{{_REDUCTIONS[name]}}}{{{listed}}}"


def describe(node: Any, on_gpu: bool, dialect: str) -> Op:
    """The op of `node`, a node of a compiled program, as Theano shows it. An op of a script is
    returned as it is."""
    if not isinstance(node.op, NativeOp):
        return node.op
    text = str(node.op)
    name = recipe_of(node.op)[0] or re.split(r"[{\[(]", text, maxsplit=1)[0].lower()
    if name == "ifelse":
        return IfElse.described("if{gpu}" if on_gpu else "if{}", node.op)
    properties = text[text.index("{") : text.rindex("}") + 1] if "{" in text else ""
    inplace = f"[{', '.join(f'({i}, {js[0]})' for i, js in node.op.destroy_map.items())}]"
    inplace = inplace if node.op.destroy_map else ""
    kind, shown = _kind_and_text(node, name, properties, inplace, on_gpu)
    if on_gpu:
        module = f"{PACKAGES[dialect]}.basic_ops"
        known = GPU_KINDS[dialect].get(kind.__name__)
        kind = known or kinds_of(module, f"Gpu{kind.__name__}")[0]
        if kind.__name__.startswith("GpuCAReduce") or shown.startswith("{"):
            shown = kind.__name__ + shown
        elif not shown.startswith("Gpu"):
            shown = "Gpu" + shown.removeprefix("Inplace")
        if dialect == "cuda" and kind.__name__ == "GpuElemwise" and "no_inplace" not in shown:
            shown += "<gpuarray>"
    op: Any = kind.described(shown, node.op)
    if kind.__name__.endswith("Elemwise"):
        plain, class_name = _SCALARS.get(name, (name, name.title()))
        scalar = type(class_name, (ScalarOp,), {"__module__": "theano.scalar.basic"})
        op.scalar_op = scalar(plain)
    return op


def _kind_and_text(
    node: Any, name: str, properties: str, inplace: str, on_gpu: bool
) -> tuple[type[ProgramOp], str]:
    """The class on the host, and the text; "{" starts a text that follows the class's name."""
    if _is_elementwise(name):
        text = _elemwise_text(name, properties, inplace)
        return Elemwise, text if on_gpu else "Elemwise" + text
    if name in ("matmul", "affine"):
        kind = _product_kind(node)
        prefix = "" if on_gpu else "C"
        setting = "{inplace}" if inplace else "{no_inplace}"
        texts = {
            CGemv: f"{prefix}Gemv{setting}", Gemm: f"Gemm{setting}", Dot: "dot",
        }  # fmt: skip
        return kind, texts.get(kind, kind.__name__)
    if name == "rowpass":  # two products with one matrix, on a GPU; scripts look for GpuGemv
        return CGemv, "Gemv{no_inplace}"
    if name == "dimshuffle":
        return DimShuffle, f"InplaceDimShuffle{properties}"
    if name in _REDUCTIONS:
        return _reduction(node, name, on_gpu)
    if name in _NAMED_BY_CLASS:
        return _NAMED_BY_CLASS[name], _NAMED_BY_CLASS[name].__name__
    if name == "reshape":
        return Reshape, f"Reshape{{{node.outputs[0].ndim}}}"
    if name == "subtensor" or name in INCREMENTS:
        return index_name(node)
    if name == "arange":
        return ARange, f"ARange{{dtype={str(node.outputs[0].dtype)!r}}}"
    class_name = "".join(part.title() for part in name.split("_"))
    return kinds_of("tensor.basic", class_name)[0], str(node.op)
