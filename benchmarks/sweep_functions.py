# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The public functions of Spanwise that take arrays, and how the sweep calls each.

A new public function is added to a list below, or to NOT_SWEPT with the reason;
tests/package/test_sweep.py compares both with the package.
"""

import dataclasses
import functools
from collections.abc import Callable

import numpy as np

DTYPES = {
    "floats": ("float32", "float64", "float16"),
    "wide floats": ("float32", "float64"),
    "numbers": ("float32", "float64", "float16", "int32", "int64", "uint8"),
    "integers": ("int32", "int64", "uint8"),
    "any": ("float32", "float64", "float16", "int32", "uint8", "bool"),
    "bools": ("bool",),
    "bytes": ("uint8",),
}


@dataclasses.dataclass(frozen=True)
class Function:
    """One use of a function. `prepare(library, x, axis, operand, rng)` gives the call without
    arguments: `operand(shape, dtype, values)` makes another array, by default one like `x`."""

    name: str
    dtypes: str
    prepare: Callable
    rank: int | None = None  # of x; None: 1 to 4
    square: bool = False  # equal extents
    most: int | None = None  # elements


def _words(text: str) -> list[str]:
    return text.split()


def _unary(name: str, dtypes: str, **limits) -> Function:
    return Function(name, dtypes, lambda m, x, axis, operand, rng: m.call(name, x), **limits)


def _binary(name: str, dtypes: str) -> Function:
    return Function(name, dtypes, lambda m, x, axis, operand, rng: m.call(name, x, operand()))


def _along(name: str, dtypes: str, **limits) -> Function:
    def prepare(m, x, axis, operand, rng):
        return m.call(name, x, axis=axis)

    return Function(f"{name}(axis)", dtypes, prepare, **limits)


def _with(name: str, dtypes: str, label: str, arguments: Callable, **limits) -> Function:
    """`arguments(x, axis, operand, rng)` gives what follows x: a tuple, and options as a dict."""

    def prepare(m, x, axis, operand, rng):
        others, options = arguments(x, axis, operand, rng)
        return m.call(name, x, *others, **options)

    return Function(f"{name}({label})", dtypes, prepare, **limits)


def _each(make: Callable, names: str, dtypes: str, **limits) -> list[Function]:
    return [make(name, dtypes, **limits) for name in _words(names)]


_ELEMENTWISE = [
    *_each(
        _unary,
        """absolute acos acosh angle arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan
        atanh cbrt cos cosh deg2rad degrees erf exp exp2 expm1 fabs i0 log log10 log1p log2
        nan_to_num rad2deg radians reciprocal rint sigmoid signbit sin sinc sinh softplus spacing
        sqrt tan tanh""",
        "wide floats",
    ),
    *_each(_unary, "abs negative positive sign square conj conjugate real imag", "numbers"),
    *_each(
        _unary, "ceil fix floor trunc isfinite isinf isnan isneginf isposinf round around", "floats"
    ),
    *_each(_unary, "frexp modf", "wide floats"),
    *_each(_unary, "invert bitwise_not bitwise_invert bitwise_count", "integers"),
    *_each(_unary, "logical_not iscomplex isreal real_if_close", "any"),
    *_each(
        _binary,
        """add subtract multiply maximum minimum fmax fmin equal not_equal less less_equal greater
        greater_equal""",
        "numbers",
    ),
    *_each(
        _binary,
        """divide true_divide arctan2 atan2 copysign float_power heaviside hypot logaddexp
        logaddexp2 nextafter pow power isclose fmod""",
        "wide floats",
    ),
    *_each(
        _binary,
        """bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift left_shift
        right_shift gcd lcm""",
        "integers",
    ),
    *_each(_binary, "logical_and logical_or logical_xor", "any"),
    *[
        _with(name, "numbers", "number", lambda x, axis, operand, rng: ((3,), {}))
        for name in _words("add multiply floor_divide remainder mod divmod maximum less power")
    ],
    *[
        _with(
            name, "numbers", "row", lambda x, axis, operand, rng: ((operand((x.shape[-1],)),), {})
        )
        for name in _words("add multiply subtract")
    ],
    *[
        _with(
            name,
            "numbers",
            "column",
            lambda x, axis, operand, rng: ((operand((x.shape[0], 1)),), {}),
            rank=2,
        )
        for name in _words("add multiply divide")
    ],
    _with("clip", "numbers", "2, 5", lambda x, axis, operand, rng: ((2, 5), {})),
    _with(
        "ldexp",
        "wide floats",
        "integers",
        lambda x, axis, operand, rng: ((operand(tuple(x.shape), "int32"),), {}),
        rank=1,
    ),
    *[
        Function(
            f"astype({dtype})",
            "any",
            lambda m, x, axis, operand, rng, dtype=dtype: (
                (lambda: x.to(getattr(m.module, dtype), copy=True))
                if m.name == "torch"
                else (lambda: x.astype(dtype))
            ),
        )
        for dtype in ("float64", "float32", "float16", "int32")
    ],
    *[
        Function(
            name,
            dtypes,
            lambda m, x, axis, operand, rng, f=f: functools.partial(f, x, operand()),
        )
        for name, dtypes, f in (
            ("a + b.T", "numbers", lambda x, y: x + y.T),
            ("a + b", "numbers", lambda x, y: x + y),
            ("a * b", "floats", lambda x, y: x * y),
        )
    ],
]

_REDUCTIONS = [
    *_each(
        _along, "sum prod mean max min amax amin argmax argmin any all count_nonzero", "numbers"
    ),
    *_each(_unary, "sum mean max min argmax argmin any all count_nonzero ptp", "numbers"),
    *_each(_along, "std var", "wide floats"),
    *_each(_unary, "std var", "wide floats"),
    *_each(_along, "softmax log_softmax", "floats"),
    *_each(_along, "cumsum cumprod cumulative_sum cumulative_prod", "numbers"),
    *_each(_along, "ptp diff", "numbers"),
    *_each(_along, "nansum nanmax nanmin nanmean nanstd nanvar nanprod", "wide floats"),
    *_each(_along, "nanargmax nanargmin nancumsum nancumprod", "wide floats", most=1 << 22),
    *_each(_along, "average median nanmedian trapezoid unwrap", "wide floats", most=1 << 22),
    *[
        _with(
            name,
            "wide floats",
            "0.3, axis",
            lambda x, axis, operand, rng: ((0.3,), {"axis": axis}),
            most=1 << 22,
        )
        for name in ("quantile", "nanquantile", "percentile", "nanpercentile")
    ],
]


def _indices(x, operand, rng, count=None, axis=0):
    extent = x.shape[axis]
    return operand(values=rng.integers(0, extent, count or extent))


def _subscript(name: str, dtypes: str, key: Callable, value: Callable | None = None, **limits):
    """x[key], or x[key] = value."""

    def prepare(m, x, axis, operand, rng):
        k = key(x, operand, rng)
        if value is None:
            return lambda: x[k]
        v = value(x, operand, k)
        if m.name == "jax":
            raise TypeError("JAX's arrays are immutable")
        return lambda: x.__setitem__(k, v)

    return Function(name, dtypes, prepare, **limits)


def _mask(x, operand, rng):
    return operand(values=rng.random(tuple(x.shape)) < 0.5)


_INDEXING = [
    _subscript("a[i]", "numbers", _indices),
    _subscript("a[i]", "numbers", _indices, rank=2),
    _subscript(
        "a[i] = b",
        "numbers",
        _indices,
        lambda x, operand, k: x[k].copy() if hasattr(x, "copy") else x[k].clone(),
    ),
    _subscript("a[i] = 0", "numbers", _indices, lambda x, operand, k: 0),
    _subscript("a[mask]", "numbers", _mask),
    _subscript("a[mask] = 0", "numbers", _mask, lambda x, operand, k: 0),
    _with(
        "take",
        "numbers",
        "axis",
        lambda x, axis, operand, rng: ((_indices(x, operand, rng, axis=axis),), {"axis": axis}),
    ),
    _with(
        "take_along_axis",
        "numbers",
        "axis",
        lambda x, axis, operand, rng: (
            (operand(values=rng.integers(0, x.shape[axis], tuple(x.shape))), axis),
            {},
        ),
    ),
    *_each(_unary, "nonzero argwhere flatnonzero", "bools"),
    Function(
        "where(mask, a, 0)",
        "numbers",
        lambda m, x, axis, operand, rng: m.call("where", _mask(x, operand, rng), x, 0),
    ),
    Function(
        "where(mask, a, b)",
        "numbers",
        lambda m, x, axis, operand, rng: m.call("where", _mask(x, operand, rng), x, operand()),
    ),
    *[
        Function(
            name,
            "numbers",
            lambda m, x, axis, operand, rng, name=name: m.call(
                name, _mask(x, operand, rng).reshape(-1), x.reshape(-1)
            ),
        )
        for name in ("compress", "extract")
    ],
    *[
        Function(
            name,
            "numbers",
            lambda m, x, axis, operand, rng, name=name: m.call(
                name, x, _mask(x, operand, rng), operand((8,))
            ),
        )
        for name in ("place", "putmask")
    ],
    Function(
        "put",
        "numbers",
        lambda m, x, axis, operand, rng: m.call("put", x, _indices(x, operand, rng), 0),
    ),
    Function(
        "put_along_axis",
        "numbers",
        lambda m, x, axis, operand, rng: m.call(
            "put_along_axis",
            x,
            operand(values=rng.integers(0, x.shape[axis], tuple(x.shape))),
            0,
            axis,
        ),
    ),
    Function(
        "choose",
        "numbers",
        lambda m, x, axis, operand, rng: m.call(
            "choose", operand(values=rng.integers(0, 2, tuple(x.shape))), [x, operand()]
        ),
    ),
    Function(
        "select",
        "numbers",
        lambda m, x, axis, operand, rng: m.call("select", [_mask(x, operand, rng)], [x]),
    ),
    _with(
        "copyto",
        "numbers",
        "b",
        lambda x, axis, operand, rng: ((operand(),), {}),
    ),
    Function(
        "ravel_multi_index",
        "integers",
        lambda m, x, axis, operand, rng: m.call("ravel_multi_index", (x, x), (8, 8)),
    ),
    Function(
        "unravel_index",
        "integers",
        lambda m, x, axis, operand, rng: m.call("unravel_index", x, (2, 4)),
    ),
    Function(
        "ix_",
        "integers",
        lambda m, x, axis, operand, rng: m.call("ix_", x, operand()),
        rank=1,
        most=1 << 16,
    ),
    Function(
        "searchsorted",
        "numbers",
        lambda m, x, axis, operand, rng: m.call(
            "searchsorted", operand(values=np.sort(rng.random(1 << 12) * 8)), x
        ),
        most=1 << 22,
    ),
]

_LAYOUT = [
    *_each(_unary, "tril triu", "numbers", rank=2),
    *_each(_unary, "tril triu", "numbers", rank=3),
    *_each(_unary, "tril_indices_from triu_indices_from", "numbers", rank=2, most=1 << 24),
    _unary("diag_indices_from", "numbers", rank=2, square=True),
    *_each(_unary, "diag diagflat", "numbers", rank=1, most=1 << 12),
    _unary("trace", "numbers", rank=2),
    _unary("copy", "any"),
    *_each(_unary, "ascontiguousarray asfortranarray", "any"),
    _with(
        "fill_diagonal",
        "numbers",
        "0",
        lambda x, axis, operand, rng: ((0,), {}),
        rank=2,
        square=True,
    ),
    *[
        _with(name, "numbers", label, lambda x, axis, operand, rng, a=a: (a, {"axis": axis}))
        for name, label, a in (("roll", "3, axis", (3,)), ("repeat", "2, axis", (2,)))
    ],
    _with("roll", "numbers", "3", lambda x, axis, operand, rng: ((3,), {})),
    _with("tile", "numbers", "2", lambda x, axis, operand, rng: ((2,), {}), rank=1),
    _with("resize", "numbers", "1000", lambda x, axis, operand, rng: (((1000,),), {}), rank=1),
    _with("pad", "numbers", "1", lambda x, axis, operand, rng: ((1,), {})),
    _with("insert", "numbers", "1, 0", lambda x, axis, operand, rng: ((1, 0), {}), rank=1),
    _with("delete", "numbers", "1", lambda x, axis, operand, rng: ((1,), {}), rank=1),
    _with("append", "numbers", "b", lambda x, axis, operand, rng: ((operand(),), {}), rank=1),
    *[
        Function(
            name,
            "numbers",
            lambda m, x, axis, operand, rng, name=name, options=options: m.call(
                name, [x, operand()], **({"axis": axis} if options else {})
            ),
            rank=rank,
        )
        for name, options, rank in (
            ("concatenate", True, None),
            ("concat", True, None),
            ("stack", True, None),
            ("hstack", False, 2),
            ("vstack", False, 2),
            ("dstack", False, 2),
            ("column_stack", False, 2),
        )
    ],
    *[
        Function(
            f"{name}.copy()",
            "any",
            lambda m, x, axis, operand, rng, f=f: (
                (lambda: f(m.module, x).contiguous())
                if m.name == "torch"
                else (lambda: f(m.module, x).copy())
            ),
            rank=2,
        )
        for name, f in (
            ("flip", lambda m, x: m.flip(x, (0,))),
            ("fliplr", lambda m, x: m.fliplr(x)),
            ("flipud", lambda m, x: m.flipud(x)),
            ("rot90", lambda m, x: m.rot90(x)),
            ("a.T", lambda m, x: x.T),
            ("a[::2]", lambda m, x: x[::2]),
            ("broadcast_to", lambda m, x: m.broadcast_to(x[:1], x.shape)),
        )
    ],
    _with(
        "meshgrid",
        "numbers",
        "b",
        lambda x, axis, operand, rng: ((operand(),), {}),
        rank=1,
        most=1 << 12,
    ),
]


def _creation(name: str, arguments: Callable, **limits) -> Function:
    """A function that takes sizes: `arguments(shape)`."""

    def prepare(m, x, axis, operand, rng):
        options = {"device": x.device} if m.name in ("torch", "spanwise") else {}
        return m.call(name, *arguments(tuple(x.shape)), **options)

    return Function(name, "wide floats", prepare, **limits)


_CREATION = [
    *[_creation(name, lambda shape: (shape,)) for name in ("zeros", "ones", "empty")],
    _creation("full", lambda shape: (shape, 2.0)),
    *_each(_unary, "zeros_like ones_like empty_like", "any"),
    _with("full_like", "any", "1", lambda x, axis, operand, rng: ((1,), {})),
    _creation("arange", lambda shape: (shape[0],), rank=1),
    _creation("linspace", lambda shape: (0.0, 1.0, shape[0]), rank=1),
    *[_creation(name, lambda shape: (0.0, 1.0, shape[0]), rank=1) for name in ("logspace",)],
    _creation("geomspace", lambda shape: (1.0, 2.0, shape[0]), rank=1, most=1 << 22),
    *[_creation(name, lambda shape: shape, rank=2) for name in ("eye", "tri")],
    _creation("identity", lambda shape: shape[:1], rank=2, square=True),
    *[
        _creation(name, lambda shape: (shape[0],), rank=2, square=True, most=1 << 24)
        for name in ("tril_indices", "triu_indices", "diag_indices")
    ],
    _creation("indices", lambda shape: (shape,)),
    *[
        _creation(name, lambda shape: (shape[0],), rank=1)
        for name in ("bartlett", "blackman", "hamming", "hanning")
    ],
    _creation("kaiser", lambda shape: (shape[0], 5.0), rank=1, most=1 << 20),
]


def _vectors(name: str) -> Function:
    return Function(
        name,
        "wide floats",
        lambda m, x, axis, operand, rng: m.call(name, x, operand()),
        rank=1,
    )


def _matrices(name: str, label: str, rank: int, other: Callable, most: int) -> Function:
    return Function(
        f"{name}({label})",
        "wide floats",
        lambda m, x, axis, operand, rng: m.call(name, x, operand(other(tuple(x.shape)))),
        rank=rank,
        most=most,
    )


_PRODUCTS = [
    *[_vectors(name) for name in ("dot", "vdot", "inner", "vecdot")],
    _matrices("matmul", "matrices", 2, lambda s: (s[1], 64), 1 << 22),
    _matrices("matmul", "batch", 3, lambda s: (s[0], s[2], 16), 1 << 22),
    _matrices("dot", "matrix, vector", 2, lambda s: (s[1],), 1 << 26),
    _matrices("matvec", "matrix, vector", 2, lambda s: (s[1],), 1 << 26),
    _matrices("vecmat", "vector, matrix", 1, lambda s: (s[0], 16), 1 << 22),
    _matrices("tensordot", "matrices", 2, lambda s: (s[0], s[1]), 1 << 24),
    _matrices("outer", "64 values", 1, lambda s: (64,), 1 << 20),
    _matrices("kron", "4 x 4", 2, lambda s: (4, 4), 1 << 20),
    Function(
        "cross(3)",
        "wide floats",
        lambda m, x, axis, operand, rng: m.call(
            "cross", operand((x.shape[0], 3)), operand((x.shape[0], 3))
        ),
        rank=2,
        most=1 << 20,
    ),
    Function(
        "einsum(ij,j->i)",
        "wide floats",
        lambda m, x, axis, operand, rng: m.call("einsum", "ij,j->i", x, operand((x.shape[1],))),
        rank=2,
    ),
    *_each(_unary, "cov corrcoef", "wide floats", rank=2, square=True, most=1 << 20),
]

# Functions that compute by another library's code.
_BORROWED = [
    *_each(_along, "sort argsort", "numbers", most=1 << 22),
    *_each(
        _unary,
        "unique unique_all unique_counts unique_inverse unique_values",
        "numbers",
        most=1 << 22,
    ),
    *[
        _with(
            name,
            "numbers",
            "2, axis",
            lambda x, axis, operand, rng: ((1,), {"axis": axis}),
            most=1 << 22,
        )
        for name in ("partition", "argpartition")
    ],
    *_each(
        _unary,
        "bincount packbits lexsort trim_zeros ediff1d sort_complex",
        "integers",
        rank=1,
        most=1 << 20,
    ),
    _unary("unpackbits", "bytes", rank=1, most=1 << 20),
    *[
        _with(
            name,
            "integers",
            "b",
            lambda x, axis, operand, rng: ((operand(),), {}),
            rank=1,
            most=1 << 20,
        )
        for name in ("intersect1d", "setdiff1d", "setxor1d", "union1d", "isin")
    ],
    *_each(_unary, "histogram histogram_bin_edges", "wide floats", rank=1, most=1 << 22),
    *[
        _with(
            name,
            "wide floats",
            "b",
            lambda x, axis, operand, rng: ((operand((16,)),), {}),
            rank=1,
            most=1 << 20,
        )
        for name in ("convolve", "correlate", "polyval")
    ],
    *[
        _with(
            name,
            "wide floats",
            "b",
            lambda x, axis, operand, rng: ((operand(values=np.linspace(0, 1, 16)),), {}),
            rank=1,
            most=1 << 20,
        )
        for name in ("digitize",)
    ],
    Function(
        "interp",
        "wide floats",
        lambda m, x, axis, operand, rng: m.call(
            "interp", x, operand(values=np.linspace(0, 1, 16)), operand((16,))
        ),
        rank=1,
        most=1 << 20,
    ),
]

FUNCTIONS: list[Function] = [
    *_ELEMENTWISE,
    *_REDUCTIONS,
    *_INDEXING,
    *_LAYOUT,
    *_CREATION,
    *_PRODUCTS,
    *_BORROWED,
]

#: Public functions that are not measured, by the reason.
NOT_SWEPT = {
    "gives a view, or the argument itself": """
        asanyarray asarray atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_to contiguous diagonal
        expand_dims flip fliplr flipud matrix_transpose moveaxis permute_dims ravel reshape rollaxis
        require rot90 squeeze swapaxes transpose array_split dsplit hsplit split unstack vsplit
    """,
    "another name, or the function below a method, of one that is measured": "array astype",
    "gives a Python value, for which the call waits": """
        allclose array_equal array_equiv common_type get_array_module iscomplexobj isfortran isrealobj iterable
        may_share_memory min_scalar_type ndenumerate ndim shape shares_memory size
    """,
    "calls a Python function for each element or part": """
        apply_along_axis apply_over_axes fromfunction fromiter piecewise vectorize
    """,
    "takes a few numbers, such as coefficients": """
        poly polyadd polyder polydiv polyfit polyint polymul polysub roots vander
    """,
    "takes several arrays, in the family of a function that is measured": """
        block histogram2d histogramdd
    """,
    "takes dtypes, shapes or devices": """
        broadcast_shapes can_cast current_stream default_device devices isdtype isscalar
        issubdtype promote_types result_type
    """,
    "reads or writes files, text or other libraries' objects": """
        array2string array_repr array_str asnumpy convert explain explain_function from_cudamat from_cupy from_dlpack
        from_garray from_gnumpy from_gpuarray from_jax from_numba from_numpy from_pycuda
        from_tensorflow from_torch from_warp frombuffer fromfile fromstring genfromtxt load loadtxt
        rebuild_array save savetxt savez savez_compressed to_cudamat to_cupy to_garray to_gnumpy
        to_gpuarray to_jax to_numba to_numpy to_pycuda to_tensorflow to_torch to_warp
    """,
    "sets how NumPy prints and warns": "get_printoptions geterr printoptions set_printoptions seterr",
    "belongs to graphs, kernels or streams": """
        benchmark capture clone compile function jax_op kernel_op load_ops shared synchronize torch_op tvm_ffi_op
        using wrap_cu bridges
    """,
}
