# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Names that only modules of _old_paths.py have."""

from __future__ import annotations

import unittest
from collections import OrderedDict
from typing import Any

import numpy as np

import spanwise as sw
from spanwise.graph import (
    Apply as Apply,
    Constant as Constant,
    FunctionGraph as FunctionGraph,
    TensorType,
    Variable as Variable,
    ancestors as ancestors,
    rewrite,
)
from spanwise.tensor import verify_grad as verify_grad

from ._function import Mode, function
from ._namespace import clone as clone
from ._ops import Op as Op

# ---- theano.gof ----


def io_toposort(inputs: list[Variable], outputs: list[Variable]) -> list[Apply]:
    """The nodes from `inputs` to `outputs`, each after those that it reads."""
    return list(ancestors(outputs, inputs))


def list_of_nodes(inputs: list[Variable], outputs: list[Variable]) -> list[Apply]:
    """As io_toposort()."""
    return io_toposort(inputs, outputs)


def equal_computations(xs: Any, ys: Any, in_xs: Any = None, in_ys: Any = None) -> bool:
    """Whether `xs` and `ys` are the same computations, of the same variables or of `in_xs` and `in_ys`."""
    pairs = dict(zip(in_xs or (), in_ys or (), strict=True))
    known: dict[Any, Any] = {}

    def equal(x: Any, y: Any) -> bool:
        if x is y or pairs.get(x) is y:
            return True
        if not isinstance(x, Variable) or not isinstance(y, Variable):
            return x == y
        if x.type != y.type or (x.owner is None) != (y.owner is None):
            return False
        if x.owner is None or y.owner is None:
            if not isinstance(x, Constant) or not isinstance(y, Constant):
                return False
            return np.array_equal(x.value.numpy(), y.value.numpy(), equal_nan=True)
        key = x.owner, y.owner
        if key not in known:
            same = x.owner.op == y.owner.op and len(x.owner.inputs) == len(y.owner.inputs)
            known[key] = same and all(map(equal, x.owner.inputs, y.owner.inputs))
        return known[key] and x.index == y.index

    return len(xs) == len(ys) and all(map(equal, xs, ys))


def is_same_graph(var1: Any, var2: Any, givens: Any = None, debug: bool = False) -> bool:
    """Whether the variables are the same computations; `givens` replace variables of both."""
    if givens:
        var1, var2 = clone([var1, var2], givens)
    return equal_computations([var1], [var2])


def view_op(x: Any) -> Variable:
    """`x`: nodes of Spanwise share memory without an op for it."""
    return sw.tensor.as_variable(x)


def deep_copy_op(x: Any) -> Variable:
    """A copy of `x`."""
    return sw.tensor.as_variable(x) + 0


class _Types(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TensorType)

    def __call__(cls, *args: Any, **named: Any) -> Any:
        return TensorType(*args, **named)


class Type(metaclass=_Types):
    """The class of types. Scripts cannot derive one: variables of graphs are arrays."""

    def __init_subclass__(cls, **options: Any) -> None:
        raise sw.NotSupportedError(
            f"{cls.__name__}(gof.Type): variables of a graph are arrays; keep another value outside of the "
            "graph, or in an attribute of an op"
        )


class COp(Op):
    """Base class of ops whose C code is in a file. They are refused when a function is compiled, unless
    they have a method perform()."""

    def __init__(self, func_files: Any = (), func_name: Any = None) -> None:
        self.func_files, self.func_name = func_files, func_name

    def c_code(self, *args: Any) -> str:
        raise NotImplementedError


# ---- theano.gof.opt, theano.gof.toolbox, theano.compile.mode.optdb ----


def local_optimizer(tracks: Any = None, inplace: bool = False, requirements: Any = ()) -> Any:
    """A decorator of functions that replace a node; `tracks` are the ops or classes of ops of which they
    get the nodes. It is part of no function until it is registered."""

    def decorate(function: Any) -> Any:
        def transform(node: Any) -> Any:
            kinds = tuple(op for op in tracks or () if isinstance(op, type))
            is_tracked = tracks is None or isinstance(node.op, kinds) or node.op in list(tracks)
            return function(node) if is_tracked else None

        transform.__name__, transform.__doc__ = function.__name__, function.__doc__
        transform.transform = transform  # type: ignore[attr-defined]
        return transform

    return decorate


class Feature:
    """Base class of observers of graphs, whose methods are not called: graphs of Spanwise do not
    change."""

    def on_attach(self, fgraph: Any) -> None: ...
    def on_detach(self, fgraph: Any) -> None: ...
    def on_import(self, fgraph: Any, node: Any, reason: Any) -> None: ...
    def on_prune(self, fgraph: Any, node: Any, reason: Any) -> None: ...
    def on_change_input(
        self, fgraph: Any, node: Any, i: int, r: Any, new_r: Any, reason: Any = None
    ) -> None: ...
    def orderings(self, fgraph: Any) -> Any:
        return OrderedDict()


class Optimizer:
    """Base class of optimizers of whole graphs. They are refused when they are registered."""

    def add_requirements(self, fgraph: Any) -> None: ...

    def apply(self, fgraph: Any) -> None:
        raise NotImplementedError

    def optimize(self, fgraph: Any, *args: Any, **named: Any) -> Any:
        self.add_requirements(fgraph)
        return self.apply(fgraph)


class LocalOptimizer:
    """Base class of optimizers with ``transform(self, node)``."""

    def tracks(self) -> Any:
        return None

    def transform(self, node: Any) -> Any:
        raise NotImplementedError

    def __call__(self, node: Any) -> Any:
        return local_optimizer(self.tracks())(self.transform)(node)


def in2out(*local_optimizers: Any, name: Any = None, **options: Any) -> Any:
    """The optimizers one after the other, each node by the first one that replaces it."""

    def transform(node: Any) -> Any:
        results = (optimizer(node) for optimizer in local_optimizers)
        return next((result for result in results if result not in (None, False)), None)

    transform.__name__ = name or "_".join(
        getattr(each, "__name__", type(each).__name__) for each in local_optimizers
    )
    return transform


out2in = in2out


def _register(position: float, tags: tuple[str, ...]) -> Any:
    """``register_specialize`` and the like: decorators of local optimizers, with further tags or a name."""

    def register(optimizer: Any, *more: Any, name: Any = None, **options: Any) -> Any:
        if isinstance(optimizer, str):  # register_specialize("tag")
            return lambda inner: register(inner, optimizer, *more, name=name)
        if isinstance(optimizer, Optimizer) or not callable(optimizer):
            raise sw.NotSupportedError(
                f"{optimizer}: optimizers of whole graphs are not available; write a local optimizer, which "
                "replaces one node at a time (spanwise.graph.rewrite)"
            )
        called = name or getattr(optimizer, "__name__", type(optimizer).__name__)
        rewrite(called, position, tags=tags)(optimizer)
        return optimizer

    return register


register_canonicalize = _register(4.0, ("fast_run", "fast_compile"))
register_stabilize = _register(5.5, ("fast_run", "fast_compile", "stabilize"))
register_specialize = register_useless = register_uncanonicalize = _register(15.0, ("fast_run",))


class _Database:
    """``theano.compile.optdb``"""

    def register(
        self, name: str, optimizer: Any, position: Any = 15, *tags: str, **options: Any
    ) -> None:
        """Registers a local optimizer; positions of Theano below 50 are before the fusion here too."""
        chosen = tuple(tag for tag in tags if tag in ("fast_run", "fast_compile", "stabilize"))
        place = min(float(position), 79.0) if isinstance(position, (int, float)) else 15.0
        _register(place, chosen or ("fast_run",))(optimizer, name=name)


optdb = _Database()


FAST_RUN, FAST_COMPILE = Mode(), Mode(optimizer="fast_compile")
predefined_modes = {"FAST_RUN": FAST_RUN, "FAST_COMPILE": FAST_COMPILE}


class DebugMode(Mode):
    """``theano.compile.debugmode.DebugMode``; its arguments have no effect."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__()
        self.name = "debug"


# ---- theano.updates ----


class OrderedUpdates(OrderedDict[Any, Any]):
    """A dict of updates."""


# ---- theano.tests.unittest_tools ----


class InferShapeTester(unittest.TestCase):
    """The base class of tests of ops: `_compile_and_check` compares the shapes that a function computes
    with those of its outputs."""

    def setUp(self) -> None:
        seed_rng()

    def _compile_and_check(
        self, inputs: Any, outputs: Any, numeric_inputs: Any, cls: Any, **options: Any
    ) -> None:
        shapes = function(inputs, [x.shape for x in outputs], on_unused_input="ignore")
        results = function(inputs, outputs, on_unused_input="ignore")(*numeric_inputs)
        for shape, result in zip(shapes(*numeric_inputs), results, strict=True):
            assert tuple(shape) == np.shape(result), (tuple(shape), np.shape(result))


def assert_allclose(expected: Any, value: Any, rtol: float = 1e-5, atol: float = 1e-8) -> None:
    np.testing.assert_allclose(value, expected, rtol, atol)


def fetch_seed(seed: int | None = None) -> int:
    return 666 if seed is None else seed


def seed_rng(seed: int | None = None) -> int:
    np.random.seed(fetch_seed(seed))
    return fetch_seed(seed)


# ---- theano.gpuarray.dnn ----


def dnn_present() -> bool:
    """False: convolutions of theano.tensor.nnet run on a GPU without cuDNN."""
    return False


dnn_present.msg = "cuDNN is not used; theano.tensor.nnet.conv2d runs on the GPU without it"  # type: ignore[attr-defined]
dnn_available = dnn_present
