# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The constructs of CUDA C that run on the CPU and on GPUs, as docs/host-execution.md lists them.

After a change: SPANWISE_UPDATE_DOCS=1 pytest tests/python/kernels/test_host_execution.py, on a GPU
too where one is at hand, which renews the table's GPU column.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from python.kernels.constructs import REFUSALS, RUNS
from support.cuda_toolkit import toolkit_headers
from support.tree import ROOT

import spanwise as sw

PAGE = ROOT / "docs" / "host-execution.md"
GPU_RESULTS = Path(__file__).parent / "constructs" / "gpu_results.json"
UPDATE = os.environ.get("SPANWISE_UPDATE_DOCS") == "1"
REMEDY = "generate the page: SPANWISE_UPDATE_DOCS=1 python -m pytest tests/python/kernels/test_host_execution.py"
THREADS = 64


def module(construct, device):
    names = [construct.name] if "<" in getattr(construct, "name", "") else []
    return sw.SourceModule(construct.source.strip("\n"), names=names, device=device)


def run(construct, device):
    out = sw.array(np.full(THREADS, -1, "int32"), device=device)
    kernel = module(construct, device).get_function(construct.name)
    kernel(out, *construct.arguments, block=THREADS, shared=1024)
    return out.tolist()


@pytest.fixture(scope="module")
def gpu_results():
    """{title: result} of the tests on a GPU, written to GPU_RESULTS if SPANWISE_UPDATE_DOCS is set."""
    results: dict[str, str] = {}
    yield results
    if results and UPDATE:
        name = sw.device("cuda:0").properties.name
        text = json.dumps({"device": name, "results": results}, indent=1)
        GPU_RESULTS.write_text(text + "\n")
        PAGE.write_text(page())


@pytest.mark.parametrize("construct", RUNS, ids=str)
def test_supported_construct_runs(device, compiler, construct, gpu_results):
    if device.kind != "cpu":
        gpu_results[construct.title] = "fails, or lacks a header"
    with toolkit_headers():
        result = run(construct, device)
    assert result == list(range(1, THREADS + 1))
    if device.kind != "cpu":
        gpu_results[construct.title] = "runs"


@pytest.mark.parametrize("construct", REFUSALS, ids=str)
def test_refused_construct_raises_on_the_cpu_and_compiles_for_a_gpu(device, construct, gpu_results):
    if device.kind != "cpu":
        try:
            module(construct, device)
            gpu_results[construct.title] = "compiles"
        except sw.CompileError:
            gpu_results[construct.title] = "error"
        if construct.runs_on_gpu and gpu_results[construct.title] == "error":
            pytest.xfail("needs headers of the toolkit that are not installed")
        return
    with pytest.raises(sw.CompileError) as caught:
        module(construct, device)
    for word in construct.words:
        assert word in str(caught.value)
    assert "    1 | " in caught.value.source and caught.value.log


@pytest.mark.parametrize("shape", [(16, 4, 1), (4, 4, 4)])
def test_radix_sort_of_cub_orders_the_keys_of_all_threads_of_a_block(shape, compiler):
    x, y, z = shape
    kernel = sw.SourceModule(
        rf"""
#include <cub/cub.cuh>
__global__ void k(int* keys, int* values) {{
  typedef cub::BlockRadixSort<int, {x}, 2, int, 4, true, cub::BLOCK_SCAN_WARP_SCANS,
                              cudaSharedMemBankSizeFourByte, {y}, {z}> Sort;
  __shared__ typename Sort::TempStorage storage;
  int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  int key[2] = {{keys[2 * t], keys[2 * t + 1]}}, value[2] = {{2 * t, 2 * t + 1}};
  Sort(storage).Sort(key, value);
  for (int i = 0; i < 2; ++i) keys[2 * t + i] = key[i], values[2 * t + i] = value[i];
}}
""",
        device="cpu",
    ).get_function("k")
    unsorted = np.random.default_rng(7).permutation(2 * THREADS).astype("int32")
    keys = sw.array(unsorted, device="cpu")
    values = sw.empty_like(keys)
    kernel(keys, values, block=shape)
    assert keys.tolist() == sorted(unsorted)
    assert values.tolist() == np.argsort(unsorted).tolist()


def page():
    """The text of docs/host-execution.md."""
    recorded = json.loads(GPU_RESULTS.read_text()) if GPU_RESULTS.exists() else {}
    results = recorded.get("results", {})
    gpu = f"on {recorded['device']}" if recorded else "not recorded yet"
    rows = []
    for construct in RUNS:
        on_gpu = results.get(construct.title, "")
        rows.append(f"| {construct.title} | runs | {on_gpu} | {construct.note} |")
    for refusal in REFUSALS:
        words = ", ".join(word.replace("|", "\\|") for word in refusal.words)
        on_gpu = results.get(refusal.title, "")
        rows.append(f"| {refusal.title} | error: {words} | {on_gpu} | |")
    return "\n".join(
        [
            "# CUDA C on the CPU",
            "",
            "The text of a kernel is compiled for the CPU by the system's C++ compiler, g++ or clang++, under",
            "headers of our own that give it the language of CUDA C. This page is made by",
            "`tests/python/kernels/test_host_execution.py`, which runs every construct with both compilers and compares",
            f"the result; the GPU's column is {gpu}. The kernels themselves are in",
            "`tests/python/kernels/constructs`.",
            "",
            f"{len(RUNS)} constructs run; {len(REFUSALS)} end in an error that names the construct and the",
            "line. Guard those with `#ifndef SW_CPU` and give a plain path beside it.",
            "",
            "| construct | CPU | GPU | note |",
            "|---|---|---|---|",
            *rows,
            "",
            "Textures and surfaces of 1 to 3 dimensions, of 1, 2 or 4 channels, and of layers (`sw.Texture`,",
            "`sw.Surface`) run on both devices; `tests/python/kernels/test_textures.py` compares their results.",
            "",
            "Files written for nvcc compile as they are. The compiler's preprocessor runs first, so kernels may be",
            "declared by macros and in headers. The CPU leaves out host code, which is all that kernels do not",
            "reach, with its launches, and keeps the numbers of lines. Code that no kernel reaches is no error on",
            "either device; where a kernel reaches something that only a GPU has, the error names the functions",
            "on the way. Headers of the C and C++ libraries",
            "are the system's own where a small replacement does not suffice; CUDA's host libraries (cuBLAS,",
            "cuFFT and others) and graphics libraries are left out; small replacements of `helper_cuda.h`,",
            "`helper_math.h`, `cutil.h` and others of NVIDIA's samples are used where the file's folder and",
            "`include_dirs` lack them. Kernels may use CUB's primitives of blocks and warps, of which the CPU has",
            "replacements of its own, and with CCCL's headers, of a toolkit or of the wheel `nvidia-cuda-cccl`,",
            "the sequential algorithms, functions and types of Thrust and libcu++; device-wide algorithms are",
            "host code and left out. Old texture references, `texture<float, 2> t;`, are variables that hold a",
            'texture object: `module.get_global("t")[:8]` is its handle.',
            "`tests/python/kernels/test_foreign_files.py` runs all of these, and `benchmarks/foreign/cuda_files.md`",
            "counts public files.",
            "",
            "The lanes of a warp execute each store together, as on GPUs before compute capability 7.0, where the",
            "source seems to rely on it: it stores through `volatile` without a barrier or `_sync` after it, or",
            "updates an array from its other elements before a `__syncwarp()`. `python -m spanwise legacy FILE`",
            'names the lines. `SourceModule(..., cpu_warps="step")` or `config.cpu_warps` does the same for all',
            "stores of every kernel, as does the option `-DSW_CPU_WARPS=step` where a function takes options. All",
            "kernels of such a source run slower, since each access becomes a call.",
            "",
            "What differs from a GPU: a thread that spins on another thread of its block without a barrier never",
            "sees it run, except in such sources; the last places of floating results",
            "may differ, as fused multiply-add and the math library do. [Finding a kernel's",
            "faults](guides/checking_kernels.md) explains how missing barriers and wrong indices are found.",
            "",
        ]
    )


def test_documentation_matches_the_table():
    if UPDATE:
        PAGE.write_text(page())
    assert PAGE.read_text() == page(), REMEDY


def test_enough_constructs_are_tested_under_different_titles():
    assert len(RUNS) >= 50 and len(RUNS) + len(REFUSALS) >= 58
    titles = [construct.title for construct in (*RUNS, *REFUSALS)]
    assert len(titles) == len(set(titles))
