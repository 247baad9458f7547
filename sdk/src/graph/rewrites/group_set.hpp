// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanwise::graph {

/// A set of numbers below a bound, one bit each.
class GroupSet {
 public:
  explicit GroupSet(std::size_t size) : words_((size + 63) / 64) {}

  bool contains(std::size_t i) const { return (words_[i / 64] >> i % 64 & 1) != 0; }
  void add(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << i % 64; }
  void remove(std::size_t i) { words_[i / 64] &= ~(std::uint64_t{1} << i % 64); }
  void add(const GroupSet& other) {
    for (std::size_t k = 0; k < words_.size(); ++k) words_[k] |= other.words_[k];
  }
  /// Whether all members of `other` but `except` are members.
  bool includes(const GroupSet& other, std::size_t except) const {
    for (std::size_t k = 0; k < words_.size(); ++k) {
      std::uint64_t missing = other.words_[k] & ~words_[k];
      if (except / 64 == k) missing &= ~(std::uint64_t{1} << except % 64);
      if (missing != 0) return false;
    }
    return true;
  }
  /// Whether predicate(i) is true for a member i.
  template <class Predicate>
  bool any_of(Predicate&& predicate) const {
    for (std::size_t k = 0; k < words_.size(); ++k)
      for (std::uint64_t word = words_[k]; word != 0; word &= word - 1)
        if (predicate(64 * k + static_cast<std::size_t>(std::countr_zero(word)))) return true;
    return false;
  }
  int size() const {
    int size = 0;
    for (const std::uint64_t word : words_) size += std::popcount(word);
    return size;
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace spanwise::graph
