# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Ops in Python: the base class of user-defined ops, the wrapper of C++ ops, ``as_op``, and how the
extension module reads the methods of an op.

The interface is that of Theano (theano/gof/op.py); Theano's documentation of ops applies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import _core
from .._core import Apply, GraphError, TensorType, Variable
from ._traversal import as_list


class Op:
    """Base class of ops. A subclass defines ``make_node`` and one of ``make_thunk`` and
    ``perform``.

    ``__props__``, a tuple of attribute names, generates ``__eq__``, ``__hash__`` and ``__str__``.
    ``view_map`` and ``destroy_map`` map the index of an output to the indices of the inputs that it
    may be a view of, or that it overwrites: ``{output: [input]}``. ``state_map``, ``{output: input}``,
    names outputs that are the next value of a state, such as that of a random stream: where the input
    is a shared variable with a `default_update`, a function gives each node that advances it the value
    left by the one before, and updates it with the last. An op must not change after its first use.
    """

    view_map: Mapping[int, Sequence[int]] = {}
    destroy_map: Mapping[int, Sequence[int]] = {}
    state_map: Mapping[int, int] = {}
    default_output: int | None = None
    #: Whether a call without variables, on arrays of any library, computes; False: it makes a node too.
    eager: bool = True
    itypes: Sequence[TensorType] | None = None
    otypes: Sequence[TensorType] | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__props__" not in cls.__dict__:
            return
        for name, method in _PROPS_METHODS.items():
            if name not in cls.__dict__:
                setattr(cls, name, method)

    def make_node(self, *inputs: Any, **kwargs: Any) -> Apply:
        """A new Apply node of the op. The default implementation checks the inputs against
        ``itypes`` and makes outputs of ``otypes``; it raises GraphError where they do not match."""
        if self.itypes is None or self.otypes is None:
            raise NotImplementedError(
                f"{self}: expected a method make_node(self, *inputs) that returns an Apply, or itypes and otypes"
            )
        if kwargs:
            raise TypeError(f"{self}: expected no keywords, got {', '.join(kwargs)}")
        if len(inputs) != len(self.itypes):
            raise GraphError(f"{self}: expected {len(self.itypes)} inputs, got {len(inputs)}")
        variables = [_core._as_variable(value) for value in inputs]
        for i, (variable, itype) in enumerate(zip(variables, self.itypes, strict=True)):
            if variable.type != itype:
                raise GraphError(f"{self}: input {i} must be of {itype}, got {variable.type}")
        return Apply(self, variables, [otype() for otype in self.otypes])

    def perform(self, node: Apply, inputs: list[Any], output_storage: list[Any], /) -> None:
        """Computes the outputs from the arrays `inputs` and stores them in
        ``output_storage[i][0]``.

        That element is None or an array of an earlier call, of the right dtype and rank but of any
        shape, which may be reused.
        """
        raise NotImplementedError(
            f"{self}: expected a method perform(self, node, inputs, output_storage), or make_thunk"
        )

    def make_thunk(
        self,
        node: Apply,
        storage_map: Mapping[Variable, Any],
        compute_map: Mapping[Variable, Any],
        no_recycling: Sequence[Variable],
        impl: str | None = None,
    ) -> Callable[[], Any]:
        """A callable without arguments that computes the node: it reads and writes the storage
        cells (lists of one element) of `storage_map`."""
        inputs = [storage_map[variable] for variable in node.inputs]
        outputs = [storage_map[variable] for variable in node.outputs]
        perform = self.perform

        def thunk() -> None:
            perform(node, [cell[0] for cell in inputs], outputs)

        return thunk

    def do_constant_folding(self, node: Apply) -> bool:
        """Whether a node whose inputs are all constants may be evaluated at compile time. False for an
        op that has an effect, such as printing, or gives another result at each evaluation: its nodes
        are not merged, and run in each step of a loop."""
        return True

    def __call__(self, *inputs: Any, return_list: bool = False, **kwargs: Any) -> Any:
        """The outputs of a new node, or only ``default_output``: a single variable, or a list of
        several. `return_list` always gives a list.

        Without a variable among the inputs, and with no other arguments, the op computes at once: the
        outputs are new arrays of Spanwise, on the device of the first array on a GPU, else of the first.
        """
        if self.eager and not kwargs and is_eager(inputs):
            return _call_on_arrays(self, inputs, return_list)
        node = self.make_node(*inputs, **kwargs)
        if not isinstance(node, Apply):
            raise GraphError(f"{self}: make_node must return an Apply, got {node!r}")
        outputs = node.outputs
        if self.default_output is not None:
            outputs = [outputs[self.default_output]]
        return outputs[0] if len(outputs) == 1 and not return_list else outputs

    def __str__(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        return str(self)

    def _props(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in getattr(self, "__props__", ()))

    def _props_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in getattr(self, "__props__", ())}


def is_eager(inputs: Sequence[Any]) -> bool:
    """Whether a call on `inputs` computes at once: at least one input, and none a Variable."""
    for x in inputs:  # faster than any() with a generator
        if isinstance(x, Variable):
            return False
    return len(inputs) > 0


#: compute_op() of the module _function, which imports this one.
compute_on_arrays: Any = None


def _call_on_arrays(op: Op, inputs: Sequence[Any], return_list: bool) -> Any:
    results = compute_on_arrays(op, inputs, {})
    return [results] if return_list and not isinstance(results, list) else results


def _memory_maps(op: Op) -> tuple[Any, Any]:
    return dict(op.view_map or {}), dict(op.destroy_map or {})


def _props_eq(self: Op, other: object) -> bool:
    if type(self) is not type(other):
        return False
    assert isinstance(other, Op)
    return self._props() == other._props() and _memory_maps(self) == _memory_maps(other)


def _props_hash(self: Op) -> int:
    return hash((type(self), self._props()))


def _props_str(self: Op) -> str:
    shown = ", ".join(f"{name}={value!r}" for name, value in self._props_dict().items())
    return f"{type(self).__name__}{{{shown}}}" if shown else type(self).__name__


_PROPS_METHODS = {"__eq__": _props_eq, "__hash__": _props_hash, "__str__": _props_str}


def thunk_of(
    compute: Callable[..., Sequence[Any]], node: Apply, storage_map: Mapping[Variable, Any]
) -> Callable[[], None]:
    """A thunk that stores the results of `compute`, a list, for the values of the inputs."""
    inputs = [storage_map[x] for x in node.inputs]
    outputs = [storage_map[y] for y in node.outputs]

    def thunk() -> None:
        for cell, result in zip(outputs, compute(*[cell[0] for cell in inputs]), strict=True):
            cell[0] = result

    return thunk


#: The namespace of each library that sw.load_ops has loaded -> its path.
library_paths: dict[str, str] = {}


class NativeOp(Op):
    """A C++ op, as returned by ``sw.ops``, ``kernel_op`` and ``node.op``."""

    eager = False

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    @property
    def recipe(self) -> tuple[str, dict[str, Any]] | None:
        """The (name, properties) of a registered op; None for an op that is not registered."""
        return self._handle.recipe

    @property
    def view_map(self) -> Mapping[int, Sequence[int]]:  # type: ignore[override]
        return self._handle.view_map

    @property
    def destroy_map(self) -> Mapping[int, Sequence[int]]:  # type: ignore[override]
        return self._handle.destroy_map

    def make_node(self, *inputs: Any) -> Apply:
        return self._handle.make_node([_core._as_variable(value) for value in inputs])

    def make_thunk(self, node, storage_map, compute_map, no_recycling, impl=None):  # type: ignore[no-untyped-def]
        raise GraphError(
            f"{self}: a C++ op makes its thunk when a function is compiled, not from Python"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NativeOp) and self._handle.equals(other._handle)

    def __hash__(self) -> int:
        return self._handle.hash()

    def __str__(self) -> str:
        return self._handle.name

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the declaration of kernel_op or the registered name and properties. Raises GraphError
        for other ops."""
        declaration = self._handle.declaration
        if declaration is not None:
            is_element = "element_inputs" in declaration
            return _core._element_op if is_element else _core._kernel_op, (declaration,)
        if self.recipe is None:
            raise GraphError(
                f"{self}: cannot be pickled, since the op has no registered name; register it with "
                "register_op and make it by its name, sw.ops.<name>"
            )
        name, properties = self.recipe
        return _load_op, (name, properties, library_paths.get(name.rpartition(".")[0]))


def recipe_of(op: Any) -> tuple[str, dict[str, Any]]:
    """The (name, properties) of a registered C++ op; ("", {}) for anything else."""
    return (isinstance(op, NativeOp) and op.recipe) or ("", {})


def apply_registered(name: str, /, *inputs: Any, **properties: Any) -> Any:
    """Applies the registered op `name` with `properties` to `inputs`; returns its outputs."""
    return NativeOp(_core._make_op(name, properties))(*inputs)


def _load_op(name: str, properties: dict[str, Any], library: str | None = None) -> Any:
    if library is not None and name not in _core._op_names():
        _core._load_ops(library)
    if "device" in properties:
        properties = {**properties, "device": present_device(properties["device"])}
    return NativeOp(_core._make_op(name, properties))


def present_device(device: str | None) -> str | None:
    """`device` if it exists, else "cpu"."""
    if device is None or device.startswith("cpu"):
        return device
    return device if any(str(present) == device for present in _core.devices()) else "cpu"


# ---- Ops from Python functions (theano/compile/ops.py) ----


class FromFunctionOp(Op):
    """The op of as_op()."""

    __props__ = ("function",)

    def __init__(
        self,
        function: Callable[..., Any],
        itypes: Sequence[TensorType],
        otypes: Sequence[TensorType],
        grad: Callable[[list[Variable], list[Any]], Sequence[Any]] | None,
        infer_shape: Callable[[Apply, list[Any]], Sequence[Any]] | None,
    ) -> None:
        self.function = function
        self.itypes, self.otypes = list(itypes), list(otypes)
        if grad is not None:
            self.grad = grad
        if infer_shape is not None:
            self.infer_shape = infer_shape
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__

    def perform(self, node: Apply, inputs: list[Any], output_storage: list[Any]) -> None:
        results = self.function(*inputs)
        if len(output_storage) == 1:
            results = [results]
        if len(results) != len(output_storage):
            raise GraphError(f"{self}: expected {len(output_storage)} results, got {len(results)}")
        for cell, result in zip(output_storage, results, strict=True):
            cell[0] = result

    def __str__(self) -> str:
        return f"FromFunctionOp{{{self.__name__}}}"


def as_op(
    itypes: Any,
    otypes: Any,
    grad: Callable[[list[Variable], list[Any]], Sequence[Any]] | None = None,
    infer_shape: Callable[[Apply, list[Any]], Sequence[Any]] | None = None,
) -> Callable[[Callable[..., Any]], FromFunctionOp]:
    """Decorates a function of arrays; the result is an op that calls it.

    `itypes` and `otypes` are the types of the inputs and outputs, one or a list; T.fvector stands for
    the type of its variables. The function gets Spanwise arrays, which it must not change, and
    returns one array of any library for each output.
    ``grad(inputs, output_gradients)`` gives the derivatives as a method `grad` of an Op does, and
    ``infer_shape(node, input_shapes)`` the shapes.
    """

    def decorate(function: Callable[..., Any]) -> FromFunctionOp:
        return FromFunctionOp(function, _types(itypes), _types(otypes), grad, infer_shape)

    return decorate


def _types(types: Any) -> list[TensorType]:
    return [_type(x) for x in as_list(types)]


def _type(x: Any) -> TensorType:
    if isinstance(x, TensorType):
        return x
    variable = x() if callable(x) else None
    if not isinstance(variable, Variable):
        raise TypeError(f"as_op: expected types such as T.fvector, got {x!r}")
    return variable.type


# ---- The method infer_shape and the attribute element_body, for the extension module ----


def extent_source(op: Any, node: Apply, output: int, axis: int) -> tuple[int, int] | None:
    """(input, axis) of the extent that ``op.infer_shape(node, input_shapes)`` gives for an axis of an
    output; None where that is not the extent of an input.

    infer_shape gets a tuple of variables for each input and returns a tuple of extents for each
    output. Raises GraphError where it returns anything else.
    """
    shapes = [tuple(x.shape[i] for i in range(x.ndim)) for x in node.inputs]
    extent = _inferred_extents(op, node, output, shapes)[axis]
    for i, shape in enumerate(shapes):
        for k, of_input in enumerate(shape):
            if extent is of_input:
                return i, k
    return None


def inferred_extent(op: Any, node: Apply, output: int, axis: int) -> Variable | None:
    """The extent that infer_shape gives for an axis, int64, from extents of the inputs that are
    themselves inferred; None where infer_shape gives None."""
    shapes = [tuple(_core._inferred_extent(x, i) for i in range(x.ndim)) for x in node.inputs]
    extent = _inferred_extents(op, node, output, shapes)[axis]
    return None if extent is None else _core._as_variable(extent).astype("int64")


def _inferred_extents(op: Any, node: Apply, output: int, shapes: list[Any]) -> Sequence[Any]:
    """The extents of an output by infer_shape, checked."""
    result = op.infer_shape(node, shapes)
    if not isinstance(result, (list, tuple)) or len(result) != len(node.outputs):
        raise GraphError(
            f"{op}: infer_shape must return a tuple of extents for each output, got {result!r}"
        )
    extents = tuple(result[output])
    if len(extents) != node.outputs[output].ndim:
        raise GraphError(
            f"{op}: infer_shape gives {len(extents)} extents for output {output} of {node.outputs[output].type}"
        )
    return extents


_Dtypes = list[tuple[str, str]]  # (name of a parameter or letter, dtype)


def element_body_of(op: Any, node: Apply) -> tuple[str, _Dtypes, _Dtypes, str, str, _Dtypes] | None:
    """(name, inputs, outputs, operation, preamble, letters) of the attribute ``element_body`` of the
    Python op `op`; letters are those that stand for a dtype, such as T. None where the attribute is
    None. Raises GraphError where it does not fit `node`."""
    body = op.element_body
    if body is None:
        return None
    if not isinstance(body, (list, tuple)) or len(body) not in (3, 4):
        raise GraphError(
            f"{op}: element_body must be (inputs, outputs, operation) or with a preamble, "
            f'as ("T x, T y", "T z", "z = x * y"), got {body!r}'
        )
    inputs, outputs, operation, preamble = [*body, ""][:4]
    inputs, outputs, operation = _core._element_parameters(
        str(op), inputs, outputs, operation, preamble
    )
    if len(inputs) != len(node.inputs) or len(outputs) != len(node.outputs):
        raise GraphError(
            f"{op}: element_body has {len(inputs)} inputs and {len(outputs)} outputs, and the node "
            f"{len(node.inputs)} and {len(node.outputs)}"
        )
    letters: dict[str, str] = {}
    dtypes: list[_Dtypes] = []
    for parameters, variables in ((inputs, node.inputs), (outputs, node.outputs)):
        dtypes.append([])
        for (name, letter, dtype), variable in zip(parameters, variables, strict=True):
            if dtype is None:
                dtype = letters.setdefault(letter, str(variable.dtype))
            dtypes[-1].append((name, dtype))
    of_letters = list(letters.items())
    return type(op).__name__, dtypes[0], dtypes[1], operation, preamble, of_letters
