# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``spanwise torch-library``: libraries of PyTorch's stable ABI that need no Spanwise; and repositories for
Hugging Face's package kernels."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import spanwise as sw

torch = pytest.importorskip("torch", minversion="2.10", reason="torch 2.10 is not installed")

OPS = '''
import spanwise as sw

cube_gradient = sw.kernel_op("cube_gradient", """
__global__ void cube_gradient(const T *x, const T *dy, T *dx, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) dx[i] = 3 * x[i] * x[i] * dy[i];
}""", inputs=["x: contiguous T[n]", "dy: contiguous T[n]"], outputs="dx: contiguous T[n]")
cube = sw.kernel_op("cube", """
__global__ void cube(const T *x, T *y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * x[i] * x[i];
}""", inputs="x: contiguous T[n]", outputs="y: contiguous T[n]", grad={"x": cube_gradient})
# Barriers, a view, a number, expressions, and two outputs.
rows = sw.kernel_op("rows", """
#include <spanwise/view.cuh>
__global__ void rows(spanwise::View<const T, 2> x, T *total, T *scaled, T factor, int w) {
  __shared__ T part[64];
  T sum = 0;
  for (int i = threadIdx.x; i < w; i += blockDim.x) sum += x(blockIdx.x, i);
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int k = 32; k > 0; k /= 2) {
    if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) total[blockIdx.x] = part[0], scaled[blockIdx.x] = factor * part[0];
}""", inputs="x: strided T[h, w]", outputs=["total: contiguous T[h]", "scaled: contiguous T[h]"],
    arguments=["x", "total", "scaled", "factor", "w"], scalars={"factor": 2.5}, grid="h", block="64")
# Computes in the memory of its input, which the caller keeps.
doubled = sw.kernel_op("doubled", """
__global__ void doubled(T *x, int n) {
  for (int i = 0; i < n; ++i) x[i] *= 2;
}""", inputs="x: contiguous T[n]", outputs="y: contiguous T[n]", overwrites={"y": "x"},
    arguments=["x", "n"], grid="1", block="1")
'''

PROGRAM = """
import sys, torch
try:
    import spanwise
except ImportError:
    pass
else:
    raise AssertionError("Spanwise is there")
path, device = sys.argv[1:]
torch.ops.load_library(path)
ops = torch.ops.my_ops
x = torch.arange(-3, 9, dtype=torch.float32, device=device)
for values in (x, x[::2], x.double(), x[:0]):
    result = ops.cube(values)
    assert result.is_contiguous() and result.device == x.device
    torch.testing.assert_close(result, values**3, rtol=0, atol=0)
m = torch.randn(7, 300, dtype=torch.float64, device=device)
for values in (m, m.T.contiguous().T, m[::2, 1:]):
    total, scaled = ops.rows(values)
    torch.testing.assert_close(total, values.sum(1))
    torch.testing.assert_close(scaled, 2.5 * values.sum(1))
before = x.clone()
torch.testing.assert_close(ops.doubled(x), 2 * before)
assert torch.equal(x, before)
assert ops.rows(torch.empty(3, 4, device="meta"))[1].shape == (3,)
for wrong, text in ((torch.ones(2, 2), "cube"), (torch.ones(3, dtype=torch.int32), "compiler")):
    try:
        ops.cube(wrong.to(device))
    except RuntimeError as error:
        assert text in str(error), error
    else:
        raise AssertionError(wrong)
torch.library.register_autograd(
    "my_ops::cube",
    lambda ctx, dy: ops.cube_gradient(ctx.saved_tensors[0], dy),
    setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
)
wanted = x.double().requires_grad_()
torch.autograd.gradcheck(ops.cube, (wanted,))
compiled = torch.compile(lambda v: ops.cube(v) + 1, fullgraph=True, backend="aot_eager")
torch.testing.assert_close(compiled(x), x**3 + 1)
if device != "cpu":
    with torch.cuda.stream(torch.cuda.Stream()):
        y = torch.ones(1 << 24, device=device)
        for _ in range(8):
            y = ops.cube(y + 1) - 7
        assert (y == 1).all()
print("computed on", device)
"""


def run_command(*arguments, folder):
    command = [sys.executable, "-m", "spanwise", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def archs():
    has_nvrtc = any(tool.name == "NVRTC" and tool.path for tool in sw._core._tools())
    return ("--arch", "sm_80,sm_90,ptx" if has_nvrtc else "")


def run_without_spanwise(program, *arguments, folder, **environment):
    """Without Spanwise, compilers and cached kernels."""
    hidden = {
        "PATH": str(folder / "empty"),
        "PYTHONPATH": os.pathsep.join(
            path for path in sys.path if path and not Path(path, "spanwise").exists()
        ),
        "SPANWISE_CACHE_DIR": str(folder / "cache"),
        **environment,
    }
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        env={**os.environ, **hidden},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    (folder / "ops.py").write_text(OPS)
    status, printed = run_command(
        *("torch-library", "ops.py", "-o", "libmy_ops.so", "--dtype", "T=float32,float64"),
        *archs(),
        folder=folder,
    )
    assert status == 0, printed
    assert "operators cube_gradient, cube, rows, doubled" in printed
    return folder


def test_library_computes_without_spanwise_and_compilers(device, project):
    if device.kind == "cuda" and not torch.cuda.is_available():
        pytest.skip("this torch has no GPU")
    printed = run_without_spanwise(PROGRAM, project / "libmy_ops.so", device, folder=project)
    assert printed == f"computed on {device}\n"
    assert not list((project / "cache").rglob("*.entry"))


def test_library_and_spanwise_are_in_one_process(project):
    torch.ops.load_library(project / "libmy_ops.so")
    x = torch.arange(5.0)
    assert torch.equal(torch.ops.my_ops.cube(x), x**3)
    assert sw.add(sw.ones(3), 1).tolist() == [2, 2, 2]


def test_errors_name_what_is_wrong(tmp_path):
    (tmp_path / "none.py").write_text("x = 1")
    (tmp_path / "ops.py").write_text(OPS)
    for words, text in (
        (["none.py", "-o", "a.so"], "expected ops made by kernel_op, found none"),
        (["ops.py", "-o", "lib-a.so", "--arch", ""], "expected a name of letters"),
        (["ops.py", "-o", "a.so", "--arch", ""], "letter T"),
        (
            ["ops.py", "-o", "d", "--kernels", "My_Ops", "--arch", ""],
            "small letters, digits and dashes",
        ),
    ):
        status, printed = run_command("torch-library", *words, folder=tmp_path)
        assert status == 1 and text in printed, printed


# ---- Hugging Face's package kernels ----

LOADS = """
import sys, torch
from kernels import get_local_kernel
from pathlib import Path
kernel = get_local_kernel(Path(sys.argv[1]), backend="cpu")
x = torch.arange(5, dtype=torch.float32)
assert torch.equal(kernel.cube(x), x**3)
x.requires_grad_()
kernel.cube(x).sum().backward()
assert torch.equal(x.grad, 3 * x.detach() ** 2)
print(("spanwise" in sys.modules), kernel.__file__)
"""


def variants(folder):
    return {
        path.parent.name: json.loads(path.read_text())
        for path in folder.glob("build/*/metadata.json")
    }


def test_repository_of_a_library_loads_without_spanwise(project):
    words = ("torch-library", "ops.py", "-o", "repository", "--kernels", "my-ops")
    status, printed = run_command(*words, "--dtype", "T=float32", "--arch", "", folder=project)
    assert status == 0, printed
    found = variants(project / "repository")
    assert {name.split("-")[3] for name in found} == {"cpu", "cu126", "cu130"}
    assert all(name.startswith("torch-stable-abi210-") for name in found)
    assert {each["backend"]["type"] for each in found.values()} == {"cpu", "cuda"}
    pytest.importorskip("kernels", reason="kernels is not installed")
    printed = run_without_spanwise(
        LOADS, project / "repository", folder=project, HF_HUB_OFFLINE="1"
    )
    assert printed.startswith("False ")


def test_repositories_of_bundles_and_packages_are_universal(project):
    words = ("compile", "ops.py", "-o", "bundle", "--kernels", "my-ops", "--dtype", "T=float32")
    status, printed = run_command(*words, "--arch", "", folder=project)
    assert status == 0, printed
    (project / "twice.cu").write_text(
        "__global__ void twice(float *y, const float *x, int n) "
        "{ int i = threadIdx.x; if (i < n) y[i] = 2 * x[i]; }"
    )
    words = ("legacy", "twice.cu", "--package", "my_package", "--kernels", "--bundle", "")
    status, printed = run_command(*words, folder=project)
    assert status == 0, printed
    for folder, name in (("bundle", "my-ops"), ("my_package", "my-package")):
        (metadata,) = variants(project / folder).items()
        assert metadata[0] == "torch-universal" and metadata[1]["name"] == name
        # As older versions of kernels import it, and the present one.
        build = project / folder / "build" / "torch-universal"
        for path in (build, build / name.replace("-", "_")):
            code = (
                "import importlib.util as u, sys\n"
                f"s = u.spec_from_file_location('kernel', {str(path / '__init__.py')!r})\n"
                "m = sys.modules['kernel'] = u.module_from_spec(s)\ns.loader.exec_module(m)\n"
                "import torch, spanwise as sw\nx = torch.arange(5.0)\n"
            )
            code += {
                "my-ops": "assert torch.equal(m.cube(x), x**3)\n",
                "my-package": "y = sw.zeros(5, 'float32', device='cpu')\n"
                "m.twice(y, sw.array(x.numpy(), device='cpu'), 5, block=32)\nassert y.tolist() == [0, 2, 4, 6, 8]\n",
            }[name]
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
            subprocess.run([sys.executable, "-c", code], env=environment, check=True, cwd="/")
