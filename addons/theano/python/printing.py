# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.printing``: graphs as text and as pictures."""

from __future__ import annotations

from functools import wraps
from itertools import islice
from pathlib import Path
from typing import Any

from spanwise import printing as _printing
from spanwise.graph import Apply, FunctionGraph, Variable, as_variable

from ._function import Function
from ._ops import Op
from ._view import ViewVariable, of_variables

__all__ = ["Print", "debugprint", "pp", "pprint", "pydotprint"]


class Print(Op):
    """``Print("x")(x)`` is x, and prints the message and the attributes `attrs` of its value at each
    call."""

    view_map = {0: [0]}
    __props__ = ("message", "attrs")

    def __init__(self, message: str = "", attrs: Any = ("__str__",)) -> None:
        self.message, self.attrs = message, tuple(attrs)

    def make_node(self, x: Any) -> Apply:
        x = as_variable(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0]
        for name in self.attrs:
            shown = getattr(inputs[0], name)
            print(self.message, name, "=", shown() if callable(shown) else shown)

    def grad(self, inputs: Any, output_gradients: Any) -> Any:
        return output_gradients

    def do_constant_folding(self, node: Any) -> bool:
        return False


def _with_views(things: list[Any]) -> list[Any]:
    """`things` with views of the graphs of variables, nodes and functions. Variables that are not
    compiled are in one view, so that a node that several of them read has one id."""
    roots = [list(getattr(t, "outputs", [t])) for t in things if isinstance(t, (Variable, Apply))]
    outputs = iter(of_variables([v for variables in roots for v in variables]).outputs)
    counts = iter(map(len, roots))
    return [
        FunctionGraph([], [thing], [])  # type: ignore[list-item]
        if isinstance(thing, ViewVariable)
        else FunctionGraph([], list(islice(outputs, next(counts))), [])
        if isinstance(thing, (Variable, Apply))
        else thing.maker.fgraph
        if isinstance(thing, Function)
        else thing
        for thing in things
    ]


@wraps(_printing.debugprint, assigned=())  # for its signature
def debugprint(obj: Any, *args: Any, **kwargs: Any) -> Any:
    """Prints the graph of a variable, an Apply, a function or a list of them, as
    ``spanwise.printing.debugprint`` does, with Theano's names of ops and types."""
    things = obj if isinstance(obj, (list, tuple, set)) else [obj]
    return _printing.debugprint(_with_views(list(things)), *args, **kwargs)


_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "true_div": "/", "int_div": "//", "mod": "%", "pow": "**",
    "dot": "\\dot", "Dot22": "\\dot",
}  # fmt: skip


def pp(*variables: Any) -> str:
    """The expressions of variables on one line: ``(exp(x) + y)``."""
    return ", ".join(map(_expression, variables))


pprint = pp


def _expression(variable: Any) -> str:
    if not isinstance(variable, ViewVariable):
        variable = of_variables([variable]).outputs[0]
    owner: Any = variable.owner
    if owner is None:
        return str(variable)
    name = str(owner.op)
    name = name.removeprefix("Elemwise{").removesuffix("}").removesuffix(",no_inplace")
    parts = [_expression(x) for x in owner.inputs]
    if "DimShuffle" in name and variable.name is None:
        return parts[0]
    if name in _SIGNS:
        return f"({f' {_SIGNS[name]} '.join(parts)})"
    return f"(-{parts[0]})" if name == "neg" else f"{name}({', '.join(parts)})"


def pydotprint(fct: Any, outfile: Any = "pydotprint.svg", **options: Any) -> Any:
    """Draws a graph into the file `outfile`, and prints its name; see ``spanwise.printing.graph``. Other
    options of Theano's have no effect."""
    del options
    path = _printing.graph(fct.compiled if isinstance(fct, Function) else fct, outfile)
    print(f"The output file is available at {outfile if path == Path(outfile) else path}")
