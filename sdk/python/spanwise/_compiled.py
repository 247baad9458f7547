# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``sw.function`` and what it takes and shows: ``In``, ``Out``, the graph of a compiled function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import _core
from ._core import Apply, CompiledFunction, GraphError, Variable


class In:
    """An input with more to say: a name to pass it by, a default value, how strict it is.

    `borrow` and `mutable` are permissions that a function may use or not, as in Theano.
    """

    def __init__(
        self,
        variable: Variable,
        name: str | None = None,
        value: Any = None,
        *,
        mutable: bool = False,
        borrow: bool | None = None,
        strict: bool = False,
        allow_downcast: bool | None = None,
    ) -> None:
        if not isinstance(variable, Variable):
            raise TypeError(f"In: expected a Variable, got {variable!r}")
        self.variable = variable
        self.name = name if name is not None else variable.name
        self.value = value
        self.mutable = mutable
        self.borrow = borrow
        self.strict = strict
        self.allow_downcast = allow_downcast

    def __repr__(self) -> str:
        return f"In({self.variable})"


class Out:
    """An output, and as which library's array it is wanted (`as_`: "numpy", "torch", "jax", ...).

    It shares memory with the computed array where the library can hold it, else it is a copy.
    """

    def __init__(self, variable: Any, borrow: bool = False, as_: str | None = None) -> None:
        self.variable = _core._as_variable(variable)
        self.borrow = borrow
        self.as_ = as_

    def __repr__(self) -> str:
        return f"Out({self.variable})"


class FunctionGraph:
    """The graph that a compiled function runs."""

    def __init__(self, inputs: list[Variable], outputs: list[Variable], nodes: list[Apply]) -> None:
        self.inputs = inputs
        self.outputs = outputs
        self._nodes = nodes

    def toposort(self) -> list[Apply]:
        """The nodes in the order in which they run."""
        return list(self._nodes)

    @property
    def apply_nodes(self) -> set[Apply]:
        return set(self._nodes)

    @property
    def variables(self) -> set[Variable]:
        found = {*self.inputs, *self.outputs}
        for node in self._nodes:
            found.update(node.inputs, node.outputs)
        return found

    def __repr__(self) -> str:
        return f"FunctionGraph({', '.join(map(str, self.outputs))})"


class Maker:
    """What ``f.maker`` is: ``f.maker.fgraph`` is the graph that runs."""

    def __init__(self, inputs: list[Variable], outputs: list[Variable], nodes: list[Apply]) -> None:
        self.fgraph = FunctionGraph(inputs, outputs, nodes)


def _as_in(given: Any, allow_downcast: bool | None) -> In:
    spec = given if isinstance(given, In) else In(given)
    if spec.allow_downcast is None and allow_downcast is not None:
        spec = In(
            spec.variable,
            spec.name,
            spec.value,
            mutable=spec.mutable,
            borrow=spec.borrow,
            strict=spec.strict,
            allow_downcast=allow_downcast,
        )
    return spec


def _outputs(outputs: Any) -> tuple[list[Out], bool, list[str] | None]:
    """The outputs as a list, whether there is just one, and their keys."""
    if outputs is None:
        return [], False, None
    if isinstance(outputs, Mapping):
        if not all(isinstance(key, str) for key in outputs):
            raise TypeError("function: the keys of a dict of outputs must be strings")
        keys = list(outputs)
        return [_as_out(outputs[key]) for key in keys], False, keys
    if isinstance(outputs, (list, tuple)):
        return [_as_out(output) for output in outputs], False, None
    return [_as_out(outputs)], True, None


def _as_out(output: Any) -> Out:
    return output if isinstance(output, Out) else Out(output)


def _givens(givens: Any) -> list[tuple[Variable, Variable]]:
    pairs = givens.items() if isinstance(givens, Mapping) else givens or ()
    return [(old, _core._as_variable(new)) for old, new in pairs]


def function(
    inputs: Sequence[Any],
    outputs: Any = None,
    *,
    updates: Any = None,
    givens: Any = None,
    mode: Any = None,
    profile: Any = None,
    name: str | None = None,
    on_unused_input: str | None = None,
    allow_input_downcast: bool | None = None,
    device: Any = None,
) -> CompiledFunction:
    """Compiles `outputs` (a variable, an Out, a list or a dict of them) as a function of `inputs`.

    The result is called with values of any library, by position or by the inputs' names. `givens`
    replaces variables of the graph by others; `on_unused_input` is "raise", "warn" or "ignore";
    `allow_input_downcast=True` lets inputs lose precision. It runs on `device`, by default the default
    device at this moment.
    """
    for option, value in {"updates": updates, "mode": mode, "profile": profile}.items():
        if value:
            raise GraphError(
                f"function: {option}= is not supported by this version; supported are givens, name, "
                "on_unused_input, allow_input_downcast and device"
            )
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(
            f"function: inputs must be a list or a tuple of variables, got {inputs!r}; write [{inputs!r}]"
        )
    ins = [_as_in(given, allow_input_downcast) for given in inputs]
    outs, single, keys = _outputs(outputs)
    return _core._compile(
        ins,
        [out.variable for out in outs],
        [out.as_ for out in outs],
        single,
        keys,
        _givens(givens),
        name or "",
        on_unused_input or "raise",
        device,
    )
