// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/temporary_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "spanwise/error.hpp"

namespace spanwise::host {

TemporaryFolder::TemporaryFolder() {
  const char* chosen = std::getenv("TMPDIR");
  const std::string tried[] = {chosen != nullptr ? chosen : "", "/tmp", "/var/tmp"};
  for (const std::string& parent : tried) {
    if (parent.empty()) continue;
    path_ = parent + "/spanwise-XXXXXX";
    if (::mkdtemp(path_.data()) != nullptr) return;
  }
  fail<DeviceError>("cpu: no folder for temporary files: ", std::strerror(errno),
                    ". Set TMPDIR to a folder that can be written to");
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!kept_) std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::write(std::string_view name, std::string_view contents) const {
  std::string path = path_ + "/" + std::string(name);
  std::ofstream file(path, std::ios::binary);
  file.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  file.close();
  if (!file.good()) fail<DeviceError>("cpu: cannot write ", path, ": ", std::strerror(errno));
  return path;
}

std::string read_whole_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file.good()) fail<DeviceError>("cpu: cannot read ", path, ": ", std::strerror(errno));
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace spanwise::host
