# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers as arguments of kernels, and calls that are refused."""

import ctypes

import numpy as np
import pytest
from python.kernels.simple_kernels import AXPY, device_kind, random

import spanwise as sw

# Writes each scalar as the kernel received it.
SCALARS = r"""
struct Pair { signed char key; float value; };
__global__ void scalars(double *out, int i, long long l, unsigned char c, float f, double d, bool b)
{
    out[0] = i; out[1] = (double)l; out[2] = c; out[3] = f; out[4] = d; out[5] = b;
}
__global__ void pair(double *out, Pair p) { out[0] = p.key; out[1] = p.value; }
__global__ void small(double *out, short s, unsigned long long u) { out[0] = s; out[1] = (double)u; }
__global__ void pointer(double *out, const float *p) { out[0] = p == 0 ? -1 : p[0]; }
"""


@pytest.fixture
def axpy(device):
    return sw.SourceModule(AXPY, device=device).get_function("axpy")


@pytest.fixture
def scalars(device):
    return sw.SourceModule(SCALARS, device=device)


@pytest.fixture
def on_device(device):
    """Makes arrays of the device from NumPy's."""
    return lambda x, **options: sw.array(x, device=device, **options)


@pytest.fixture
def poisoned(on_device):
    """An output filled with a value that no kernel writes."""
    return lambda n, dtype="float64": on_device(np.full(n, 77, dtype))


class TestScalars:
    def check(self, scalars, poisoned, args, expected, kernel="scalars"):
        out = poisoned(6)
        scalars.get_function(kernel)(out, *args, block=1)
        np.testing.assert_array_equal(out.numpy()[: len(expected)], expected)

    def test_python_numbers_are_converted_to_the_parameters_types(self, scalars, poisoned):
        self.check(
            scalars, poisoned, (-5, 2**40, 200, 0.5, 0.1, True), [-5, 2**40, 200, 0.5, 0.1, 1]
        )
        self.check(scalars, poisoned, (True, -1, 0, 3, 7, False), [1, -1, 0, 3, 7, 0])

    def test_numpy_scalars_are_converted_to_the_parameters_types(self, scalars, poisoned):
        args = (
            np.int32(-5),
            np.int64(2**40),
            np.uint8(200),
            np.float16(0.5),
            np.float32(0.25),
            np.bool_(True),
        )
        self.check(scalars, poisoned, args, [-5, 2**40, 200, 0.5, 0.25, 1])
        self.check(
            scalars,
            poisoned,
            (np.int8(3), 4, 5, np.float64(0.5), np.float64(0.1), False),
            [3, 4, 5, 0.5, 0.1, 0],
        )
        self.check(scalars, poisoned, (np.int16(-300), np.uint64(2**63)), [-300, 2.0**63], "small")
        self.check(scalars, poisoned, (-300, 2**64 - 1), [-300, 2.0**64], "small")

    def test_numpy_scalars_of_a_cached_type_keep_their_values(self, scalars, poisoned):
        """The dtype of a scalar type is cached at its first use; later scalars are read from memory."""
        for value in (3, 250, 17):
            args = (
                np.int32(-value),
                np.int64(value << 33),
                np.uint8(value),
                np.float16(value / 4),
                np.float32(value / 8),
                np.bool_(value > 9),
            )
            expected = [-value, value << 33, value, value / 4, value / 8, value > 9]
            self.check(scalars, poisoned, args, expected)

    def test_ctypes_values_are_passed(self, scalars, poisoned):
        args = (
            ctypes.c_int(-5),
            ctypes.c_longlong(9),
            ctypes.c_ubyte(7),
            ctypes.c_float(0.5),
            ctypes.c_double(0.1),
            ctypes.c_bool(True),
        )
        self.check(scalars, poisoned, args, [-5, 9, 7, 0.5, 0.1, 1])

    def test_structs_are_passed_if_their_size_matches(self, scalars, poisoned):
        aligned = np.dtype([("key", "i1"), ("value", "f4")], align=True)

        class Pair(ctypes.Structure):
            _fields_ = [("key", ctypes.c_byte), ("value", ctypes.c_float)]

        array = np.zeros(2, aligned)
        array[1] = (-3, 1.5)
        for struct in (array[1], Pair(-3, 1.5), bytes(Pair(-3, 1.5))):
            self.check(scalars, poisoned, (struct,), [-3, 1.5], "pair")
        packed = np.zeros(1, np.dtype([("key", "i1"), ("value", "f4")]))[0]
        with pytest.raises(
            sw.KernelArgumentError, match="'value' is at byte 1, expected byte 4.*align=True"
        ):
            scalars.get_function("pair")(poisoned(6), packed, block=1)

    def test_none_and_addresses_are_passed_as_pointers(self, scalars, poisoned, on_device):
        self.check(scalars, poisoned, (None,), [-1], "pointer")
        self.check(scalars, poisoned, (0,), [-1], "pointer")
        self.check(scalars, poisoned, (ctypes.c_void_p(None),), [-1], "pointer")
        x = on_device(np.float32([0.5, 0.25]))
        for address in (
            x.ptr,
            np.uintp(x.ptr),
            np.intp(x.ptr),
            ctypes.c_void_p(x.ptr),
            ctypes.c_uint64(x.ptr),
        ):
            self.check(scalars, poisoned, (address,), [0.5], "pointer")
        self.check(scalars, poisoned, (x[1:].ptr,), [0.25], "pointer")

    @pytest.mark.parametrize(
        ("args", "text"),
        [
            ((2**31, 0, 0, 0.0, 0.0, True), "argument 2 of 7.*int32.*2147483648"),
            ((-(2**31) - 1, 0, 0, 0.0, 0.0, True), "argument 2"),
            ((1.0, 0, 0, 0.0, 0.0, True), r"argument 2.*real number 1.0.*int\(x\)"),
            ((np.float32(1), 0, 0, 0.0, 0.0, True), "argument 2.*float32"),
            ((0, 2**63, 0, 0.0, 0.0, True), "argument 3.*int64"),
            ((0, 2**64, 0, 0.0, 0.0, True), "argument 3.*64 bits"),
            ((0, 0, 256, 0.0, 0.0, True), "argument 4.*uint8"),
            ((0, 0, -1, 0.0, 0.0, True), "argument 4.*uint8"),
            ((0, 0, 0, 2**24 + 1, 0.0, True), "argument 5.*float32.*16777217"),
            ((0, 0, 0, 1e39, 0.0, True), "argument 5.*float32"),
            ((0, 0, 0, 1j, 0.0, True), "argument 5.*complex128"),
            ((0, 0, 0, 0.0, "1", True), "argument 6.*str"),
            ((0, 0, 0, 0.0, 0.0, 2), "argument 7.*bool"),
            ((0, 0, 0, 0.0, 0.0, None), "argument 7.*bool"),
        ],
    )
    def test_scalars_that_lose_their_value_raise(self, scalars, poisoned, args, text):
        out = poisoned(6)
        with pytest.raises(sw.KernelArgumentError, match=text) as caught:
            scalars.get_function("scalars")(out, *args, block=1)
        assert isinstance(caught.value, TypeError)
        assert "kernel 'scalars'" in str(caught.value)
        assert (out.numpy() == 77).all(), "a call that raised ran the kernel"


class TestRefusals:
    @pytest.fixture
    def args(self, on_device):
        return [on_device(random(8)) for _ in range(3)] + [1.0, 8]

    def refused(self, axpy, args, text, error=sw.KernelArgumentError, **options):
        with pytest.raises(error, match=text) as caught:
            axpy(*args, **{"block": 8, **options})
        assert isinstance(caught.value, sw.Error)
        return str(caught.value)

    def test_wrong_argument_count_raises(self, axpy, args):
        self.refused(axpy, args[:4], r"expected 5 arguments \('float \*out', .*'int n'\), got 4")
        self.refused(axpy, [*args, 1], "got 6")

    def test_wrong_dtype_raises_naming_the_argument(self, axpy, args, on_device):
        args[1] = on_device(random(8, "float64"))
        self.refused(
            axpy,
            args,
            r"argument 2 of 5 \('const float \*x'\): expected a float32 array.*float64 \(8,\).*astype",
        )

    def test_strided_array_for_a_pointer_raises(self, axpy, args, on_device):
        args[1] = on_device(random(16))[::2]
        message = self.refused(axpy, args, r"not C-contiguous: .*strides \(8,\)")
        assert "contiguous float32*" in message and "View<T, 1>" in message
        assert "raw, its address x.ptr" in message
        args[1] = on_device(random(8))[::-1]
        self.refused(axpy, args, r"strides \(-4,\)")

    def test_read_only_array_is_accepted_for_a_pointer_to_const(self, axpy, args, device):
        if device_kind(device) != "cpu":
            pytest.skip("NumPy's arrays are in host memory")
        frozen = random(8)
        frozen.flags.writeable = False
        args[1] = frozen
        axpy(*args, block=8)
        args[0] = frozen
        self.refused(axpy, args, "argument 1.*read-only", sw.ReadOnlyError)

    def test_array_on_another_device_raises(self, axpy, args, device):
        if device_kind(device) == "cpu":
            gpus = [d for d in sw.devices() if d.kind == "cuda"]
            if not gpus:
                pytest.skip("needs a GPU")
            args[1] = sw.array(random(8), device=gpus[0])
            self.refused(axpy, args, r"argument 2.*on cpu.*on cuda:0")
        else:
            args[1] = random(8)
            message = self.refused(axpy, args, r"argument 2.*on cuda:0.*on cpu")
            assert "sw.driver.In" in message and "sw.array" in message

    def test_objects_and_numbers_for_a_pointer_raise(self, axpy, args):
        for unsupported in ([1.0] * 8, "text", {}, object()):
            self.refused(axpy, [args[0], unsupported, *args[2:]], "argument 2 of 5")
        self.refused(axpy, [args[0], 400, *args[2:]], "order of the arguments")

    def test_invalid_block_or_grid_raises(self, axpy, args):
        self.refused(axpy, args, "1024", block=2048)
        self.refused(axpy, args, r"grid.*\(0, 1, 1\).*skip the call", grid=0)
        self.refused(axpy, args, r"block.*\(8, -1, 1\)", block=(8, -1))
        self.refused(axpy, args, r"2\.5.*float.*round", grid=2.5)
        self.refused(axpy, args, "up to three", grid=(1, 1, 1, 1))
        self.refused(axpy, args, "up to three", grid="1")
        self.refused(axpy, args, "up to three", grid=())
        self.refused(axpy, args, r"shared=.*'many'", shared="many")
        with pytest.raises(sw.KernelArgumentError, match="block="):
            axpy(*args)
        self.refused(
            axpy, args, "'blocks'.*block, grid, shared, stream, cooperative and cluster", blocks=8
        )
        with pytest.raises(sw.KernelArgumentError, match=r"f\[grid, block\]"):
            axpy[8]

    def test_cooperative_without_a_truth_value_raises(self, axpy, args):
        with pytest.raises(ValueError, match="ambiguous"):
            axpy(*args, block=8, cooperative=np.ones(2))

    def test_shared_memory_beyond_the_devices_limit_raises(self, axpy, args):
        self.refused(axpy, args, "shared", shared=1 << 30)

    def test_stream_of_another_device_raises(self, axpy, args, device):
        others = [d for d in sw.devices() if d != sw.device(device)]
        if not others:
            pytest.skip("needs a second device")
        with pytest.raises(sw.Error, match="stream") as error:
            axpy(*args, block=8, stream=sw.Stream(others[0]))
        assert str(sw.device(device)) in str(error.value)

    def test_unknown_kernel_name_raises_with_suggestions(self, device):
        module = sw.SourceModule(
            AXPY + "template <class T> __global__ void scale(T *x) { x[0] *= 2; }", device=device
        )
        with pytest.raises(sw.ArgumentError, match="'axpi'.*'axpy'"):
            module.get_function("axpi")
        with pytest.raises(sw.ArgumentError, match="template.*names="):
            module.get_function("scale")

    def test_compile_options_other_than_lists_raise(self, device):
        for options, message in (
            (
                {"options": "-DN=1"},
                r"list of strings, got '-DN=1'; for a single one write \['-DN=1'\]",
            ),
            ({"names": 5}, r"names as a list of strings, got 5$"),
            ({"include_dirs": ["a", 1]}, r"each of include_dirs as a string, got 1$"),
            ({"link": "text"}, r"got str; put a single one in a list: link=\[x\]"),
            ({"link": 5}, r"got int$"),
        ):
            with pytest.raises(sw.ArgumentError, match=message):
                sw.SourceModule(AXPY, device=device, **options)
