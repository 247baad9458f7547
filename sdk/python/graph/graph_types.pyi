# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
# ruff: noqa
"""The types that the signatures of graphs lack; see ../core_types.pyi."""

class TensorType:
    def __init__(self, shape: Sequence[int | bool | None]): ...
    broadcastable: tuple[bool, ...]
    shape: tuple[int | None, ...]

class Variable:
    T = mT = shape = size = Variable
    broadcastable = tuple[bool, ...]
    dtype = _DType
    index = int | None
    name: str | None = ...
    ndim = int
    owner = Apply | None
    tag = SimpleNamespace
    type = TensorType
    def clone(self, name: str | None = None, /) -> Variable: ...
    def __array__(self) -> NoReturn: ...
    def __array_function__(
        self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any], /
    ) -> Any: ...
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any: ...
    def __getitem__(self, key: Any): ...
    eval = __eq__ = __ne__ = Any
    __bool__ = NoReturn
    __iter__ = Iterator[Variable]
    __divmod__ = __rdivmod__ = tuple[Variable, Variable]

class Constant:
    data = value = Array

class SharedVariable:
    default_update: Variable | None = ...
    device: device
    value: NoReturn
    def set_value(self, value: Any) -> None: ...
    get_value = Array

class Apply:
    op: Op
    tag: SimpleNamespace
    def clone_with_new_inputs(self, inputs: Sequence[Variable]): ...

@final
class CompiledFunction:
    device = _Device
    maker = Maker
    mode = name = str
    profile = Profile | None
    trust_input: bool = ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def copy(self, mode: Any) -> CompiledFunction: ...
    def free(self) -> None: ...
    def _profile_data(self) -> tuple[int, float, float, list[tuple[Apply, int, float, int]]]: ...
    def _profile_spans(self) -> list[tuple[int, float, float]]: ...

def _make_op(arg1: dict[str, Any]) -> Any: ...

_rewrites = list[tuple[str, float, list[str]]]
_gradients = list[Variable | None]
_shared = SharedVariable

def _compile(
    arg0: list[Any], arg11: tuple[Any, ...], arg15: dict[str, Any]
) -> CompiledFunction: ...
def _kernel_op(arg0: dict[str, Any]) -> KernelOp: ...
