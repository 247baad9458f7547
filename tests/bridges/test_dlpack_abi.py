# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Our declaration of DLPack's ABI against the real dlpack.h, where one is installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.tree import ROOT

# (ours, theirs), each with its members in the same order.
STRUCTS = [
    ("Version", "DLPackVersion", [("major", "major"), ("minor", "minor")]),
    ("TensorDevice", "DLDevice", [("type", "device_type"), ("id", "device_id")]),
    ("DataType", "DLDataType", [("code", "code"), ("bits", "bits"), ("lanes", "lanes")]),
    (
        "Tensor",
        "DLTensor",
        [(name, name) for name in ("data", "device", "ndim", "dtype", "shape", "strides")]
        + [("byte_offset", "byte_offset")],
    ),
    (
        "ManagedTensor",
        "DLManagedTensor",
        [("tensor", "dl_tensor"), ("manager", "manager_ctx"), ("deleter", "deleter")],
    ),
    (
        "ManagedTensorVersioned",
        "DLManagedTensorVersioned",
        [
            ("version", "version"),
            ("manager", "manager_ctx"),
            ("deleter", "deleter"),
            ("flags", "flags"),
            ("tensor", "dl_tensor"),
        ],
    ),
    (
        "ExchangeHeader",
        "DLPackExchangeAPIHeader",
        [("version", "version"), ("previous", "prev_api")],
    ),
    (
        "ExchangeApi",
        "DLPackExchangeAPI",
        [
            ("header", "header"),
            ("allocate", "managed_tensor_allocator"),
            ("managed_from_object", "managed_tensor_from_py_object_no_sync"),
            ("managed_to_object", "managed_tensor_to_py_object_no_sync"),
            ("tensor_from_object", "dltensor_from_py_object_no_sync"),
            ("current_stream", "current_work_stream"),
        ],
    ),
]
NUMBERS = [
    ("static_cast<int>(DeviceType::cpu)", "kDLCPU"),
    ("static_cast<int>(DeviceType::cuda)", "kDLCUDA"),
    ("static_cast<int>(DeviceType::cuda_host)", "kDLCUDAHost"),
    ("static_cast<int>(DeviceType::cuda_managed)", "kDLCUDAManaged"),
    ("flag_read_only", "DLPACK_FLAG_BITMASK_READ_ONLY"),
    ("flag_is_copied", "DLPACK_FLAG_BITMASK_IS_COPIED"),
    ("flag_sub_byte_padded", "DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED"),
    ("version.major", "DLPACK_MAJOR_VERSION"),
]


def real_header():
    """The first folder of an installed package whose dlpack.h declares the exchange API, or None."""
    folders = [Path(path) for path in sys.path if path]
    patterns = ("tvm_ffi/include", "torch/include/ATen", "torch/include", "cupy/_core/include/cupy")
    including = [
        f / p for f in folders for p in patterns if (f / p / "dlpack" / "dlpack.h").is_file()
    ]
    including += [f / p for f in folders for p in patterns if (f / p / "dlpack.h").is_file()]
    return next((f for f in including if "DLPackExchangeAPI" in header_text(f)), None)


def header_text(folder):
    nested = folder / "dlpack" / "dlpack.h"
    return (nested if nested.is_file() else folder / "dlpack.h").read_text()


def test_layouts_and_numbers_are_the_real_ones(tmp_path):
    folder = real_header()
    if folder is None:
        pytest.skip("no installed package ships a dlpack.h of version 1.3 (apache-tvm-ffi does)")
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    checks = []
    for ours, theirs, members in STRUCTS:
        checks.append(f"static_assert(sizeof({ours}) == sizeof({theirs}));")
        for our_member, their_member in members:
            checks.append(
                f"static_assert(offsetof({ours}, {our_member}) == offsetof({theirs}, {their_member}));"
                f"static_assert(sizeof({ours}::{our_member}) == sizeof({theirs}::{their_member}));"
            )
    checks += [f"static_assert({ours} == {theirs});" for ours, theirs in NUMBERS]
    name = "dlpack/dlpack.h" if (folder / "dlpack" / "dlpack.h").is_file() else "dlpack.h"
    source = tmp_path / "check.cpp"
    source.write_text(
        f'#include <cstddef>\n#include "{name}"\n#include "spanwise/bridge/dlpack.hpp"\n'
        f'#include "{ROOT}/bridges/dlpack/dlpack_abi.hpp"\n'
        "using namespace spanwise::dlpack;\n" + "\n".join(checks) + "\nint main() {}\n"
    )
    includes = [f"-I{folder}", f"-I{ROOT}/sdk/include"]
    command = [compiler, "-std=c++20", "-fsyntax-only", *includes, str(source)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
