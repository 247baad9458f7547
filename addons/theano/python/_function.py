# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.function``: compiled functions that take and return NumPy arrays or device arrays."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import spanwise as sw
from spanwise.graph import ancestors

from ._call import caller, combined, result_conversion
from ._config import config
from ._device_array import unwrap
from ._devices import devices
from ._mode import as_mode
from ._variables import stays_on_device


class Out(sw.Out):
    """An output; `borrow` allows the result to share memory with what the function keeps."""


class Function:
    """A compiled function. Results are NumPy arrays, or device arrays for outputs that were
    transferred to the device; those of comparisons are int8, as in Theano."""

    # A call of the object calls the content of the slot directly, with no method in between.
    __slots__ = ("__call__", "__dict__", "__weakref__")
    __call__: Callable[..., Any]

    def __init__(
        self, compiled: Any, on_gpu: list[bool], inputs: list[Any], conversions: Any
    ) -> None:
        self.compiled = compiled
        self.name = compiled.name
        self._on_gpu = on_gpu
        self._inputs = inputs
        self._conversions = conversions
        self._view: Any = None
        self.fn = SimpleNamespace(__call__=compiled)
        self.__call__ = caller(compiled, combined(conversions), any(map(_is_copied, inputs)))

    def __reduce__(self) -> Any:
        return Function, (self.compiled, self._on_gpu, self._inputs, self._conversions)

    @property
    def maker(self) -> Any:
        """``maker.fgraph`` is the compiled graph, with Theano's names."""
        if self._view is None:
            from ._view_builder import of_function

            self._view = of_function(self.compiled, self._on_gpu)
        return SimpleNamespace(fgraph=self._view, function=self, inputs=self._inputs)

    @property
    def profile(self) -> Any:
        """The profile, None unless the function was compiled with one."""
        if self.compiled.profile is None:
            return None
        from ._report import Report

        return Report([self])

    @property
    def trust_input(self) -> bool:
        return self.compiled.trust_input

    @trust_input.setter
    def trust_input(self, value: bool) -> None:
        self.compiled.trust_input = value

    def free(self) -> None:
        """Frees the buffers that are kept for the next call."""
        self.compiled.free()

    def copy(
        self, name: str | None = None, swap: Any = None, delete_updates: bool = False
    ) -> Function:
        """Compiles the function again with another name or other shared variables."""
        compiled = self.compiled.copy(name=name, swap=swap, delete_updates=delete_updates)
        return Function(compiled, self._on_gpu, self._inputs, self._conversions)

    def get_shared(self) -> list[Any]:
        """The shared variables that the function reads."""
        variables = self.maker.fgraph.variables
        return [v.source for v in variables if isinstance(v.source, sw.SharedVariable)]

    def __repr__(self) -> str:
        return f"<theano.compile.function_module.Function object {self.name!r}>"


def _as_in(x: Any) -> Any:
    """`x`, a variable or an In, as an In that the program may overwrite if it is copied to the GPU."""
    spec = x if isinstance(x, sw.In) else sw.In(x)
    if _is_copied(spec):
        spec.mutable = True
    return spec


def _is_copied(spec: Any) -> bool:
    """Whether arguments for this input are copied to the GPU at each call."""
    return devices.is_gpu and spec.variable.type.device is None


def _device_for(variables: list[Any]) -> str:
    """The GPU if the program may run there: with CudaNdarray only one with a float32 variable."""
    if devices.dialect != "gpu":
        return devices.default
    nodes = ancestors(variables)
    read = [*variables, *(v for node in nodes for v in (*node.inputs, *node.outputs))]
    return devices.default if any(v.dtype == "float32" for v in read) else "cpu"


def function(
    inputs: Any,
    outputs: Any = None,
    mode: Any = None,
    updates: Any = None,
    givens: Any = None,
    no_default_updates: Any = False,
    accept_inplace: bool = False,
    name: str | None = None,
    rebuild_strict: bool = True,
    allow_input_downcast: bool | None = None,
    profile: Any = None,
    on_unused_input: str | None = None,
) -> Function:
    """Compiles `outputs` (a variable, an Out, a list or a dict of them) as a function of `inputs`.

    As ``spanwise.function``, with Theano's names of modes. `accept_inplace` and `rebuild_strict` are
    accepted for compatibility.
    """
    del accept_inplace, rebuild_strict
    on_gpu: list[bool] = []

    def as_out(output: Any) -> Any:
        out = output if isinstance(output, sw.Out) else sw.Out(unwrap(output))
        on_gpu.append(stays_on_device(out.variable))
        variables.append(out.variable)
        listed.append(result_conversion(out.variable, on_gpu[-1]))
        return sw.Out(out.variable, borrow=out.borrow, as_=None if on_gpu[-1] else "numpy")

    variables: list[Any] = []
    listed: list[Any] = []
    conversions: Any = None  # `listed` in the form of the outputs
    if isinstance(outputs, Mapping):
        outputs = {key: as_out(output) for key, output in outputs.items()}
        conversions = dict(zip(outputs, listed, strict=True))
    elif isinstance(outputs, (list, tuple)):
        outputs = [as_out(output) for output in outputs]
        conversions = listed
    elif outputs is not None:
        outputs = as_out(outputs)
        conversions = listed[0]
    pairs = updates.items() if isinstance(updates, Mapping) else updates or ()
    variables += [sw.graph.as_variable(unwrap(new)) for _, new in pairs]
    specs = [_as_in(x) for x in inputs] if isinstance(inputs, (list, tuple)) else inputs
    compiled = sw.function(
        specs,
        outputs,
        mode=as_mode(mode),
        updates=updates,
        givens=givens,
        no_default_updates=no_default_updates,
        profile=is_profiled(profile, mode),
        name=name or _callers_name(),
        on_unused_input=on_unused_input or config.on_unused_input,
        allow_input_downcast=allow_input_downcast,
        device=_device_for(variables),
        allow_gc=config.allow_gc if "allow_gc" in config._values else None,
    )
    function = Function(compiled, on_gpu, specs, conversions)
    if compiled.profile is not None:
        from ._report import watch

        watch(function)
    return function


def is_profiled(profile: Any, mode: Any) -> bool:
    """Whether the arguments, or else the flags, ask for a profile."""
    if mode == "ProfileMode":
        return True
    if profile is None:
        return bool(config.profile) or config.mode == "ProfileMode"
    return bool(profile)


def _callers_name() -> str:
    """``script.py:12``, the line that calls function(): the name of a function without another."""
    frame: Any = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def evaluate(self: Any, inputs_to_values: Any = None) -> Any:
    """``variable.eval({x: value})``: the value, as a function returns it."""
    values = dict(inputs_to_values or {})
    cache = vars(self.tag).setdefault("theano_functions", {})
    key = tuple(values)
    if key not in cache:
        cache[key] = function(list(values), self, on_unused_input="ignore", profile=False)
    return cache[key](*values.values())
