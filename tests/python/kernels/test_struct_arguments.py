# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Structs as kernel arguments: records of NumPy and structs of ctypes, whose fields have to be where
the kernel's struct has them."""

import ctypes

import numpy as np
import pytest

import spanwise as sw

SOURCE = """
struct Step { float dt; int count, *address; char name[3]; double end; };
struct Opaque { float4 first; int last; };
__global__ void by_value(Step s, double *out) { out[0] = s.dt; out[1] = s.count; out[2] = s.end; }
__global__ void opaque(const Opaque o, double *out) { out[0] = o.first.x; out[1] = o.last; }
"""
STEP = np.dtype(
    [("dt", "f4"), ("count", "i4"), ("address", "u8"), ("name", "S3"), ("end", "f8")], align=True
)
PAIR = np.dtype([("a", "f4"), ("b", "f4")])
SWAPPED = np.dtype([("b", "f4"), ("a", "f4")])


@pytest.fixture(scope="module")
def module(device):
    return sw.SourceModule(SOURCE, device=device)


class TestByValue:
    @pytest.mark.parametrize("shape", [(), (1,), (1, 1), None])
    def test_one_record_in_any_shape(self, device, module, shape):
        out = sw.full(3, -7.0, device=device)
        value = np.array((0.5, 3, 0, b"x", 9.0), STEP)
        value = value[()] if shape is None else value.reshape(shape)
        module.get_function("by_value")(value, out, block=1)
        assert out.tolist() == [0.5, 3, 9]

    def test_several_records_are_refused(self, device, module):
        with pytest.raises(sw.KernelArgumentError, match=r"array of structs .*reshape"):
            module.get_function("by_value")(np.zeros(2, STEP), sw.zeros(3, device=device), block=1)

    @pytest.mark.parametrize(
        ("fields", "expected"),
        [
            ([("count", "i4"), ("dt", "f4"), ("address", "u8"), ("name", "S3"), ("end", "f8")], "dt"),
            ([("dt", "f4"), ("count", "i4"), ("end", "f8"), ("address", "u8"), ("x", "f8")], "address"),
            ([("end", "f8"), ("a", "u8"), ("b", "u8"), ("c", "u8")], "end"),
        ],
    )  # fmt: skip
    def test_fields_elsewhere_are_refused(self, device, module, fields, expected):
        value = np.zeros((), np.dtype(fields, align=True))
        assert value.nbytes == 32
        for record in (value, value[()], value.reshape(1)):
            with pytest.raises(
                sw.KernelArgumentError,
                match=rf"'by_value', argument 1 of 2 \('Step s'\): the fields of .*'{expected}' is at byte",
            ):
                module.get_function("by_value")(record, sw.zeros(3, device=device), block=1)

    def test_other_names_are_not_compared(self, device, module):
        out = sw.full(3, -7.0, device=device)
        value = np.zeros((), STEP)
        value["dt"], value["end"] = 2, 4
        formats = [STEP[name] for name in STEP.names]
        renamed = value.view(np.dtype(list(zip("vwxyz", formats, strict=True)), align=True))
        module.get_function("by_value")(renamed, out, block=1)
        assert out.tolist() == [2, 0, 4]

    def test_order_is_compared_behind_types_of_unknown_size(self, device, module):
        out = sw.full(2, -7.0, device=device)
        right = np.zeros((), [("first", "4f4"), ("last", "i4"), ("pad", "3i4")])
        right["first"], right["last"] = 2, 5
        module.get_function("opaque")(right, out, block=1)
        assert out.tolist() == [2, 5]
        wrong = np.zeros((), [("last", "i4"), ("pad", "3i4"), ("first", "4f4")])
        with pytest.raises(sw.KernelArgumentError, match="'first'.*expected byte 0|behind"):
            module.get_function("opaque")(wrong, out, block=1)

    def test_structs_of_ctypes(self, device, module):
        class Wrong(ctypes.Structure):
            _fields_ = [
                ("count", ctypes.c_int), ("dt", ctypes.c_float), ("address", ctypes.c_void_p),
                ("name", ctypes.c_char * 3), ("end", ctypes.c_double),
            ]  # fmt: skip

        class Right(ctypes.Structure):
            _fields_ = [Wrong._fields_[i] for i in (1, 0, 2, 3, 4)]

        out = sw.full(3, -7.0, device=device)
        by_value = module.get_function("by_value")
        by_value(Right(dt=2, count=3, end=4), out, block=1)
        assert out.tolist() == [2, 3, 4]
        with pytest.raises(sw.KernelArgumentError, match="'dt' is at byte 4, expected byte 0"):
            by_value(Wrong(dt=2, count=3, end=4), out, block=1)

    def test_elementwise_kernels(self, device):
        kernel = sw.ElementwiseKernel(
            "float *x, Pair p", "x[i] = p.a + 10 * p.b", preamble="struct Pair { float a, b; };"
        )
        x = sw.zeros(2, "float32", device=device)
        for value in (np.array((1, 2), PAIR), np.array([(1, 2)], PAIR), np.array((1, 2), PAIR)[()]):
            x[...] = -7
            kernel(x, value)
            assert x.tolist() == [21, 21]
        with pytest.raises(
            sw.KernelArgumentError, match="argument 'p': the fields of .*'a' is at byte 4"
        ):
            kernel(x, np.array((1, 2), SWAPPED))


def test_an_array_for_a_texture_names_texture(device):
    module = sw.SourceModule(
        "__global__ void f(cudaTextureObject_t t, float *y) { y[0] = tex1Dfetch<float>(t, 0); }",
        device=device,
    )
    y = sw.zeros(2, "float32", device=device)
    with pytest.raises(
        sw.KernelArgumentError, match=r"expected a spanwise\.Texture.*sw\.Texture\(x\)"
    ):
        module.get_function("f")(y, y, block=1)


def test_fields_are_compared_for_each_source_that_uses_the_same_memory(device):
    x, value = sw.zeros(2, "float32", device=device), np.array((1, 2), PAIR)
    for _ in range(
        20
    ):  # each kernel ends before the next one is made, with a text of the same length
        for fields, fits in (("a, b", True), ("b, a", False)):
            kernel = sw.ElementwiseKernel(
                "float *x, Pair p", "x[i] = p.a", preamble=f"struct Pair {{ float {fields}; }};"
            )
            if fits:
                kernel(x, value)
            else:
                with pytest.raises(sw.KernelArgumentError, match="the fields of"):
                    kernel(x, value)
            del kernel
