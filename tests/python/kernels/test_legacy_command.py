# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""python -m spanwise legacy: the listing of a CUDA C file, and the package that it writes."""

import os
import subprocess
import sys

import numpy as np
import pytest
from support.tree import ROOT

import spanwise as sw
from spanwise import legacy

EXAMPLES = ROOT / "examples" / "legacy"

MIXED = """
#include <stdio.h>
#include <vector>
#include <cublas_v2.h>
#include <helper_math.h>
#include "parts/common.h"
#include "absent.h"
#define N 16
__constant__ float coefficients[N];
__device__ int counter = 0, other[3];
static __device__ unsigned char (*pointer)(float) = 0;
texture<float, 2, cudaReadModeElementType> image;
struct Pair { int a; float b; };
namespace n {
template <class T> __global__ void scale(T *x, T by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= by + coefficients[0];
}
__global__ void pair(float *out, Pair p) { out[threadIdx.x] = p.b; }
}
namespace m {
__global__ void pair(float *out, int in) {
  if (blockIdx.x == 0 && threadIdx.x < in) out[threadIdx.x] = half_of(in);
}
}
extern "C" {
void go(float *x, int n, cudaStream_t stream) {
  n::scale<float><<<(n + 255) / 256, 256, 0, stream>>>(x, 2.0f, n);  // cublasSgemm(
}
}
struct Runner { void run(float *x) { m::pair<<<1, 32>>>(x, 3); } };
double slow(float *x) {
  cublasHandle_t handle;
  cublasCreate(&handle);
  go(x, 1, 0);
  return 0;
}
"""
COMMON = """
#include <thrust/sort.h>
__device__ float half_of(int x) { return x * 0.5f; }
"""


@pytest.fixture
def mixed(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "common.h").write_text(COMMON)
    (tmp_path / "mixed.cu").write_text(MIXED)
    return tmp_path / "mixed.cu"


def listing(capsys, *arguments):
    """The output of the command, which succeeds."""
    assert legacy.main([str(argument) for argument in arguments]) == 0
    return capsys.readouterr().out


def error(capsys, *arguments):
    """The error text of the command, which fails without other output."""
    assert legacy.main([str(argument) for argument in arguments]) == 1
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.startswith("spanwise legacy: ")
    return printed.err


def run_tests(folder):
    """The summary of the tests of a written package."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder)
    assert done.returncode == 0, done.stdout
    return done.stdout.splitlines()[-1]


def test_the_command_lists_kernels_and_host_code():
    command = [sys.executable, "-m", "spanwise", "legacy", str(EXAMPLES / "histogram.cu"), "--list"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert "line 9: histogram256(unsigned int * bins, const unsigned char * data, int n)" in lines
    assert (
        "args=('contiguous uint32*', 'contiguous const uint8*', 'int32'); its threads wait for one another"
        in lines
    )
    index = lines.index("line 36: int main(void)")
    assert lines[index + 1] == "launches histogram256 in line 43"
    assert any(line.startswith("the CUDA runtime: cudaMalloc (line 40)") for line in lines)


def test_calls_of_host_launchers_are_listed(capsys):
    text = listing(capsys, EXAMPLES / "smooth.cu")
    parameters = "const float *in, float *out, int width, int height"
    for call in (
        f'library.launcher("smooth_rows", "{parameters}, cudaStream_t stream", returns="int")',
        f'library.launcher("smooth_rows_default", "{parameters}", returns="int")',
    ):
        assert text.count(call) == 1
    assert "launches smooth_kernel in line 27" in text and "calls smooth_rows in line 33" in text
    assert 'sw.HostLibrary("libsmooth.so")' in text
    assert "launch kernels" not in listing(capsys, EXAMPLES / "sobel.cu")


def test_missing_headers_are_listed_with_a_remedy(capsys, mixed):
    text = listing(capsys, mixed, "--list")
    assert "line 7: absent.h: not found; pass its folder as include_dirs=" in text
    assert "line 5: helper_math.h: not found; Spanwise's replacement" in text
    assert "line 4: cublas_v2.h: of a library that host code calls" in text
    assert "common.h, line 2: thrust/sort.h: of a library" in text
    for known in ("stdio.h", "vector", "parts/common.h"):
        assert f": {known}: " not in text
    assert "cuBLAS: cublasCreate (line 34)" in text and "cublasSgemm" not in text
    (mixed.parent / "elsewhere").mkdir()
    (mixed.parent / "elsewhere" / "absent.h").write_text("")
    assert "absent.h" not in listing(capsys, mixed, "--include-dir", mixed.parent / "elsewhere")


def test_device_variables_and_launches_are_listed_with_their_python(capsys, mixed):
    lines = [line.strip() for line in listing(capsys, mixed).splitlines()]
    index = lines.index("line 9: __constant__ float coefficients[N];")
    assert lines[index + 1] == 'module.get_global("coefficients").view("float32")[...] = values'
    for name, view in [("counter", '.view("int32")'), ("other", '.view("int32")'), ("pointer", "")]:
        assert any(line.startswith(f'module.get_global("{name}"){view}[...]') for line in lines)
    index = lines.index("line 12: texture<float, 2, cudaReadModeElementType> image;")
    setting, _, comment = lines[index + 1].partition("  # of ")
    assert setting == 'module.get_global("image")[:8].view("uint64")[...] = int(texture)'
    assert comment == "texture = sw.Texture(array)"
    assert lines[lines.index("line 31: struct Runner") + 1] == "launches pair in line 31"
    index = lines.index("line 32: double slow(float *x)")
    assert lines[index + 1] == "calls go in line 35"
    assert lines[index + 2].startswith("not callable from Python")
    assert 'library.launcher("go", "float *x, int n, cudaStream_t stream", returns="void")' in lines


@pytest.mark.parametrize(("name", "passed"), [("histogram", 2), ("smooth", 1), ("sobel", 1)])
def test_tests_of_a_written_package_pass(capsys, tmp_path, name, passed):
    folder = tmp_path / "packages" / name
    source = EXAMPLES / f"{name}.cu"
    text = listing(capsys, source, "--package", f"old_{name}", "--output", folder)
    assert text == f"wrote {folder}; its tests: python -m pytest {folder}\n"
    assert (folder / f"old_{name}" / f"{name}.cu").read_bytes() == source.read_bytes()
    assert listing(capsys, source).strip() in (folder / "README.md").read_text()
    assert run_tests(folder).startswith(f"{passed} passed")


def test_the_listed_code_for_a_texture_reference_sets_it(capsys, tmp_path):
    file = tmp_path / "old.cu"
    file.write_text(
        "static texture<float, 1> line;\n"
        "__global__ void k(float *y) { y[0] = tex1Dfetch(line, 2); }\n"
    )
    lines = [each.strip() for each in listing(capsys, file).splitlines()]
    code = lines[lines.index("line 1: static texture<float, 1> line;") + 1]
    module = sw.wrap_cu(file).module(device="cpu")
    values = np.float32([1, 2, 3])
    texture = sw.Texture(sw.array(values, device="cpu"))
    exec(code, {"module": module, "texture": texture})
    y = sw.full(1, np.nan, "float32", device="cpu")
    module.get_function("k")(y, block=1)
    assert y.item() == 3


def test_functions_of_a_written_package_run(capsys, tmp_path, monkeypatch, device):
    package = f"histograms_{device.kind}"
    folder = tmp_path / package
    listing(capsys, EXAMPLES / "histogram.cu", "--package", package, "--output", folder)
    monkeypatch.syspath_prepend(folder)
    histograms = __import__(package)
    data = np.random.default_rng(0).integers(0, 256, 10_000, dtype="uint8")
    bins = sw.zeros(256, dtype="uint32", device=device)
    histograms.histogram256(bins, sw.array(data, device=device)[::-1], 10_000, block=128, grid=4)
    np.testing.assert_array_equal(bins.numpy(), np.bincount(data, minlength=256))
    assert "line 9" in histograms.histogram256.__doc__.lower()


def test_package_with_a_bundle_runs_without_a_compiler(capsys, tmp_path):
    folder = tmp_path / "histograms"
    options = ["--package", "bundled", "--output", folder, "--bundle="]
    listing(capsys, EXAMPLES / "histogram.cu", *options)
    assert (folder / "bundled" / "histogram.swb").exists()
    code = (
        "import numpy as np, spanwise as sw, bundled\n"
        "bins = sw.zeros(256, dtype='uint32', device='cpu')\n"
        "data = sw.array(np.arange(1000) % 256, dtype='uint8', device='cpu')\n"
        "bundled.histogram256(bins, data, 1000, block=128, grid=4)\n"
        "print(bins.sum())\n"
    )
    hidden = {**os.environ, "PATH": "", "SPANWISE_CACHE_DIR": str(tmp_path / "cache")}
    hidden.pop("CXX", None)
    hidden["PYTHONPATH"] = os.pathsep.join([str(folder), *sys.path])
    printed = subprocess.run(
        [sys.executable, "-c", code], env=hidden, stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    assert printed == "1000\n"


def test_package_copies_headers_and_qualifies_equal_names(capsys, mixed):
    (mixed.parent / "elsewhere").mkdir()
    (mixed.parent / "elsewhere" / "absent.h").write_text("")
    folder = mixed.parent / "out"
    include = ("--include-dir", mixed.parent / "elsewhere")
    listing(capsys, mixed, "--package", "mixed", "--output", folder, *include)
    for header in ("parts/common.h", "absent.h"):
        assert (folder / "mixed" / header).is_file()
    module = (folder / "mixed" / "__init__.py").read_text()
    assert "names=['n::scale<float>']" in module
    for function in ("def scale(x, by, n, *", "def n_pair(out, p, *", "def m_pair(out, in_, *"):
        assert function in module
    assert "give arguments for Pair p" in (folder / "tests" / "test_kernels.py").read_text()
    assert run_tests(folder).startswith("2 passed, 1 skipped")


def test_blocks_have_the_axes_that_a_kernel_uses(capsys, tmp_path):
    source = tmp_path / "axes.cu"
    source.write_text(
        "template <class T>\n__global__ void\nplane(T *x, int w, int h)\n{\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;\n"
        "  if (i < w && j < h) x[j * w + i] = i;\n}\n"
        "__global__ void volume(float *x) { x[threadIdx.z + blockIdx.x] = 1; }\n"
    )
    listing(capsys, source, "--package", "axes", "--output", tmp_path / "axes")
    cases = (tmp_path / "axes" / "tests" / "test_kernels.py").read_text()
    assert '(array("float32"), 64, 64),\n        {"block": (16, 16, 1), "grid": (4, 4, 1)}' in cases
    assert '(array("float32"),),\n        {"block": (8, 8, 4), "grid": (2, 2, 4)}' in cases


def test_headers_elsewhere_are_not_copied(capsys, tmp_path):
    (tmp_path / "far.h").write_text("")
    (tmp_path / "inside").mkdir()
    source = tmp_path / "inside" / "k.cu"
    source.write_text('#include "../far.h"\n__global__ void k(float *x) { x[threadIdx.x] = 1; }\n')
    text = listing(capsys, source, "--package", "k", "--output", tmp_path / "k")
    assert "not copied: " in text and "far.h" in text


def test_what_a_link_leads_to_is_copied_from_the_folders_of_the_source_only(capsys, tmp_path):
    (tmp_path / "private.txt").write_text("int secret;\n")
    inside = tmp_path / "inside"
    (inside / "real").mkdir(parents=True)
    (inside / "real" / "near.h").write_text("int near;\n")
    (inside / "near.h").symlink_to("real/near.h")
    (inside / "far.h").symlink_to(tmp_path / "private.txt")
    (inside / "up").symlink_to(tmp_path)
    source = inside / "k.cu"
    source.write_text(
        '#include "near.h"\n#include "far.h"\n#include "up/private.txt"\n'
        "__global__ void k(float *x) { x[threadIdx.x] = 1; }\n"
    )
    text = listing(capsys, source, "--package", "k", "--output", tmp_path / "k")
    assert text.count("not copied: ") == 2
    copies = [f.read_text() for f in (tmp_path / "k").rglob("*") if f.is_file()]
    assert any("int near" in c for c in copies) and not any("int secret" in c for c in copies)


def test_a_package_says_what_it_does_not_test(capsys, tmp_path):
    source = tmp_path / "many.cu"
    source.write_text("""
template <class T, unsigned int blockSize, bool nIsPow2> __global__ void reduce6(T *in, T *out, unsigned int n) {
  extern __shared__ float shared[];
  if (nIsPow2) out[blockIdx.x] = in[blockSize];
}
template <int N> __global__ void fixed(float *x) { x[threadIdx.x] = N; }
template <class T, int N = 4> __global__ void defaulted(T *x) { x[threadIdx.x] = N; }
__global__ void flags(float *x, bool on, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (on && i < n) x[i] = 1;
}
__global__ void transpose(float *out, const float *in, int n) {
  extern __shared__ float tile[];
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  tile[threadIdx.y * 16 + threadIdx.x] = in[j * n + i];
  __syncthreads();
  out[i * n + j] = tile[threadIdx.y * 16 + threadIdx.x];
}
__global__ void sample(float *out, cudaTextureObject_t image) { out[0] = tex2D<float>(image, 0, 0); }
__global__ void rows(float **matrix) { matrix[0][0] = 1; }
__global__ void shift(float *x, int n) { x[threadIdx.x + n] = 0; }
template <class T> __global__ void bits(T *x) { x[threadIdx.x] ^= 1; }
""")
    lines = listing(capsys, source)
    assert (
        "reduce6 is left out, a template <class T, unsigned int blockSize, bool nIsPow2>" in lines
    )
    assert 'names=["reduce6<float, 256, true>"]' in lines and 'names=["fixed<256>"]' in lines
    listing(capsys, source, "--package", "many", "--output", tmp_path / "many")
    module = (tmp_path / "many" / "many" / "__init__.py").read_text()
    assert "def reduce6" not in module and "# reduce6 is left out" in module
    assert "def defaulted" in module
    # No kernel of a file compiles if one does not: bits<float> is none.
    assert run_tests(tmp_path / "many").startswith("9 skipped")
    source.write_text(source.read_text().replace("^= 1", "+= 1"))
    listing(capsys, source, "--package", "most", "--output", tmp_path / "most")
    assert run_tests(tmp_path / "most").startswith("5 passed, 4 skipped, 2 warnings")
    (tmp_path / "only.cu").write_text(
        "template <int N> __global__ void fixed(float *x) { *x = N; }"
    )
    listing(capsys, tmp_path / "only.cu", "--package", "only", "--output", tmp_path / "only")
    assert run_tests(tmp_path / "only").startswith("1 skipped")


def test_kernels_of_headers_and_missing_headers(capsys, tmp_path):
    (tmp_path / "kernels.cuh").write_text(
        "#pragma once\n__global__ void twice(float *x, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i < n) x[i] *= 2;\n}\n"
    )
    source = tmp_path / "main.cu"
    source.write_text('#include "kernels.cuh"\nint main() { twice<<<1, 32>>>(0, 0); }\n')
    assert "kernels.cuh, line 2: twice(float * x, int n)" in listing(capsys, source)
    listing(capsys, source, "--package", "doubled", "--output", tmp_path / "doubled")
    assert run_tests(tmp_path / "doubled").startswith("1 passed")
    source.write_text('#include "config_of_build.h"\n' + source.read_text())
    text = listing(capsys, source, "--package", "lacking", "--output", tmp_path / "lacking")
    assert "not found: config_of_build.h, which main.cu includes in line 1" in text
    assert run_tests(tmp_path / "lacking").startswith("1 skipped")


def test_a_faulty_kernel_fails_the_tests_of_its_package(capsys, tmp_path):
    source = tmp_path / "faulty.cu"
    source.write_text("__global__ void shift(float *x, int n) { x[threadIdx.x + n] = 0; }\n")
    listing(capsys, source, "--package", "faulty", "--output", tmp_path / "faulty")
    assert run_tests(tmp_path / "faulty").startswith("1 passed, 1 warning")
    tests = tmp_path / "faulty" / "tests" / "test_kernels.py"
    tests.write_text(tests.read_text().replace("GUESSED = True", "GUESSED = False"))
    with pytest.raises(AssertionError, match="KernelFaultError.*writes 4 bytes outside"):
        run_tests(tmp_path / "faulty")


def test_a_race_fails_the_tests_of_its_package(capsys, tmp_path):
    source = tmp_path / "racing.cu"
    source.write_text("__global__ void last(int *x) { x[0] = threadIdx.x; }\n")
    listing(capsys, source, "--package", "racing", "--output", tmp_path / "racing")
    with pytest.raises(AssertionError, match="KernelFaultError.*race"):
        run_tests(tmp_path / "racing")


def test_file_without_kernels_or_absent_file_is_an_error(capsys, tmp_path):
    (tmp_path / "none.cu").write_text("int main() {}\n")
    text = error(capsys, tmp_path / "none.cu")
    assert "none.cu" in text and "no __global__ function" in text and "Remedy" in text
    text = error(capsys, tmp_path / "absent.cu", "--package", "absent")
    assert "absent.cu" in text and "No such file" in text
    assert not (tmp_path / "absent").exists()


def test_existing_folder_or_invalid_package_name_is_an_error(capsys, tmp_path):
    sobel = EXAMPLES / "sobel.cu"
    (tmp_path / "existing").mkdir()
    text = error(capsys, sobel, "--package", "edges", "--output", tmp_path / "existing")
    assert "expected a folder that does not exist" in text
    assert list((tmp_path / "existing").iterdir()) == []
    for name in ("old-sobel", "class", "1st", "größe", "numpy", "json", "tests"):
        text = error(capsys, sobel, "--package", name, "--output", tmp_path / "new")
        assert "expected a Python name of letters, digits and underscores" in text
        assert text.endswith(f"got {name!r}\n")
    assert not (tmp_path / "new").exists()


HOSTILE = """
struct Pair { int a; };
__global__ void _launch(float *declarations, int launch, Pair None) { declarations[0] = launch; }
namespace n { __global__ void SOURCE(float *x, const char (*f)[sizeof(")")]) { } }
__global__ void next(float *__debug__) { __debug__[0] = 5; }
__global__ void __init__(float *class) { class[0] = 6; }
"""


def test_names_of_file_and_kernels_are_escaped_in_a_package(capsys, tmp_path, monkeypatch):
    source = tmp_path / '""" + sys.exit("a module ran") + """\n{\\.cu'
    source.write_text(HOSTILE)
    text = listing(capsys, source, "--list", "--package", "hostile", "--output", tmp_path / "out")
    assert r'sys.exit("a module ran") + """\n{' in text
    monkeypatch.syspath_prepend(tmp_path / "out")
    hostile = __import__("hostile")
    assert hostile.__doc__.startswith(f"The kernels of {source.name}, for")
    assert hostile.SOURCE.read_text() == HOSTILE
    assert "const char" in hostile.SOURCE_.__doc__ and "_launch(" in hostile._launch_.__doc__
    calls = []
    monkeypatch.setattr(hostile, "_launch", lambda *call: calls.append(call))
    hostile._launch_(1, 2, 3, block=4)
    hostile.next_(5, block=4)
    hostile._init__(6, block=4)
    assert [(call[0], call[2]) for call in calls] == [
        ("_launch", (1, 2, 3)),
        ("next", (5,)),
        ("__init__", (6,)),
    ]


def test_declarations_to_paste_do_not_replace_each_other(tmp_path):
    (tmp_path / "k.cu").write_text(
        "namespace a { __global__ void sw(float *x) {} }\n__global__ void sw(float *x) {}\n"
        "__global__ void module(float *x) {}\n"
    )
    text = sw.wrap_cu(tmp_path / "k.cu").declaration
    assert "\na_sw = module.get_function(" in text and "\nsw_ = module.get_function(" in text
    assert "\nmodule_ = module.get_function(" in text


def test_files_that_python_or_pytest_would_run_are_not_copied(capsys, tmp_path):
    (tmp_path / "conftest.py").write_text("raise SystemExit('conftest ran')\n")
    outside = tmp_path / "outside.h"
    outside.write_text("")
    (tmp_path / "in").mkdir()
    source = tmp_path / "in" / "k.cu"
    (tmp_path / "in" / "__init__.py").write_text("raise SystemExit('a header ran')\n")
    source.write_text(
        f'#include "conftest.py"\n#include "__init__.py"\n#include "{outside}"\n'
        "__global__ void k(float *x) { x[0] = 1; }\n"
    )
    out = tmp_path / "out"
    text = listing(capsys, source, "--package", "k", "--output", out, "--include-dir", tmp_path)
    assert text.count("not copied: ") == 3
    assert sorted(p.name for p in (out / "k").iterdir()) == ["__init__.py", "k.cu"]
    source.rename(tmp_path / "in" / "test_k.py")
    text = error(capsys, tmp_path / "in" / "test_k.py", "--package", "k", "--output", out / "k2")
    assert "whose copy Python does not import" in text and "rename it" in text


PTX = """
// Generated by NVIDIA NVVM Compiler
.version 8.4
.target sm_75
.address_size 64
.visible .entry saxpy(
	.param .u64 saxpy_param_0,
	.param .align 4 .b8 saxpy_param_1[12],
	.param .f32 saxpy_param_2
)
.maxntid 256, 1, 1
{ ret; }
.entry _Z5emptyv()
{ ret; }
"""


def test_compiled_code_is_named_with_its_kernels(capsys, tmp_path):
    (tmp_path / "x.ptx").write_text(PTX)
    text = error(capsys, tmp_path / "x.ptx")
    assert "is PTX, compiled code, with the kernels: saxpy(u64, b8[12], f32), _Z5emptyv()." in text
    assert "sw.Module.load(path)" in text and "macros" not in text
    (tmp_path / "x.cubin").write_bytes(b"\x7fELF\2\1\0\0")
    text = error(capsys, tmp_path / "x.cubin")
    assert "which is a binary" in text and "sw.HostLibrary" in text and "macros" not in text


def test_calls_in_kernels_and_of_header_functions_are_no_calls_of_host_libraries(capsys, tmp_path):
    (tmp_path / "k.cu").write_text(
        "#include <cuComplex.h>\n#include <cub/cub.cuh>\n"
        "__device__ float f(float x) { return cub::max(x, 1.0f); }\n"
        "template <int N> __global__ void k(cuFloatComplex *z) {\n"
        "  cudaGridDependencySynchronize(); z[0] = cuCmulf(z[0], z[1]);\n}\n"
        "float host(cuFloatComplex a) { cuCtxSynchronize(); return cuCabsf(cuCmulf(a, a)); }\n"
    )
    lines = listing(capsys, tmp_path / "k.cu").splitlines()
    title = lines.index("calls of libraries in host code, which is left out")
    assert lines[title + 1 : title + 3] == ["  the CUDA driver: cuCtxSynchronize (line 7)"]
