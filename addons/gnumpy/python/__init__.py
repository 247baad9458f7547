# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Gnumpy's module over Spanwise: scripts for Gnumpy run on a GPU, or on the CPU without one.

After ``import spanwise.gnumpy.install``, ``import gnumpy`` imports it where Gnumpy itself is absent, as does
``python -m spanwise.theano script.py``. A garray is a float32 array of Spanwise in C order, ``g.array``.
docs/coming-from-gnumpy-cudamat.md describes the differences.
"""

from __future__ import annotations

import builtins
import operator
import os
import time
import types
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

import spanwise as sw

__all__ = [
    "GnumpyGpuUnavailableException",
    "GnumpyNumberTypeException",
    "abs",
    "all",
    "any",
    "as_garray",
    "as_garray_or_scalar",
    "as_numpy_array",
    "concatenate",
    "cos",
    "diagflat",
    "dot",
    "empty",
    "exp",
    "eye",
    "free_reuse_cache",
    "garray",
    "is_array",
    "is_garray",
    "isinf",
    "isnan",
    "log",
    "log2",
    "log10",
    "log_1_plus_exp",
    "logistic",
    "max",
    "mean",
    "memory_allocators",
    "memory_available",
    "memory_in_use",
    "min",
    "negative",
    "newaxis",
    "nonzero",
    "ones",
    "outer",
    "prod",
    "rand",
    "randn",
    "seed_rand",
    "sign",
    "sin",
    "sqrt",
    "status",
    "std",
    "sum",
    "tanh",
    "tensordot",
    "tile",
    "usingGpu",
    "where",
    "zeros",
]  # fmt: skip

_cudamat = import_module("spanwise.cudamat")  # as Gnumpy needs CUDAMat

newaxis = None
inf, nan = np.inf, np.nan
board_id_to_use = 0
#: "anything goes", "no nans", "no nans or infs", or the largest modulus that results may have.
acceptable_number_types: Any = "anything goes"
#: Accepted for compatibility; they have no effect.
expensive_check_probability, max_memory_usage, track_memory_usage = 1, np.inf, False
dont__check_number_types_in_non_garrays = True

_NUMBERS = (int, float, np.number, np.bool_)
_generator = sw.random.default_rng(0)
# What the bridge of Gnumpy reads.
_useGpu, _cmsForReuse = "yes", dict[int, Any]()  # noqa: N816


class GnumpyGpuUnavailableException(Exception):
    """Never raised: the CPU takes the place of a GPU."""


class GnumpyNumberTypeException(Exception):
    """A result has values that ``acceptable_number_types`` excludes."""


def _init_gpu() -> None:
    pass


def _checked(x: garray) -> garray:
    rule = acceptable_number_types
    if isinstance(rule, str) and rule == "anything goes":
        return x
    if rule == "no nans":
        is_wrong = sw.any(sw.isnan(x.array))
    elif rule == "no nans or infs":
        is_wrong = ~sw.all(sw.isfinite(x.array))
    elif isinstance(rule, _NUMBERS):
        is_wrong = sw.any(sw.abs(x.array) > float(rule))
    else:
        raise ValueError(
            'acceptable_number_types: expected "anything goes", "no nans", "no nans or infs" or a number, '
            f"got {rule!r}"
        )
    if bool(is_wrong):
        raise GnumpyNumberTypeException(
            f'Found values that violate the rule set by gnumpy.acceptable_number_types: "{rule}"'
        )
    return x


def _from_array(array: sw.Array) -> garray:
    """A garray over `array`, or over a copy of float32 in C order."""
    result = object.__new__(garray)
    result._array = _in_c_order(array if array.dtype == "float32" else array.astype("float32"))
    return result


def _in_c_order(array: sw.Array) -> sw.Array:
    return array if array.flags.c_contiguous else array.copy(order="C")


def _computed(array: sw.Array) -> garray:
    return _checked(_from_array(array))


def _operand(x: Any) -> Any:
    return x.array if isinstance(x, garray) else x if isinstance(x, _NUMBERS) else garray(x).array


def _numbered(index: Any) -> Any:
    """An index of garrays, sequences or arrays, which have the numbers of elements as floats too."""
    if isinstance(index, garray):
        return index.array.astype("int64")
    if isinstance(index, (list, np.ndarray)):
        return sw.asarray(np.asarray(index).astype("int64"), device=_device())
    return index


def _device() -> Any:
    return sw.default_device()


class garray:  # noqa: N801  (Gnumpy's name)
    """An array of float32 on the default device, from numbers, sequences, arrays of NumPy or garrays."""

    _array: sw.Array
    __array_priority__ = 1000  # NumPy leaves operators to garrays

    def __init__(self, data: Any, copy: Any = True, ndmin: Any = 0) -> None:
        if isinstance(data, _cudamat.CUDAMatrix):  # sw.to_gnumpy(x): the memory, and the shape
            self._array = data.array.reshape((-1,), order="F").reshape(tuple(copy))
            return
        if isinstance(data, types.GeneratorType):
            data = tuple(data)
        if isinstance(data, (list, tuple)) and builtins.any(isinstance(x, garray) for x in data):
            data = concatenate([as_garray(x)[None] for x in data])
        if isinstance(data, garray):
            array = data.array.copy() if copy else data.array
        elif isinstance(data, sw.Array):
            array = data.astype("float32").to(_device())
        else:
            host = np.asarray(data)
            if host.dtype.kind not in "biufc":
                raise TypeError(f'Cannot convert "{data}" to a garray.')
            array = sw.array(host.astype(np.float32), device=_device())
        if ndmin > array.ndim:
            array = array.reshape((1,) * (ndmin - array.ndim) + array.shape)
        self._array = _in_c_order(array)

    @property
    def array(self) -> sw.Array:
        """The memory."""
        return self._array

    @property
    def _base(self) -> Any:
        return _cudamat.CUDAMatrix(self._array.reshape((-1, 1)))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self._array.shape)

    @property
    def ndim(self) -> int:
        return self._array.ndim

    @property
    def size(self) -> int:
        return self._array.size

    @property
    def nbytes(self) -> int:
        return 4 * self.size

    @property
    def nMBytes(self) -> float:  # noqa: N802
        return self.nbytes / 2**20

    # ---- Conversions ----

    def as_numpy_array(self, dtype: Any = np.float64) -> np.ndarray:
        """A copy as an array of NumPy."""
        return np.array(self._array.numpy(), dtype)

    asarray = as_numpy_array

    def astype(self, type: Any) -> np.ndarray:
        """A copy as an array of NumPy."""
        return self.as_numpy_array(type)

    def item(self) -> float:
        """The only element."""
        return float(self._array.item())

    def copy(self) -> garray:
        """A copy."""
        return garray(self)

    def __array__(self, *args: Any, **options: Any) -> np.ndarray:
        rule = os.environ.get("GNUMPY_IMPLICIT_CONVERSION", "refuse")
        if rule not in ("allow", "warn"):
            raise TypeError(
                "garray: not converted to an array of NumPy without a call: use g.as_numpy_array(), or set "
                "the environment variable GNUMPY_IMPLICIT_CONVERSION=allow"
            )
        if rule == "warn":
            warnings.warn("a garray is converted to an array of NumPy", stacklevel=2)
        return self.as_numpy_array().__array__(*args, **options)

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()

    def __repr__(self) -> str:
        text = repr(self.as_numpy_array()).replace("array(", "garray(").replace("\n", "\n ")
        return text.replace(", dtype=float64", "")

    def __reduce__(self) -> Any:
        return garray, (self.as_numpy_array(np.float32),)

    def __bool__(self) -> bool:
        return self.size == 1 and self.item() != 0

    def __float__(self) -> float:
        return self.item()

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    # ---- Shapes; only reshape() shares memory ----

    def reshape(self, *shape: Any) -> garray:
        """The same memory with another shape."""
        extents = shape[0] if len(shape) == 1 and not isinstance(shape[0], _NUMBERS) else shape
        try:
            return _from_array(self._array.reshape(tuple(map(int, extents))))
        except sw.Error as error:
            raise ValueError(
                f"the total number of items cannot be changed in a reshape: {error}"
            ) from None

    def reshape_2d(self, n_dimensions_as_rows: int) -> garray:
        """The same memory as a matrix, whose rows are for the first axes."""
        n = n_dimensions_as_rows + (self.ndim if n_dimensions_as_rows < 0 else 0)
        rows = int(np.prod(self.shape[:n]))
        return self.reshape(rows, int(np.prod(self.shape[n:])))

    def ravel(self) -> garray:
        """The same memory as a vector."""
        return self.reshape(-1)

    @property
    def T(self) -> garray:  # noqa: N802
        return self.transpose()

    def transpose(self, *axes: Any) -> garray:
        """A copy with its axes reversed, or in the given order."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], _NUMBERS) else axes
        order = tuple(order) or tuple(reversed(range(self.ndim)))
        if sorted(order) != list(range(self.ndim)):
            raise ValueError(f"{order} is not a valid argument to transpose() of {self.ndim} axes")
        return _from_array(self._array.transpose(order).copy(order="C"))

    def transpose_simple(self, nDimsToGroup: int) -> garray:  # noqa: N803
        """A copy whose first axes are the last ones."""
        axes = range(self.ndim)
        return self.transpose(*axes[nDimsToGroup:], *axes[:nDimsToGroup])

    def diagonal(self) -> garray:
        """A copy of the diagonal."""
        return _from_array(self._array.diagonal().copy())

    diag = diagonal

    def diagflat(self, k: int = 0) -> garray:
        """A matrix with the elements on its diagonal `k`."""
        return _from_array(sw.diagflat(self._array, k))

    def tile(self, reps: Any) -> garray:
        """As the function tile()."""
        return tile(self, reps)

    def sort(self, axis: int = -1, kind: Any = None, order: Any = None) -> None:
        """Sorts in place."""
        self._array[...] = sw.sort(self._array, axis=axis)

    # ---- Elements: slices of the first axis share memory, others are copies ----

    def __getitem__(self, selectors: Any) -> Any:
        index = selectors if isinstance(selectors, tuple) else (selectors,)
        if builtins.sum(x is not None and x is not Ellipsis for x in index) > self.ndim:
            raise IndexError("more indices than axes")
        part = self._array[tuple(map(_numbered, index))]
        if part.ndim == 0 and None not in index:
            return float(part.item())
        first, *rest = [x for x in index if x is not None] or [slice(None)]
        is_full = builtins.all(isinstance(x, slice) and x == slice(None) for x in rest)
        shares = (
            is_full
            and first is not Ellipsis
            and (
                isinstance(first, _NUMBERS)
                or (isinstance(first, slice) and first.step in (1, None))
            )
        )
        return _from_array(part if shares else part.copy(order="C"))

    def __setitem__(self, selectors: Any, other: Any) -> None:
        index = selectors if isinstance(selectors, tuple) else (selectors,)
        value = _operand(other)
        target = tuple(map(_numbered, index))
        if isinstance(value, sw.Array):
            shape = self._array[target].shape
            extra = value.ndim - len(shape)
            if extra > 0 and builtins.all(n == 1 for n in value.shape[:extra]):
                value = value.reshape(value.shape[extra:])
            padded = (1,) * (len(shape) - value.ndim) + tuple(value.shape)
            pairs = zip(padded, shape, strict=False)
            if len(padded) > len(shape) or builtins.any(a not in (1, b) for a, b in pairs):
                raise ValueError(
                    f"Incompatible shapes in slice assign: the assigned area has shape {shape}, and the "
                    f"incoming values have shape {value.shape}."
                )
            if value.size == 0:
                return
        self._array[target] = value

    # ---- Reductions: numbers without an axis ----

    def _reduced(self, function: Any, axis: Any) -> Any:
        if axis is None:
            return float(function(self._array).item())
        if not isinstance(axis, _NUMBERS):
            raise TypeError(f'the value {axis} is not appropriate for the "axis" parameter.')
        if not -self.ndim <= axis < self.ndim:
            raise ValueError(f"axis ({axis}) out of bounds for an array with {self.ndim} axes.")
        return _computed(function(self._array, axis=int(axis)))

    def sum(self, axis: Any = None) -> Any:
        """The sum."""
        return self._reduced(sw.sum, axis)

    def mean(self, axis: Any = None) -> Any:
        """The mean."""
        return self._reduced(sw.mean, axis)

    def max(self, axis: Any = None) -> Any:
        """The largest element."""
        return self._reduced(sw.max, axis)

    def min(self, axis: Any = None) -> Any:
        """The smallest element."""
        return self._reduced(sw.min, axis)

    def prod(self, axis: Any = None) -> Any:
        """The product."""
        return self._reduced(sw.prod, axis)

    def std(self, axis: Any = None) -> Any:
        """The standard deviation."""
        return self._reduced(sw.std, axis)

    def argmax(self, axis: Any = None) -> Any:
        """The index of the largest element, as an array of NumPy."""
        return np.asarray(sw.argmax(self._array, axis=axis).numpy())[()]

    def argmin(self, axis: Any = None) -> Any:
        """The index of the smallest element, as an array of NumPy."""
        return np.asarray(sw.argmin(self._array, axis=axis).numpy())[()]

    def all(self, axis: Any = None) -> Any:
        """1 where all elements are not 0, else 0."""
        return self._reduced(lambda a, **options: sw.all(a != 0, **options), axis)

    def any(self, axis: Any = None) -> Any:
        """1 where an element is not 0, else 0."""
        return self._reduced(lambda a, **options: sw.any(a != 0, **options), axis)

    all2, any2 = all, any

    def euclid_norm(self) -> float:
        """The square root of the sum of squares."""
        return float(sw.sqrt(sw.sum(self._array * self._array)).item())

    def all_real(self) -> bool:
        """Whether no element is NaN or infinite."""
        return bool(sw.all(sw.isfinite(self._array)))

    def as_bool(self) -> garray:
        """1 for the elements that are not 0."""
        return self != 0

    def isreal(self) -> garray:
        """1 for the elements that are finite."""
        return _from_array(sw.isfinite(self._array))

    def isnumber(self) -> garray:
        """1 for the elements that are not NaN."""
        return _from_array(~sw.isnan(self._array))

    def rand(self, distribution: str = "uniform") -> garray:
        """Random numbers in the shape of the array."""
        return {"uniform": rand, "normal": randn}[distribution](self.shape)

    # ---- Operators ----

    def __and__(self, other: Any) -> garray:
        return self.as_bool() * as_garray(other).as_bool()

    def __or__(self, other: Any) -> garray:
        return (self.as_bool() + as_garray(other).as_bool()).as_bool()

    def __pow__(self, other: Any, modulo: Any = None) -> garray:
        if modulo is not None or not isinstance(other, _NUMBERS):
            raise NotImplementedError("a**b where b is anything other than a scalar")
        return _computed(self._array ** (other.item() if hasattr(other, "item") else other))

    def __rpow__(self, other: Any) -> Any:
        raise NotImplementedError("a**b where only b is a garray")

    def __pos__(self) -> garray:
        return self

    def __neg__(self) -> garray:
        return _computed(-self._array)

    def __abs__(self) -> garray:
        return _computed(sw.abs(self._array))

    def eq2(self, other: Any) -> garray:
        """As ``==``."""
        return self == other

    __hash__ = object.__hash__


def _operator(name: str, function: Any, is_comparison: bool = False) -> None:
    def method(self: garray, other: Any) -> Any:
        if not isinstance(other, (*_NUMBERS, tuple, list, np.ndarray, garray)):
            return name == "__ne__" if name in ("__eq__", "__ne__") else NotImplemented
        return _computed(function(self._array, _operand(other)))

    def swapped(self: garray, other: Any) -> Any:
        return _computed(function(_operand(other), self._array))

    def in_place(self: garray, other: Any) -> garray:
        self._array[...] = function(self._array, _operand(other))
        return _checked(self)

    setattr(garray, name, method)
    if not is_comparison:
        setattr(garray, f"__r{name[2:]}", swapped)
        setattr(garray, f"__i{name[2:]}", in_place)


for _name in ("add", "sub", "mul", "truediv", "mod"):
    _operator(f"__{_name}__", getattr(operator, _name))
for _name in ("lt", "gt", "le", "ge", "eq", "ne"):
    _operator(f"__{_name}__", getattr(operator, _name), is_comparison=True)


def _ipow(self: garray, other: Any) -> garray:
    self._array[...] = (self**other).array
    return self


garray.__ipow__ = _ipow  # type: ignore[attr-defined]

# ---- Functions of elements, for garrays, arrays of NumPy and numbers ----


def _elementwise(name: str, function: Any, numpys: Any) -> Callable[[Any], Any]:
    def apply(x: Any) -> Any:
        if isinstance(x, garray):
            return _computed(function(x.array))
        if isinstance(x, np.ndarray):
            return np.asarray(numpys(x)) if x.ndim == 0 else numpys(x)
        if isinstance(x, _NUMBERS):
            return float(numpys(x))
        raise TypeError(f"value {x} of unexpected type {type(x)} provided to {name}()")

    apply.__name__ = name
    apply.__doc__ = f"{name} of the elements of a garray or an array of NumPy, or of a number."
    setattr(garray, name, lambda self: apply(self))
    return apply


abs = _elementwise("abs", sw.abs, np.abs)
exp = _elementwise("exp", sw.exp, np.exp)
isinf = _elementwise("isinf", sw.isinf, np.isinf)
isnan = _elementwise("isnan", sw.isnan, np.isnan)
log = _elementwise("log", sw.log, np.log)
log_1_plus_exp = _elementwise("log_1_plus_exp", sw.softplus, lambda x: np.logaddexp(0.0, x))
logistic = _elementwise("logistic", sw.sigmoid, lambda x: 1.0 / (1.0 + np.exp(-x)))
negative = _elementwise("negative", sw.negative, operator.neg)
sign = _elementwise("sign", sw.sign, np.sign)
sqrt = _elementwise("sqrt", sw.sqrt, np.sqrt)
tanh = _elementwise("tanh", sw.tanh, np.tanh)
log10 = _elementwise("log10", sw.log10, np.log10)
log2 = _elementwise("log2", sw.log2, np.log2)
cos = _elementwise("cos", sw.cos, np.cos)
sin = _elementwise("sin", sw.sin, np.sin)


def _reduction(name: str) -> Callable[..., Any]:
    def reduce(x: Any, axis: Any = None) -> Any:
        if isinstance(x, np.ndarray):
            return getattr(np, name)(x, axis)
        return getattr(as_garray(x), name)(axis)

    reduce.__name__ = name
    reduce.__doc__ = f"{name} along `axis` or of all elements, of a garray or an array of NumPy."
    return reduce


all, any, sum, mean = map(_reduction, ("all", "any", "sum", "mean"))
max, min, prod, std = map(_reduction, ("max", "min", "prod", "std"))

# ---- Arrays ----


def is_garray(x: Any) -> bool:
    """Whether `x` is a garray."""
    return isinstance(x, garray)


def is_array(x: Any) -> bool:
    """Whether `x` is a garray or an array of NumPy."""
    return isinstance(x, (garray, np.ndarray))


def as_garray(x: Any) -> garray:
    """`x` as a garray, itself if it is one."""
    return x if isinstance(x, garray) else garray(x)


def as_garray_or_scalar(x: Any) -> Any:
    """`x` as a garray, itself if it is one or a number."""
    return x if isinstance(x, _NUMBERS) else as_garray(x)


def as_numpy_array(x: Any) -> np.ndarray:
    """A copy of `x` as an array of NumPy."""
    return x.as_numpy_array() if isinstance(x, garray) else np.array(x)


def _shape_of(shape: Any) -> tuple[int, ...]:
    return (int(shape),) if isinstance(shape, _NUMBERS) else tuple(map(int, shape))


def empty(shape: Any) -> garray:
    """A garray of any content."""
    return _from_array(sw.empty(_shape_of(shape), "float32", device=_device()))


def zeros(shape: Any) -> garray:
    """Zeros."""
    return _from_array(sw.zeros(_shape_of(shape), "float32", device=_device()))


def ones(shape: Any) -> garray:
    """Ones."""
    return _from_array(sw.ones(_shape_of(shape), "float32", device=_device()))


def eye(n: int) -> garray:
    """The unit matrix."""
    return _from_array(sw.eye(n, dtype="float32", device=_device()))


def diagflat(a: Any, k: int = 0) -> Any:
    """A matrix with the elements of `a` on its diagonal `k`."""
    return a.diagflat(k) if isinstance(a, garray) else np.diagflat(a, k)


def tile(a: Any, reps: Any) -> garray:
    """`a` repeated along each axis; of a number, a garray of the shape `reps`."""
    repeats = _shape_of(reps)
    if isinstance(a, _NUMBERS):
        return _from_array(sw.full(repeats, float(a), "float32", device=_device()))
    return _from_array(sw.tile(as_garray(a).array, repeats))


def _random(draw: str, shape_info: tuple[Any, ...]) -> Any:
    is_number = not shape_info
    if len(shape_info) == 1 and not isinstance(shape_info[0], _NUMBERS):
        shape_info = tuple(shape_info[0])
    shape = tuple(map(int, shape_info))
    numbers = _from_array(getattr(_generator, draw)(shape, dtype="float32").to(_device()))
    return numbers.item() if is_number else numbers


def rand(*shapeInfo: Any) -> Any:  # noqa: N803
    """Uniform numbers; the shape is given as integers or as a sequence, without it is one number."""
    return _random("random", shapeInfo)


def randn(*shapeInfo: Any) -> Any:  # noqa: N803
    """Standard normal numbers, as rand()."""
    return _random("standard_normal", shapeInfo)


def seed_rand(seed: Any = None) -> None:
    """Starts the random numbers, which are Spanwise's, by `seed` or the time."""
    global _generator
    _generator = sw.random.default_rng(int(time.time()) if seed is None else seed)


def concatenate(arrays: Any, axis: int = 0) -> garray:
    """The arrays one after the other along `axis`."""
    parts = [as_garray(x).array for x in arrays]
    return _from_array(sw.concatenate(parts, axis=axis))


def where(a: Any, *choices: Any) -> Any:
    """The indices of the elements that are not 0, as arrays of NumPy; or the elements of the first choice
    there and of the second one elsewhere."""
    if not choices:
        return np.nonzero(as_numpy_array(a))
    if len(choices) != 2:
        raise TypeError(f"where: expected one or three arguments, got {1 + len(choices)}")
    return _from_array(sw.where(as_garray(a).array != 0, *map(_operand, choices)))


def nonzero(a: Any) -> Any:
    """As where(a)."""
    return where(a)


# ---- Products ----


def dot(a1: Any, a2: Any) -> Any:
    """numpy.dot; a number for two vectors."""
    a, b = as_garray(a1), as_garray(a2)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    if a.shape[-1] != b.shape[builtins.max(b.ndim - 2, 0)]:
        raise ValueError(
            "arrays not aligned for dot product. a dot product was requested of arrays with shapes "
            f"{a.shape} and {b.shape}"
        )
    product = sw.dot(a.array, b.array)
    return float(product.item()) if a.ndim == b.ndim == 1 else _computed(product)


def outer(vec1: Any, vec2: Any) -> garray:
    """The products of all pairs of elements."""
    return _computed(sw.outer(as_garray(vec1).array.ravel(), as_garray(vec2).array.ravel()))


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """numpy.tensordot."""
    product = sw.tensordot(as_garray(a).array, as_garray(b).array, axes)
    return float(product.item()) if product.ndim == 0 else _computed(product)


# ---- The device ----


def usingGpu() -> bool:  # noqa: N802
    """Whether garrays are on a GPU."""
    return _device().kind != "cpu"


def memory_in_use(in_megabytes: bool = False) -> Any:
    """Bytes of live arrays of Spanwise, or megabytes."""
    used = sw.memory.stats(_device())["used"]
    return used // 2**20 if in_megabytes else used


def memory_available(free_reuse_cache_first: bool = False) -> Any:
    """Free bytes of the device."""
    return sw.memory.stats(_device())["free"]


def free_reuse_cache(completely: bool = True) -> None:
    """No effect: Spanwise's pool is shared by all arrays; see sw.memory."""


def memory_allocators(minimum_n_bytes: int = 1, new_style: bool = False) -> None:
    """Prints that the lines of allocations are not recorded."""
    print("gnumpy: the lines that allocate memory are not recorded; see spanwise.memory.stats()")


def status() -> None:
    """Prints where garrays are and how much memory they use."""
    print(f"gnumpy runs on {_device()}; {memory_in_use(True)} megabytes are in use")
