// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/shim_files.hpp"

#include <algorithm>
#include <cstdint>
#include <sstream>

#include "embedded/cpu_shim.hpp"

namespace spanwise::host {
namespace {

// FNV-1a, 64 bits (Fowler, Noll, Vo): it tells versions of the library apart, not adversaries.
std::uint64_t hashed(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash;
}

}  // namespace

bool is_shim_header(std::string_view name) {
  return std::any_of(embedded::cpu_shim.begin(), embedded::cpu_shim.end(),
                     [&](const embedded::TextFile& file) { return file.name == name; });
}

void write_shim(const TemporaryFolder& folder) {
  for (const embedded::TextFile& file : embedded::cpu_shim) folder.write(file.name, file.text);
}

const std::string& shim_fingerprint() {
  static const std::string fingerprint = [] {
    std::uint64_t hash = 0xcbf29ce484222325ull;
    for (const embedded::TextFile& file : embedded::cpu_shim)
      hash = hashed(hashed(hash, file.name), file.text);
    std::ostringstream out;
    out << std::hex << hash;
    return out.str();
  }();
  return fingerprint;
}

}  // namespace spanwise::host
