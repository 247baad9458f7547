// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_plan.hpp"

#include <algorithm>
#include <utility>

namespace spanwise::ops {
namespace {

constexpr std::int64_t move_threads = 256;

}  // namespace

// Whether this axis and `inner` can be merged.
bool GpuPlan::Axis::merges_with(const Axis& inner) const {
  const auto continues = [&](std::int64_t outer, std::int64_t step) {
    return outer == inner.extent * step;
  };
  return continues(array, inner.array) && continues(value, inner.value) &&
         continues(target, inner.target) &&
         std::equal(index.begin(), index.end(), inner.index.begin(), continues);
}

GpuPlan::GpuPlan(const Selection& selection, const Array& value, std::int64_t words)
    : selection_(selection), value_(value), words_(words) {
  plan_targets();
  for (int i = 0; i < selection.index_axis; ++i) add_basic(i);
  for (int i = 0; i < selection.positions.size(); ++i) add_position(i);
  for (int i = selection.index_axis; i < selection.rank; ++i) add_basic(i);
  if (words_ > 1) add({words_, 1, 1, 1, zero_strides()});
  if (axes_.empty()) axes_.push_back({1, 0, 0, 0, zero_strides()});
  for (const Axis& axis : axes_) size_ *= axis.extent;
}

std::vector<std::int64_t> GpuPlan::zero_strides() const {
  return std::vector<std::int64_t>(selection_.indices.size(), 0);
}

// Numbers the words that may be selected: mixed radix over the basic axes, the position axes and
// the extents of the index arrays.
void GpuPlan::plan_targets() {
  std::int64_t step = words_;
  for (int i = selection_.rank - 1; i >= 0; --i) {
    basic_targets_[static_cast<std::size_t>(i)] = step;
    step *= std::max<std::int64_t>(selection_.basic[static_cast<std::size_t>(i)].extent, 1);
  }
  position_targets_ = Strides(selection_.positions.size());
  for (int i = selection_.positions.size() - 1; i >= 0; --i) {
    if (selection_.position_strides[i] == 0) continue;
    position_targets_[i] = step;
    step *= selection_.positions[i];
  }
  for (const IndexArray& indices : selection_.indices) {
    index_targets_.push_back(step);
    step *= indices.extent;
  }
  targets_ = step;
}

void GpuPlan::add_basic(int i) {
  const BasicAxis& basic = selection_.basic[static_cast<std::size_t>(i)];
  const int axis = i < selection_.index_axis ? i : i + selection_.positions.size();
  add({basic.extent, basic.stride * words_, value_.strides()[axis] * words_,
       basic_targets_[static_cast<std::size_t>(i)], zero_strides()});
}
void GpuPlan::add_position(int i) {
  Axis axis{selection_.positions[i],
            selection_.position_strides[i] * words_,
            value_.strides()[selection_.index_axis + i] * words_,
            position_targets_[i],
            {}};
  for (const IndexArray& indices : selection_.indices)
    axis.index.push_back(indices.array.strides()[i]);
  add(std::move(axis));
}
void GpuPlan::add(Axis axis) {
  if (axis.extent == 1) return;
  if (!axes_.empty() && axes_.back().merges_with(axis)) {
    axis.extent *= axes_.back().extent;
    axes_.back() = std::move(axis);
  } else {
    axes_.push_back(std::move(axis));
  }
}

bool GpuPlan::may_have_duplicates() const noexcept {
  if (selection_.indices.empty() || selection_.unique) return false;
  for (int i = 0; i < selection_.positions.size(); ++i)
    if (selection_.positions[i] > 1 && value_.strides()[selection_.index_axis + i] != 0)
      return true;
  return false;
}

std::vector<std::int64_t> GpuPlan::packed() const {
  std::vector<std::int64_t> plan;
  const auto column = [&](std::int64_t Axis::* member) {
    for (const Axis& axis : axes_) plan.push_back(axis.*member);
  };
  column(&Axis::extent);
  column(&Axis::array);
  column(&Axis::value);
  column(&Axis::target);
  const std::size_t count = std::max<std::size_t>(selection_.indices.size(), 1);
  for (std::size_t k = 0; k < count; ++k)
    for (const Axis& axis : axes_) plan.push_back(k < axis.index.size() ? axis.index[k] : 0);
  const auto row = [&](auto number_of) {
    for (std::size_t k = 0; k < count; ++k)
      plan.push_back(k < selection_.indices.size() ? number_of(k) : 0);
  };
  row([&](std::size_t k) { return selection_.indices[k].extent; });
  row([&](std::size_t k) { return selection_.indices[k].stride * words_; });
  row([&](std::size_t k) { return index_targets_[k]; });
  row([&](std::size_t k) {
    return static_cast<std::int64_t>(
        reinterpret_cast<std::uintptr_t>(selection_.indices[k].array.data()));
  });
  return plan;
}

void GpuPlan::order(const Stream& stream, bool writes_array) const {
  order_use(stream, selection_.array, writes_array);
  order_use(stream, value_, !writes_array);
  for (const IndexArray& indices : selection_.indices) order_use(stream, indices.array, false);
}

LaunchConfig GpuPlan::launch(const Stream& stream) const {
  return {
      {size_ / move_threads + (size_ % move_threads != 0), 1, 1}, {move_threads, 1, 1}, 0, stream};
}

std::string GpuPlan::kernel(const char* name) const {
  return std::string(name) + (size_ < INT32_MAX ? "32" : "64");
}

}  // namespace spanwise::ops
