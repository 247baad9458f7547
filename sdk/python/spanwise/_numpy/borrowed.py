# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of NumPy that Spanwise borrows: NumPy computes them for arrays on the CPU, CuPy or else
PyTorch, where installed, for arrays on a GPU, all over the arrays' own memory. Names are listed in
`_names.py`, `linalg.py` and `fft.py`; those below have parameters of the array API standard that NumPy
lacks."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

from .. import _core
from .._core import Array, Variable
from . import by_sort, composed

_RESULT = """\
{name}, computed by NumPy for arrays on the CPU and, for arrays on a GPU, by Spanwise where it has the
function, else by CuPy or PyTorch where installed; over the memory of the arrays. The result is on their
device, or on `device`, by default default_device() where no argument is an array. Raises
NotSupportedError where none has the function, DeviceError for arrays of several devices, TypeError
for variables of a graph, and what NumPy or CuPy raises. explain_function() says which one computes.

"""


#: Functions whose results are text or files: they read arrays on a GPU by a copy to the host.
_READERS = frozenset(
    ["array2string", "array_repr", "array_str", "save", "savetxt", "savez", "savez_compressed"]
)
#: NumPy's settings, which repr(array) and NumPy's functions on the CPU obey, and functions that do not
#: compute with arrays: NumPy's own objects. So are its classes and constants.
_NUMPYS = frozenset(
    ["get_printoptions", "geterr", "iterable", "printoptions", "set_printoptions", "seterr"]
)
#: Spanwise's own functions for arrays on a GPU.
_OWN = {**composed.FUNCTIONS, **by_sort.FUNCTIONS}
#: Types of options.
_PLAIN = frozenset([type(None), bool, int, float, str])
_SEQUENCES = (list, tuple)
#: NumPy's letters of dtypes that Spanwise has.
_CHARS = "?bBhHiIlLqQefdFD"
_NO_DTYPE = SimpleNamespace(char="none")
#: The id of a NumPy view of an argument -> (the view, the argument).
_Views = dict[int, tuple[Any, Array]]


@functools.cache
def borrowed(path: str) -> Any:
    """The function of the qualified name in NumPy: "median", "linalg.svd"; NumPy's own class,
    constant or setting. Raises AttributeError if the installed NumPy does not have it."""
    try:
        function = _member("numpy", path)
    except AttributeError:
        version = import_module("numpy").__version__
        raise AttributeError(
            f"spanwise.{path} calls numpy.{path}, which NumPy {version} does not have; a newer one has it"
        ) from None
    if isinstance(function, type) or not callable(function) or path in _NUMPYS:
        return function
    if path in _READERS:
        return reader(function)

    @functools.wraps(function)
    def call(*args: Any, device: Any = None, **kwargs: Any) -> Any:
        if device is None:  # the common case, faster
            values, named = _host_values(args), kwargs
            if values is not None and kwargs:
                others = _host_values(kwargs.values(), 0)
                values = None if others is None else values
                named = dict(zip(kwargs, others or (), strict=False))
            if values is not None:
                result = function(*values, **named)
                if len(args) + len(kwargs) > 1:
                    for value, x in zip(
                        (*values, *named.values()), (*args, *kwargs.values()), strict=True
                    ):
                        if value is result:  # an output
                            return x
                return _from_host(result)
            on_gpu = _gpu_of(args, kwargs) if path not in _OWN else None
            if on_gpu is not None:
                return _by_library(path, *_library_for(path, on_gpu, args), on_gpu, args, kwargs)
        arrays: list[Array] = []
        args, kwargs = _imported(path, args, arrays), _imported(path, kwargs, arrays)
        own = arrays[0].device if arrays else _core.device("cpu")
        if own.kind == "cpu":
            result = on_host(path, function, args, kwargs, "")
        else:
            result = _on_gpu(path, own, args, kwargs)
        if device is None:
            device = own if arrays else _core.default_device()
        return result if device == own else _on_device(result, device)

    call.__signature__ = _signature_of(function)  # type: ignore[attr-defined]
    call.__module__ = "spanwise" + ("." + path.rpartition(".")[0] if "." in path else "")
    call.__doc__ = _RESULT.format(name=f"numpy.{path}") + (function.__doc__ or "")
    return call


def reader(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` of NumPy, called with copies on the host of the arrays on a GPU, and with NumPy's
    scalars for arrays of rank 0."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return function(*map(_on_the_host, args), **_on_the_host(kwargs))

    return call


def _on_the_host(x: Any) -> Any:
    if isinstance(x, Array):
        x = (x.astype("float32") if x.dtype == "bfloat16" else x).numpy()
        return x if x.ndim else x[()]
    return mapped(_on_the_host, x)


def _signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """The signature of NumPy's function, with the keyword device=None."""
    kinds = inspect.Parameter
    try:
        own = list(inspect.signature(function).parameters.values())
    except ValueError:  # a function in C that states none
        own = [kinds("args", kinds.VAR_POSITIONAL), kinds("kwargs", kinds.VAR_KEYWORD)]
    if all(parameter.name != "device" for parameter in own):
        place = len(own) - (bool(own) and own[-1].kind is kinds.VAR_KEYWORD)
        own.insert(place, kinds("device", kinds.KEYWORD_ONLY, default=None))
    return inspect.Signature(own)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return borrowed(name)


def _member(module: str, path: str) -> Any:
    value: Any = import_module(module)
    for name in path.split("."):
        value = getattr(value, name)
    return value


#: The object that all arrays on "cpu" have as their device.
_HOST = _core.empty(0, device="cpu").device


def _host_values(values: Any, arrays: int = 1) -> list[Any] | None:
    """`values` for NumPy if all are numbers, lists of numbers or arrays on "cpu", `arrays` of these at
    least; else None."""
    found = []
    for x in values:
        kind = type(x)
        if kind is Array:
            if x.device is not _HOST:
                return None
            arrays -= 1
            found.append(x.numpy())
        elif kind in _PLAIN or (kind in _SEQUENCES and _PLAIN.issuperset(map(type, x))):
            found.append(x)
        else:
            return None
    return found if arrays <= 0 else None


def _gpu_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> _core.device | None:
    """The device of the arrays among the arguments if they are on one GPU and the others are numbers;
    else None."""
    found: Any = None
    for x in (*args, *kwargs.values()) if kwargs else args:
        if type(x) is Array:
            if found is not None and x.device != found:
                return None
            found = x.device
        elif type(x) not in _PLAIN:
            return None
    return None if found is None or found.kind == "cpu" else found


def _from_host(result: Any) -> Any:
    """As _as_arrays() on "cpu"."""
    kind = type(result)
    if kind.__module__ == "numpy" and getattr(result, "dtype", _NO_DTYPE).char in _CHARS:
        dtype = result.dtype
        if kind.__name__ != "ndarray":
            return _core.full((), result, dtype, device=_HOST)
        if dtype.isnative:
            return _core._asarray(result)
    if kind is tuple:
        return tuple(map(_from_host, result))
    return _as_arrays(result, _HOST, {})


def _imported(path: str, x: Any, arrays: list[Array]) -> Any:
    """`x`, in which arrays of other libraries than NumPy are Spanwise's, which `arrays` gets."""
    if isinstance(x, Array):
        if arrays and x.device != arrays[0].device:
            raise _core.DeviceError(
                f"{path}: expected arrays of one device, got {arrays[0].device.name} and {x.device.name}; "
                "copy one to the other's: x.to(device)"
            )
        arrays.append(x)
        return x
    if isinstance(x, Variable):
        raise TypeError(
            f"{path}: expected arrays, got the variable {x} of {x.type}, which has no value yet; wrap the "
            "call in an op (spanwise.Op)"
        )
    if hasattr(x, "__dlpack__") and type(x).__module__ != "numpy":
        return _imported(path, _core._asarray(x), arrays)
    return mapped(lambda item: _imported(path, item, arrays), x)


def _on_device(result: Any, device: Any) -> Any:
    """`result` with its arrays on the device."""
    if isinstance(result, Array):
        return result.to(device)
    return mapped(lambda x: _on_device(x, device), result)


#: Functions that CuPy lacks, or has with other parameters, made of its own.
_BY_CUPY: dict[str, Callable[..., Any]] = {
    "lexsort": lambda keys, axis=-1: _member("cupy", "lexsort")(_stacked(keys, axis)),
    "linalg.svdvals": lambda x: _member("cupy", "linalg.svd")(x, compute_uv=False),
}


def _function_of_cupy(path: str) -> Callable[..., Any]:
    import_module("cupy")
    return _BY_CUPY.get(path) or _member("cupy", path)  # type: ignore[no-any-return]


def _takes(function: Callable[..., Any], args: Any, kwargs: Any) -> bool:
    try:
        _signature(function).bind(*args, **kwargs)
    except TypeError:
        return False
    return True


_signature = functools.cache(inspect.signature)


def _stacked(keys: Any, axis: int) -> Any:
    """The keys of lexsort() as one array, whose last axis CuPy sorts by."""
    keys = _member("cupy", "stack")(list(keys))
    if axis % (keys.ndim - 1) != keys.ndim - 2:
        raise _core.NotSupportedError(
            f"lexsort: on a GPU it sorts along the last axis, got axis={axis}; move that axis to the end"
        )
    return keys


def _on_gpu(path: str, device: _core.device, args: Any, kwargs: Any) -> Any:
    """Calls Spanwise's function if it takes the arguments, else CuPy's."""
    own = _OWN.get(path)
    if own is not None and _takes(own, args, kwargs):
        with device:
            result = own(*args, **kwargs)
        if result is not NotImplemented:
            return result
    return _by_library(path, *_library_for(path, device, args), device, args, kwargs)


def _by_library(
    path: str, library: Any, function: Any, device: _core.device, args: Any, kwargs: Any
) -> Any:
    def borrow(x: Any) -> Any:
        if type(x) in _PLAIN:
            return x
        return library.share(path, x) if isinstance(x, Array) else mapped(borrow, x)

    def take(x: Any) -> Any:
        return _core._asarray(x) if hasattr(type(x), "__dlpack__") else mapped(take, x)

    if library is _Torch:  # computes on the device of its tensors
        result = take(library.call(path, function, [*map(borrow, args)], borrow(kwargs)))
    else:
        with device:
            result = take(library.call(path, function, borrow(args), borrow(kwargs)))
    return _named(path)(*result) if path in _NAMED and type(result) is tuple else result


class _CuPy:
    name = "CuPy"

    @staticmethod
    def find(path: str) -> Callable[..., Any]:
        return _function_of_cupy(path)

    @staticmethod
    def share(path: str, x: Array) -> Any:
        return _core.to_cupy(x, copyif=True)  # of read-only arrays

    @staticmethod
    def call(path: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        return function(*args, **kwargs)


class _Torch:
    """torch.linalg and torch.fft, by NumPy's names of parameters."""

    name = "PyTorch"

    @staticmethod
    def find(path: str) -> Callable[..., Any]:
        torch = import_module("torch")
        if path in _BY_TORCH:
            return functools.partial(_BY_TORCH[path], torch.linalg)
        if not path.startswith("fft.") and path not in _SAME_IN_TORCH:
            raise AttributeError(f"PyTorch has no function like numpy.{path}")
        return _member("torch", path)  # type: ignore[no-any-return]

    @staticmethod
    def share(path: str, x: Array) -> Any:
        """In a dtype in which PyTorch computes as NumPy: it transforms integers in float32."""
        if x.dtype.kind in "bui":
            x = x.astype("float64")
        elif x.dtype.itemsize == 2 and path.startswith("fft."):
            x = x.astype("float32")
        return _core.to_torch(x, copyif=True)  # of read-only arrays

    @staticmethod
    def call(path: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        kwargs = {"dim" if name in ("axis", "axes") else name: x for name, x in kwargs.items()}
        try:
            result = function(*args, **kwargs)
        except (RuntimeError, IndexError) as error:
            if isinstance(error, import_module("torch").OutOfMemoryError):
                raise
            of = (
                _member("numpy", "linalg.LinAlgError") if path.startswith("linalg.") else ValueError
            )
            raise of(f"{path}: {error}") from error
        return tuple(result) if isinstance(result, tuple) else result  # not PyTorch's named ones


#: Functions with NumPy's parameters in torch.linalg, or but for the name `dim`.
_SAME_IN_TORCH = {
    "linalg.cholesky",
    "linalg.cond",
    "linalg.cross",
    "linalg.det",
    "linalg.eig",
    "linalg.eigh",
    "linalg.eigvals",
    "linalg.eigvalsh",
    "linalg.inv",
    "linalg.multi_dot",
    "linalg.slogdet",
    "linalg.svdvals",
    "linalg.tensorinv",
}


def _solve(linalg: Any, a: Any, b: Any) -> Any:
    if 1 < b.ndim == a.ndim - 1:  # PyTorch takes some matrices for stacks of vectors; NumPy none
        b = b.expand(*a.shape[:-2], *b.shape[-2:])
    return linalg.solve(a, b)


def _svd(
    linalg: Any,
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
) -> Any:
    return linalg.svd(a, full_matrices) if compute_uv else linalg.svdvals(a)


def _qr(linalg: Any, a: Any, mode: str = "reduced") -> Any:
    return linalg.qr(a, mode) if mode != "r" else linalg.qr(a, mode)[1]


def _matrix_rank(
    linalg: Any, a: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None
) -> Any:
    return linalg.matrix_rank(a, atol=tol, rtol=rtol, hermitian=hermitian)


_BY_TORCH: dict[str, Callable[..., Any]] = {
    "linalg.matrix_rank": _matrix_rank,
    "linalg.pinv": lambda linalg, a, rcond=1e-15, hermitian=False, *, rtol=None: linalg.pinv(
        a, rtol=rcond if rtol is None else rtol, hermitian=hermitian
    ),
    "linalg.qr": _qr,
    "linalg.solve": _solve,
    "linalg.svd": _svd,
    "linalg.tensorsolve": lambda linalg, a, b, axes=None: linalg.tensorsolve(a, b, axes),
}
#: Functions whose results have names.
_NAMED = ("linalg.eig", "linalg.eigh", "linalg.qr", "linalg.slogdet", "linalg.svd")


@functools.cache
def _named(path: str) -> Callable[..., Any]:
    """NumPy's type of the results, which has no public name."""
    cls = type(_member("numpy", path)(_member("numpy", "eye")(1)))
    return cls if hasattr(cls, "_fields") else lambda *results: results


#: Functions for which PyTorch took less time than CuPy on an H200. It computes them where the program has
#: imported it: its import takes seconds.
_FASTER_IN_TORCH = {
    "linalg.cholesky",
    "linalg.cond",
    "linalg.det",
    "linalg.matrix_rank",
    "linalg.pinv",
    "linalg.qr",
    "linalg.slogdet",
    "linalg.solve",
    "linalg.svd",
    "linalg.svdvals",
}
_Found = tuple[Any, Callable[..., Any]]
#: (path, whether PyTorch is first, the modules) -> the library and its function.
_found: dict[tuple[Any, ...], _Found] = {}


def _library_for(path: str, device: _core.device, args: Any = ()) -> _Found:
    """The library for the function of arrays on a GPU, and its function. Raises NotSupportedError if
    none that is installed has it."""
    modules = sys.modules.get("cupy", False), sys.modules.get("torch", False)
    prefers_torch = bool(modules[1]) and (path.startswith("fft.") or path in _FASTER_IN_TORCH)
    if path == "linalg.solve" and args and getattr(args[0], "ndim", 0) > 2:
        prefers_torch = prefers_torch and args[0].shape[-1] < 64  # else it solves one after another
    key = path, prefers_torch, *map(id, modules)
    if key not in _found:
        _found[key] = _find_library(path, device, prefers_torch)
    return _found[key]


def _find_library(path: str, device: _core.device, prefers_torch: bool) -> _Found:
    reasons = []
    for library in (_Torch, _CuPy) if prefers_torch else (_CuPy, _Torch):
        try:
            return library, library.find(path)
        except (ImportError, AttributeError) as error:
            reasons.append(f"{library.name}: {error}")
    raise _core.NotSupportedError(
        f"{path}: on {device.name} it is borrowed from CuPy or PyTorch, over the array's memory, and "
        f"neither has it ({'; '.join(reasons)}); install cupy-cuda13x, or compute on the CPU: "
        f"sw.{path}(a.to('cpu'))"
    )


def explain_function(name: str, device: Any = None) -> str:
    """Which library computes the public function `name`, such as "median" or "linalg.svd", for
    arrays on `device`, by default default_device(): a sentence. Raises AttributeError if Spanwise
    has no such function."""
    import spanwise

    device = _core.device(device) if device is not None else _core.default_device()
    function = functools.reduce(getattr, name.split("."), spanwise)
    function = borrowed(name) if isinstance(function, ModuleType) else function
    if name in _READERS or name in _NUMPYS:
        return f"{name} on {device.name}: NumPy's, of a copy on the host for arrays on a GPU"
    if not hasattr(function, "__wrapped__") and function.__module__ != __name__:
        return f"{name} on {device.name}: Spanwise's own"
    if device.kind == "cpu":
        return f"{name} on {device.name}: NumPy's, over the array's memory"
    if name in _OWN or name in _BY_UNIQUE:
        return f"{name} on {device.name}: Spanwise's own"
    try:
        library, _ = _library_for(name, device)
    except _core.NotSupportedError as error:
        return f"{name} on {device.name}: not supported: {error}"
    return f"{name} on {device.name}: {library.name}'s, over the array's memory"


# ---- NumPy on the CPU ----


def on_host(
    name: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], reason: str
) -> Any:
    """Calls NumPy's `function` on NumPy views of the arrays. Raises TypeError for arrays on
    a GPU and for variables; its text contains `reason`, why Spanwise does not compute the function."""
    views: _Views = {}

    def copy_in(x: Any) -> Any:
        if isinstance(x, Variable):
            raise TypeError(
                f"numpy.{name}: {reason}, and NumPy cannot compute on a variable of a graph, which has "
                f"no value yet: got {x} of {x.type}"
            )
        if isinstance(x, Array):
            if x.device.kind != "cpu":
                raise TypeError(
                    f"numpy.{name}: {reason}, and NumPy cannot read the memory of {x.device.name}: "
                    f"got {x.dtype} of shape {x.shape}; copy it to the host first: a.numpy()"
                )
            view = x.numpy()
            views[id(view)] = view, x
            return view
        return mapped(copy_in, x)

    results = function(*map(copy_in, args), **mapped(copy_in, kwargs))
    # Arrays on cpu:1, which is the CPU, too, have their results there.
    device = next((array.device for _, array in views.values()), _core.device("cpu"))
    return _as_arrays(results, device, views)


def _as_arrays(results: Any, device: _core.device, views: _Views) -> Any:
    """NumPy's arrays and scalars in `results` as arrays on `device`, one of the CPU; those that are a
    view of an argument as that argument."""
    if id(results) in views:
        return views[id(results)][1]
    if hasattr(results, "dtype"):
        return _as_array(results, device)
    return mapped(lambda x: _as_arrays(x, device, views), results)


def mapped(f: Callable[[Any], Any], x: Any) -> Any:
    """The dict, tuple or list `x` with f(item) for each item; another `x` itself."""
    if isinstance(x, dict):
        return {key: f(value) for key, value in x.items()}
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*map(f, x))
    return type(x)(map(f, x)) if type(x) in (tuple, list) else x


def _as_array(x: Any, device: _core.device) -> Any:
    """A NumPy array or scalar as an array on `device`, over the same memory on "cpu"; `x` itself for
    dtypes that Spanwise does not have."""
    import numpy as np

    if type(x) is not np.ndarray and not isinstance(x, np.generic):
        return x
    if x.dtype.char not in _CHARS:
        try:
            if not _core.dtype(x.dtype).is_computable:
                return x
        except _core.DTypeError:
            return x
    return _core._asarray(x, device=device) if x.dtype.isnative else x


# ---- Objects of NumPy that are no functions ----


class _Joined:
    """r_ and c_: ``r_[a, 0, 1:5]`` joins arrays, numbers and ranges, as in NumPy."""

    def __init__(self, name: str) -> None:
        self._path = f"{name}.__getitem__"

    def __getitem__(self, key: Any) -> Array:
        return borrowed(self._path)(key)  # type: ignore[no-any-return]


r_, c_ = _Joined("r_"), _Joined("c_")


def ndenumerate(arr: Any) -> Any:
    """An iterator over the pairs of the index, a tuple, and the element, as numpy.ndenumerate."""
    array = _core._asarray(arr)
    return zip(borrowed("ndindex")(array.shape), array.ravel(), strict=True)


def vectorize(pyfunc: Any = None, *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """numpy.vectorize: a function of arrays on the CPU that calls `pyfunc` with numbers; also a decorator.
    For a GPU write sw.ElementwiseKernel."""
    if pyfunc is None:
        return lambda function: vectorize(function, *args, **kwargs)
    function = _member("numpy", "vectorize")(pyfunc, *args, **kwargs)

    @functools.wraps(pyfunc)
    def call(*args: Any, **kwargs: Any) -> Any:
        arrays: list[Array] = []
        args, kwargs = _imported("vectorize", args, arrays), _imported("vectorize", kwargs, arrays)
        reason = "calls a function of Python for each element; use sw.ElementwiseKernel"
        return on_host("vectorize", function, args, kwargs, reason)

    return call


# ---- The array API standard's ----


@functools.cache
def _numpys(name: str) -> Callable[..., Any]:
    return _member("numpy", name)  # type: ignore[no-any-return]


def sort(
    x: Any,
    /,
    axis: int | None = -1,
    kind: str | None = None,
    *,
    descending: bool = False,
    stable: bool | None = None,
) -> Array:
    """A sorted copy along `axis`, or of the flattened array for None; NaNs come last in both orders.
    `kind` is NumPy's. Borrowed as by borrowed()."""
    kind = kind or ("stable" if stable else None)  # NumPy 1 has no `stable`
    if not descending and type(x) is Array and x.device is _HOST:  # the common case, faster
        return _from_host(_numpys("sort")(x.numpy(), axis, kind))
    if isinstance(x, Array) and x.device.kind != "cpu":
        return by_sort.sort(x, axis, descending=descending)
    if not descending:
        return borrowed("sort")(x, axis, kind=kind)
    return _reversed(borrowed("sort")(_reversed(x), axis, kind=kind))


def argsort(
    x: Any,
    /,
    axis: int | None = -1,
    kind: str | None = None,
    *,
    descending: bool = False,
    stable: bool | None = None,
) -> Array:
    """The indices that sort along `axis`, int64; as sort(). Stable by default, as in the array API."""
    kind = kind or (None if stable is False else "stable")
    if not descending and type(x) is Array and x.device is _HOST:
        return _from_host(_numpys("argsort")(x.numpy(), axis, kind))
    if isinstance(x, Array) and x.device.kind != "cpu":
        return by_sort.argsort(x, axis, descending=descending)
    return borrowed("argsort")(_reversed(x) if descending else x, axis, kind=kind)


def sort_in_place(
    array: Array,
    axis: int = -1,
    kind: str | None = None,
    *,
    descending: bool = False,
    stable: bool | None = None,
) -> None:
    """Implements Array.sort."""
    array[...] = sort(array, axis, kind, descending=descending, stable=stable)


def partition_in_place(array: Array, kth: Any, axis: int = -1, kind: str = "introselect") -> None:
    """Implements Array.partition."""
    array[...] = borrowed("partition")(array, kth, axis, kind=kind)


def _reversed(x: Any) -> Array:
    """Values in the opposite order, NaN for NaN; its own inverse."""
    x = _core._asarray(x)
    return _core.negative(x) if x.dtype.kind in "fcV" else _core.invert(x)


#: Functions below that are numpy.unique.
_BY_UNIQUE = ("unique_all", "unique_counts", "unique_inverse", "unique_values")


class UniqueAll(NamedTuple):
    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    values: Array
    inverse_indices: Array


def unique_all(x: Any, /) -> UniqueAll:
    """The distinct elements, sorted, each NaN by itself, with the index of the first of each, the
    index of its value for every element, in the shape of `x`, and counts."""
    values, indices, inverse, counts = _unique(x, return_index=True)
    return UniqueAll(values, indices, inverse, counts)


def unique_counts(x: Any, /) -> UniqueCounts:
    """As unique_all(): values and counts."""
    values, counts = _unique(x, return_inverse=False)
    return UniqueCounts(values, counts)


def unique_inverse(x: Any, /) -> UniqueInverse:
    """As unique_all(): values and inverse_indices."""
    values, inverse = _unique(x, return_counts=False)
    return UniqueInverse(values, inverse)


def unique_values(x: Any, /) -> Array:
    """As unique_all(): values."""
    return borrowed("unique")(_core._asarray(x), equal_nan=False)


def _unique(x: Any, **options: bool) -> tuple[Array, ...]:
    """The parts of unique_all() that `options` does not leave out."""
    x = _core._asarray(x)
    options = {"return_inverse": True, "return_counts": True, "equal_nan": False} | options
    results = list(borrowed("unique")(x, **options))
    if options["return_inverse"]:  # flat in NumPy 1
        place = -2 if options["return_counts"] else -1
        results[place] = results[place].reshape(x.shape)
    return tuple(results)
