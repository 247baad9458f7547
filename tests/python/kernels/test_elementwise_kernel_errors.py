# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""ElementwiseKernel: invalid declarations and arguments."""

import numpy as np
import pytest
from python.kernels.elementwise_kernels import AXPY, PICK, SUM_INDEX

import spanwise as sw


class TestRefusals:
    @pytest.mark.parametrize(
        ("declared", "message"),
        [
            (("flaot *x", "x[i] = 0"), "flaot.*unknown"),
            (("flaot x", "T z", "z = x"), "flaot.*unknown.*float32"),
            (("float *i", "i[i] = 0"), "cannot be named 'i'"),
            (("float *x, float *x", "x[i] = 0"), "two arguments are named 'x'"),
            (("float **x", "x[i] = 0"), "pointer to pointers"),
            (("T x", "", "x"), "expected outputs"),
            (("T x", "T z", "z = x", "two words"), "name that C\\+\\+ allows"),
            (("T x, T", "T z", "z = x"), 'such as "float32 x"'),
        ],
    )
    def test_invalid_declaration_raises(self, declared, message):
        with pytest.raises(sw.ArgumentError, match=message):
            sw.ElementwiseKernel(*declared)

    def test_invalid_constructor_arguments_raise(self):
        with pytest.raises(sw.ArgumentError, match="keep="):
            sw.ElementwiseKernel("float *x", "x[i] = 0", keep=True)
        with pytest.raises(TypeError, match="unexpected arguments"):
            sw.ElementwiseKernel("float *x", "x[i] = 0", colour=1)
        with pytest.raises(TypeError, match="missing"):
            sw.ElementwiseKernel("T x")
        with pytest.raises(TypeError, match="as a string"):
            sw.ElementwiseKernel("float *x", 3)
        with pytest.raises(sw.NotSupportedError, match="texture"):
            AXPY.get_texref("x")

    def test_dtype_mismatch_raises_naming_the_argument(self, device):
        x, y = sw.ones(3, "float32", device=device), sw.ones(3, "float64", device=device)
        with pytest.raises(
            sw.DTypeError, match=r"'x'.*expected dtype float32, got float64.*astype"
        ):
            AXPY(x, 1, y, x)
        with pytest.raises(
            sw.DTypeError, match="'y': T is float64 here and float32 in argument 'x'"
        ):
            PICK(x, True, y)
        only_out = sw.ElementwiseKernel("int32 x", "T z", "z = x")
        with pytest.raises(sw.DTypeError, match="no argument determines what T is"):
            only_out(sw.ones(3, "int32", device=device))

    def test_shape_mismatch_raises_naming_the_argument(self, device):
        x, y = sw.ones(3, "float32", device=device), sw.ones((2, 2), "float32", device=device)
        with pytest.raises(ValueError, match=r"axpy.*\(3,\) and \(2, 2\)"):
            AXPY(x, 1, x, y)
        with pytest.raises(
            sw.LayoutError, match=r"'z': expected an output of shape \(2, 3\), got \(3,\)"
        ):
            AXPY(x, 1, x, sw.ones((2, 3), "float32", device=device))

    def test_overlapping_outputs_raise(self, device):
        both = sw.ElementwiseKernel("int *a, int *b", "a[i] = 1; b[i] = 2")
        row = sw.zeros(5, "int32", device=device)
        with pytest.raises(sw.LayoutError, match="share memory"):
            both(row[:-1], row[1:])

    def test_size_with_arrays_that_determine_it_raises(self, device):
        x = sw.ones(3, "float32", device=device)
        with pytest.raises(ValueError, match="size="):
            SUM_INDEX(x, x, size=3)

    def test_numbers_that_lose_their_value_raise(self, device):
        z = sw.ones(3, "int32", device=device)
        count = sw.ElementwiseKernel("int *z, int a", "z[i] = a")
        for bad in (1.5, 1 << 40, 1j):
            with pytest.raises(sw.KernelArgumentError, match="without loss"):
                count(z, bad)

    def test_invalid_call_arguments_raise(self, device):
        x = sw.ones(3, "float32", device=device)
        with pytest.raises(sw.KernelArgumentError, match="expected an array"):
            AXPY(1.0, 1.0, x, x)
        with pytest.raises(sw.KernelArgumentError, match="expected a number, got"):
            AXPY(x, x, x, x)
        with pytest.raises(sw.KernelArgumentError, match="expected 4 arguments, got 2"):
            AXPY(x, 1.0)
        with pytest.raises(sw.ArgumentError, match="pass slices of the arrays"):
            AXPY(x, 1.0, x, x, range=slice(3))
        with pytest.raises(sw.KernelArgumentError, match="unexpected keyword argument 'grid'"):
            AXPY(x, 1.0, x, x, grid=1)

    def test_read_only_output_raises(self, device):
        frozen = np.ones(3, "float32")
        frozen.flags.writeable = False
        with pytest.raises(sw.ReadOnlyError, match="'z'"):
            AXPY(frozen, 1.0, frozen, frozen)

    def test_a_compile_error_shows_the_users_line(self, device):
        broken = sw.ElementwiseKernel("float *x", "int k = i;\nx[i] = k + yy", "broken")
        with pytest.raises(sw.CompileError) as caught:
            broken(sw.ones(3, "float32", device=device))
        message = str(caught.value)
        assert "'yy' is neither an argument" in message and "2 | x[i] = k + yy" in message
        assert "operation of broken" in message
