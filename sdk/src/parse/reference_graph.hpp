// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace spanwise::parse {

/// The identifiers used by the functions, variables and macros of a source, by unqualified name.
/// Entities with the same name are merged, and "" stands for code that has no name at the call
/// (operators), which counts as used by everything. So results are conservative: "uses" may be a
/// false positive.
class ReferenceGraph {
 public:
  void add(std::string_view owner, std::string_view used);
  /// Adds all uses of `other`, e.g. of an included file.
  void merge(const ReferenceGraph& other);
  /// Whether `owner` uses a barrier, a warp collective or a cooperative group, directly or
  /// indirectly. The threads of such a kernel must be able to wait for one another.
  bool reaches_barrier(std::string_view owner) const;
  /// Whether `owner` or a function it calls may be recursive.
  bool recurses(std::string_view owner) const;
  bool contains(std::string_view owner) const { return uses_.contains(owner); }
  /// All used names.
  std::set<std::string_view> used() const;

 private:
  std::set<std::string_view> closure(std::string_view owner) const;

  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> uses_;
};

/// True for names such as __syncthreads, __shfl_down_sync, __ballot_sync, cooperative_groups.
bool is_barrier_name(std::string_view name);

}  // namespace spanwise::parse
