// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backends/cuda/compile/compile_options.hpp"
#include "backends/cuda/compile/compiler.hpp"
#include "backends/cuda/compile/default_options.hpp"
#include "backends/cuda/compile/device_runtime.hpp"
#include "backends/cuda/compile/nvjitlink.hpp"
#include "backends/cuda/compile/nvrtc.hpp"
#include "runtime/system/unix_file.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cuda {
namespace {

using runtime::build_stamp;

bool includes_anything(const runtime::CompileRequest& request) {
  const auto has_include = [](const std::string& text) {
    return text.find("include") != text.npos;
  };
  const auto in_text = [&](const parse::KernelSource& source) {
    return !source.is_compiled && has_include(source.text);
  };
  return in_text(*request.source) || std::ranges::any_of(request.linked, in_text) ||
         std::ranges::any_of(request.options, has_include);
}

}  // namespace

std::string compiler_fingerprint(ComputeCapability capability,
                                 const runtime::CompileRequest& request) {
  std::string compiler;
  const auto installed = nvrtc::installation();
  if (!installed->library.empty()) {
    compiler = text("nvrtc ", installed->library.filename().string(), ' ',
                    build_stamp(installed->library));
    if (includes_anything(request)) {
      for (const auto& folder : installed->headers)
        compiler += text(" headers ", folder.string(), ' ', build_stamp(folder / "cuda_fp16.h"));
    }
  }
  if (!compiler.empty() && !request.linked.empty()) {
    const auto linker = nvjitlink::library_path();
    compiler += text(" nvjitlink ", linker.filename().string(), ' ', build_stamp(linker));
  }
  if (!compiler.empty() && may_launch_kernels(*request.source)) {
    const auto archive = device_runtime_archive(installed->library);
    compiler += text(" cudadevrt ", archive.string(), ' ', build_stamp(archive));
  }
  return text(compiler, "\ncuda ",
              architecture_for(request.options, capability.major, capability.minor), ' ',
              default_options_digest());
}

}  // namespace spanwise::cuda
