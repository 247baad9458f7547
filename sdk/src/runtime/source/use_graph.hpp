// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace spanwise::runtime {

/// Which identifiers the functions, variables and macros of a source use, by plain name. Several
/// entities of one name are one entity here, and "" stands for code whose owner has no name that a
/// call would show (operators): it counts as used by everything. So answers err towards "uses".
class UseGraph {
 public:
  void add(std::string_view owner, std::string_view used);
  /// Adds all that `other` knows, e.g. of an included file.
  void merge(const UseGraph& other);
  /// Whether `owner` uses a barrier, a warp collective or a cooperative group, itself or through
  /// what it uses. Threads of such a kernel must be able to wait for one another.
  bool reaches_barrier(std::string_view owner) const;
  /// Whether `owner` may call itself, or calls what may.
  bool recurses(std::string_view owner) const;
  bool knows(std::string_view owner) const { return uses_.contains(owner); }
  /// All names that anything uses.
  std::set<std::string_view> used() const;

 private:
  std::set<std::string_view> closure(std::string_view owner) const;

  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> uses_;
};

/// True for names such as __syncthreads, __shfl_down_sync, __ballot_sync, cooperative_groups.
bool is_barrier_name(std::string_view name);

}  // namespace spanwise::runtime
