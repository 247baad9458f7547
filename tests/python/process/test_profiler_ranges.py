# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""NVTX ranges: the names that a profiler's timeline shows."""

import os
import subprocess
import sys

import pytest

# A tool's library, which prints the ranges. It is declared by NVIDIA's header where that is installed.
TOOL = r"""
#include <cstdio>
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#else
#include <cstddef>
#include <cstdint>
typedef void (*NvtxFunctionPointer)();
typedef NvtxFunctionPointer **NvtxFunctionTable;
enum NvtxCallbackModule { NVTX_CB_MODULE_CORE = 1, NVTX_CB_MODULE_CORE2 = 5 };
enum { NVTX_CBID_CORE_RangePushA = 9, NVTX_CBID_CORE_RangePop = 11, NVTX_CBID_CORE_SIZE = 16 };
enum { NVTX_ETID_CALLBACKS = 1, NVTX_ETID_VERSIONINFO = 3 };
struct NvtxExportTableCallbacks {
  size_t struct_size;
  int (*GetModuleFunctionTable)(NvtxCallbackModule, NvtxFunctionTable *, unsigned *);
};
struct NvtxExportTableVersionInfo {
  size_t struct_size;
  uint32_t version, reserved0;
  void (*SetInjectionNvtxVersion)(uint32_t);
};
typedef const void *(*NvtxGetExportTableFunc_t)(uint32_t);
#endif

static thread_local int depth;
static int push(const char *name) {
  std::printf("%*s%s\n", 2 * depth, "", name);
  std::fflush(stdout);
  return depth++;
}
static int pop() { return --depth; }

extern "C" int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t table_of) {
  auto *version = (const NvtxExportTableVersionInfo *)table_of(NVTX_ETID_VERSIONINFO);
  if (!version || version->struct_size < sizeof *version || version->version < 3) return 0;
  version->SetInjectionNvtxVersion(3);
  auto *callbacks = (const NvtxExportTableCallbacks *)table_of(NVTX_ETID_CALLBACKS);
  if (!callbacks || callbacks->struct_size < sizeof *callbacks || table_of(77)) return 0;
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  for (int module = 1; module <= 6; ++module) {
    if (!callbacks->GetModuleFunctionTable((NvtxCallbackModule)module, &table, &size)) return 0;
    for (unsigned i = 1; i < size; ++i)
      if (!table[i]) return 0;
  }
  if (callbacks->GetModuleFunctionTable((NvtxCallbackModule)77, &table, &size)) return 0;
  if (!callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size)) return 0;
  if (size < NVTX_CBID_CORE_SIZE) return 0;
  *table[NVTX_CBID_CORE_RangePushA] = (NvtxFunctionPointer)push;
  *table[NVTX_CBID_CORE_RangePop] = (NvtxFunctionPointer)pop;
  return 1;
}
"""

PROGRAM = """
import sys, numpy as np, spanwise as sw
T = sw.tensor
device = sys.argv[1]
source = "__global__ void twice(float *y, const float *x, int n) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }"
twice = sw.kernel_op("twice", source, inputs="x: contiguous float32[n]", outputs="y: contiguous float32[n]",
                     arguments=["y", "x", "n"], grid="1", block="1")
x = T.fvector("x")
total = twice(x)
total.name = "total"
f = sw.function([x], T.cumsum(total), name="of_user", device=device, mode="fast_compile")
values = sw.ones(4, "float32", device=device)
f(values)
print("--", flush=True)
assert f(values).to("cpu").tolist() == [2, 4, 6, 8]
kernel = sw.SourceModule(source, device=device).get_function("twice")
y = sw.zeros(4, "float32", device=device)
try:
    kernel(y, values)
except sw.KernelArgumentError:
    print("--", flush=True)
kernel(y, values, 4, grid=1, block=1)
assert y.to("cpu").tolist() == [2] * 4
"""


@pytest.fixture(scope="module")
def tool(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tool")
    (folder / "tool.cpp").write_text(TOOL)
    command = ["g++", "-w", "-shared", "-fPIC", "-I/usr/local/cuda/include", "tool.cpp"]
    subprocess.run([*command, "-o", "tool.so"], cwd=folder, check=True)
    return folder / "tool.so"


def run(device, **environment):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(device)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_ranges_have_the_names_of_functions_ops_and_kernels(device, tool):
    _, second, direct = run(device, NVTX_INJECTION64_PATH=str(tool)).split("--\n")
    lines = second.splitlines()
    assert lines[:3] == ["of_user", "  twice #0 (total)", "    twice"]
    assert lines[3].startswith("  ") and lines[3].strip().split(" #")[1].startswith("1"), lines
    assert direct.splitlines()[0] == "twice"  # not of the call that fails


@pytest.mark.parametrize("library", ["missing", "other", ""])
def test_missing_and_other_libraries_are_ignored(device, tmp_path, library):
    (tmp_path / "other").write_text("no library")
    path = str(tmp_path / library) if library else ""
    assert run(device, NVTX_INJECTION64_PATH=path) == "--\n--\n"
