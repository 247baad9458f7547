# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels compiled ahead of time: sw.compile, bundles, and what loads them without a compiler."""

import hashlib
import os
import pathlib
import random
import subprocess
import sys

import numpy as np
import pytest
from support.package import run_without_compilers

import spanwise as sw

SCALE = """
#include <spanwise/view.cuh>
template <class T> __global__ void scale(const T *x, T *y, T by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = by * x[i];
}
__device__ int calls;
__global__ void count() { atomicAdd(&calls, 1); }
"""
NAMES = ["scale<float>", "scale<double>"]


def cube(**options):
    return sw.kernel_op(
        "cube",
        "__global__ void cube(const T *x, T *y, int n)"
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] * x[i] * x[i]; }",
        inputs="x: contiguous T[n]",
        outputs="y: contiguous T[n]",
        **options,
    )


def cube_with_gradient():
    gradient = sw.kernel_op(
        "cube_gradient",
        "__global__ void cube_gradient(const T *x, const T *dy, T *dx, int n)"
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) dx[i] = K * x[i] * x[i] * dy[i]; }",
        inputs=["x: contiguous T[n]", "dy: contiguous T[n]"],
        outputs="dx: contiguous T[n]",
        arguments=["x", "dy", "dx", "n"],
        options=["-DK=3"],
    )
    return cube(grad={"x": gradient})


@pytest.fixture(scope="module")
def bundle():
    return sw.compile(SCALE, archs=[], names=NAMES, file_name="scale.cu")


@pytest.fixture(scope="module")
def gpu_bundle():
    if not any("NVRTC" in tool["name"].upper() and tool["path"] for tool in _tools()):
        pytest.skip("NVRTC is not installed")
    return sw.compile(SCALE, archs=["sm_80", "sm_90", "sm_120", "ptx"], cpu=False, names=NAMES)


def _tools():
    from spanwise import _core

    return [{"name": tool.name, "path": tool.path} for tool in _core._tools()]


def check_scale(module, device):
    for name, dtype in zip(NAMES, ("float32", "float64"), strict=True):
        x = sw.array(np.arange(1000), dtype=dtype, device=device)
        y = sw.full((1000,), -1, dtype=dtype, device=device)
        kernel = module.get_function(name)
        kernel(x, y, 3.0, 1000, block=(128, 1, 1), grid=(8, 1, 1))
        np.testing.assert_array_equal(y.numpy(), 3 * np.arange(1000, dtype=dtype))
        assert [p.name for p in kernel.parameters] == ["x", "y", "by", "n"]


def test_module_of_a_bundle_runs_on_the_cpu(bundle, tmp_path):
    assert bundle.targets == ["x86-64-v2", "x86-64-v3"] or bundle.targets == ["armv8-a"]
    assert bundle.sources == [SCALE]
    bundle.save(tmp_path / "scale.swb")
    for source in (tmp_path / "scale.swb", str(tmp_path / "scale.swb"), bytes(bundle)):
        module = sw.Module.load(source, device="cpu")
        check_scale(module, "cpu")
        assert sorted(module.function_names) == ["count", *sorted(NAMES)]


def test_variables_of_two_loaded_modules_are_separate(bundle):
    first, second = (sw.Module.load(bytes(bundle), device="cpu") for _ in range(2))
    first.get_function("count")(block=(4, 1, 1), grid=(1, 1, 1))
    assert [m.get_global("calls").view("int32").item() for m in (first, second)] == [4, 0]


def test_bundle_is_chosen_by_the_instruction_set(bundle, tmp_path):
    bundle.save(tmp_path / "scale.swb")
    code = "import spanwise as sw; print(sw.Module.load('scale.swb', device='cpu'))"
    assert "scale<float>" in run_without_compilers(
        tmp_path, code, SPANWISE_INSTRUCTION_SET="baseline"
    )
    only = sw.compile(SCALE, archs=[], cpu=["x86-64-v4"], names=NAMES)
    only.save(tmp_path / "v4.swb")
    code = """
        import spanwise as sw
        try: print(sw.Module.load('v4.swb', device='cpu'))
        except sw.DeviceError as error: print(error)
    """
    printed = run_without_compilers(tmp_path, code, SPANWISE_INSTRUCTION_SET="baseline")
    assert "has binaries for x86-64-v4, of which none runs on cpu. Remedy: compile it" in printed


def test_bundles_for_gpus_are_made_without_one(gpu_bundle, device):
    assert gpu_bundle.targets == ["sm_80", "sm_90", "sm_120", "compute_80"]
    if device.kind != "cuda":
        with pytest.raises(sw.DeviceError, match="binaries for sm_80, sm_90, .* none runs on cpu"):
            sw.Module.load(bytes(gpu_bundle), device="cpu")
        return
    check_scale(sw.Module.load(bytes(gpu_bundle), device=device), device)
    ptx = sw.compile(SCALE, archs=["compute_80"], cpu=False, names=NAMES)
    check_scale(sw.Module.load(bytes(ptx), device=device), device)


def test_without_a_compiler_kernels_and_ops_run_from_bundles(bundle, tmp_path):
    bundle.save(tmp_path / "scale.swb")
    ops = sw.compile(cube_with_gradient(), archs=[], dtypes={"T": ["float32", "float64"]})
    assert ops.ops == ["cube"] and len(ops.sources) == 4
    ops.save(tmp_path / "ops.swb")
    code = """
        import pathlib, numpy as np, spanwise as sw
        x = np.arange(5, dtype="float32")
        try: sw.SourceModule("__global__ void f() {}", device="cpu"); print("there is a compiler")
        except sw.DeviceError: pass
        sw.Module.load("scale.swb", device="cpu").get_function("scale<float>")
        cube = sw.load_ops("ops.swb").cube
        print(cube(sw.array(x)).tolist(), cube(sw.array(x, dtype="float64")).tolist())
        v = sw.tensor.fvector()
        derivative = sw.tensor.grad(cube(v).sum(), v)
        print(sw.function([v], derivative, mode="fast_compile")(x).tolist())
        scale = sw.kernel_op("scale", pathlib.Path("scale.swb"), inputs=["x: contiguous T[n]"],
            outputs="y: contiguous T[n]", arguments=["x", "y", "2", "n"], kernel="scale")
        print(scale(sw.array(x)).tolist())
        sw.Bundle.load("scale.swb").attach()
        print(sw.SourceModule(sw.Bundle.load("scale.swb").sources[0], device="cpu",
            names=["scale<double>"]).from_cache)
    """
    lines = run_without_compilers(tmp_path, code).splitlines()
    assert lines == [
        "[0.0, 1.0, 8.0, 27.0, 64.0] [0.0, 1.0, 8.0, 27.0, 64.0]",
        "[0.0, 3.0, 12.0, 27.0, 48.0]",
        "[0.0, 2.0, 4.0, 6.0, 8.0]",
        "True",
    ]


def test_command_compiles_files_and_ops(tmp_path):
    (tmp_path / "scale.cu").write_text(SCALE)
    (tmp_path / "ops.py").write_text(
        "import spanwise as sw\n"
        "double = sw.kernel_op('double', '__global__ void f(const T *x, T *y, int n)"
        "{ if (threadIdx.x < n) y[threadIdx.x] = 2 * x[threadIdx.x]; }',\n"
        "    inputs='x: contiguous T[n]', outputs='y: contiguous T[n]')\n"
    )

    def command(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "spanwise", "compile", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=False,
        )

    done = command("scale.cu", "-o", "scale.swb", "--arch=", "--name=scale<float>")
    assert done.returncode == 0 and "scale.swb: " in done.stdout, done.stderr
    assert "scale<float>" in sw.Module.load(tmp_path / "scale.swb", device="cpu").function_names
    done = command("ops.py", "-o", "ops.swb", "--arch=", "--dtype", "T=float32,int32")
    assert done.returncode == 0, done.stderr
    ops = sw.load_ops(tmp_path / "ops.swb")
    assert ops.double(sw.array([1, 2], dtype="int32")).tolist() == [2, 4]
    (tmp_path / "wrong.cu").write_text("__global__ void f() { undefined(); }")
    done = command("wrong.cu", "-o", "wrong.swb", "--arch=")
    assert done.returncode == 1 and "undefined" in done.stderr
    assert not (tmp_path / "wrong.swb").exists()


def test_errors_name_targets_dtypes_and_kinds_of_ops():
    with pytest.raises(sw.ArgumentError, match="expected a target, such as"):
        sw.compile(SCALE, archs=[], cpu=False)
    with pytest.raises(sw.ArgumentError, match="expected a target of x86-64|armv8"):
        sw.compile(SCALE, archs=["pentium"], cpu=False)
    with pytest.raises(sw.ArgumentError, match="expected an architecture such as sm_90.*'sm_x'"):
        sw.compile(SCALE, archs=["sm_x"], cpu=False)
    with pytest.raises(sw.ArgumentError, match="cube: expected a dtype for the letter T"):
        sw.compile(cube(), archs=[])
    with pytest.raises(sw.ArgumentError, match="expected a text of CUDA C.. or ops"):
        sw.compile(3, archs=[])
    with pytest.raises(sw.NotSupportedError, match="half: an op of an element body"):
        sw.compile(sw.kernel_op("half", "y = x / 2", "T x", "T y"), archs=[])
    with pytest.raises(sw.CompileError, match="expected|error"):
        sw.compile("__global__ void f() { ; ", archs=[])
    kernels = sw.compile("__global__ void f() {}", archs=[], cpu=True)
    with pytest.raises(sw.ArgumentError, match="load_ops: .* has kernels and no ops"):
        load_as_file(sw.load_ops, kernels)


def load_as_file(load, bundle):
    path = pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / f"spanwise-test-{os.getpid()}.swb"
    try:
        bundle.save(path)
        return load(path)
    finally:
        path.unlink()


def with_checksum(body):
    return body + hashlib.sha256(body).hexdigest().encode()


def test_newer_truncated_and_changed_bundles_are_refused(bundle):
    contents = bytes(bundle)
    newer = contents.replace(b"spanwise bundle 1\n", b"spanwise bundle 7\n", 1)
    with pytest.raises(
        sw.ArgumentError, match="of interface 7, .* reads interfaces up to 1.*newer"
    ):
        sw.Bundle(newer)
    with pytest.raises(sw.ArgumentError, match="expected a file that sw.compile"):
        sw.Bundle(b"\x7fELF")
    for length in (20, 100, len(contents) // 2, len(contents) - 1):
        with pytest.raises(sw.ArgumentError, match="truncated or was changed"):
            sw.Bundle(contents[:length])
    for position in (18, 60, len(contents) // 2, len(contents) - 3):
        changed = bytearray(contents)
        changed[position] ^= 1
        with pytest.raises(sw.ArgumentError, match="truncated or was changed"):
            sw.Module.load(bytes(changed), device="cpu")


def test_hostile_bundles_with_right_checksums_are_refused(bundle):
    start, body = b"spanwise bundle 1\n", bytes(bundle)[:-64]
    huge = b"20 99999999999999999999\n"
    for fields in (
        b"",
        b"2 {}\n",
        b"2 {}\n" + b"19 9999999999999999999\n",
        b"2 {}\n" + huge,
        b"2 {}\n1 1\n99999999999 x\n",
        b"2 {}\n2 -1\n",
        b"2 {}\n1 1\n1 f\n4 f.cu\n18 999999999999999999\n",
        body[len(start) :] + b"1 x\n",
    ):
        with pytest.raises(sw.ArgumentError, match="expected the fields that sw.compile writes"):
            sw.Bundle(with_checksum(start + fields))
    with pytest.raises(sw.ArgumentError, match="expected metadata as JSON"):
        sw.Bundle(with_checksum(start + b"1 {\n1 0\n"))
    # Whatever the bytes are: an error of Spanwise, or a bundle.
    generator = random.Random(5)
    for _ in range(300):
        changed = bytearray(body[: generator.randrange(19, len(body))])
        for _ in range(generator.randrange(4)):
            changed[generator.randrange(18, len(changed))] = generator.randrange(256)
        try:
            sw.Bundle(with_checksum(bytes(changed)))
        except (sw.ArgumentError, UnicodeDecodeError):
            continue


def test_image_of_another_version_of_the_library_is_refused(bundle):
    fields = bytes(bundle)[:-64]
    image = fields.index(b"\x7fELF")
    broken = bytearray(fields)
    broken[image : image + 4] = b"none"
    while (image := broken.find(b"\x7fELF")) >= 0:
        broken[image : image + 4] = b"none"
    with pytest.raises(sw.Error):
        sw.Module.load(with_checksum(bytes(broken)), device="cpu")
