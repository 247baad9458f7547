// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "indexing.hpp"
#include "spanwise/op_sdk.hpp"

namespace spanwise::ops {

/// The index of a graph op, in Python's syntax: "1:, ?, ::-1, None, ...". A ? is an integer that
/// the graph computes, [] an index array or a mask; both are inputs of the node, in order.
class IndexPattern {
 public:
  /// Throws ArgumentError.
  explicit IndexPattern(std::string_view text);

  const std::string& text() const noexcept { return text_; }
  /// The number of inputs of the node that are part of the index.
  int input_count() const noexcept;
  /// Whether the result is a view: no index arrays or masks.
  bool is_basic() const noexcept;
  /// Throws unless the inputs from `first` on are the integers and arrays of the index.
  void check(const Op& op, std::span<const Variable> inputs, int first) const;
  /// The shape of the result for a value of `shape`, with TensorType::any for unknown extents.
  /// Throws BoundsError for too many indices.
  Shape known_shape(const Shape& shape, std::span<const Variable> inputs) const;
  /// The index with the current values of the cells.
  std::vector<IndexPart> evaluate(std::span<const Ref<Cell>> cells, Device device) const;

 private:
  struct Number {
    bool is_input = false;
    std::int64_t value = 0;
  };
  enum class Kind { integer, slice, new_axis, ellipsis, array };
  struct PatternPart {
    Kind kind;
    std::optional<Number> start{}, stop{}, step{};  ///< an integer is its start
  };
  static PatternPart parse(std::string_view word);
  static int inputs_of(const PatternPart& part) noexcept;
  /// The extent of an axis after the slice; TensorType::any if unknown.
  static std::int64_t known_slice_extent(const PatternPart& part, std::int64_t extent);
  int consumed_axes(std::span<const Variable> inputs) const;

  std::string text_;
  std::vector<PatternPart> parts_;
};

}  // namespace spanwise::ops
