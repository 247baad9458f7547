# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Our declaration of XLA's foreign function interface against the header that JAX ships."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from support.tree import ROOT

ffi = pytest.importorskip("jax.ffi", reason="jax is not installed")

# (ours, theirs, members of both by name); all members of ours are in the same places of theirs.
STRUCTS = [
    ("Extension", "Extension_Base", {"type": "type", "next": "next"}),
    ("ApiVersion", "Api_Version", {"major": "major_version", "minor": "minor_version"}),
    ("Metadata", "Metadata", {"version": "api_version", "traits": "traits"}),
    ("MetadataExtension", "Metadata_Extension", {"base": "extension_base", "metadata": "metadata"}),
    ("ErrorArguments", "Error_Create_Args", {"message": "message", "code": "errc"}),
    ("StreamArguments", "Stream_Get_Args", {"context": "ctx", "stream": "stream"}),
    ("OrdinalArguments", "DeviceOrdinal_Get_Args", {"context": "ctx", "ordinal": "device_ordinal"}),
    (
        "Api",
        "Api",
        {
            "version": "api_version",
            "create_error": "XLA_FFI_Error_Create",
            "get_stream": "XLA_FFI_Stream_Get",
            "get_ordinal": "XLA_FFI_DeviceOrdinal_Get",
        },
    ),
    ("Buffer", "Buffer", {"dtype": "dtype", "data": "data", "rank": "rank", "extents": "dims"}),
    ("Buffers", "Args", {"count": "size", "types": "types", "values": "args"}),
    ("Buffers", "Rets", {"count": "size", "types": "types", "values": "rets"}),
    ("ByteSpan", "ByteSpan", {"data": "ptr", "size": "len"}),
    ("Scalar", "Scalar", {"dtype": "dtype", "value": "value"}),
    (
        "Attributes",
        "Attrs",
        {"count": "size", "types": "types", "names": "names", "values": "attrs"},
    ),
    (
        "CallFrame",
        "CallFrame",
        {
            "api": "api",
            "context": "ctx",
            "stage": "stage",
            "arguments": "args",
            "results": "rets",
            "attributes": "attrs",
        },
    ),
]
NUMBERS = {
    "api_major": "API_MAJOR",
    "metadata_extension": "Extension_Metadata",
    "buffer_type": "ArgType_BUFFER",
    "scalar_type": "AttrType_SCALAR",
    "static_cast<int>(Stage::execute)": "ExecutionStage_EXECUTE",
    "static_cast<int>(ErrorCode::invalid_argument)": "Error_Code_INVALID_ARGUMENT",
    "static_cast<int>(ErrorCode::resource_exhausted)": "Error_Code_RESOURCE_EXHAUSTED",
    "static_cast<int>(ErrorCode::internal)": "Error_Code_INTERNAL",
}


def test_layouts_and_numbers_are_those_of_the_installed_header(tmp_path):
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    checks = []
    for ours, theirs, members in STRUCTS:
        for mine, other in members.items():
            place = f"offsetof({ours}, {mine}) == offsetof(XLA_FFI_{theirs}, {other})"
            size = f"sizeof({ours}::{mine}) == sizeof(XLA_FFI_{theirs}::{other})"
            inline = other in ("api_version", "args", "rets") and ours in ("Metadata", "CallFrame")
            checks.append(f"static_assert({place});")
            checks.append(f"static_assert({size});" if not inline else "")
    checks += [f"static_assert({ours} == XLA_FFI_{theirs});" for ours, theirs in NUMBERS.items()]
    header = Path(ffi.include_dir(), "xla/ffi/api/c_api.h").read_text()
    if "XLA_FFI_InternalExtension" in header:  # the name since version 0.4
        checks = [
            check.replace("XLA_FFI_Extension_Base", "XLA_FFI_InternalExtension") for check in checks
        ]
    source = tmp_path / "check.cpp"
    source.write_text(
        '#include "xla/ffi/api/c_api.h"\n#include "xla_ffi_abi.hpp"\n'
        "using namespace spanwise::xla;\n" + "\n".join(checks) + "\nint main() {}\n"
    )
    includes = [f"-I{ffi.include_dir()}", f"-I{ROOT}/sdk/python/graph"]
    command = [compiler, "-std=c++20", "-fsyntax-only", *includes, str(source)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
