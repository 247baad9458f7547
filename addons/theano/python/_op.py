# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.Op``: ops of scripts, whose thunks and ``perform`` get the arrays that Theano gave
them."""

from __future__ import annotations

import functools
from typing import Any

import spanwise as sw

from ._device_array import unwrap
from ._gpu_array import as_theano


class _Cell(list[Any]):
    """A cell of one element, read as NumPy array or device array and written as spanwise.Array."""

    def __init__(self, cell: Any) -> None:
        self._cell = cell
        self._read: tuple[Any, Any] = (None, None)

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Any:
        return iter([self[0]])

    def __getitem__(self, index: Any) -> Any:
        value = self._cell[index]
        if not isinstance(value, sw.Array):
            return value
        if self._read[0] is not value:
            self._read = (value, as_theano(value))
        return self._read[1]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._cell[index] = unwrap(value)


class _Storage(dict[Any, Any]):
    """The storage map of a node, with cells as Theano had them."""

    def __init__(self, storage: Any, node: Any) -> None:
        super().__init__((v, _Cell(storage[v])) for v in (*node.inputs, *node.outputs))
        self._storage = storage

    def __missing__(self, variable: Any) -> Any:
        return _Cell(self._storage[variable])


def _adapted_thunk(make_thunk: Any) -> Any:
    @functools.wraps(make_thunk)
    def adapted(self: Any, node: Any, storage_map: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(storage_map, _Storage):
            storage_map = _Storage(storage_map, node)
        return make_thunk(self, node, storage_map, *args, **kwargs)

    return adapted


def _adapted_perform(perform: Any) -> Any:
    @functools.wraps(perform)
    def adapted(self: Any, node: Any, inputs: Any, output_storage: Any, *args: Any) -> Any:
        cells = [cell if isinstance(cell, _Cell) else _Cell(cell) for cell in output_storage]
        return perform(self, node, [as_theano(x) for x in inputs], cells, *args)

    return adapted


class Op(sw.Op):
    """Base class of ops, as in Theano. A subclass defines ``make_node`` and one of ``make_thunk``
    and ``perform``; inputs on the host are NumPy arrays there, and those on the GPU CudaNdarray or
    GpuArray."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, adapt in (("make_thunk", _adapted_thunk), ("perform", _adapted_perform)):
            if name in cls.__dict__:
                setattr(cls, name, adapt(cls.__dict__[name]))
