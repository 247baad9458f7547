# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A typed program for test_stubs.py. Lines with an ignore have intended errors."""

from typing import TYPE_CHECKING

import numpy as np

import spanwise as sw


def window(array: sw.Array) -> sw.Array:
    """Views and kinds of indices."""
    view: sw.Array = array[1:, ..., None, 0].T.reshape(-1).reshape((1, -1), copy=False)
    view[0] = 3.5
    view[...] = [[1, 2]]
    return view


def main() -> tuple[int, ...]:
    """Uses functions, attributes and context managers of each kind; (2, 3) if all types hold."""
    array = sw.zeros((2, 3), "float32", device="cpu")
    array = sw.asarray(np.ones((2, 3), np.float32), dtype=sw.float32, device=sw.device("cpu"))
    shape: tuple[int, ...] = array.shape
    size: int = array.nbytes + array.ptr * 0 + len(array) + int(sw.array(3))
    name: str = array.dtype.name + array.device.name
    is_contiguous: bool = array.flags.c_contiguous and size > 0 and name != ""
    same: bool = array.dtype == np.float32 and sw.can_cast("int8", sw.int16)
    with sw.Stream("cpu") as stream, sw.config.change(floatX="float32"):
        stream.wait(stream.record())
        copied = array.astype(np.float64, copy=True).to("cpu").sync()
    try:
        window(copied)
    except (sw.CopyNeededError, ValueError) as error:
        print(error)
    host = copied.numpy()
    return shape if is_contiguous and same and host.shape == shape else ()


if TYPE_CHECKING:
    array = sw.zeros(3)
    array.reshpe(3)  # type: ignore[attr-defined]
    array.shape = (3,)  # type: ignore[misc]
    array["x"]  # type: ignore[index]
    array.copy(order="Z")  # type: ignore[arg-type]
    sw.zeros()  # type: ignore[call-overload]
    sw.zeros(3, device="cpu", colour="red")  # type: ignore[call-overload]
    sw.zeroes(3)  # type: ignore[attr-defined]
    number: int = sw.device("cpu").name  # type: ignore[assignment]
    sw.DeviceError("x").code = "y"  # type: ignore[assignment]
