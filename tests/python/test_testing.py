# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""spanwise.testing, and the pytest plug-in."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import spanwise as sw
from spanwise.testing import LAYOUTS, check_op, with_layout

T = sw.tensor


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_have_the_elements_and_other_strides(device, layout):
    values = np.arange(12, dtype="float32").reshape(3, 4)
    x = with_layout(sw.array(values, device=device), layout)
    np.testing.assert_array_equal(x.numpy(), values)
    strides = {"transposed": (4, 12), "reversed": (16, -4), "every_second": (32, 8)}
    assert x.strides == strides.get(layout, (28, 4) if layout == "offset" else (16, 4))
    assert with_layout(np.float32(3), layout).item() == 3
    assert with_layout(np.zeros((0, 3)), layout).shape == (0, 3)
    with pytest.raises(sw.ArgumentError, match="with_layout: expected one of contiguous"):
        with_layout(values, "diagonal")


def scaled(text="y[i] = a * x[i]", guard="i < n", grad=lambda inputs, g: [3 * g[0]]):
    return sw.kernel_op(
        "scaled",
        "__global__ void scaled(const T *x, T *y, T a, int n)"
        f"{{ const int i = blockIdx.x * blockDim.x + threadIdx.x; if ({guard}) {text}; }}",
        inputs="x: contiguous T[n]",
        outputs="y: contiguous T[n]",
        arguments=["x", "y", "a", "n"],
        scalars={"a": 3},
        grad=grad,
    )


def three_times(x):
    return 3 * x


def test_right_ops_pass(device):
    x = np.linspace(-2, 2, 50)
    for dtype in ("float64", "float32", "float16"):
        values = [x.astype(dtype)]
        check_op(scaled(), values, reference=three_times, gradient=True, devices=[device])
    check_op(scaled(), [np.arange(50)], reference=three_times, devices=[device])
    check_op(lambda x, y: [T.exp(x) * y, T.sum(x)], [x, x], devices=[device], gradient=True)


@pytest.mark.parametrize(
    ("op", "message"),
    [
        (scaled("y[i] = a * x[i] + 0.01f"), "output 0"),
        (scaled("y[n - 1 - i] = a * x[i]"), "output 0"),
        (scaled(grad=lambda inputs, g: [3.1 * g[0]]), "the derivative with respect to input 0"),
        (scaled("y[i] = a * x[i]; const_cast<T *>(x)[i] = 0"), "has changed input 0"),
    ],
)
def test_wrong_values_gradients_and_inputs_are_found(op, message):
    values = [np.linspace(1, 2, 50, dtype="float32")]
    with pytest.raises(AssertionError, match=message):
        check_op(op, values, reference=three_times, devices=["cpu"], frameworks=False)


def test_accesses_out_of_bounds_and_races_are_found():
    values = [np.linspace(1, 2, 50, dtype="float32")]
    with pytest.raises(sw.KernelFaultError, match="outside of the array"):
        check_op(scaled(guard="true"), values, devices=["cpu"], frameworks=False)
    race = scaled("y[i] = a * x[i]; y[0] = i")
    with pytest.raises((sw.KernelFaultError, AssertionError)):
        check_op(race, values, devices=["cpu"], frameworks=False)


def test_missing_gradient_is_an_error_where_it_is_required():
    values = [np.ones(3, "float32")]
    check_op(scaled(grad=None), values, devices=["cpu"], frameworks=False)
    with pytest.raises(sw.GraphError, match="without grad="):
        check_op(scaled(grad=None), values, devices=["cpu"], gradient=True)


TESTS = """
import spanwise as sw

KERNEL = '''
__global__ void twice(const float *x, float *y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) y[i] = 2 * x[i];
}'''

def test_twice(device):
    x = sw.ones(100, dtype="float32")
    y = sw.zeros(100, dtype="float32")
    assert x.device == device
    f = sw.SourceModule(KERNEL).get_function("twice")
    f(x, y, 100, block=(128, 1, 1), grid=(1, 1, 1))
    assert (y.numpy() == 2).all()

def test_strides(strided):
    x = strided(sw.ones((3, 4)))
    assert x.sum() == 12
"""


def run_pytest(folder, *options, selected="cpu or strides or twice_on_gpu", **environment):
    command = [sys.executable, "-m", "pytest", "-p", "spanwise._pytest_plugin", "-q", *options]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", "--rootdir=.", "-k", selected],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "PYTEST_ADDOPTS": "",
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def test_plugin_gives_fixtures_and_checks_kernels(tmp_path):
    (tmp_path / "test_kernels.py").write_text(TESTS)
    assert f"{1 + len(LAYOUTS)} passed" in run_pytest(tmp_path)
    checked = run_pytest(tmp_path, "--kernel-check")
    assert f"1 failed, {len(LAYOUTS)} passed" in checked
    assert "KernelFaultError" in checked and "outside of the array of argument 1" in checked


SANITIZER = """#!/bin/sh
# Stands for compute-sanitizer: runs the program, and has findings of the tool that FINDS names.
while [ "${1#--}" != "$1" ]; do
  case "$1" in --tool=*) tool=${1#*=};; --log-file=*) log=${1#*=};; --error-exitcode=*) code=${1#*=};; esac
  shift
done
echo "$tool $SPANWISE_KEEP_BLOCKS $*" >> calls
"$@" || exit $?
[ "$tool" = "$FINDS" ] || exit 0
echo "========= Invalid __global__ write of size 4 bytes" > "$log"
exit "$code"
"""


def test_plugin_reports_what_compute_sanitizer_finds(tmp_path):
    (tmp_path / "test_kernels.py").write_text(
        TESTS + "\ndef test_twice_on_gpu():\n    assert True\n"
    )
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "compute-sanitizer"
    program.write_text(SANITIZER)
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    calls = tmp_path / "calls"

    only = ("--deselect", "test_kernels.py::test_strides", "--compute-sanitizer")
    passed = run_pytest(tmp_path, *only, PATH=path)
    assert "2 passed" in passed
    (call,) = calls.read_text().splitlines()  # none of the test on the CPU
    assert call.startswith("memcheck 0 ") and "test_kernels.py::test_twice_on_gpu" in call
    calls.unlink()

    found = run_pytest(tmp_path, *only[:2], "--compute-sanitizer=all", PATH=path, FINDS="racecheck")
    assert "1 failed, 1 passed" in found
    assert "compute-sanitizer racecheck: found" in found
    assert "Invalid __global__ write of size 4 bytes" in found
    assert [call.split()[0] for call in calls.read_text().splitlines()] == ["memcheck", "racecheck"]


def test_plugin_says_where_compute_sanitizer_is_missing(tmp_path):
    (tmp_path / "test_kernels.py").write_text(TESTS)
    missing = run_pytest(tmp_path, "--compute-sanitizer", PATH=str(tmp_path), CUDA_HOME="")
    if not os.path.exists("/usr/local/cuda/bin/compute-sanitizer"):
        assert "found no compute-sanitizer in PATH" in missing


FAULTS = """
import pytest
import spanwise as sw

KERNELS = {
    "store_beyond_the_end": "if (i <= n) y[i] = x[i];",
    "load_before_the_begin": "if (i < n) y[i] = x[i - 1];",
    "race_in_global_memory": "if (i < n) y[0] += x[i];",
    "race_in_shared_memory": (
        "__shared__ float s[128]; s[threadIdx.x] = i; if (i < n) y[i] = s[(threadIdx.x + 1) % 128];"
    ),
    "undefined_shared_memory": (
        "__shared__ float s[128]; if (i < 50) s[i] = x[i]; __syncthreads(); if (i < n) y[i] = s[i];"
    ),
}

@pytest.mark.parametrize("name", KERNELS)
def test_fault(name, device):
    source = "__global__ void f(const float *x, float *y, int n) {"
    source += "const int i = blockIdx.x * blockDim.x + threadIdx.x; " + KERNELS[name] + "}"
    x = sw.ones(100, dtype="float32")
    y = sw.zeros(100, dtype="float32")
    sw.SourceModule(source).get_function("f")(x, y, 100, block=(128, 1, 1), grid=(1, 1, 1))
    y.numpy()
"""


def test_one_command_finds_planted_faults(tmp_path, device):
    (tmp_path / "test_faults.py").write_text(FAULTS)
    if device.kind == "cpu":
        found = run_pytest(tmp_path, "--kernel-check", selected="cpu")
        assert "5 failed" in found, found
        assert found.count("E       spanwise.KernelFaultError: ") == 5, found
        return
    if not shutil.which("compute-sanitizer"):
        pytest.skip("compute-sanitizer is not installed")
    # Its tools see no races in global memory, and no undefined values in shared memory.
    seen = f"{device.kind} and (store or load or race_in_shared)"
    found = run_pytest(tmp_path, "--compute-sanitizer=all", selected=seen)
    assert "3 failed" in found, found
    assert found.count("compute-sanitizer memcheck: found") == 2, found
    assert found.count("compute-sanitizer racecheck: found") == 1, found
