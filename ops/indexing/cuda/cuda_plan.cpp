// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_plan.hpp"

#include <algorithm>
#include <utility>

namespace spanwise::ops {
namespace {

constexpr std::int64_t move_threads = 256;

}  // namespace

// Whether `inner` only continues this axis.
bool GpuPlan::Axis::runs_on_in(const Axis& inner) const {
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
  for (int i = 0; i < selection.place; ++i) add_plain(i);
  for (int i = 0; i < selection.positions.size(); ++i) add_position(i);
  for (int i = selection.place; i < selection.rank; ++i) add_plain(i);
  if (words_ > 1) add({words_, 1, 1, 1, zeros_for_indices()});
  if (axes_.empty()) axes_.push_back({1, 0, 0, 0, zeros_for_indices()});
  for (const Axis& axis : axes_) size_ *= axis.extent;
}

std::vector<std::int64_t> GpuPlan::zeros_for_indices() const {
  return std::vector<std::int64_t>(selection_.indices.size(), 0);
}

// The places that may be named: one an index array's extent, and one a plain axis' element.
void GpuPlan::plan_targets() {
  std::int64_t step = words_;
  for (int i = selection_.rank - 1; i >= 0; --i) {
    plain_targets_[static_cast<std::size_t>(i)] = step;
    step *= std::max<std::int64_t>(selection_.plain[static_cast<std::size_t>(i)].extent, 1);
  }
  riding_targets_ = Strides(selection_.positions.size());
  for (int i = selection_.positions.size() - 1; i >= 0; --i) {
    if (selection_.riding[i] == 0) continue;
    riding_targets_[i] = step;
    step *= selection_.positions[i];
  }
  for (const Indices& indices : selection_.indices) {
    index_targets_.push_back(step);
    step *= indices.extent;
  }
  targets_ = step;
}

void GpuPlan::add_plain(int i) {
  const PlainAxis& plain = selection_.plain[static_cast<std::size_t>(i)];
  const int axis = i < selection_.place ? i : i + selection_.positions.size();
  add({plain.extent, plain.stride * words_, value_.strides()[axis] * words_,
       plain_targets_[static_cast<std::size_t>(i)], zeros_for_indices()});
}
void GpuPlan::add_position(int i) {
  Axis axis{selection_.positions[i],
            selection_.riding[i] * words_,
            value_.strides()[selection_.place + i] * words_,
            riding_targets_[i],
            {}};
  for (const Indices& indices : selection_.indices)
    axis.index.push_back(indices.array.strides()[i]);
  add(std::move(axis));
}
void GpuPlan::add(Axis axis) {
  if (axis.extent == 1) return;
  if (!axes_.empty() && axes_.back().runs_on_in(axis)) {
    axis.extent *= axes_.back().extent;
    axes_.back() = std::move(axis);
  } else {
    axes_.push_back(std::move(axis));
  }
}

bool GpuPlan::may_name_twice() const noexcept {
  if (selection_.indices.empty() || selection_.unique) return false;
  for (int i = 0; i < selection_.positions.size(); ++i)
    if (selection_.positions[i] > 1 && value_.strides()[selection_.place + i] != 0) return true;
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
  for (const Indices& indices : selection_.indices) order_use(stream, indices.array, false);
}

LaunchConfig GpuPlan::launch(const Stream& stream) const {
  return {
      {size_ / move_threads + (size_ % move_threads != 0), 1, 1}, {move_threads, 1, 1}, 0, stream};
}

std::string GpuPlan::kernel(const char* name) const {
  return std::string(name) + (size_ < INT32_MAX ? "32" : "64");
}

}  // namespace spanwise::ops
