# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""config.kernel_check finds the fault of each kernel of faulty_kernels.cu and names line and thread."""

import pathlib
import re
import shutil

import numpy as np
import pytest

import spanwise as sw

SOURCE = (pathlib.Path(__file__).parent / "faulty_kernels.cu").read_text()

BOUNDS, RACE, ORDER = "outside of", "race: thread", "undefined result"
#: name -> the pattern of the message, and arguments of the launch other than block=64.
FAULTS = {
    "behind": (BOUNDS, {}),
    "before": (BOUNDS, {}),
    "unguarded": (BOUNDS, {"grid": 2}),
    "off_by_one": (BOUNDS, {"block": 128}),
    "far": (BOUNDS, {}),
    "far_read": (BOUNDS, {}),
    "far_behind": (BOUNDS, {}),
    "far_before": (BOUNDS, {}),
    "null": ("null pointer", {}),
    "signed_index": (BOUNDS, {}),
    "misread_struct": (BOUNDS, {}),
    "copies_too_much": (BOUNDS, {"block": 1}),
    "clears_too_much": (BOUNDS, {"block": 1}),
    "fixed_shared": ("index 64 is outside", {}),
    "pointer_to_shared": (BOUNDS, {"block": 1024}),
    "dynamic_shared": (BOUNDS, {"shared": 128}),
    "local_array": ("index 4 is outside", {}),
    "variable": ("index 4 is outside", {}),
    "lost_update": (RACE, {}),
    "increment": (RACE, {}),
    "no_barrier": (RACE, {}),
    "in_place_shift": (RACE, {}),
    "one_buffer": (RACE, {}),
    "reduce_without_barrier": (RACE, {}),
    "first_writes_others_read": (RACE, {}),
    "last_writes_others_read": (RACE, {}),
    "reset_beside_atomics": (RACE, {}),
    "read_beside_atomics": (ORDER, {}),
    "bins": (RACE, {}),
    "reuse_without_barrier": (RACE, {}),
    "warp_without_sync": (ORDER, {}),
    "dynamic_race": (RACE, {"shared": 128}),
    "bytes": (RACE, {}),
    "blocks_add": (RACE, {"grid": 3}),
    "blocks_write": (RACE, {"grid": 3}),
    "blocks_variable": (RACE, {"grid": 3}),
    "neighbour_block": (RACE, {"grid": 4, "block": 16}),
    "no_fence": (RACE, {"grid": 8}),
    "barrier_in_if": ("divergent barrier", {}),
    "two_barriers": ("different barriers", {}),
    "barrier_in_loop": ("divergent barrier", {}),
    "mask_names_others": ("wrong mask", {}),
    "mask_leaves_out_itself": ("leaves out the calling lane", {}),
    "mask_too_small": (ORDER, {}),
    "width_not_power_of_two": ("width of a warp shuffle", {}),
    "undefined_shared": (ORDER, {}),
    "undefined_sum": (ORDER, {}),
    "never_written_shared": (ORDER, {}),
    "undefined_dynamic": (ORDER, {"shared": 256}),
    "failed_assert": ("assertion failed", {}),
}


def faulty_line(name):
    start = re.search(rf"void {name}\(", SOURCE).start()
    return SOURCE.count("\n", 0, SOURCE.index("// FAULT", start)) + 1


@pytest.fixture(scope="module")
def module():
    return sw.SourceModule(SOURCE, device="cpu")


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_found_with_line_and_thread(module, name):
    pattern, options = FAULTS[name]
    before = np.arange(64, dtype="int32")
    x = sw.array(before, device="cpu")
    with (
        sw.config.change(kernel_check="all"),
        pytest.raises(sw.KernelFaultError, match=pattern) as caught,
    ):
        module.get_function(name)(x, np.int32(64), **{"block": 64, **options})
    message = str(caught.value)
    assert f"kernel '{name}'" in message
    assert re.search(r"thread \(\d+, 0, 0\) of block \(\d+, 0, 0\)", message), message
    if shutil.which("addr2line"):
        lines = re.findall(r"(?:kernel\.cu:|line )(\d+)", message)
        assert str(faulty_line(name)) in lines, message
    np.testing.assert_array_equal(x.numpy(), before, "a launch that raised changed memory")


def test_null_pointer_error_names_the_line_of_the_function_that_reads_it(module):
    x = sw.zeros(64, "int32", device="cpu")
    with (
        sw.config.change(kernel_check="bounds"),
        pytest.raises(sw.KernelFaultError, match="null pointer") as caught,
    ):
        module.get_function("null_read")(x, np.int32(1), block=1)
    line = SOURCE.count("\n", 0, SOURCE.index("int add_one")) + 1
    assert f"kernel.cu:{line}" in str(caught.value) or shutil.which("addr2line") is None


def test_none_as_a_pointer_is_named_as_the_argument(module):
    with (
        sw.config.change(kernel_check="bounds"),
        pytest.raises(sw.KernelFaultError, match="argument None"),
    ):
        module.get_function("increment")(None, np.int32(1), block=1)


def test_each_checked_launch_of_a_race_raises(module):
    race = module.get_function("no_barrier")
    x = sw.array(np.arange(64, dtype="int32"), device="cpu")
    for mode in ("order", "all", "order", "order"):
        with sw.config.change(kernel_check=mode), pytest.raises(sw.KernelFaultError, match="race"):
            race(x, np.int32(64), block=64)
        # An unchecked launch leaves values in the shared memory that the next one uses.
        race(x, np.int32(64), block=64)


def test_fault_in_a_file_names_the_file(compiler, tmp_path):
    (tmp_path / "stencil.cu").write_text(
        "// one\n// two\n__global__ void f(int *x)\n{\n  x[threadIdx.x + 7] = 1;\n}\n"
    )
    f = sw.SourceModule(path=tmp_path / "stencil.cu", device="cpu").get_function("f")
    check = sw.config.change(kernel_check="bounds")
    with check, pytest.raises(sw.KernelFaultError, match=r"of stencil\.cu") as caught:
        f(sw.zeros(4, "int32", device="cpu"), block=4)
    assert "kernel.cu" not in str(caught.value)
    assert "stencil.cu:5" in str(caught.value) or shutil.which("addr2line") is None


#: Accesses to addresses that are no multiple of a type's alignment, which end a kernel on a GPU, and
#: the alignment.
MISALIGNED = {
    "int": ("*(int *)((char *)x + 1) = 3;", 4),
    "short": ("x[0] = *(short *)((char *)x + 3);", 2),
    "double": ("*(double *)(x + 1) = 3;", 8),
    "long long": ("x[0] = ((long long *)(x + 1))[2];", 8),
    "float4": ("float4 v = *(float4 *)(x + 1); v.x = 3; *(float4 *)(x + 4) = v;", 16),
    "field of a float2": ("((float2 *)(x + 1))[1].y = 3;", 8),
    "double2": ("*(double2 *)(x + 2) = make_double2(1, 2);", 16),
    "reinterpret_cast": ("reinterpret_cast<int4 &>(x[1]).w = 3;", 16),
    "struct": ("((Pair *)(x + 1))->b = 3;", 8),
    "shared": ("__shared__ int s[8]; *(double *)(s + 1) = 3; x[0] = s[1];", 8),
    "volatile": ("*(volatile int *)((char *)x + 2) = 3;", 4),
    "atomic": ("atomicAdd((int *)((char *)x + 1), 3);", 4),
    "atomic of 64 bits": ("atomicAdd((double *)(x + 1), 3.0);", 8),
    "compare and swap": ("atomicCAS((unsigned short *)((char *)x + 1), 0, 3);", 2),
}


def test_misaligned_address_of_a_function_of_cuda_names_the_thread():
    kernel = sw.SourceModule(
        "__global__ void k(int *x) { x[9] = __ldg((int *)((char *)x + 1)); }", device="cpu"
    ).get_function("k")
    with (
        sw.config.change(kernel_check="bounds"),
        pytest.raises(
            sw.KernelFaultError,
            match=r"not a multiple of 4, as those .* are, in thread \(0, 0, 0\)",
        ),
    ):
        kernel(sw.zeros(64, "int32", device="cpu"), block=1)


@pytest.mark.parametrize("check", ["bounds", "order", "all"])
@pytest.mark.parametrize("name", MISALIGNED)
def test_misaligned_addresses_are_found(name, check):
    statement, alignment = MISALIGNED[name]
    kernel = sw.SourceModule(
        f"struct Pair {{ double a; int b; }}; __global__ void k(int *x)\n{{ {statement} }}",
        device="cpu",
    ).get_function("k")
    x = sw.zeros(64, "int32", device="cpu")
    kernel(x, block=1)  # the host's processor reads and writes them
    with (
        sw.config.change(kernel_check=check),
        pytest.raises(
            sw.KernelFaultError, match=rf"is not a multiple of {alignment}, .*kernel\.cu:2"
        ),
    ):
        kernel(x, block=1)


def test_aligned_and_packed_accesses_are_no_fault():
    kernel = sw.SourceModule(
        """
        struct __attribute__((packed)) Packed { char a; int b; };
        __global__ void k(int *x)
        {
          *(float4 *)(x + 4) = make_float4(1, 2, 3, 4);
          ((Packed *)(x + 8))->b = 5;
          char *p = (char *)x; int v = 6; memcpy(p + 1, &v, 4); *(double *)(x + 2) = 7;
          atomicAdd(x + 13, 8); __shared__ double s[2]; s[1] = 9; x[14] = s[1];
        }
        """,
        device="cpu",
    ).get_function("k")
    x = sw.zeros(64, "int32", device="cpu")
    with sw.config.change(kernel_check="all"):
        kernel(x, block=1)
    assert x.view("float32")[4:8].tolist() == [1, 2, 3, 4] and x.view("float64")[1].item() == 7
    assert x.view("uint8")[1].item() == 6 and x.view("uint8")[33].item() == 5
    assert x[13:15].tolist() == [8, 9]
