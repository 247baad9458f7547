// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "extents.hpp"

#include <algorithm>
#include <utility>

namespace spanwise::ops {

TargetShape::TargetShape(std::vector<std::int64_t> extents) : extents_(std::move(extents)) {
  if (extents_.size() > max_rank)
    fail<LayoutError>("shape: at most ", max_rank, " dimensions, got ", extents_.size());
  for (const std::int64_t extent : extents_)
    if (extent < computed)
      fail<LayoutError>("shape: extent ", extent, "; expected an extent >= 0, or -1");
}

std::string TargetShape::text() const {
  std::string listed;
  for (const std::int64_t extent : extents_)
    listed += (listed.empty() ? "" : ", ") + (extent == computed ? "?" : std::to_string(extent));
  return listed;
}

int TargetShape::computed_count() const {
  return static_cast<int>(std::count(extents_.begin(), extents_.end(), computed));
}

void TargetShape::check(const Op& op, std::span<const Variable> inputs) const {
  expect_arity(op, inputs, 1 + computed_count());
  for (int i = 1; i <= computed_count(); ++i) expect_integer(op, inputs, i);
}

Shape TargetShape::known(std::span<const Variable> inputs) const {
  Shape shape{std::span<const std::int64_t>(extents_)};
  std::size_t input = 1;
  for (std::int64_t& extent : shape) {
    if (extent == -1) extent = TensorType::any;
    if (extent != computed) continue;
    const Array* value = inputs[input++].value();
    extent = value != nullptr ? item(*value).as_int64() : TensorType::any;
  }
  return shape;
}

std::vector<ExtentSource> TargetShape::sources(int axis) const {
  if (extents_[static_cast<std::size_t>(axis)] != computed) return {};
  const auto before = std::count(extents_.begin(), extents_.begin() + axis, computed);
  return {{1 + static_cast<int>(before), ExtentSource::value}};
}

Shape TargetShape::evaluate(std::span<const Ref<Cell>> cells) const {
  Shape shape{std::span<const std::int64_t>(extents_)};
  std::size_t next = 0;
  for (std::int64_t& extent : shape)
    if (extent == computed) extent = item(*cells[next++]->value).as_int64();
  return shape;
}

}  // namespace spanwise::ops
