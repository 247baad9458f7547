# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Code asks whether a device is a GPU of CUDA only where CUDA itself is meant."""

import re

from support.tree import ROOT, tree_files

# Files, or folders, and why they mean CUDA.
ABOUT_CUDA = {
    "sdk/include/spanwise/core/device.hpp": "defines is_cuda()",
    "sdk/src/backends/cuda/": "the back end",
    "sdk/src/runtime/stream.cpp": "handles of other libraries' streams are CUDA's",
    "sdk/python/stream_object.cpp": "handles of other libraries' streams are CUDA's",
    "sdk/python/interop/library_bridge.cpp": "PyCUDA, CuPy, CUDAMat and gnumpy have memory of CUDA only",
    "addons/collectives/nccl_engine.cpp": "NCCL has memory of CUDA only",
    "bridges/": "protocols with rules for CUDA: DLPack, the CUDA array interface",
    "ops/elementwise/elementwise_compute.cpp": "the family's part for the back end",
}
REMEDY = (
    "Which function runs on a device is looked up in a DeviceTable; whether the CPU can access its "
    "memory is runs_on_host(device), of spanwise/core/device.hpp (docs/adr/0019)."
)


def test_code_outside_back_ends_does_not_ask_for_cuda():
    wrong = []
    for path in tree_files(("sdk", "ops", "bridges", "addons"), (".cpp", ".hpp")):
        name = path.as_posix()
        if name.startswith(tuple(ABOUT_CUDA)):
            continue
        for number, line in enumerate((ROOT / path).read_text().splitlines(), 1):
            if re.search(r"\bis_cuda\(\)", line):
                wrong.append(f"{name}:{number}: {line.strip()}")
    assert not wrong, "\n".join(["", *wrong, "", REMEDY])


def test_the_files_about_cuda_exist():
    for name in ABOUT_CUDA:
        assert (ROOT / name).exists(), name
