# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""C types and NumPy dtypes: PyCUDA's registry, vector types and kernel parameters."""

import re

import numpy as np

#: Name of a vector type without its length -> dtype of its elements.
_VECTOR_ELEMENTS = {
    "char": "int8", "uchar": "uint8", "short": "int16", "ushort": "uint16", "int": "int32",
    "uint": "uint32", "long": "int64", "ulong": "uint64", "longlong": "int64",
    "ulonglong": "uint64", "float": "float32", "double": "float64",
}  # fmt: skip
#: dtype -> the C type that declarations use.
_CTYPES = {
    "bool": "bool", "int8": "signed char", "uint8": "unsigned char", "int16": "short",
    "uint16": "unsigned short", "int32": "int", "uint32": "unsigned", "int64": "long long",
    "uint64": "unsigned long long", "float16": "half", "float32": "float", "float64": "double",
    "complex64": "pycuda::complex<float>", "complex128": "pycuda::complex<double>",
}  # fmt: skip
#: Further C types -> dtype.
_DTYPES = {
    "char": "int8", "signed": "int32", "unsigned int": "uint32", "long": "int64", "long int": "int64",
    "unsigned long": "uint64", "unsigned long int": "uint64", "size_t": "uint64", "ptrdiff_t": "int64",
    **{f"{sign}int{bits}_t": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "cuFloatComplex": "complex64", "cuDoubleComplex": "complex128",
}  # fmt: skip
_name_of = {np.dtype(dtype): name for dtype, name in _CTYPES.items()}
_dtype_of = {name: np.dtype(dtype) for name, dtype in _DTYPES.items()}
_dtype_of.update((name, dtype) for dtype, name in _name_of.items())


def get_or_register_dtype(c_names, dtype=None):
    """The dtype registered for a C type name, or for the first of several; registers `dtype`
    otherwise. Raises TypeError if neither is there, or if the name stands for another dtype."""
    names = [c_names] if isinstance(c_names, str) else list(c_names)
    known = next((_dtype_of[name] for name in names if name in _dtype_of), None)
    if dtype is None:
        if known is None:
            raise TypeError(f"C type {names[0]!r} is not registered; pass its dtype")
        return known
    dtype = np.dtype(dtype)
    if known is not None and known != dtype:
        raise TypeError(
            f"C type {names[0]!r} is registered for {known}; expected that, got {dtype}"
        )
    _dtype_of.update(dict.fromkeys(names, dtype))
    _name_of.setdefault(dtype, names[0])
    return dtype


def register_dtype(dtype, c_names, alias_ok=False):
    """Registers C type names for a dtype."""
    get_or_register_dtype(c_names, dtype)


def dtype_to_ctype(dtype, with_fp_tex_hack=False):
    """The C type of a dtype. Raises ValueError for one that is not registered."""
    if dtype is None:
        raise ValueError("dtype_to_ctype: expected a dtype, got None")
    dtype = np.dtype(dtype)
    if dtype not in _name_of:
        raise ValueError(
            f"dtype_to_ctype: no C type is registered for {dtype}; call register_dtype(dtype, name)"
        )
    return _name_of[dtype]


class Argument:
    """A parameter of a kernel: its dtype and its name."""

    def __init__(self, dtype, name):
        self.dtype, self.name = np.dtype(dtype), name

    def __repr__(self):
        return f"{type(self).__name__}({self.name!r}, {self.dtype})"


class VectorArg(Argument):
    """A parameter that points to elements of the dtype."""

    struct_char = "P"

    def declarator(self):
        return f"{dtype_to_ctype(self.dtype)} *{self.name}"


class ScalarArg(Argument):
    """A parameter that is one value of the dtype."""

    @property
    def struct_char(self):
        return f"{self.dtype.itemsize}s" if self.dtype.kind == "V" else self.dtype.char

    def declarator(self):
        return f"{dtype_to_ctype(self.dtype)} {self.name}"


def parse_c_arg(c_arg):
    """A VectorArg or ScalarArg from a C declaration such as "const float *x". Raises TypeError for
    an unknown type, ValueError for text that is no declaration."""
    text = re.sub(r"\b(const|volatile|__restrict__|restrict)\b", " ", c_arg)
    match = re.fullmatch(r"\s*(.*?[\s*>])\s*(\w+)\s*(\[\s*\])?\s*", text, re.S)
    if not match:
        raise ValueError(f"parse_c_arg: expected a declaration such as 'float *x', got {c_arg!r}")
    type_text, name, brackets = match.groups()
    stars = type_text.count("*") + bool(brackets)
    if stars > 1:
        raise ValueError(f"parse_c_arg: expected at most one '*', got {c_arg!r}")
    dtype = get_or_register_dtype(" ".join(type_text.replace("*", " ").split()))
    return (VectorArg if stars else ScalarArg)(dtype, name)


def parse_c_args(arguments):
    """The parameters of a list of declarations as one text, or those of a sequence."""
    if arguments is None:
        raise TypeError('arguments: expected declarations such as "float *x, int n", got None')
    arguments = arguments.split(",") if isinstance(arguments, str) else arguments
    return [parse_c_arg(x) if isinstance(x, str) else x for x in arguments]


def get_arg_type(c_arg):
    """The letter of the struct module for a C declaration; "P" for a pointer."""
    return parse_c_arg(c_arg).struct_char


class vec:  # noqa: N801  (PyCUDA's name)
    """CUDA's vector types as record dtypes, float3 and so on, and functions make_float3(x, y, z)."""


def _maker(dtype):
    """vec.make_float3() for the dtype of float3, and so on."""

    def make(*fields):
        return np.array(tuple(fields), dtype)

    return make


for _base, _scalar in _VECTOR_ELEMENTS.items():
    for _count in range(1, 3 if _base in ("double", "longlong", "ulonglong") else 5):
        _name = f"{_base}{_count}"
        _dtype = np.dtype([(field, _scalar) for field in "xyzw"[:_count]])
        get_or_register_dtype(_name, _dtype)
        setattr(vec, _name, _dtype)
        setattr(vec, f"make_{_name}", staticmethod(_maker(_dtype)))
