# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels from an expression: which of the two spellings a constructor's arguments are in.

PyCUDA's has pointers, ``("float *z, float *x", "z[i] = x[i]")``; CuPy's has values,
``("T x", "T z", "z = x")``.
"""

from __future__ import annotations

from . import _core

ArgumentError = _core.ArgumentError


def _options(options) -> tuple:
    if options is None:
        return ()
    return (options,) if isinstance(options, str) else tuple(options)


def _text(who, name, value) -> str:
    if isinstance(value, str):
        return value
    raise TypeError(f"{who}: expected {name} as a string of CUDA C, got {value!r}")


def _refuse(who, unknown, known):
    if unknown.get("keep"):
        raise ArgumentError(
            f"{who}: keep= is not taken; the compiler's files are kept by "
            "SourceModule(..., keep=True), and a CompileError has the whole source"
        )
    if unknown:
        raise TypeError(f"{who}: unexpected arguments {sorted(unknown)}; there are {known}")


class _Signature:
    """Reads a call of one spelling: names in order, with what they are when absent."""

    def __init__(self, who, names, defaults):
        self.who, self.names, self.defaults = who, names, defaults

    def read(self, args, kwargs) -> dict:
        if len(args) > len(self.names):
            raise TypeError(
                f"{self.who}: expected at most {len(self.names)} arguments, got {len(args)}"
            )
        found = dict(zip(self.names, args, strict=False))
        for name in found:
            if name in kwargs:
                raise TypeError(f"{self.who}: {name!r} is given by position and by name")
        unknown = {name: value for name, value in kwargs.items() if name not in self.names}
        _refuse(self.who, unknown, ", ".join(self.names))
        found.update({name: kwargs[name] for name in kwargs if name in self.names})
        missing = [name for name in self.names if name not in found and name not in self.defaults]
        if missing:
            raise TypeError(f"{self.who}: missing {missing}; it takes {', '.join(self.names)}")
        return {**self.defaults, **found}


_ELEMENTWISE_POINTERS = _Signature(
    "ElementwiseKernel",
    ("arguments", "operation", "name", "keep", "options", "preamble", "loop_prep", "after_loop"),
    {
        "name": "kernel",
        "keep": False,
        "options": None,
        "preamble": "",
        "loop_prep": "",
        "after_loop": "",
    },
)
_ELEMENTWISE_VALUES = _Signature(
    "ElementwiseKernel",
    (
        "in_params", "out_params", "operation", "name", "reduce_dims", "preamble", "no_return",
        "return_tuple", "loop_prep", "after_loop", "options",
    ),
    {
        "name": "kernel", "reduce_dims": True, "preamble": "", "no_return": False,
        "return_tuple": False, "loop_prep": "", "after_loop": "", "options": None,
    },
)  # fmt: skip


class ElementwiseKernel(_core._ElementwiseKernel):
    """A statement of CUDA C about one element, done for all elements of arrays of any layout.

    PyCUDA's spelling: ``ElementwiseKernel("float *z, float a, float *x", "z[i] = a * x[i]")``, called
    with all arguments. CuPy's: ``ElementwiseKernel("T x, T y", "T z", "z = x * y")``, called with the
    inputs and returning the outputs, or writing them where they are given.

    The statement sees ``i``, the element's number in C order, and ``n``, how many there are. Arrays
    are broadcast to one shape. The kernel is compiled when it is called.
    """

    __slots__ = ()

    def __new__(cls, *args, **kwargs):
        who = "ElementwiseKernel"
        first = args[0] if args else kwargs.get("arguments", "")
        by_pointers = "arguments" in kwargs or (isinstance(first, str) and "*" in first)
        if by_pointers:
            given = _ELEMENTWISE_POINTERS.read(args, kwargs)
            if given["keep"]:
                _refuse(who, {"keep": True}, "")
            declared = (_text(who, "arguments", given["arguments"]), "")
        else:
            given = _ELEMENTWISE_VALUES.read(args, kwargs)
            declared = tuple(_text(who, name, given[name]) for name in ("in_params", "out_params"))
        parts = (
            _text(who, name, given[name])
            for name in ("operation", "name", "preamble", "loop_prep", "after_loop")
        )
        return super().__new__(
            cls,
            by_pointers,
            *declared,
            *parts,
            _options(given["options"]),
            bool(given.get("return_tuple")),
        )

    def get_texref(self, name, use_double=False):
        """Texture references are gone since CUDA 12; always raises."""
        raise _core.NotSupportedError(
            f"ElementwiseKernel: get_texref({name!r}) is not there: CUDA 12 removed texture "
            "references. Pass the array as an argument, declared `const float *`"
        )
