// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "parse/kernel_source.hpp"

namespace spanwise::parse {
namespace {

// Neither a zero byte nor a line that begins with ".version" occurs in C++; every binary has zero
// bytes near its start, and PTX has its version before any code (PTX ISA 9.0, section 11.1.1).
bool is_compiled(std::string_view contents) {
  const std::string_view head = contents.substr(0, 4096);
  return head.find('\0') != head.npos || head.starts_with(".version") ||
         head.find("\n.version") != head.npos;
}

}  // namespace

KernelSource scan_linked(std::string contents, std::string file_name) {
  if (!is_compiled(contents)) return scan_kernels(std::move(contents), std::move(file_name));
  KernelSource source{std::move(contents), std::move(file_name), {}};
  source.is_compiled = true;
  return source;
}

}  // namespace spanwise::parse
