// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/tools.hpp"

#include "backends/cuda/compile/nvjitlink.hpp"
#include "backends/cuda/compile/nvrtc.hpp"
#include "backends/cuda/cublas.hpp"
#include "spanwise/error.hpp"

namespace spanwise::cuda {

namespace {

// The version is taken from the file name: cuBLAS takes half a gigabyte, too much to load for it.
Tool cublas_tool() {
  Tool tool{.name = "cuBLAS", .version = {}, .path = {}, .missing = {}};
  const std::filesystem::path path = cublas::installed();
  if (path.empty()) {
    tool.missing =
        "Products on a GPU run in our own kernels, which are slower. Install it (python3 -m pip "
        "install nvidia-cublas, of the driver's major version or older), or name its folder in "
        "SPANWISE_CUDA_LIBRARY_PATH";
    return tool;
  }
  const std::string name = path.filename().string();
  const std::size_t version = name.find(".so.");
  tool.version = version == name.npos ? "of unknown version" : name.substr(version + 4);
  tool.path = path.string();
  return tool;
}

Tool linker_tool() {
  if (const nvjitlink::Library* library = nvjitlink::library())
    return {.name = "nvJitLink",
            .version = text(library->major, ".", library->minor),
            .path = library->path.string(),
            .missing = {}};
  return {.name = "nvJitLink",
          .version = {},
          .path = {},
          .missing = text("The driver links sources, without inlining across them, and takes no "
                          "LTO-IR; ",
                          nvjitlink::remedy())};
}

}  // namespace

std::vector<Tool> tools() {
  Tool tool{.name = "NVRTC", .version = {}, .path = {}, .missing = {}};
  try {
    const nvrtc::Library& library = nvrtc::library();
    tool.version = text(library.major, ".", library.minor);
    tool.path = library.path.string();
  } catch (const DeviceError& error) {
    tool.missing = error.what();
  }
  return {tool, linker_tool(), cublas_tool()};
}

}  // namespace spanwise::cuda
