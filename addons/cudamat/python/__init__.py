# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""CUDAMat's module over Spanwise: scripts for CUDAMat run on a GPU, or on the CPU without one.

After ``import spanwise.cudamat.install``, ``import cudamat`` imports it where CUDAMat itself is absent, as
does ``python -m spanwise.theano script.py``. A matrix is a Spanwise array in column-major order, ``m.array``;
functions write to their first operand or to ``target=``. docs/coming-from-gnumpy-cudamat.md describes the
differences.
"""

from __future__ import annotations

import builtins
import ctypes as ct
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import spanwise as sw
from spanwise.compat import alias_modules as _alias_modules

__all__ = [
    "CUDAMatException", "CUDAMatrix", "TransposedCUDAMatrix", "abs", "correlate", "cublas_init",
    "cublas_shutdown", "cuda_set_device", "cuda_sync_threads", "cudamat", "dot", "empty", "exp", "gamma",
    "init", "lgamma", "log", "log_1_plus_exp", "mean", "pow", "reformat", "shutdown", "sigmoid",
    "soft_threshold", "sqrt", "sum", "tanh", "vdot", "where",
]  # fmt: skip


class CUDAMatException(Exception):
    """An error of an operation on matrices."""


_DIMENSIONS = "Incompatible matrix dimensions."
_TRANSPOSEDNESS = "Incompatible transposedness."


class cudamat(ct.Structure):  # noqa: N801  (CUDAMat's name)
    """CUDAMat's description of a matrix."""

    _fields_ = (
        ("data_host", ct.POINTER(ct.c_float)),
        ("data_device", ct.POINTER(ct.c_float)),
        ("on_device", ct.c_int),
        ("on_host", ct.c_int),
        ("size", ct.c_int * 2),
        ("is_trans", ct.c_int),
        ("owns_data", ct.c_int),
    )


def _new(shape: Any) -> sw.Array:
    rows, columns = shape
    return sw.empty((columns, rows), dtype="float32", device=sw.default_device()).T


class _Matrix:
    """A matrix of float32. With `is_trans`, products and sums read it transposed."""

    _array: sw.Array | None
    is_trans = False

    @property
    def array(self) -> sw.Array:
        """The memory, in column-major order. CUDAMatException after free_device_memory()."""
        if self._array is None:
            raise CUDAMatException("Matrix is not in device memory.")
        return self._array

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.array.shape
        return rows, columns

    @property
    def mat(self) -> cudamat:
        """The description, made anew: changes of it have no effect."""
        described = cudamat(size=self.shape, on_device=1, is_trans=self.is_trans)
        described.data_device = ct.cast(self.array.data_ptr(), ct.POINTER(ct.c_float))
        return described

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def _read(x: _Matrix) -> sw.Array:
    """`x` as products and sums read it."""
    return x.array.T if x.is_trans else x.array


class TransposedCUDAMatrix(_Matrix):
    """``m.T``, an operand of products and sums."""

    is_trans = True

    def __init__(self, matrix: _Matrix) -> None:
        self._array = matrix.array


def _written(function: Callable[..., Any], target: _Matrix, *operands: Any) -> Any:
    """`target`, in which `function` writes its result for matrices of the same shape and numbers."""
    arrays = []
    for x in operands:
        if isinstance(x, _Matrix):
            if x.shape != target.shape:
                raise CUDAMatException(_DIMENSIONS)
            if x.is_trans != target.is_trans:
                raise CUDAMatException(_TRANSPOSEDNESS)
        arrays.append(x.array if isinstance(x, _Matrix) else x)
    function(*arrays, out=target.array)
    return target


def _number_or_matrix(value: Any) -> Any:
    if not isinstance(value, (_Matrix, int, float)):
        raise ValueError("Value must be of type CUDAMatrix, int, or float.")
    return value


class CUDAMatrix(_Matrix):
    """A matrix of float32 on the default device, from an array of NumPy."""

    ones: Any = None
    _generator: Any = None

    def __init__(self, array: Any, copy_to_device: bool = True, copy_on_host: bool = True) -> None:
        if isinstance(array, cudamat):
            address = ct.cast(array.data_device, ct.c_void_p).value or 0
            shape = tuple(array.size)
            self._array = sw.driver.array_at(address, shape, "<f4", (4, 4 * shape[0]))
            return
        if isinstance(array, sw.Array):
            self._array = array
            return
        self.numpy_array = reformat(array, copy_on_host)
        if self.numpy_array.ndim != 2:
            raise ValueError(f"CUDAMatrix: expected a matrix, got shape {self.numpy_array.shape}")
        self._array = _new(self.numpy_array.shape)
        if copy_to_device:
            self.copy_to_device()

    @property
    def _base(self) -> sw.Array | None:
        return self._array

    @_base.setter
    def _base(self, array: sw.Array) -> None:
        # sw.to_cudamat() stores the array whose memory the struct names.
        self._array = array

    @property
    def T(self) -> TransposedCUDAMatrix:  # noqa: N802
        return TransposedCUDAMatrix(self)

    @property
    def size(self) -> tuple[int, int]:
        return self.shape

    @staticmethod
    def init_random(seed: int = 0) -> None:
        """Starts the random numbers, which are Spanwise's."""
        CUDAMatrix._generator = sw.random.default_rng(seed)

    # ---- Memory ----

    def copy_to_device(self) -> None:
        """Copies ``m.numpy_array`` to the device."""
        self.array[...] = self.numpy_array

    def copy_to_host(self) -> None:
        """Copies the matrix to ``m.numpy_array``."""
        if not hasattr(self, "numpy_array"):
            self.numpy_array = np.empty(self.shape, np.float32, order="F")
        self.numpy_array[...] = self.array.numpy()

    def asarray(self) -> np.ndarray:
        """``m.numpy_array`` with the values of the device."""
        self.copy_to_host()
        return self.numpy_array

    def free_device_memory(self) -> None:
        """Releases the memory on the device."""
        self._array = None

    def copy(self, include_host: bool = False) -> CUDAMatrix:
        """A copy of the matrix, and with `include_host` of ``m.numpy_array``."""
        result = empty(self.shape).assign(self)
        if include_host and hasattr(self, "numpy_array"):
            result.numpy_array = self.numpy_array.copy(order="F")
        return result

    def assign(self, val: Any) -> CUDAMatrix:
        """Copies a matrix of the same shape, or a number to all elements."""
        if not isinstance(val, (_Matrix, int, float)):
            raise ValueError("Assigned value must be of type CUDAMatrix, int, or float.")
        if isinstance(val, _Matrix) and val.shape != self.shape:
            raise CUDAMatException(_DIMENSIONS)
        if isinstance(val, _Matrix) and val.is_trans != self.is_trans:
            raise CUDAMatException(_TRANSPOSEDNESS)
        self.array[...] = val.array if isinstance(val, _Matrix) else val
        return self

    def reshape(self, shape: Any) -> CUDAMatrix:
        """Gives the matrix itself another shape; elements keep their order by columns."""
        if math.prod(shape) != math.prod(self.shape):
            raise CUDAMatException(_DIMENSIONS)
        self._array = self.array.reshape(tuple(shape), order="F")
        if hasattr(self, "numpy_array"):
            self.numpy_array = np.reshape(self.numpy_array, shape, order="F")
        return self

    def set_trans(self, is_trans: Any) -> None:
        """Whether products and sums read the matrix transposed."""
        self.is_trans = bool(is_trans)

    # ---- Parts ----

    def slice(self, first_col: int, last_col: int, include_host: bool = False) -> CUDAMatrix:
        """Columns, or elements of a vector, that share the memory of the matrix."""
        is_column = self.shape[1] == 1 and self.shape[0] != 1
        if not 0 <= first_col < last_col <= self.shape[not is_column]:
            raise CUDAMatException(_DIMENSIONS)
        part = slice(first_col, last_col)
        index = part if is_column else (slice(None), part)
        result = CUDAMatrix(self.array[index])
        result.sliceof = getattr(self, "sliceof", self)
        if include_host and hasattr(self, "numpy_array"):
            result.numpy_array = self.numpy_array[index]
        return result

    def get_col_slice(self, first_col: int, last_col: int, target: Any = None) -> CUDAMatrix:
        """As slice(), or a copy in `target`."""
        part = self.slice(first_col, last_col)
        return part if target is None else target.assign(part)

    def set_col_slice(self, first_col: int, last_col: int, mat: CUDAMatrix) -> CUDAMatrix:
        """Copies `mat` to columns."""
        self.slice(first_col, last_col).assign(mat)
        return self

    def _rows(self, start: int, end: int) -> CUDAMatrix:
        if not 0 <= start < end <= self.shape[0]:
            raise CUDAMatException(_DIMENSIONS)
        return CUDAMatrix(self.array[start:end])

    def get_row_slice(self, start: int, end: int, target: Any = None) -> CUDAMatrix:
        """A copy of rows."""
        rows = self._rows(start, end)
        return (empty(rows.shape) if target is None else target).assign(rows)

    def set_row_slice(self, start: int, end: int, mat: CUDAMatrix) -> CUDAMatrix:
        """Copies `mat` to rows."""
        self._rows(start, end).assign(mat)
        return self

    def transpose(self, target: Any = None) -> CUDAMatrix:
        """A copy of the transposed matrix."""
        result = empty(self.shape[::-1]) if target is None else target
        return result.assign(CUDAMatrix(self.array.T))

    def select_columns(self, indices: CUDAMatrix, target: CUDAMatrix) -> CUDAMatrix:
        """Copies the columns with the numbers in the row `indices` to `target`. Negative ones count from
        the end; columns for numbers out of range become NaN."""
        if target.shape != (self.shape[0], indices.shape[1]) or indices.shape[0] != 1:
            raise CUDAMatException(_DIMENSIONS)
        chosen, is_valid = self._column_numbers(indices)
        target.array[...] = sw.where(is_valid, self.array[:, chosen], sw.nan)
        return target

    def set_selected_columns(self, indices: CUDAMatrix, source: CUDAMatrix) -> CUDAMatrix:
        """Copies the columns of `source` to those with the numbers in the row `indices`. Raises
        CUDAMatException for a number out of range."""
        if source.shape != (self.shape[0], indices.shape[1]) or indices.shape[0] != 1:
            raise CUDAMatException(_DIMENSIONS)
        chosen, is_valid = self._column_numbers(indices)
        if not bool(sw.all(is_valid)):
            raise CUDAMatException("set_selected_columns: an index is out of range.")
        self.array[:, chosen] = source.array
        return self

    def _column_numbers(self, indices: CUDAMatrix) -> tuple[sw.Array, sw.Array]:
        numbers, count = indices.array[0].astype("int64"), self.shape[1]
        is_valid = (numbers >= -count) & (numbers < count)
        return sw.where(is_valid, sw.where(numbers < 0, numbers + count, numbers), 0), is_valid

    # ---- Random numbers ----

    def _fill(self, draw: str) -> CUDAMatrix:
        if CUDAMatrix._generator is None:
            raise CUDAMatException("Call CUDAMatrix.init_random() first.")
        numbers = getattr(CUDAMatrix._generator, draw)(self.shape, dtype="float32")
        self.array[...] = numbers if draw != "random" else sw.maximum(numbers, 2.0**-25)
        return self

    def fill_with_rand(self) -> CUDAMatrix:
        """Uniform numbers between 0 and 1, both excluded."""
        return self._fill("random")

    def fill_with_randn(self) -> CUDAMatrix:
        """Standard normal numbers."""
        return self._fill("standard_normal")

    # ---- Vectors and all columns or rows ----

    def _with_vector(self, function: Any, vec: Any, target: Any, shape: Any) -> CUDAMatrix:
        result = self if target is None else target
        if vec.shape != shape or result.shape != self.shape:
            raise CUDAMatException(_DIMENSIONS)
        if vec.is_trans or self.is_trans:
            raise CUDAMatException("Operation not supported on transposed matrices.")
        function(self.array, vec.array, out=result.array)
        return result

    def add_col_vec(self, vec: Any, target: Any = None) -> CUDAMatrix:
        """Adds a column to each column."""
        return self._with_vector(sw.add, vec, target, (self.shape[0], 1))

    def add_col_mult(self, vec: Any, mult: float, target: Any = None) -> CUDAMatrix:
        """Adds a multiple of a column to each column."""
        scaled = CUDAMatrix(vec.array * float(mult))
        return self._with_vector(sw.add, scaled, target, (self.shape[0], 1))

    def add_row_vec(self, vec: Any, target: Any = None) -> CUDAMatrix:
        """Adds a row to each row."""
        return self._with_vector(sw.add, vec, target, (1, self.shape[1]))

    def mult_by_col(self, vec: Any, target: Any = None) -> CUDAMatrix:
        """Multiplies each column by a column."""
        return self._with_vector(sw.multiply, vec, target, (self.shape[0], 1))

    def mult_by_row(self, vec: Any, target: Any = None) -> CUDAMatrix:
        """Multiplies each row by a row."""
        return self._with_vector(sw.multiply, vec, target, (1, self.shape[1]))

    def div_by_col(self, vec: Any, target: Any = None) -> CUDAMatrix:
        """Divides each column by a column."""
        return self._with_vector(sw.divide, vec, target, (self.shape[0], 1))

    def div_by_row(self, vec: Any, target: Any = None) -> CUDAMatrix:
        """Divides each row by a row."""
        return self._with_vector(sw.divide, vec, target, (1, self.shape[1]))

    # ---- Sums and products ----

    def sum(self, axis: int, target: Any = None, mult: float = 1.0) -> CUDAMatrix:
        """As the function sum()."""
        return sum(self, axis, target, mult)

    def mean(self, axis: int, target: Any = None) -> CUDAMatrix:
        """As the function mean()."""
        return mean(self, axis, target)

    def add_sums(self, mat: Any, axis: int, mult: float = 1.0, beta: float = 1.0) -> CUDAMatrix:
        """``self = beta * self + mult * sum(mat, axis)``"""
        return self._scaled_and(beta, sum(mat, axis).array * float(mult))

    def dot(self, mat2: Any, target: Any = None) -> CUDAMatrix:
        """As the function dot()."""
        return dot(self, mat2, target)

    def add_dot(self, m1: Any, m2: Any, mult: float = 1.0, beta: float = 1.0) -> CUDAMatrix:
        """``self = beta * self + mult * dot(m1, m2)``"""
        return dot(m1, m2, self, beta, mult)

    def subtract_dot(self, m1: Any, m2: Any, mult: float = 1.0, beta: float = 1.0) -> CUDAMatrix:
        """``self = beta * self - mult * dot(m1, m2)``"""
        return dot(m1, m2, self, beta, -mult)

    def _scaled_and(self, beta: float, addend: sw.Array) -> CUDAMatrix:
        """``self = beta * self + addend``; what self holds has no effect with beta = 0."""
        if addend.shape != self.shape:
            raise CUDAMatException(_DIMENSIONS)
        if beta == 0:
            self.array[...] = addend
        else:
            sw.add(self.array * float(beta) if beta != 1 else self.array, addend, out=self.array)
        return self

    def add_mult(self, mat2: Any, alpha: float = 1.0) -> CUDAMatrix:
        """``self += alpha * mat2``"""
        return _written(sw.add, self, self, CUDAMatrix(mat2.array * float(alpha)))

    def subtract_mult(self, mat2: Any, alpha: float = 1.0) -> CUDAMatrix:
        """``self -= alpha * mat2``"""
        return self.add_mult(mat2, -alpha)

    def euclid_norm(self) -> float:
        """The square root of the sum of squares."""
        return math.sqrt(float(sw.sum(self.array * self.array)))

    def manhattan_norm(self) -> float:
        """The sum of moduli."""
        return float(sw.sum(sw.abs(self.array)))

    def allfinite(self) -> bool:
        """Whether no element is NaN or infinite."""
        return bool(sw.all(sw.isfinite(self.array)))

    def sign(self, target: Any = None) -> CUDAMatrix:
        """The signs, by default in a new matrix."""
        return _written(sw.sign, empty(self.shape) if target is None else target, self)

    def reciprocal(self, target: Any = None) -> CUDAMatrix:
        """The reciprocals."""
        return _written(sw.reciprocal, self if target is None else target, self)

    def apply_sigmoid(self, target: Any = None) -> CUDAMatrix:
        """As the function sigmoid()."""
        return sigmoid(self, target)

    def apply_tanh(self, target: Any = None) -> CUDAMatrix:
        """As the function tanh()."""
        return tanh(self, target)

    def apply_soft_threshold(self, alpha: float, target: Any = None) -> CUDAMatrix:
        """As the function soft_threshold()."""
        return soft_threshold(self, alpha, target)


# ---- Methods that differ in one function only ----


def _binary(name: str, function: Any) -> None:
    def method(self: CUDAMatrix, val: Any, target: Any = None) -> CUDAMatrix:
        result = self if target is None else target
        return _written(function, result, self, _number_or_matrix(val))

    method.__name__ = name
    method.__doc__ = f"{function.__name__} of the elements and `val`, a number or a matrix."
    setattr(CUDAMatrix, name, method)


def _along_axis(name: str, function: Any) -> None:
    def method(self: CUDAMatrix, axis: int, target: Any = None) -> CUDAMatrix:
        found = function(self.array, axis=axis, keepdims=True)
        return (empty(found.shape) if target is None else target)._scaled_and(0, found)

    method.__name__ = name
    method.__doc__ = f"{name} along `axis`, as a row (0) or a column (1)."
    setattr(CUDAMatrix, name, method)


def _deprecated(name: str, successor: str) -> None:
    def method(self: CUDAMatrix, alpha: float, target: Any = None) -> CUDAMatrix:
        warnings.warn(
            f"Call to deprecated function {name}.", category=DeprecationWarning, stacklevel=2
        )
        targets = () if target is None else (target,)
        return getattr(self, successor)(alpha, *targets)

    method.__name__, method.__doc__ = name, f"The former name of {successor}() for a number."
    setattr(CUDAMatrix, name, method)


for _name, _function in {
    "add": sw.add, "subtract": sw.subtract, "mult": sw.multiply, "divide": sw.divide,
    "less_than": sw.less, "greater_than": sw.greater, "equals": sw.equal,
    "minimum": sw.minimum, "maximum": sw.maximum,
}.items():  # fmt: skip
    _binary(_name, _function)
for _name in ("min", "max", "argmin", "argmax"):
    _along_axis(_name, getattr(sw, _name))
for _name, _successor in {
    "assign_scalar": "assign", "mult_by_scalar": "mult", "div_by_scalar": "divide",
    "add_scalar": "add",
}.items():  # fmt: skip
    _deprecated(_name, _successor)


# ---- Functions ----


def empty(shape: Any) -> CUDAMatrix:
    """A matrix of any content."""
    return CUDAMatrix(_new(shape))


def reformat(array: Any, copy: bool = True) -> np.ndarray:
    """`array` as float32 in column-major order."""
    return (np.array if copy else np.asarray)(array, dtype=np.float32, order="F")


def sum(mat: _Matrix, axis: int, target: Any = None, mult: float = 1.0) -> CUDAMatrix:
    """The sums along `axis` times `mult`, as a row (0) or a column (1)."""
    sums = sw.sum(_read(mat), axis=axis, keepdims=True)
    result = empty(sums.shape) if target is None else target
    return result._scaled_and(0, sums if mult == 1 else sums * float(mult))


def mean(mat: _Matrix, axis: int, target: Any = None) -> CUDAMatrix:
    """The means along `axis`, as a row (0) or a column (1)."""
    return sum(mat, axis, target, 1.0 / mat.shape[axis])


def dot(
    m1: _Matrix, m2: _Matrix, target: Any = None, beta: float = 0.0, alpha: float = 1.0
) -> CUDAMatrix:
    """``target = beta * target + alpha * m1 m2``"""
    a, b = _read(m1), _read(m2)
    if a.shape[1] != b.shape[0]:
        raise CUDAMatException(_DIMENSIONS)
    result = empty((a.shape[0], b.shape[1])) if target is None else target
    if result.shape != (a.shape[0], b.shape[1]):
        raise CUDAMatException(_DIMENSIONS)
    if beta == 0 and alpha == 1:
        sw.matmul(a, b, out=result.array)
        return result
    product = sw.matmul(a, b)
    return result._scaled_and(beta, product if alpha == 1 else product * float(alpha))


def vdot(m1: _Matrix, m2: _Matrix) -> float:
    """The sum of the products of elements."""
    if m1.shape != m2.shape:
        raise CUDAMatException(_DIMENSIONS)
    return float(sw.sum(m1.array * m2.array))


def _unary(name: str, function: Any, description: str) -> Any:
    def apply(mat: CUDAMatrix, target: Any = None) -> CUDAMatrix:
        return _written(function, mat if target is None else target, mat)

    apply.__name__, apply.__doc__ = name, f"{description} of the elements, by default in place."
    return apply


def _device_function(name: str, formula: str) -> Callable[..., Any]:
    """A function of an array, by a formula in CUDA C."""
    kernel = sw.ElementwiseKernel("float32 x", "float32 y", f"y = {formula}", name)
    return lambda x, out: kernel(x, out)


abs = _unary("abs", sw.abs, "The moduli")
exp = _unary("exp", sw.exp, "The exponentials")
gamma = _unary("gamma", _device_function("cudamat_gamma", "tgammaf(x)"), "The gamma function")
lgamma = _unary(
    "lgamma",
    _device_function("cudamat_lgamma", "lgammaf(x)"),
    "The logarithms of the gamma function",
)
log = _unary("log", sw.log, "The natural logarithms")
log_1_plus_exp = _unary("log_1_plus_exp", sw.softplus, "log(1 + exp(x))")
sigmoid = _unary("sigmoid", sw.sigmoid, "1 / (1 + exp(-x))")
sqrt = _unary("sqrt", sw.sqrt, "The square roots")
tanh = _unary("tanh", sw.tanh, "The hyperbolic tangents")


def soft_threshold(mat: CUDAMatrix, alpha: float, target: Any = None) -> CUDAMatrix:
    """``sign(x) * max(0, abs(x) - alpha)`` of the elements, by default in place."""
    x = mat.array
    result = CUDAMatrix(sw.sign(x) * sw.maximum(sw.abs(x) - float(alpha), 0.0))
    return _written(sw.positive, mat if target is None else target, result)


def pow(mat: CUDAMatrix, p: Any, target: Any = None) -> CUDAMatrix:
    """The elements to the power `p`, a number or a matrix, by default in place."""
    return _written(sw.power, mat if target is None else target, mat, _number_or_matrix(p))


def where(
    condition_mat: CUDAMatrix, if_mat: CUDAMatrix, else_mat: CUDAMatrix, target: Any = None
) -> CUDAMatrix:
    """The elements of `if_mat` where those of `condition_mat` are not 0, else of `else_mat`, by default
    in `condition_mat`."""
    shapes = {m.shape for m in (condition_mat, if_mat, else_mat)}
    if len(shapes) != 1:
        raise CUDAMatException(_DIMENSIONS)
    chosen = sw.where(condition_mat.array != 0, if_mat.array, else_mat.array)
    return (condition_mat if target is None else target)._scaled_and(0, chosen)


def correlate(mat: CUDAMatrix, kernel: CUDAMatrix, target: Any = None) -> CUDAMatrix:
    """The correlation with a kernel of odd extents, which is centred on each element; elements outside
    are 0."""
    (rows, columns), (height, width) = mat.shape, kernel.shape
    if height % 2 == 0 or width % 2 == 0 or height > rows or width > columns:
        raise CUDAMatException(_DIMENSIONS)
    around = sw.zeros((rows + height - 1, columns + width - 1), "float32", device=mat.array.device)
    top, left = height // 2, width // 2
    around[top : top + rows, left : left + columns] = mat.array
    weights = kernel.array.numpy()
    total = builtins.sum(
        around[i : i + rows, j : j + columns] * float(weights[i, j])
        for i in range(height)
        for j in range(width)
    )
    return (empty(mat.shape) if target is None else target)._scaled_and(0, total)


def _mult_by_sigmoid_deriv(target: CUDAMatrix, acts: CUDAMatrix) -> None:
    """``target *= acts * (1 - acts)``"""
    _written(sw.multiply, target, target, CUDAMatrix(acts.array * (1.0 - acts.array)))


# ---- The device ----


def cuda_sync_threads() -> None:
    """Waits for the device."""
    sw.synchronize()


def cuda_set_device(dev_id: int) -> None:
    """Chooses the GPU for new matrices. No effect where there is none."""
    if sw.default_device().kind != "cpu":
        sw.config.device = f"cuda:{dev_id}"


def cublas_init(max_ones: int = 1024 * 256) -> None:
    """No effect but CUDAMatrix.ones: products need no preparation."""
    CUDAMatrix.ones = empty((max_ones, 1)).assign(1.0)


def cublas_shutdown() -> None:
    """Releases CUDAMatrix.ones."""
    CUDAMatrix.ones = 0


init, shutdown = cublas_init, cublas_shutdown

_submodule = _alias_modules(
    __name__,
    {
        "cudamat": {"": "*"},
        "learn": {"": "mult_by_sigmoid_deriv=_mult_by_sigmoid_deriv"},
    },
)("")


def __getattr__(name: str) -> Any:
    # The bridge of CUDAMat asks where the memory of matrices is.
    if name == "__spanwise_device__" and sw.default_device().kind == "cpu":
        return "cpu"
    return _submodule(name)
