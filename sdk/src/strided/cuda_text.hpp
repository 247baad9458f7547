// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "spanwise/strided/body.hpp"

namespace spanwise::strided {

/// Writes one kernel: load, body, store. Names in the text, for array k: sw_tk its type, sw_pk its
/// pointer, or the index of the first element, sw_vk loaded elements, sw_ck those from a tile,
/// sw_qk elements to be stored; sw_atk its offset and sw_w.sk its strides, which arrays of
/// PlanShape::shares_strides do not have.
class CudaText {
 public:
  CudaText(const Body& body, const PlanShape& shape);

  std::string write() const;

 private:
  /// How a kind finds the elements that a thread visits in step sw_u of its loop.
  struct StepText {
    std::string steps;   ///< number of the steps, a constant
    std::string find;    ///< statements that define sw_count, elements of the pack that exist
    std::string offset;  ///< from sw_pk, where # stands for the number of the strides
    std::string along;   ///< stride of the last axis, likewise
    bool is_whole;       ///< whether sw_count is always the width
  };

  bool is_memory(int k) const { return role(k) != ArrayRole::index; }
  bool shares_strides(int k) const { return (shape_.shares_strides >> k & 1) != 0; }
  bool has_tile(int k) const;
  ArrayRole role(int k) const { return body_.arrays[static_cast<std::size_t>(k)].role; }
  AccessPattern pattern(int k) const { return shape_.patterns[static_cast<std::size_t>(k)]; }
  std::string numbered(const std::string& text, int k) const;
  std::string element(const StepText& step, int k) const;
  bool is_stored(int k) const;
  bool is_read_from_memory(int k) const;
  bool runs_for_all_threads() const { return !body_.before.empty() || !body_.after.empty(); }

  std::string head() const;
  std::string numbers_struct() const;
  std::string offsets(std::string_view indent, std::string_view step = {}) const;
  std::string kernel(std::string_view last_parameters) const;

  std::string declarations() const;
  std::string loads(const StepText& step) const;
  std::string stores(const StepText& step) const;
  std::string loop(const StepText& step, std::string_view between = {},
                   std::string_view tile_loads = {}) const;

  std::string dense() const;
  std::string find_in_row() const;
  std::string rows() const;
  std::string tiles() const;
  std::string tile_function() const;
  bool has_lines(int k) const;
  std::string cell_fills() const;
  std::string cells() const;
  std::string serial_element(int k, bool has_runs) const;
  std::string serial_run(bool has_runs) const;
  std::string serial() const;

  const Body& body_;
  const PlanShape& shape_;
  int count_, leader_ = 0;
  std::string parameters_, arguments_;  ///< of the kernel, up to the numbers
};

}  // namespace spanwise::strided
