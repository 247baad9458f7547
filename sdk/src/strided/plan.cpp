// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/strided/plan.hpp"

#include "planner.hpp"

namespace spanwise::strided {
namespace {

int widest_itemsize(std::span<const PlanArray> arrays) noexcept {
  int widest = 0;
  for (const PlanArray& array : arrays)
    if (array.role != ArrayRole::index) widest = std::max(widest, array.itemsize);
  return widest;
}

// The first written array, else the first.
int leader_of(std::span<const PlanArray> arrays) noexcept {
  const auto written =
      std::ranges::find_if(arrays, [](const PlanArray& array) { return is_written(array.role); });
  return written == arrays.end() ? 0 : static_cast<int>(written - arrays.begin());
}

// The elements of the widest array in 16 bytes; a division would take longer.
std::uint8_t widest_pack(std::span<const PlanArray> arrays, const PlanOptions& options) noexcept {
  const int widest = widest_itemsize(arrays);
  const int pack_width = widest == 0   ? 1
                         : widest == 1 ? 16
                         : widest == 2 ? 8
                         : widest <= 4 ? 4
                         : widest <= 8 ? 2
                                       : 1;
  return static_cast<std::uint8_t>(std::min(pack_width, options.max_width));
}

// One pack per thread where it writes 16 bytes of up to four elements: functions of one array take
// 3 % less time than with two (H200). With smaller written packs two take up to 6 % less time, with
// packs of eight elements, whose functions take longer to compute, up to 9 %.
std::uint8_t packs_per_thread(std::span<const PlanArray> arrays, std::uint8_t width,
                              const PlanOptions& options) noexcept {
  const auto packs = static_cast<std::uint8_t>(options.packs);
  if (options.max_width == 1 || width > 4) return packs;
  const int written_bytes = width * arrays[static_cast<std::size_t>(leader_of(arrays))].itemsize;
  return written_bytes >= 16 ? 1 : packs;
}

// Whether the body reads one and the same element of the array each time.
bool is_constant(const PlanArray& array) noexcept {
  return array.role == ArrayRole::read && array.layout->size() == 1;
}

// Whether packs of `width` elements are aligned; elements of other sizes than powers of two, which
// are not accessed in packs, always are.
bool is_aligned(const PlanArray& array, std::uintptr_t width) noexcept {
  const auto itemsize = static_cast<std::uintptr_t>(array.itemsize);
  return array.address % 16 == 0 || (itemsize & (itemsize - 1)) != 0 ||
         array.address % (width * itemsize) == 0;
}

// Whether each array that is loaded has one element for a whole row.
bool loads_constants_only(const PlanShape& shape, std::span<const PlanArray> arrays) noexcept {
  for (std::size_t k = 0; k < arrays.size(); ++k)
    if (is_loaded(arrays[k].role) && shape.patterns[k] != AccessPattern::constant) return false;
  return true;
}

std::int64_t size_of(const Shape& shape) noexcept {
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) size *= extent;
  return size;
}

}  // namespace

bool StridedPlan::try_make_dense(const Shape& shape, std::span<const PlanArray> arrays,
                                 const PlanOptions& options) noexcept {
  PlanShape result;
  result.width = widest_pack(arrays, options);
  result.packs = packs_per_thread(arrays, result.width, options);
  result.count = static_cast<std::uint8_t>(arrays.size());
  result.is_serial = options.is_serial;
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    const PlanArray& array = arrays[k];
    if (!is_aligned(array, result.width)) return false;
    if (array.layout->shape == shape && array.layout->is_row_major()) continue;
    if (!is_constant(array)) return false;
    result.patterns[k] = AccessPattern::constant;
  }
  shape_ = result;
  numbers_.clear();
  has_offsets_ = false;
  steps_ = size_of(shape);
  joined_ = 1;
  is_contiguous_ = !result.has_constants();
  return true;
}

void StridedPlan::make(const Shape& shape, std::span<const PlanArray> arrays,
                       const PlanOptions& options) {
  if (try_make_dense(shape, arrays, options)) return;
  std::array<const Layout*, max_arrays> layouts;
  for (std::size_t k = 0; k < arrays.size(); ++k) layouts[k] = arrays[k].layout;
  const int leader = leader_of(arrays);
  Planner planner(shape, std::span(layouts.data(), arrays.size()), arrays, leader,
                  widest_pack(arrays, options));
  const WalkAxes& axes = planner.axes();
  joined_ = 1;
  is_contiguous_ = axes.is_dense();
  shape_ = {};
  numbers_.clear();
  shape_.count = static_cast<std::uint8_t>(arrays.size());
  shape_.is_serial = options.is_serial;
  const auto store_offsets = [&] {
    for (int k = 0; k < axes.operands(); ++k) offsets_[index(k)] = axes.offset(k);
    has_offsets_ = true;
  };
  if (planner.try_make_dense(shape_)) {
    shape_.packs = packs_per_thread(arrays, shape_.width, options);
    steps_ = axes.size();
    return store_offsets();
  }
  shape_.is_large = axes.size() > INT32_MAX || axes.has_far_elements();
  if (options.joins_elements) joined_ = planner.join_elements();
  steps_ = planner.make(shape_);
  if (shape_.kind == PlanShape::Kind::rows && !shape_.is_serial &&
      (shape_.width < widest_pack(arrays, options) / joined_ ||
       loads_constants_only(shape_, arrays)))
    shape_.packs = static_cast<std::uint8_t>(options.row_packs);
  store_offsets();
  numbers_ = axes.numbers(shape_.shares_strides);
}

}  // namespace spanwise::strided
