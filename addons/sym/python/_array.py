# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""SymArray, which has the operators, methods and functions of NumPy's arrays, and records their calls
instead of computing; its evaluation by the generated programs, and their comparison."""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

import spanwise as sw
from spanwise.compat import is_installed

from ._program import Program, cudamat_code, numpy_code, program_of, short, spanwise_code
from ._record import FUNCTIONS, Leaf, Node, Symbolic, leaf, record

# ---- Running the generated programs on the values that the leaves have now ----


_WRITERS = {"numpy": numpy_code, "spanwise": spanwise_code, "cudamat": cudamat_code}


def _code(node: Node, target: str) -> str:
    """The program of `node` for "numpy", "spanwise" or "cudamat". Raises ValueError for another
    target, NotSupportedError where CUDAMat has no such operation."""
    writer = _WRITERS.get(target)
    if writer is None:
        raise ValueError(f"commands: expected one of {', '.join(_WRITERS)}, got {target!r}")
    return writer(program_of(node))


def _as_numpy(node: Node) -> np.ndarray[Any, Any]:
    function, program = _prepared(node, "numpy")
    values = [np.asarray(sw.convert(v, "numpy", copyif=True)) for v in _values(program)]
    result = np.asarray(function(*values))
    shares = any(np.may_share_memory(result, v) for v in values)
    return result.copy() if shares or not result.flags.writeable else result


def _as_cuda(node: Node, device: Any = None) -> sw.Array:
    device = sw.default_device() if device is None else sw.device(device)
    function, program = _prepared(node, "spanwise", device)
    return function(*_values(program))  # type: ignore[no-any-return]


def _as_cudamat(node: Node) -> Any:
    function, program = _prepared(node, "cudamat")
    return function(*(sw.convert(v, "cudamat", copyif=True) for v in _values(program)))


def _prepared(node: Node, target: str, device: Any = None) -> tuple[Callable[..., Any], Program]:
    """The generated function and its program, kept in the node."""
    key = target if device is None else str(device)
    if key not in node.prepared:
        program = program_of(node)
        names: dict[str, Any] = {}
        source = compile(_WRITERS[target](program), f"<sym program for {key}>", "exec")
        if target == "cudamat" and not is_installed("cudamat"):
            warnings.warn(
                "asCUDAMat: CUDAMat is not installed; spanwise.cudamat takes its place",
                stacklevel=4,
            )
            importlib.import_module("spanwise.cudamat.install")
        exec(source, names)
        function = names["program"] if device is None else names["compiled"](device)
        node.prepared[key] = function, program
    return node.prepared[key]


def _inputs(node: Node) -> dict[str, Any]:
    """The arguments of the generated programs."""
    program = program_of(node)
    return dict(zip(program.leaves, _values(program), strict=True))


def _values(program: Program) -> list[Any]:
    """The arrays of the leaves. Raises ValueError if one has changed its shape."""
    return [_value(name, x) for name, x in program.leaves.items()]


def _value(name: str, leaf: Leaf) -> Any:
    shape = tuple(leaf.value.shape)
    if shape != leaf.shape:
        raise ValueError(
            f"{name}: the array had shape {leaf.shape} when sym.array was called at {leaf.place}, now "
            f"it has {shape}; make the expression again"
        )
    return sw.asarray(leaf.value).astype(leaf.dtype) if leaf.is_cast else leaf.value


# ---- Symbolic arrays ----


#: Ufunc and its method -> the function of NumPy that is the same.
_UFUNC_METHODS = {
    ("add", "reduce"): "sum",
    ("multiply", "reduce"): "prod",
    ("minimum", "reduce"): "min",
    ("maximum", "reduce"): "max",
    ("logical_and", "reduce"): "all",
    ("logical_or", "reduce"): "any",
    ("add", "accumulate"): "cumsum",
    ("multiply", "accumulate"): "cumprod",
}


def _recorded(name: str) -> Callable[..., Any]:
    def call(self: Operators, *args: Any, **kwargs: Any) -> Any:
        return self.wrap(record(name, self, *args, **kwargs))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"numpy.{name}(self, ...), recorded."
    return call


def _reflected(name: str) -> Callable[..., Any]:
    """The method of an operator whose right operand is `self`."""

    def call(self: Operators, other: Any) -> Any:
        return self.wrap(record(name, other, self))

    return call


class Operators(Symbolic):
    """The base of SymArray with its operators; `wrap` makes a SymArray of a node."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # == is elementwise

    @classmethod
    def wrap(cls, node: Node) -> Any:
        array = cls.__new__(cls)
        array._node = node
        return array

    __add__, __radd__ = _recorded("add"), _reflected("add")
    __sub__, __rsub__ = _recorded("subtract"), _reflected("subtract")
    __mul__, __rmul__ = _recorded("multiply"), _reflected("multiply")
    __truediv__, __rtruediv__ = _recorded("divide"), _reflected("divide")
    __floordiv__, __rfloordiv__ = _recorded("floor_divide"), _reflected("floor_divide")
    __mod__, __rmod__ = _recorded("remainder"), _reflected("remainder")
    __pow__, __rpow__ = _recorded("power"), _reflected("power")
    __matmul__, __rmatmul__ = _recorded("matmul"), _reflected("matmul")
    __and__, __rand__ = _recorded("bitwise_and"), _reflected("bitwise_and")
    __or__, __ror__ = _recorded("bitwise_or"), _reflected("bitwise_or")
    __xor__, __rxor__ = _recorded("bitwise_xor"), _reflected("bitwise_xor")
    __lshift__, __rlshift__ = _recorded("left_shift"), _reflected("left_shift")
    __rshift__, __rrshift__ = _recorded("right_shift"), _reflected("right_shift")
    __lt__, __le__ = _recorded("less"), _recorded("less_equal")
    __gt__, __ge__ = _recorded("greater"), _recorded("greater_equal")
    __eq__, __ne__ = _recorded("equal"), _recorded("not_equal")
    __neg__, __pos__ = _recorded("negative"), _recorded("positive")
    __invert__, __abs__ = _recorded("invert"), _recorded("absolute")

    sum, prod, cumsum, cumprod = map(_recorded, ("sum", "prod", "cumsum", "cumprod"))
    min, max, argmin, argmax = map(_recorded, ("min", "max", "argmin", "argmax"))
    mean, var, std = map(_recorded, ("mean", "var", "std"))
    any, all = map(_recorded, ("any", "all"))
    dot, take, clip, round = map(_recorded, ("dot", "take", "clip", "round"))
    astype, conj, ravel = map(_recorded, ("astype", "conj", "ravel"))
    swapaxes, squeeze = map(_recorded, ("swapaxes", "squeeze"))


class SymArray(Operators):
    """An array, or an expression of arrays in NumPy's notation. Made by ``sym.array(x)`` and by
    operations on such arrays, which compute nothing.

    dtype and shape are known at once. `asNumpy`, `asCUDA` and `asCUDAMat` read the arrays and
    compute, each time anew; they change no array, and their results share memory with none.
    """

    __slots__ = ()

    @property
    def shape(self) -> tuple[int, ...]:
        return self._node.shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def dtype(self) -> Any:
        """NumPy's dtype; Spanwise's where NumPy has none, as for bfloat16."""
        try:
            return np.dtype(self._node.dtype)
        except TypeError:
            return self._node.variable.dtype

    @property
    def name(self) -> str | None:
        """The name in generated programs; None: a letter and a number."""
        return self._node.name

    @name.setter
    def name(self, name: str | None) -> None:
        self._node.name = name

    @property
    def place(self) -> str:
        """ "file:line" of the statement that made it."""
        return self._node.place

    # ---- Evaluation ----

    def asNumpy(self) -> np.ndarray[Any, Any]:  # noqa: N802
        """The value, computed by the NumPy calls of `numpy_code`. Arrays on a GPU are copied to
        the host, which waits for them."""
        return _as_numpy(self._node)

    def asCUDA(self, device: Any = None) -> Any:  # noqa: N802
        """The value as a Spanwise array on `device`, by default the default device, computed by the
        compiled function of `cuda_code`. The function is kept for later calls; its work is queued
        on the current stream."""
        return _as_cuda(self._node, device)

    def asCUDAMat(self) -> Any:  # noqa: N802
        """The value as a CUDAMatrix, computed by the CUDAMat calls of `cudamat_code`, on CUDAMat's
        stream. A mask is a matrix of 0 and 1. CUDAMat must be initialised (``cublas_init()``).

        Without CUDAMat, spanwise.cudamat takes its place and a warning says so. Raises NotSupportedError for an operation, dtype (other than
        float32) or shape (other than two axes) that it does not have, with the place.
        """
        return _as_cudamat(self._node)

    def numpy_code(self) -> str:
        """The NumPy calls as Python: a function ``program``, whose arguments are `inputs`."""
        return _code(self._node, "numpy")

    def cuda_code(self) -> str:
        """The same in Spanwise, and a function ``compiled(device)`` that compiles it."""
        return _code(self._node, "spanwise")

    def cudamat_code(self) -> str:
        """The CUDAMat calls as Python; raises as `asCUDAMat` does."""
        return _code(self._node, "cudamat")

    def commands(self, target: str) -> str:
        """The program for "numpy", "spanwise" or "cudamat"."""
        return _code(self._node, target)

    def inputs(self) -> dict[str, Any]:
        """The arrays that the expression reads, by their names in the programs."""
        return _inputs(self._node)

    # ---- NumPy's protocols ----

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> SymArray:
        name = ufunc.__name__
        called = name if method == "__call__" else _UFUNC_METHODS.get((name, method))
        if called not in FUNCTIONS:
            shown = name if method == "__call__" else f"{name}.{method}"
            return SymArray.of(shown, *args)  # raises a TypeError that names it
        if method != "__call__":
            kwargs.setdefault("axis", 0)
        return SymArray.of(called, *args, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        name = function.__name__
        module = function.__module__.partition(".")[2]
        if name in ("shape", "ndim", "size") and len(args) == 1 and not kwargs:
            return getattr(args[0], name)
        return SymArray.of(f"{module}.{name}" if module else name, *args, **kwargs)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise TypeError(f"{self!r} has no values until it is evaluated: use asNumpy() or asCUDA()")

    __float__ = __int__ = __complex__ = __array__

    def __bool__(self) -> bool:
        raise TypeError(
            f"{self!r} has no truth value until it is evaluated: use sym.where(), or bool(x.asNumpy())"
        )

    # ---- Containers ----

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a symbolic array without axes")
        return self.shape[0]

    def __iter__(self) -> Iterator[SymArray]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> SymArray:
        return SymArray.of("getitem", self, key)

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise TypeError(
            "a symbolic array cannot be changed; use sym.where(mask, value, x), or concatenate parts"
        )

    @property
    def T(self) -> SymArray:  # noqa: N802
        return SymArray.of("T", self)

    def reshape(self, *shape: Any) -> SymArray:
        return SymArray.of("reshape", self, shape[0] if len(shape) == 1 else shape)

    def transpose(self, *axes: Any) -> SymArray:
        listed = (axes[0] if len(axes) == 1 else axes,) if axes else ()
        return SymArray.of("transpose", self, *listed)

    def flatten(self) -> SymArray:
        return SymArray.of("ravel", self)

    def __repr__(self) -> str:
        node = self._node
        name = f" {node.name}" if node.name else ""
        return f"SymArray({node.function}{name}: {node.dtype} {node.shape}, {short(node.place)})"

    # ---- Construction ----

    @classmethod
    def of(cls, function: str, *args: Any, **kwargs: Any) -> SymArray:
        """The call of NumPy's `function` as a symbolic array."""
        return cls.wrap(record(function, *args, **kwargs))  # type: ignore[no-any-return]


def array(x: Any, dtype: Any = None, name: str | None = None) -> SymArray:
    """A symbolic array of `x`: an array of any library, a number or nested lists.

    `x` is referenced, not copied, and read at each evaluation: later changes of its values are
    seen. A change of its shape is an error then. With `dtype` the values are cast at each
    evaluation. `name` is its name in generated programs.
    """
    if isinstance(x, SymArray):
        return x if dtype is None or dtype == x.dtype else SymArray.of("astype", x, dtype)
    return SymArray.wrap(leaf(x, name, dtype))  # type: ignore[no-any-return]


# ---- Comparing the values that the targets compute ----


_TOLERANCES = {"float16": 1e-2, "float32": 1e-4, "complex64": 1e-4}


def check(x: SymArray, tolerance: float | None = None, device: Any = None) -> dict[str, float]:
    """The largest difference of each target from NumPy: ``{"cuda": 1e-16, "cudamat": ...}``,
    relative to the largest element of NumPy's result where that exceeds 1.

    CUDAMat is a target where it can be imported and has the operations, the dtype and the shapes.
    Raises AssertionError for a difference above `tolerance` (by default 1e-4 for float32, 1e-2 for
    float16, 1e-9 for float64, 0 for integers and bool), for NaN or infinity at other places, and
    for another dtype or shape.
    """
    expected = x.asNumpy()
    if tolerance is None:
        is_exact = expected.dtype.kind in "biu"
        tolerance = 0.0 if is_exact else _TOLERANCES.get(expected.dtype.name, 1e-9)
    got = {"cuda": sw.to_numpy(x.asCUDA(device), copyif=True)}
    if (matrix := _cudamat_value(x)) is not None:
        got["cudamat"] = matrix.astype(expected.dtype)  # a mask comes as 0 and 1
    for target, value in got.items():
        if value.shape != expected.shape or value.dtype != expected.dtype:
            raise AssertionError(
                f"{x!r}: NumPy gives {expected.dtype} {expected.shape}, {target} gives "
                f"{value.dtype} {value.shape}"
            )
    differences = {target: _difference(value, expected) for target, value in got.items()}
    for target, difference in differences.items():
        if not difference <= tolerance:
            raise AssertionError(
                f"{x!r}: {target} differs from NumPy by {difference:g}; expected at most {tolerance:g}"
            )
    return differences


def _cudamat_value(x: SymArray) -> np.ndarray[Any, Any] | None:
    """CUDAMat's result; None where it is not installed or lacks an operation."""
    try:
        x.cudamat_code()
    except sw.NotSupportedError:
        return None
    if not is_installed("cudamat"):
        return None
    return np.array(x.asCUDAMat().asarray())


def _difference(got: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> float:
    with np.errstate(all="ignore"):
        wide = "complex128" if expected.dtype.kind == "c" else "float64"
        a, b = got.astype(wide), expected.astype(wide)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        if same.all():
            return 0.0
        scale = max(1.0, float(np.max(np.abs(b[np.isfinite(b)]), initial=0.0)))
        return float(np.nan_to_num(np.abs(a - b)[~same], nan=np.inf).max()) / scale
