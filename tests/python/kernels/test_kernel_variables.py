# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Variables of a preamble: get_global() of kernels that are made from expressions."""

import numpy as np
import pytest

import spanwise as sw
from spanwise import tensor

TABLE = "__constant__ float table[4] = {1, 2, 3, 4};"


def set_values(kernel, name, values, device):
    variable = kernel.get_global(name, device)
    assert variable.dtype == "uint8" and variable.nbytes == np.asarray(values).nbytes
    sw.copyto(variable.view(str(np.asarray(values).dtype)), values)


@pytest.fixture
def looked_up():
    return sw.ElementwiseKernel("T x", "T y", "y = x + table[i % 4]", preamble=TABLE)


def test_a_constant_has_its_initial_values_until_it_is_set(device, looked_up):
    x = sw.zeros(4, "float32", device=device)
    assert looked_up(x).tolist() == [1, 2, 3, 4]
    values = looked_up.get_global("table", device).view("float32")
    assert values.tolist() == [1, 2, 3, 4]
    values[...] = np.array([5, 6, 7, 8], "float32")
    assert looked_up(x).tolist() == [5, 6, 7, 8]
    assert looked_up.get_global("table", device).view("float32").tolist() == [5, 6, 7, 8]


def test_values_reach_kernels_compiled_before_and_after(device, looked_up):
    """There is one kernel for each combination of dtypes and class of layouts."""
    before = sw.zeros(8, "float64", device=device)
    looked_up(before)
    for factor in (1, 10):
        values = factor * np.array([1, 0, 2, 4], "float32")
        set_values(looked_up, "table", values, device)
        for x in (
            before,
            before[::2],
            sw.zeros((2, 4), "float32", device=device),
            sw.zeros((4, 2), "int32", device=device).T,
        ):
            expected = np.resize(values, x.shape)
            np.testing.assert_array_equal(looked_up(x).numpy(), expected)


def test_pointers_and_the_default_device(device):
    kernel = sw.ElementwiseKernel(
        "float *x", "x[i] = table[i % 4]", preamble="__constant__ float table[4];"
    )
    with device:
        sw.copyto(kernel.get_global("table").view("float32"), np.arange(4, dtype="float32"))
        x = sw.full(6, -7, "float32")
        kernel(x)
    assert x.tolist() == [0, 1, 2, 3, 0, 1]


def test_variables_that_kernels_write_are_one_variable(device):
    """A __device__ variable counts the elements of all kernels, and can be read and reset."""
    kernel = sw.ElementwiseKernel(
        "T x", "T y", "y = x; atomicAdd(&count, 1)", preamble="__device__ int count = 100;"
    )
    count = kernel.get_global("count", device).view("int32")
    assert count.tolist() == [100]
    kernel(sw.zeros(5, "float32", device=device))
    kernel(sw.zeros((2, 3), "float64", device=device))
    assert count.tolist() == [111]
    count[...] = 0
    kernel(sw.zeros(6, "float32", device=device)[::2])
    assert count.tolist() == [3]


def test_reductions(device):
    kernel = sw.ReductionKernel(
        "T x", "T y", "x * weight", "a + b", "y = a + tables::bias[1]", "0",
        preamble="__constant__ float weight = 2; namespace tables { __constant__ int bias[2]; }",
    )  # fmt: skip
    x = np.random.default_rng(3).integers(0, 9, (3, 70_000)).astype("float64")
    on_device = sw.array(x, device=device)
    set_values(kernel, "weight", np.array([3], "float32"), device)
    set_values(kernel, "tables::bias", np.array([0, 5], "int32"), device)
    assert kernel(on_device).item() == 3 * x.sum() + 5
    np.testing.assert_array_equal(kernel(on_device, axis=1).numpy(), 3 * x.sum(1) + 5)
    np.testing.assert_array_equal(kernel(on_device, axis=0).numpy(), 3 * x.sum(0) + 5)


@pytest.mark.parametrize("shape", [(10,), (100_000,), (3, 50)])
def test_scans(device, shape):
    kernel = sw.ScanKernel("int64", "(a + b) % modulus", preamble="__constant__ int modulus = 1;")
    set_values(kernel, "modulus", np.array([1000], "int32"), device)
    x = np.random.default_rng(4).integers(0, 9, shape)
    result = kernel(sw.array(x, device=device), "new", axis=len(shape) - 1)
    np.testing.assert_array_equal(result.numpy(), np.cumsum(x, -1) % 1000)


def test_names_that_are_no_variables_are_refused(device, looked_up):
    with pytest.raises(
        sw.ArgumentError,
        match=r"ElementwiseKernel 'kernel': get_global: .*got 'tables'; declare it",
    ):
        looked_up.get_global("tables", device)
    op = sw.kernel_op("looked", "y = x + c", "T x", "T y", preamble="__constant__ float c;")
    with pytest.raises(sw.NotSupportedError, match=r"looked: get_global\('c'\).*write a kernel"):
        op.get_global("c")
    with pytest.raises(sw.ArgumentError, match=r"filter: get_global: .*the source, got 'out'"):
        filter_op().get_global("out", device)
    with pytest.raises(TypeError, match="name"):
        filter_op().get_global(3)


def filter_op(name="filter"):
    return sw.kernel_op(
        name,
        """
        namespace tables { __constant__ float weights[2] = {1, 10}; }
        __device__ int calls = 0;
        template <class T> __global__ void filter(const T *x, T *y, int n) {
          const int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i < n) y[i] = x[i] * tables::weights[i % 2];
          if (i == 0) atomicAdd(&calls, 1);
        }""",
        inputs=["x: contiguous T[n]"],
        outputs=["y: contiguous T[n]"],
        arguments=["x", "y", "n"],
    )


def test_kernel_ops_eager_and_in_functions(device):
    """Functions compiled before and after, of several dtypes, read the values."""
    op, x = filter_op(), tensor.fvector("x")
    ones = {dtype: sw.ones(4, dtype, device=device) for dtype in ("float32", "float64")}
    with device:
        before = sw.function([x], op(x) + 1)
        assert before(ones["float32"]).tolist() == [2, 11, 2, 11]
        for weights in ([3, 4], [5, 6]):
            set_values(op, "tables::weights", np.array(weights, "float32"), device)
            assert before(ones["float32"]).tolist() == [w + 1 for w in 2 * weights]
            assert sw.function([x], op(x) - 1)(ones["float32"]).tolist() == [
                w - 1 for w in 2 * weights
            ]
            assert op(ones["float64"]).tolist() == 2 * weights


def test_a_kernel_op_counts_in_one_variable(device):
    op, x = filter_op(), tensor.fvector("x")
    calls = op.get_global("calls", device).view("int32")
    with device:
        function = sw.function([x], op(x))
        for _ in range(3):
            function(sw.ones(2, "float32", device=device))
    op(sw.ones(2, "float64", device=device))
    assert calls.tolist() == [4]


def test_equal_kernel_ops_have_variables_of_their_own(device):
    a, b, x = filter_op(), filter_op(), tensor.fvector("x")
    with device:
        function = sw.function([x], [a(x), a(x), b(x)])
    set_values(a, "tables::weights", np.array([2, 3], "float32"), device)
    for result, expected in zip(
        function(sw.ones(2, "float32", device=device)), ([2, 3], [2, 3], [1, 10]), strict=True
    ):
        assert result.tolist() == expected


def test_a_kernel_op_of_constants_reads_its_variables_in_each_call(device):
    op = filter_op()
    with device:
        function = sw.function([], op(tensor.constant(np.ones(2, "float32"))))
        assert function().tolist() == [1, 10]
        set_values(op, "tables::weights", np.array([7, 8], "float32"), device)
        assert function().tolist() == [7, 8]


@pytest.mark.parametrize("how", ["scan", "ifelse", "from_graph"])
def test_kernel_ops_in_bodies_read_the_variables(device, how):
    op, x = filter_op(), tensor.fvector("x")
    with device:
        if how == "scan":
            result = sw.graph.scan(op, outputs_info=[x], n_steps=2)[-1]
        elif how == "ifelse":
            result = tensor.ifelse(x.sum() > 0, op(op(x)), x)
        else:
            result = sw.graph.OpFromGraph([x], [op(op(x))])(x)
        function = sw.function([x], result)
        set_values(op, "tables::weights", np.array([2, 3], "float32"), device)
        assert function(sw.ones(2, "float32", device=device)).tolist() == [4, 9]


#: Variables that are initialized by code, which CUDA's compilers refuse. The CPU's loader would run
#: it, and most of it ends the process.
COMPUTED = {
    "store through null": "struct S { int v; __device__ S() { *(volatile int *)0 = 1; } }; __device__ S s;",
    "load through null": "__device__ int *null = 0; struct S { int v = *null; }; __device__ S s;",
    "call": "__device__ int f(); __device__ int (*g)() = f; struct S { int v; }; __device__ S s = {g()};"
    "__device__ int f() { return 7; }",
    "recursion": "__device__ int f(int n) { volatile char b[1000]; b[0] = n; return n ? f(n + 1) + b[0] : 0; }"
    "struct S { int v; }; __device__ S s = {f(1)};",
    "__constant__": "struct S { int v; __device__ S() { *(volatile int *)0 = 1; } }; __constant__ S s;",
    "exit": "#include <cstdlib>\nstruct S { int v; __device__ S() { exit(3); } }; __device__ S s;",
    "printf": 'struct S { int v; __device__ S() { printf("hello"); v = 5; } }; __device__ S s;',
    "__syncthreads": "struct S { int v; __device__ S() { __syncthreads(); v = threadIdx.x; } }; __device__ S s;",
    "destructor": "struct S { int v = 7; __device__ ~S() { *(volatile int *)0 = 1; } }; __device__ S s;",
    "static member": "__device__ int *null = 0; template <class T> struct Q { static T v; };"
    "template <class T> __device__ T Q<T>::v = *null; __device__ Q<int> s;",
    "endless loop": "__device__ int f() { volatile int i = 1; while (i) {} return 1; }"
    "struct S { int v; }; __device__ S s = {f()};",
}


@pytest.mark.parametrize("check", ["none", "all"])
@pytest.mark.parametrize("name", COMPUTED)
def test_variables_initialized_by_code_are_a_compile_error(name, check):
    text = f"{COMPUTED[name]} __global__ void k(int *x) {{ x[0] = s.v; }}"
    with (
        sw.config.change(kernel_check=check),
        pytest.raises(sw.CompileError, match="initial value"),
    ):
        sw.SourceModule(text, device="cpu").get_function("k")(
            sw.zeros(1, "int32", device="cpu"), block=1
        )


def test_variables_with_constant_initializers_have_their_values(device):
    text = """
    struct Pair { int a, b; __device__ constexpr Pair(int x) : a(x), b(2 * x) {} };
    struct Empty { __device__ Empty() {} };
    __device__ Pair pair(4); __constant__ int table[3] = {1, 2, 3}; __device__ float third = 1.0f / 3;
    __device__ int *address = &pair.b; __device__ dim3 extents(2, 3); __device__ Empty empty;
    __device__ float2 vector = {1, 2}; __device__ int4 many[2]; __managed__ int shared = 6;
    __global__ void k(float *x) { x[0] = *address + table[2] + extents.y + vector.y + many[1].z + shared;
                                  x[1] = third; (void)empty; }
    """
    x = sw.full(2, -1.0, dtype="float32", device=device)
    sw.SourceModule(text, device=device).get_function("k")(x, block=1)
    np.testing.assert_allclose(x.numpy(), [22, 1 / 3], rtol=1e-6)


def test_host_code_of_a_file_may_initialize_its_variables_by_code():
    text = """
    #include <string>
    #include <vector>
    static std::vector<int> sizes = {1, 2, 3}; std::string name = "text" + std::to_string(3); int *null = 0;
    int value = *null; static const std::vector<std::string> names(2, "a");
    __global__ void k(int *x) { x[0] = 7; }
    int main() { return sizes.size() + name.size() + value + names.size(); }
    """
    x = sw.zeros(1, "int32", device="cpu")
    sw.SourceModule(text, device="cpu").get_function("k")(x, block=1)
    assert x.tolist() == [7]


def test_a_library_that_is_linked_statically_may_initialize_its_variables(
    compiler, device, monkeypatch, tmp_path
):
    if device.kind != "cpu":
        pytest.skip("the host compiler's libraries")
    static = tmp_path / "static"
    static.write_text(
        "#!/bin/sh\nfor word; do shift; [ $word = -lstdc++ ] && word=-l:libstdc++.a\n"
        f'set -- "$@" "$word"; done\nexec {compiler} "$@"\n'
    )
    static.chmod(0o755)
    monkeypatch.setenv("CXX", str(static))
    text = "#include <string>\n#include <vector>\nvoid host() { k<<<1, 1>>>(); }"
    text += f"/* {tmp_path} */ __global__ void k(int *x) {{ *x = 7; }}"
    x = sw.zeros(1, "int32", device="cpu")
    sw.SourceModule(text, device="cpu").get_function("k")(x, block=1)
    assert x.tolist() == [7]
    with pytest.raises(sw.CompileError, match="initial value"):
        sw.SourceModule(
            f"#include <string>\nstruct S {{ int v; __device__ S() {{ *(volatile int *)0 = 1; }} }}; {text}"
            "__device__ S s; __global__ void l(int *x) { *x = s.v; }",
            device="cpu",
        ).get_function("l")
