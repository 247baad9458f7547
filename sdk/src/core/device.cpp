// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/core/device.hpp"

#include <array>
#include <ostream>

#include "core/string_utils.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise {
namespace {

struct KindName {
  std::string_view name;
  DeviceKind kind;
};

// The first name of a kind is printed. A name is listed before its prefixes, as "cuda_host" before
// "cuda", since parse() takes the first that matches.
constexpr std::array<KindName, 5> kind_names{{{"cpu", DeviceKind::cpu},
                                              {"cuda_host", DeviceKind::cuda_host},
                                              {"cuda_managed", DeviceKind::cuda_managed},
                                              {"cuda", DeviceKind::cuda},
                                              {"gpu", DeviceKind::cuda}}};

// Parses "", ":1" and "1" as 0, 1 and 1; -1 for anything else.
int parse_ordinal(std::string_view text) {
  if (text.empty()) return 0;
  if (text.front() == ':') text.remove_prefix(1);
  return parse_number(text).value_or(-1);
}

}  // namespace

Device Device::parse(std::string_view name) {
  for (const KindName& candidate : kind_names) {
    if (!name.starts_with(candidate.name)) continue;
    const int ordinal = parse_ordinal(name.substr(candidate.name.size()));
    if (ordinal < 0) break;
    return Device(candidate.kind, ordinal);
  }
  fail<ArgumentError>("device: \"", name,
                      "\" names no device; expected \"cpu\", \"cuda\" or \"cuda:<ordinal>\"");
}

std::string Device::name() const {
  if (is_cpu() && ordinal_ == 0) return "cpu";
  for (const KindName& candidate : kind_names)
    if (candidate.kind == kind_) return text(candidate.name, ":", ordinal_);
  return text("device", static_cast<int>(kind_), ":", ordinal_);
}

std::ostream& operator<<(std::ostream& out, Device device) { return out << device.name(); }

}  // namespace spanwise
