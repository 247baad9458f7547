# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""SourceModule: names, templates, globals, errors of compilation."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from python.kernels.simple_kernels import AXPY
from support.sanitizers import skip_under_asan

import spanwise as sw


@pytest.fixture
def axpy(device):
    return sw.SourceModule(AXPY, device=device).get_function("axpy")


@pytest.fixture
def on_device(device):
    """Makes arrays of the device from NumPy's."""
    return lambda x, **options: sw.array(x, device=device, **options)


class TestModules:
    def test_template_instances_are_found_by_name_expression(self, device, on_device):
        source = "template <class T, int N> __global__ void add(T *x) { x[threadIdx.x] += N; }"
        module = sw.SourceModule(source, names=["add<float, 3>", "add<double, 4>"], device=device)
        x, y = on_device(np.zeros(4, "float32")), on_device(np.zeros(4, "float64"))
        module.get_function("add<float, 3>")(x, block=4)
        module.get_function("add<double,4>")(y, block=4)
        assert x.tolist() == [3] * 4
        assert y.tolist() == [4] * 4

    def test_parameters_of_an_instance_have_its_types(self, device, on_device):
        source = """
        #include <spanwise/view.cuh>
        typedef double real;
        template <class T, int N> __global__ void put(spanwise::View<T, N> out, const T *x, T a, real r)
        { out(0) = a + x[0] + (T)r; }
        """
        module = sw.SourceModule(
            source, names=["put<float, 1>", "put<long long, 1>"], device=device
        )
        put = module.get_function("put<float, 1>")
        assert [p.dtype.name for p in put.parameters] == [
            "float32",
            "float32",
            "float32",
            "float64",
        ]
        assert put.parameters[0].view_rank == 1 and put.parameters[1].is_const
        for name, dtype in (("put<float, 1>", "float32"), ("put<long long, 1>", "int64")):
            out, x = on_device(np.zeros(2, dtype)), on_device(np.ones(1, dtype))
            module.get_function(name)(out[::-1], x, 3, 2, block=1)  # Python ints for T and double
            assert out.tolist() == [0, 6]
        with pytest.raises(sw.KernelArgumentError, match="argument 2.*float32.*float64"):
            put(on_device(np.zeros(2, "float32")), on_device(np.zeros(1)), 3, 2, block=1)

    def test_typedefs_of_a_header_are_parameter_types(self, device, on_device, tmp_path):
        """A Python int is converted to the type for which a typedef in a header stands."""
        (tmp_path / "types.h").write_text("typedef float real;\ntypedef const real *input;\n")
        source = '#include "types.h"\n__global__ void put(real *out, input x, real a, int n) { out[0] = x[0] + a + n; }'
        module = sw.SourceModule(source, include_dirs=[tmp_path], device=device)
        put = module.get_function("put")
        assert [p.type for p in put.parameters] == ["real *", "input", "real", "int"]
        assert [p.dtype.name for p in put.parameters] == ["float32"] * 3 + ["int32"]
        assert [p.is_const for p in put.parameters] == [False, True, False, False]
        out, x = on_device(np.zeros(1, "float32")), on_device(np.ones(1, "float32"))
        put(out, x, 3, 2, block=1)
        assert out.tolist() == [6]
        with pytest.raises(sw.KernelArgumentError, match="argument 2.*float32.*float64"):
            put(out, on_device(np.ones(1)), 3, 2, block=1)

    def test_options_and_include_dirs_reach_the_compiler(self, device, on_device, tmp_path):
        (tmp_path / "amount.cuh").write_text("#define AMOUNT (FACTOR * 2)\n")
        source = '#include "amount.cuh"\n__global__ void fill(int *x) { x[threadIdx.x] = AMOUNT; }'
        for factor in (3, 5):
            module = sw.SourceModule(
                source, options=[f"-DFACTOR={factor}"], include_dirs=[tmp_path], device=device
            )
            x = on_device(np.zeros(4, "int32"))
            module.get_function("fill")(x, block=4)
            assert x.tolist() == [2 * factor] * 4

    def test_changed_header_is_compiled_again(self, device, on_device, tmp_path):
        header = tmp_path / "amount.cuh"
        source = '#include "amount.cuh"\n__global__ void fill(int *x) { x[threadIdx.x] = AMOUNT; }'
        for amount in (1, 22, 1):
            header.write_text(f"#define AMOUNT {amount}\n")
            x = on_device(np.zeros(2, "int32"))
            sw.SourceModule(source, include_dirs=[tmp_path], device=device).get_function("fill")(
                x, block=2
            )
            assert x.tolist() == [amount] * 2

    def test_global_variables_are_views_of_device_memory(self, device, on_device):
        module = sw.SourceModule(
            """
            __constant__ float table[3];
            __device__ int counter;
            __global__ void use(float *out) { out[threadIdx.x] = table[threadIdx.x]; if (threadIdx.x == 0) counter += 1; }
            """,
            device=device,
        )
        table = module.get_global("table")
        assert (table.dtype, table.shape, table.device) == ("uint8", (12,), sw.device(device))
        table.view("float32")[...] = np.float32([1, 2, 3])
        module.get_global("counter").view("int32")[...] = 41
        out = on_device(np.zeros(3, "float32"))
        module.get_function("use")(out, block=3)
        assert out.tolist() == [1, 2, 3]
        assert module.get_global("counter").view("int32").tolist() == [42]
        with pytest.raises(sw.ArgumentError, match="'tabel'"):
            module.get_global("tabel")

    @pytest.mark.parametrize("location", ["source", "header", "linked"])
    def test_modules_have_separate_variables(self, device, on_device, tmp_path, location):
        variables = "__device__ int counter = 10;\n"
        kernel = "__global__ void next(int *out) { *out = ++counter; }"
        options = {"device": device}
        source = variables + kernel
        if location == "header":
            (tmp_path / "variables.cuh").write_text(variables)
            source = '#include "variables.cuh"\n' + kernel
            options["include_dirs"] = [tmp_path]
        elif location == "linked":
            source = "__device__ int bump();\n__global__ void next(int *out) { *out = bump(); }"
            options["link"] = [variables + "__device__ int bump() { return ++counter; }"]
        out = on_device(np.zeros((), "int32"))

        def calls(module, count):
            for _ in range(count):
                module.get_function("next")(out, block=1)
            return out.item()

        first, second = (sw.SourceModule(source, **options) for _ in range(2))
        assert (calls(first, 3), calls(second, 1), calls(first, 1)) == (13, 11, 14)
        # get_global() of a variable in a linked source is tested on the CPU only.
        if location != "linked" or device.kind == "cpu":
            first.get_global("counter").view("int32")[...] = 100
        assert calls(second, 1) == 12
        del first
        third = sw.SourceModule(source, **options)
        assert (calls(third, 1), calls(second, 1)) == (11, 13)

    @skip_under_asan("UBSan opens a pipe to find out whether an address is valid")
    def test_error_names_the_lack_of_file_descriptors(self, tmp_path):
        program = """
import os, resource
import spanwise as sw

resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
sw.ones(3, device="cpu")
descriptors = []
try:
    while True:
        descriptors.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    pass
refusals = 0
for number in range(20):
    try:
        sw.SourceModule(f"__global__ void k(int* x) {{ *x = {number}; }}", device="cpu")
        break
    except sw.Error as error:
        assert "Too many open files" in str(error), error
        refusals += 1
    os.close(descriptors.pop())
print("refused first" if 0 < refusals < 20 else refusals)
"""
        folder = tmp_path / "temporary"
        folder.mkdir()
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"TMPDIR": str(folder), "SPANWISE_CACHE_DIR": str(tmp_path / "cache")},
            text=True,
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (0, "refused first\n"), done.stderr
        assert list(folder.iterdir()) == []

    def test_modules_without_variables_are_loaded_once(self, device):
        source = "__device__ int f(int x) { return x; }\n__global__ void k(int *x) { *x = f(1); }"
        first, second = (sw.SourceModule(source, device=device) for _ in range(2))
        assert first.handle == second.handle

    def test_kernel_outlives_its_module(self, device, on_device):
        kernel = sw.SourceModule(
            "__global__ void one(int *x) { x[0] = 1; }", device=device
        ).get_function("one")
        x = on_device(np.zeros(1, "int32"))
        kernel(x, block=1)
        assert x.tolist() == [1]

    def test_attributes_of_a_kernel(self, axpy, device):
        assert axpy.name == axpy.__name__ == "axpy"
        assert axpy.device == sw.device(device)
        assert [(p.name, p.type, p.size, p.offset) for p in axpy.parameters] == [
            ("out", "float *", 8, 0),
            ("x", "const float *", 8, 8),
            ("y", "const float *", 8, 16),
            ("a", "float", 4, 24),
            ("n", "int", 4, 28),
        ]
        assert [p.is_const for p in axpy.parameters] == [False, True, True, False, False]
        assert axpy.parameters[0].dtype == "float32" and axpy.parameters[4].dtype == "int32"
        assert axpy.attributes.max_threads_per_block == axpy.max_threads_per_block >= 256
        assert axpy.attributes.registers == axpy.num_regs
        assert (axpy.shared_size_bytes, axpy.local_size_bytes, axpy.const_size_bytes) >= (0, 0, 0)
        assert axpy.attributes.architecture == sw.device(device).properties.architecture
        assert re.fullmatch(r"<kernel axpy\(float \*out, .*int n\) on .*>", repr(axpy))
        with pytest.raises(TypeError):
            type(axpy)()


class TestCompileErrors:
    SOURCE = "__global__ void broken(float *x)\n{\n    x[0] = undeclared_name;\n}\n"

    def test_compile_error_shows_the_log_and_the_users_line(self, device):
        with pytest.raises(sw.CompileError) as caught:
            sw.SourceModule(self.SOURCE, device=device)
        error = caught.value
        assert "undeclared_name" in error.log and "3" in error.log
        numbered = [line for line in error.source.splitlines() if "undeclared_name" in line]
        assert len(numbered) == 1 and re.match(r"\W*3\W", numbered[0]), error.source
        assert error.log.strip() in str(error)
        assert numbered[0].strip() in str(error)

    def test_failed_compilation_is_not_cached(self, device, tmp_path):
        header = tmp_path / "fixed_later.cuh"
        source = '#include "fixed_later.cuh"\n__global__ void k(int *x) { x[0] = VALUE; }'
        header.write_text("#define VALUE nonsense\n")
        with pytest.raises(sw.CompileError):
            sw.SourceModule(source, include_dirs=[tmp_path], device=device)
        header.write_text("#define VALUE 1\n")
        assert sw.SourceModule(source, include_dirs=[tmp_path], device=device).function_names == [
            "k"
        ]

    @pytest.mark.parametrize(
        "source",
        [
            "__global__ int f(int *x) { return x[0]; }",
            "typedef float number;\n__global__ number f(number x) { return x; }",
            "template <class T> __global__ T *f(T *x) { return x; }",
        ],
    )
    def test_kernel_that_returns_a_value_is_refused_with_the_reason(self, compiler, source):
        names = ["f<int>"] if "template" in source else []
        with pytest.raises(
            sw.CompileError, match="a kernel returns nothing: declare it as __global__ void"
        ):
            sw.SourceModule(source, device="cpu", names=names)
