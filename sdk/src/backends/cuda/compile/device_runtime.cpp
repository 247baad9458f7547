// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/compile/device_runtime.hpp"

#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include "runtime/system/library_search.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cuda {

namespace fs = std::filesystem;

bool may_launch_kernels(const parse::KernelSource& source) {
  if (source.is_compiled || source.text.find("<<<") == std::string::npos) return false;
  const std::vector<parse::Token> tokens = parse::lex(source.text);
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (parse::opens_launch(tokens, i)) return true;
  return false;
}

fs::path device_runtime_archive(const fs::path& library) {
  std::vector<fs::path> folders = runtime::library_folders();
  folders.insert(folders.begin(), library.parent_path());
  for (const fs::path& folder : folders) {
    std::error_code error;
    fs::path archive = folder / "libcudadevrt.a";
    if (fs::is_regular_file(archive, error)) return archive;
  }
  return {};
}

parse::KernelSource read_device_runtime(const fs::path& archive) {
  std::ifstream file(archive, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (file.fail() || bytes.empty())
    fail<DeviceError>(
        "cuda: the device runtime, which kernels that launch kernels are linked with, "
        "cannot be read: ",
        archive.string(), "; check its permissions");
  parse::KernelSource source;
  source.text = std::move(bytes);
  source.file_name = archive.filename().string();
  source.is_compiled = true;
  return source;
}

}  // namespace spanwise::cuda
