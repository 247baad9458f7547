# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""An op shipped as a wheel: examples/shipped_op, built, and installed where there is no compiler."""

import os
import shutil
import sys
import textwrap
import zipfile

import pytest
from support import package
from support.tree import ROOT

import spanwise as sw

EXAMPLE = ROOT / "examples" / "shipped_op"
# Without the folder that other tests add, whose wheel.py is not the package "wheel".
PATH = os.pathsep.join(path for path in sys.path if path not in ("", str(ROOT / "scripts")))

PROGRAM = """
    import numpy as np
    import spanwise as sw
    from rms_norm import rms_norm

    device = {device!r}
    try:
        sw.SourceModule("__global__ void f() {{}}", device=device)
    except sw.DeviceError:
        print("no compiler")
    rng = np.random.default_rng(0)
    for dtype, rtol in (("float32", 1e-5), ("float64", 1e-13)):
        x, dy = rng.standard_normal((2, 5, 300)).astype(dtype)
        weight = rng.standard_normal(300).astype(dtype)
        exact = [value.astype("longdouble") for value in (x, weight, dy)]
        inverse = 1 / np.sqrt((exact[0] ** 2).mean(axis=1, keepdims=True) + 1e-6)
        wanted = exact[0] * inverse * exact[1]
        along = (exact[0] * exact[2] * exact[1]).mean(axis=1, keepdims=True) * inverse**2
        gradients = inverse * (exact[2] * exact[1] - exact[0] * along), (exact[2] * exact[0] * inverse).sum(axis=0)
        arrays = [sw.array(value, device=device) for value in (x, weight, dy)]
        variables = [sw.TensorType(dtype, a.shape)() for a in arrays]
        y = rms_norm(*variables[:2])
        compiled = sw.function(variables, [y, *sw.tensor.grad(None, variables[:2], known_grads={{y: variables[2]}})],
                               device=device)
        before = sw.kernel_cache.info().misses
        eager = rms_norm(*arrays[:2])
        assert sw.kernel_cache.info().misses == before  # nothing was compiled: the bundle has it
        results = [eager, *compiled(*arrays)]
        for result, value in zip(results, (wanted, wanted, *gradients)):
            assert str(result.device).startswith(device), result.device
            np.testing.assert_allclose(result.to("cpu").numpy(), value.astype(dtype), rtol=rtol, atol=40 * rtol)
    print("computed on", device)
"""


def wheel_of_example(folder, archs):
    """The wheel, built in a copy of the example as `pip wheel` builds it, by the setuptools at hand."""
    setuptools = pytest.importorskip("setuptools", minversion="70.1")  # builds wheels by itself
    assert setuptools
    source = shutil.copytree(EXAMPLE, folder / "source")
    environment = {**os.environ, "PYTHONPATH": PATH, "RMS_NORM_ARCHS": archs}
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps"]
    package.run(*command, "--no-index", "-w", folder, source, env=environment)
    (wheel,) = folder.glob("*.whl")
    return wheel


def installed(folder, wheel):
    """The interpreter of a new environment with nothing but the wheel, which finds Spanwise and NumPy by
    PYTHONPATH."""
    package.run(sys.executable, "-m", "venv", "--without-pip", folder / "clean")
    python = folder / "clean" / "bin" / "python"
    command = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps"]
    package.run(*command, "--no-index", wheel)
    return python


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    return installed(folder, wheel_of_example(folder, ""))


def test_wheel_holds_the_bundle_for_all_targets(tmp_path):
    has_nvrtc = any("NVRTC" in tool.name.upper() and tool.path for tool in sw._core._tools())
    wheel = wheel_of_example(tmp_path, "sm_80 sm_90 sm_120 ptx" if has_nvrtc else "")
    assert wheel.name.startswith("rms_norm-1.0-py3-none-linux_")
    with zipfile.ZipFile(wheel) as archive:
        files = [name for name in archive.namelist() if ".dist-info/" not in name]
        bundle = sw.Bundle.load(archive.read("rms_norm/ops.swb"))
    assert sorted(files) == ["rms_norm/__init__.py", "rms_norm/ops.swb"]
    assert bundle.ops == ["rms_norm"] and len(bundle.sources) == 2  # a text for each dtype
    assert len(bundle.targets) == (6 if has_nvrtc else 2) or "armv8-a" in bundle.targets


def test_wheel_computes_where_there_is_no_compiler(python, tmp_path):
    printed = package.run_without_compilers(tmp_path, PROGRAM.format(device="cpu"), python)
    assert printed.splitlines() == ["no compiler", "computed on cpu"]
    assert not list((tmp_path / "cache").rglob("*.so"))


# Refuses NVRTC, which is found in /usr/local/cuda and in wheels in any case.
WITHOUT_NVRTC = """
#include <dlfcn.h>
#include <string.h>
extern "C" void *dlopen(const char *file, int flags) {
  static auto *const next = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
  return file && strstr(file, "nvrtc") ? next("/nonexistent/libnvrtc.so", flags) : next(file, flags);
}
"""


def test_wheel_computes_on_a_gpu_without_nvrtc_and_with_an_empty_cache(device, tmp_path):
    if device.kind != "cuda":
        pytest.skip("for GPUs")
    python = installed(tmp_path, wheel_of_example(tmp_path, "sm_80 sm_90 sm_120 ptx"))
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    code = textwrap.dedent(PROGRAM.format(device="cuda"))
    environment = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    code = "import os\nos.environ.pop('CUDA_VISIBLE_DEVICES')\n" * (visible is None) + code
    (tmp_path / "hide.cpp").write_text(WITHOUT_NVRTC)
    hide = tmp_path / "hide.so"
    package.run("g++", "-shared", "-fPIC", tmp_path / "hide.cpp", "-o", hide, "-ldl")
    environment["LD_PRELOAD"] = str(hide)
    printed = package.run_without_compilers(tmp_path, code, python, **environment)
    assert printed.splitlines() == ["no compiler", "computed on cuda"]
    assert not list((tmp_path / "cache").rglob("*.entry"))


def run_program(python, name, *arguments):
    environment = {**os.environ, "PYTHONPATH": PATH}
    return package.run(python, EXAMPLE / name, *arguments, env=environment)


def test_program_in_pytorch_trains(python):
    pytest.importorskip("torch")
    first, last = run_program(python, "train_torch.py").split()[1:4:2]
    assert float(last) < 0.2 * float(first)


def test_program_in_jax_fits_the_weights(python):
    pytest.importorskip("jax")
    assert float(run_program(python, "fit_jax.py").split("error ")[1].split(",")[0]) < 1e-4


def test_program_of_tvm_ffi_calls_the_op_by_its_name(python):
    pytest.importorskip("tvm_ffi")
    assert "largest error 0.0e+00" in run_program(python, "call_tvm_ffi.py")


def test_missing_bundle_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"missing\.swb"):
        sw.load_ops(tmp_path / "missing.swb")
