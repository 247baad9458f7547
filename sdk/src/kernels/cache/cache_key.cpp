// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cache/cache_key.hpp"

#include <cstdint>
#include <span>

#include "kernels/cache/device_headers.hpp"
#include "kernels/cache/sha256.hpp"

namespace spanwise::kernels {
namespace {

// Incremented when the format or meaning of entries changes.
constexpr std::uint64_t cache_version = 2;

void add_list(Sha256& hash, std::span<const std::string> list) {
  hash.field(std::uint64_t{list.size()});
  for (const std::string& text : list) hash.field(text);
}

}  // namespace

std::string cache_key(DeviceKind kind, std::string_view fingerprint,
                      const runtime::CompileRequest& request, const IncludeClosure& includes) {
  Sha256 hash;
  hash.field(cache_version);
  hash.field(static_cast<std::uint64_t>(kind));
  hash.field(fingerprint);
  hash.field(request.source->file_name);
  hash.field(request.source->text);
  add_list(hash, request.options);
  add_list(hash, request.names);
  add_list(hash, request.include_dirs);
  hash.field(std::uint64_t{request.linked.size()});
  for (const source::KernelSource& linked : request.linked) hash.field(linked.text);
  hash.field(std::uint64_t{includes.files.size()});
  for (const IncludeClosure::File& file : includes.files) {
    hash.field(file.path);
    hash.field(file.digest);
  }
  hash.field(includes.wants_device_headers ? device_headers_digest() : std::string());
  return hash.hex();
}

}  // namespace spanwise::kernels
