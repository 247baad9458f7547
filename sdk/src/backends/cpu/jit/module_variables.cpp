// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The variables of a module, for checked launches.
#include <cstdint>
#include <cstring>
#include <map>

#include "backends/cpu/jit/cpu_module.hpp"
#include "backends/cpu/jit/image.hpp"
#include "runtime/kernel_check.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cpu_backend {
namespace {

std::string quoted_name(const char* kind, const std::string& symbol) {
  const std::string name = variable_name(symbol);
  return name.empty() ? std::string(kind) : text(kind, " '", name, "'");
}

bool is_inside(const LoadedImage& image, std::uintptr_t word) {
  return word >= reinterpret_cast<std::uintptr_t>(image.begin) &&
         word < reinterpret_cast<std::uintptr_t>(image.end);
}

// Copies a variable word by word, except for pointers to functions and variables of the module:
// they are addresses in its image, and the target's variable already points into the target's
// image.
void copy_words(const char* from, const LoadedImage& from_image, char* to,
                const LoadedImage& to_image, std::size_t bytes) {
  std::size_t done = 0;
  for (std::uintptr_t word = 0, own = 0; done + sizeof word <= bytes; done += sizeof word) {
    std::memcpy(&word, from + done, sizeof word);
    std::memcpy(&own, to + done, sizeof own);
    if (is_inside(from_image, word) && is_inside(to_image, own)) continue;
    std::memcpy(to + done, &word, sizeof word);
  }
  std::memcpy(to + done, from + done, bytes - done);
}

}  // namespace

void CpuModule::copy_variables(runtime::LoadedModule& from) {
  if (variables_.globals.empty()) return;
  const auto& source = dynamic_cast<const CpuModule&>(from);
  // Static variables of several linked sources may have the same name.
  std::multimap<std::string_view, const ImageVariable*> originals;
  for (const ImageVariable& variable : source.variables_.globals)
    originals.emplace(variable.symbol, &variable);
  const LoadedImage image = loaded_image(info_), source_image = loaded_image(source.info_);
  for (const ImageVariable& variable : variables_.globals) {
    const auto original = originals.find(variable.symbol);
    if (original == originals.end()) continue;
    if (original->second->bytes == variable.bytes)
      copy_words(source_image.base + original->second->offset, source_image,
                 const_cast<char*>(image.base) + variable.offset, image, variable.bytes);
    originals.erase(original);
  }
}

void CpuModule::describe_memory(AccessCheck& check) const {
  const LoadedImage image = loaded_image(info_);
  check.ignore(image.begin, image.end);
  for (const ImageVariable& variable : variables_.globals) {
    const char* data = image.base + variable.offset;
    check.add({data, data + variable.bytes, data, data + variable.bytes,
               quoted_name("the variable", variable.symbol)});
  }
  if (image.thread_data == nullptr) return;
  for (const ImageVariable& variable : variables_.builtin) {
    const char* data = image.thread_data + variable.offset;
    check.ignore(data, data + variable.bytes);
  }
  for (const ImageVariable& variable : variables_.shared) {
    const char* data = image.thread_data + variable.offset;
    check.add({data, data + variable.bytes, data, data + variable.bytes,
               quoted_name("shared memory", variable.symbol), true});
  }
  check.forbid(image.thread_data, image.thread_data + image.thread_bytes);
}

bool CpuModule::has_addresses() const {
  if (variables_.allocates) return true;
  const LoadedImage image = loaded_image(info_);
  for (const ImageVariable& variable : variables_.globals)
    if (runtime::may_hold_address(image.base + variable.offset, variable.bytes)) return true;
  return false;
}

}  // namespace spanwise::cpu_backend
