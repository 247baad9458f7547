# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Lists and dicts that change while they are read, by code of their items or by another thread."""

import ctypes
import gc
import threading

import numpy as np
import pytest

import spanwise as sw


class Clears:
    """An array that empties a container when it is asked for its values."""

    def __init__(self, container):
        self.container = container

    def __array__(self, dtype=None, copy=None):
        self.container.clear()
        gc.collect()
        return np.ones(3, dtype)


class Index:
    """An integer that empties a list when it is asked for its value."""

    def __init__(self, container, value):
        self.container, self.value = container, value

    def __index__(self):
        self.container.clear()
        gc.collect()
        return self.value


@pytest.mark.parametrize("join", [sw.concatenate, sw.stack], ids=["concatenate", "stack"])
def test_list_emptied_by_an_item_is_joined_unchanged(join):
    items = []
    items += [Clears(items), *(np.full(3, i) for i in range(50)), [4, 4, 4]]
    expected = [np.ones(3), *(np.full(3, i) for i in range(50)), [4, 4, 4]]
    joined = getattr(np, join.__name__)(expected)
    assert np.array_equal(join(items).numpy(), joined)
    assert items == []


def test_list_changed_by_an_item_is_joined_unchanged():
    items = []

    class Replaces:
        def __array__(self, dtype=None, copy=None):
            items[1] = [7, 7]  # a list where an array was
            return np.ones(2)

    items += [Replaces(), np.zeros(2)]
    assert sw.concatenate(items).tolist() == [1, 1, 0, 0]


def test_lists_that_another_thread_changes_are_joined():
    items = [np.ones(2) for _ in range(64)]
    done = threading.Event()

    def change():
        while not done.is_set():
            items.clear()
            items.extend(np.ones(2) for _ in range(64))

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(300):
            try:
                assert sw.concatenate(items).sum() % 2 == 0
            except sw.ArgumentError as error:  # the list was empty
                assert "need at least one array" in str(error)
    finally:
        done.set()
        thread.join()


def test_list_emptied_by_the_allocator_gives_an_empty_array():
    values = [float(i) for i in range(100_000)]

    class Memory:
        def __init__(self, size):
            self.buffer = ctypes.create_string_buffer(size)
            self.ptr = ctypes.addressof(self.buffer)

    def allocate(device, size, stream):
        values.clear()
        gc.collect()
        return Memory(size)

    with sw.memory.use_allocator(allocate, "cpu"):
        assert sw.array(values, device="cpu").size == 0


def test_nested_lists_that_an_item_empties_raise():
    items = []
    items += [Clears(items), *(np.full(3, i) for i in range(50))]
    with pytest.raises(sw.ArgumentError, match="changed while it was read"):
        sw.asarray(items, device="cpu")


def test_interface_shape_emptied_while_it_is_read_is_used_unchanged():
    class Interface:
        def __init__(self):
            shape = []
            shape += [Index(shape, 2), *(Index(shape, 1) for _ in range(3))]
            values = np.arange(2.0)
            self.values = values
            self.__array_interface__ = {
                "version": 3,
                "typestr": "<f8",
                "shape": shape,
                "data": (values.ctypes.data, False),
            }

    assert sw.asarray(Interface(), device="cpu").shape == (2, 1, 1, 1)


def test_view_map_emptied_while_it_is_read_is_used_unchanged():
    views = {}

    class Op(sw.Op):
        view_map = views

        def make_node(self, x):
            return sw.Apply(self, [x], [x.type()])

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0]

    views.update({i: [Index(views, 0)] for i in range(50)})
    x = sw.tensor.fvector("x")
    assert sw.function([x], Op()(x) + 1, device="cpu")([1.0]).tolist() == [2]


def test_kernel_op_scalar_that_empties_its_dict_raises():
    scalars = {}
    scalars["a"] = Clears(scalars)
    scalars.update({f"unused{i}": 1.0 for i in range(50)})
    with pytest.raises(sw.ArgumentError, match="scalar a: expected a number"):
        sw.kernel_op(
            "scaled",
            "__global__ void scaled(const float *x, float *y, float a, int n) {}",
            inputs=["x: contiguous float32[n]"],
            outputs=["y: contiguous float32[n]"],
            arguments=["x", "y", "a", "n"],
            scalars=scalars,
        )
