# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.function`` and ``theano.shared``: modes by name, variables on the host and on the device,
compiled functions that take and return NumPy arrays or device arrays, and the methods of Spanwise's
variables that have another meaning in Theano."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

import spanwise as sw
from spanwise.graph import SharedVariable, Variable, ancestors, recipe_of
from spanwise.tensor import trace

from ._config import config, devices, is_host
from ._device_array import as_theano, class_for, unwrap
from ._errors import with_classes

# ---- Modes: names of sets of rewrites ----


_MODES = {
    "Mode": "fast_run",
    "FAST_RUN": "fast_run",
    "FAST_COMPILE": "fast_compile",
    "DebugMode": "debug",
    "DEBUG_MODE": "debug",
    "NanGuardMode": "nan_guard",
    "ProfileMode": "fast_run",
}


class Mode(sw.graph.Mode):
    """``Mode(linker=, optimizer=)``: `linker` is accepted for compatibility, `optimizer` is
    "fast_run", "fast_compile" or None. Tags that only Theano's rewrites have are ignored by
    including() and excluding()."""

    def __init__(self, linker: Any = None, optimizer: Any = "default") -> None:
        is_fast = optimizer in ("fast_compile", None, "None")
        super().__init__("fast_compile" if is_fast else "fast_run")

    def including(self, *tags: str) -> sw.graph.Mode:
        return super().including(*_tags_of_spanwise(tags))

    def excluding(self, *tags: str) -> sw.graph.Mode:
        return super().excluding(*_tags_of_spanwise(tags))


def _tags_of_spanwise(tags: tuple[str, ...]) -> list[str]:
    """Those of `tags` that are names or tags of Spanwise's rewrites."""
    known = {word for name, _, own_tags in sw.graph.rewrites() for word in (name, *own_tags)}
    return [tag for tag in tags if tag in known]


def as_mode(mode: Any) -> Any:
    """Theano's name of a mode, or a Mode, as a Mode. ValueError for an unknown name."""
    mode = config.mode if mode is None else mode
    if mode == "Mode" and config.optimizer in ("fast_compile", "None"):
        mode = "FAST_COMPILE"
    if not isinstance(mode, str):
        return mode
    if mode not in _MODES:
        raise ValueError(f"theano: expected a mode of {', '.join(_MODES)}, got {mode!r}")
    result = Mode()
    result.name = _MODES[mode]
    return result


def get_default_mode() -> Mode:
    """The Mode that the flags ``mode`` and ``optimizer`` choose."""
    return as_mode(None)


class NanGuardMode(sw.graph.NanGuardMode):
    """As spanwise.graph.NanGuardMode; None means True. `optimizer` and `linker` are accepted for
    compatibility."""

    def __init__(
        self,
        nan_is_error: bool | None = None,
        inf_is_error: bool | None = None,
        big_is_error: bool | None = None,
        optimizer: Any = "default",
        linker: Any = None,
    ) -> None:
        flags = (nan_is_error, inf_is_error, big_is_error)
        nan, inf, big = (True if flag is None else flag for flag in flags)
        super().__init__(nan, inf, big)


# ---- Shared variables, and the devices of variables ----


def shared(
    value: Any,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: Any = None,
    borrow: bool = False,
    broadcastable: Any = None,
    target: Any = "default",
) -> SharedVariable:
    """A shared variable, on `target` ("cpu", None for the GPU, or the name of a context).

    By default it is on the device of the flag ``device``. Exceptions are on the CPU: with
    ``device=gpu`` values that are not float32, which CudaNdarray cannot hold, and integer and bool
    scalars. `borrow` is that of spanwise.shared; `strict`, `allow_downcast` and `broadcastable` are
    accepted for compatibility and have no effect. Raises ValueError for an unknown `target`.
    """
    del strict, allow_downcast, broadcastable
    if type(value).__name__ == "RandomState":
        from ._streams import shared_state

        return shared_state(value, name)
    value = unwrap(value)
    if not hasattr(value, "dtype"):
        value = np.asarray(value)
    if target != "default":
        device = devices.target(target)
    elif (devices.dialect == "gpu" and value.dtype != "float32") or (
        not value.ndim and np.dtype(str(value.dtype)).kind in "biu"
    ):
        device = "cpu"
    else:
        device = devices.default
    return sw.shared(value, name, borrow=borrow, target=device)


def transfer(variable: Any, target: Any) -> Any:
    """`variable` on `target`: "cpu", None for the GPU, or the name of a context. Raises ValueError
    for an unknown `target`."""
    variable = sw.graph.as_variable(variable)
    device, current = devices.target(target), variable.type.device
    if is_host(device) and is_host(current or "cpu"):
        return variable
    if isinstance(variable, SharedVariable) and str(current) == device:
        return variable
    # Applied also where the value is on the device already: it marks a result that stays there.
    return sw.ops.transfer(variable, device=device)


def is_on_gpu(variable: Any) -> bool:
    """Whether the type of `variable` names a GPU, or the CPU in its place."""
    return variable.type.device is not None and not is_host(variable.type.device)


def stays_on_device(variable: Any) -> bool:
    """Whether a function returns `variable` as an array on the device instead of a NumPy array: it
    is a shared variable or an input there, the output of an op that the script defines, or was
    transferred there explicitly."""
    if not is_on_gpu(variable):
        return False
    node = variable.owner
    if node is None or not isinstance(node.op, sw.graph.NativeOp):
        return True
    # gpu_contiguous() makes the op "contiguous".
    return recipe_of(node.op)[0] in ("transfer", "contiguous")


# ---- Conversions of arguments and results ----
# They are chosen when the function is compiled, so that a call runs only those that its types need.


Conversion = Callable[[Any], Any]


def result_conversion(variable: Any, on_gpu: bool) -> Conversion | None:
    """Makes a result of `variable` a device array if it stays on the GPU. None if the result is
    returned as it is."""
    if not on_gpu:
        return None
    # The class's own __new__ checks what the compiler of the graph has checked.
    return partial(sw.Array.__new__, class_for(str(variable.type.dtype)))


def combined(conversions: Any) -> Conversion | None:
    """One conversion for the result of a call from `conversions`, which has the form of the outputs: a
    single one, a list or a dict. None if no result is converted."""
    if isinstance(conversions, Mapping):
        if not any(conversions.values()):
            return None
        return lambda results: {key: _converted(conversions[key], results[key]) for key in results}
    if isinstance(conversions, list):
        if not any(conversions):
            return None
        return lambda results: [
            _converted(*pair) for pair in zip(conversions, results, strict=True)
        ]
    return conversions


def caller(compiled: Any, convert: Conversion | None, may_overwrite: bool) -> Callable[..., Any]:
    """What a call of the function runs: `compiled` itself if there is nothing to convert.

    With `may_overwrite`, arguments that are Spanwise's arrays are copied: the program may overwrite
    an argument that is on its device.
    """
    if not may_overwrite:
        if convert is None:
            return compiled
        if isinstance(convert, partial):  # one Python call fewer than below
            make, (kind,) = convert.func, convert.args
            return lambda *arguments, **named: make(kind, compiled(*arguments, **named))
        return lambda *arguments, **named: convert(compiled(*arguments, **named))

    def call(*arguments: Any, **named: Any) -> Any:
        result = compiled(
            *[_copied(value) for value in arguments],
            **{name: _copied(value) for name, value in named.items()},
        )
        return result if convert is None else convert(result)

    return call


def _copied(value: Any) -> Any:
    return unwrap(value).copy() if isinstance(value, sw.Array) else value


def _converted(convert: Conversion | None, value: Any) -> Any:
    return value if convert is None else convert(value)


# ---- Functions ----


class In(sw.In):
    """An input: as spanwise.In. With `update` it is a state of the function, whose first value is `value`:
    each call replaces it by the value of `update`. `implicit` has no effect."""

    def __init__(
        self,
        variable: Any,
        name: str | None = None,
        value: Any = None,
        update: Any = None,
        implicit: Any = None,
        **options: Any,
    ) -> None:
        options.pop("autoname", None)
        super().__init__(variable, name, value, **options)
        self.update = update
        if update is not None and value is None:
            raise TypeError(f"In: {variable} has an update, so it needs its first value, value=...")


class Out(sw.Out):
    """An output; `borrow` allows the result to share memory with what the function keeps."""


class Function:
    """A compiled function. Results are NumPy arrays, or device arrays for outputs that were
    transferred to the device."""

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
            from ._view import of_function

            self._view = of_function(self.compiled, self._on_gpu)
        return SimpleNamespace(fgraph=self._view, function=self, inputs=self._inputs)

    @property
    def profile(self) -> Any:
        """The profile, None unless the function was compiled with one."""
        if self.compiled.profile is None:
            return None
        from ._view import Report

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
        """Compiles the function again with another name or other shared variables. As in Theano, the copy
        returns a list, also where the function returns a single value."""
        compiled = self.compiled.copy(name=name, swap=swap, delete_updates=delete_updates)
        copied = Function(compiled, self._on_gpu, self._inputs, self._conversions)
        call = copied.__call__

        def listed(*arguments: Any, **named: Any) -> Any:
            result = call(*arguments, **named)
            return result if isinstance(result, (list, dict)) else [result]

        copied.__call__ = listed
        return copied

    def get_shared(self) -> list[Any]:
        """The shared variables that the function reads."""
        variables = self.maker.fgraph.variables
        return [v.source for v in variables if isinstance(v.source, sw.SharedVariable)]

    def __repr__(self) -> str:
        return f"<theano.compile.function_module.Function object {self.name!r}>"


def _update(spec: Any) -> Any:
    return getattr(spec, "update", None)  # a spanwise.In has none


class Container:
    """The value of an input between calls."""

    def __init__(self, variable: Any, value: Any) -> None:
        self._dtype = str(variable.dtype)
        self.value = value

    @property
    def value(self) -> Any:
        return self._value

    @value.setter
    def value(self, value: Any) -> None:
        self._value = None if value is None else np.asarray(value, self._dtype)


class StateFunction(Function):
    """A function with states: inputs that have an update. ``f[x]`` is the value of the input `x` between
    calls, for a variable or its name; ``f.container[x].value`` and ``f.value[x]`` are the same."""

    def __init__(self, compiled: Function, specs: list[Any], outputs: Any) -> None:
        super().__init__(
            compiled.compiled, compiled._on_gpu, compiled._inputs, compiled._conversions
        )
        self._specs, self._function = specs, compiled
        self._count = len(outputs) if isinstance(outputs, (list, tuple)) else None
        self.container = {spec.variable: Container(spec.variable, spec.value) for spec in specs}
        self.value = self
        self.__call__ = self._call

    def __reduce__(self) -> Any:
        outputs = None if self._count is None else [None] * self._count
        return StateFunction, (self._function, self._specs, outputs)

    def _at(self, key: Any) -> Container:
        for spec in self._specs:
            if key is spec.variable or (isinstance(key, str) and key == spec.name):
                return self.container[spec.variable]
        names = ", ".join(str(spec.name) for spec in self._specs if spec.name)
        raise TypeError(f"Unknown input or state: {key}. The function has the named inputs {names}")

    def __getitem__(self, key: Any) -> Any:
        return self._at(key).value

    def __setitem__(self, key: Any, value: Any) -> None:
        self._at(key).value = value

    def _call(self, *arguments: Any, **named: Any) -> Any:
        if len(arguments) > len(self._specs):
            raise TypeError(
                f"{self.name}: expected at most {len(self._specs)} arguments, got {len(arguments)}"
            )
        given = {self._at(name): value for name, value in named.items()}
        given.update(zip(self.container.values(), arguments, strict=False))
        values = []
        for spec in self._specs:
            held = self.container[spec.variable]
            value = given.get(held, held.value)
            if value is None:
                raise TypeError(f"Missing required input: {spec.name or spec.variable}")
            values.append(value)
        results = self._function(*values)
        updated = [spec for spec in self._specs if _update(spec) is not None]
        for spec, value in zip(updated, results[-len(updated) :], strict=True):
            self.container[spec.variable].value = np.array(value)
        return results[0] if self._count is None else results[: -len(updated)]


def _with_states(specs: list[Any], outputs: Any, options: dict[str, Any]) -> StateFunction:
    listed = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    updates = [sw.graph.as_variable(x.update) for x in specs if _update(x) is not None]
    plain = [sw.In(x.variable, allow_downcast=x.allow_downcast, strict=x.strict) for x in specs]
    listed = [] if outputs is None else listed
    compiled = function(plain, [*listed, *updates], **options)
    return StateFunction(compiled, specs, [] if outputs is None else outputs)


def _input_of_tuple(x: Any) -> In:
    """The In for a tuple of an optional name, a variable or a pair of it and its update, and a value."""
    name = x[0] if isinstance(x[0], str) else None
    variable, *value = x[1:] if name is not None else x
    variable, update = variable if isinstance(variable, (tuple, list)) else (variable, None)
    return In(variable, name, value[0] if value else None, update)


def _input_spec(x: Any) -> Any:
    """`x`, a variable, an In or a tuple, as an In that the program may overwrite if it is copied to the
    GPU."""
    if isinstance(x, (tuple, list)) and x:
        x = _input_of_tuple(x)
    spec = x if isinstance(x, sw.In) else In(x)
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


@with_classes
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
    specs = [_input_spec(x) for x in inputs] if isinstance(inputs, (list, tuple)) else inputs
    if isinstance(specs, list) and any(_update(x) is not None for x in specs):
        names = ("mode", "updates", "givens", "name", "allow_input_downcast", "on_unused_input")
        values = (mode, updates, givens, name, allow_input_downcast, on_unused_input)
        return _with_states(specs, outputs, dict(zip(names, values, strict=True)))
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
        from ._view import watch

        watch(function)
    return function


def is_profiled(profile: Any, mode: Any) -> bool:
    """Whether the arguments, or else the flags, ask for a profile."""
    if mode == "ProfileMode":
        return True
    if profile is None:
        return bool(config.profile) or config.mode == "ProfileMode"
    return bool(profile)


_OWN_MODULES = (__name__, with_classes.__module__)


def _callers_name() -> str:
    """``script.py:12``, the line that calls function(): the name of a function without another."""
    frame: Any = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__") in _OWN_MODULES:
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


# ---- Methods of variables ----


_get_array = SharedVariable.get_value


class DTypeName(str):
    """The name of a dtype, as Theano's variables have it; the attributes are the dtype's."""

    _dtype: Any

    def __new__(cls, dtype: Any) -> DTypeName:
        name = super().__new__(cls, dtype)
        name._dtype = dtype
        return name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dtype, name)


def _get_value(self: Any, borrow: bool = False, return_internal_type: bool = False) -> Any:
    """The value as a NumPy array, or with `return_internal_type` as an array on the device."""
    value = _get_array(self, borrow=borrow)
    return as_theano(value) if return_internal_type else value.numpy()


def _text(self: Any) -> str:
    if self.name is not None:
        return self.name
    from ._view import type_of

    return f"<{type_of(self)}>"


_native_text = Variable.__str__


def _text_of_result(self: Any) -> str:
    """``Elemwise{add,no_inplace}.0``, or the name."""
    if self.owner is None or self.name is not None:
        return _native_text(self)
    from ._ops import describe

    return f"{describe(self.owner, False, devices.dialect)}.{self.index}"


def adapt_variables() -> None:
    """Gives ``get_value``, ``eval``, ``transfer``, ``trace`` and ``repr`` of Spanwise's variables the
    meaning that they have in Theano, for this process."""
    SharedVariable.get_value = _get_value
    SharedVariable.__repr__ = SharedVariable.__str__ = _text
    Variable.__repr__ = Variable.__str__ = _text_of_result
    Variable.eval = evaluate
    Variable.transfer = transfer
    Variable.trace = trace  # type: ignore[attr-defined]
    Variable.dtype = property(lambda self: DTypeName(self.type.dtype))
    Variable.broadcastable = property(lambda self: self.type.broadcastable)
