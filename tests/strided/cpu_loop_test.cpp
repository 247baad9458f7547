// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/strided/cpu_loop.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "strided/cpu/block_loop.hpp"
#include "support/layouts.hpp"

namespace spanwise::strided {
namespace {

// A layout whose axes have random order, direction and gaps. `first` receives the offset of element
// (0, ..., 0) for which the lowest offset of an element is 0, and `size` the elements of the
// memory.
Layout random_layout(std::mt19937& random, const Shape& shape, bool may_broadcast,
                     std::int64_t& first, std::int64_t& size) {
  const auto draw = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  Layout layout{shape, Strides(shape.size()), 0};
  std::vector<int> axes(static_cast<std::size_t>(shape.size()));
  for (int i = 0; i < shape.size(); ++i) axes[static_cast<std::size_t>(i)] = i;
  std::shuffle(axes.begin(), axes.end(), random);
  std::int64_t step = 1 + draw(3) / 2;
  first = 0;
  for (const int axis : axes) {
    if (may_broadcast && draw(4) == 0) continue;
    layout.strides[axis] = draw(3) == 0 ? -step : step;
    if (layout.strides[axis] < 0) first += step * (shape[axis] - 1);
    step *= shape[axis];
    if (draw(4) == 0) step += draw(20);
  }
  size = step;
  return layout;
}

Shape random_shape(std::mt19937& random) {
  Shape shape(static_cast<int>(random() % 5));
  for (std::int64_t& extent : shape) extent = 1 + random() % (shape.size() < 3 ? 70 : 12);
  return shape;
}

// Memory of an operand as either dtype. `first` is the index of element (0, ..., 0).
struct Memory {
  Layout layout;
  std::int64_t first;
  std::vector<float> floats;
  std::vector<double> doubles;
};

std::size_t flat_index(const Memory& memory, const std::vector<std::int64_t>& index) {
  std::int64_t at = memory.first;
  for (std::size_t i = 0; i < index.size(); ++i)
    at += index[i] * memory.layout.strides[static_cast<int>(i)];
  return static_cast<std::size_t>(at);
}

void add_doubles(const void* context, std::int64_t n, std::byte* const* arrays) {
  const auto *a = reinterpret_cast<const double*>(arrays[0]),
             *b = reinterpret_cast<const double*>(arrays[1]);
  auto* sum = reinterpret_cast<double*>(arrays[2]);
  EXPECT_LE(n, *static_cast<const std::int64_t*>(context));
  for (std::int64_t i = 0; i < n; ++i) sum[i] = a[i] + b[i];
}

TEST(CpuLoop, ComputesEachElementOfRandomLayoutsOnceAndNoOther) {
  std::mt19937 random(7);
  for (int round = 0; round < 150; ++round) {
    const Shape shape = random_shape(random);
    const bool is_masked = round % 3 == 0;
    Memory a, b, sum, mask;
    std::int64_t size = 0;
    for (Memory* each : {&a, &b, &sum, &mask}) {
      each->layout = random_layout(random, shape, each != &sum, each->first, size);
      each->floats.resize(static_cast<std::size_t>(size));
      each->doubles.resize(static_cast<std::size_t>(size));
      for (std::size_t i = 0; i < each->floats.size(); ++i) {
        each->floats[i] = static_cast<float>(random() % 1000);
        each->doubles[i] = static_cast<double>(random() % 1000);
      }
    }
    std::vector<std::uint8_t> selected(mask.floats.size());
    for (auto& each : selected) each = random() % 2 != 0;
    // a is converted, b has the dtype of the body, the sum is converted in every other round.
    const bool is_narrow = round % 2 == 0;
    std::vector<CpuOperand> operands(is_masked ? 4 : 3);
    const auto set = [&](std::size_t k, const Memory& memory, const void* data, DType dtype,
                         ArrayRole role) {
      operands[k].layout = &memory.layout;
      operands[k].data =
          static_cast<std::byte*>(const_cast<void*>(data)) + memory.first * dtype.itemsize();
      operands[k].dtype = dtype;
      operands[k].compute = role == ArrayRole::mask ? bool_ : float64;
      operands[k].role = role;
    };
    set(0, a, a.floats.data(), float32, ArrayRole::read);
    set(1, b, b.doubles.data(), float64, ArrayRole::read);
    if (is_narrow)
      set(2, sum, sum.floats.data(), float32, ArrayRole::write);
    else
      set(2, sum, sum.doubles.data(), float64, ArrayRole::write);
    operands[2].is_stored_late = round % 5 == 0;
    if (is_masked) set(3, mask, selected.data(), bool_, ArrayRole::mask);
    auto floats = sum.floats;
    auto doubles = sum.doubles;
    test::for_each_index(shape, [&](const std::vector<std::int64_t>& index) {
      if (is_masked && selected[flat_index(mask, index)] == 0) return;
      const double value =
          static_cast<double>(a.floats[flat_index(a, index)]) + b.doubles[flat_index(b, index)];
      floats[flat_index(sum, index)] = static_cast<float>(value);
      doubles[flat_index(sum, index)] = value;
    });
    CpuBody body;
    body.loop = add_doubles;
    body.block = round % 4 == 0 ? 256 : 0;
    const std::int64_t max_elements = body.block == 0 ? 1 << 20 : body.block;  // in one call
    body.context = &max_elements;
    body.grain = round % 7 == 0 ? 64 : 1 << 15;
    run_on_cpu(shape, operands, body);
    if (is_narrow)
      EXPECT_EQ(sum.floats, floats) << "round " << round;
    else
      EXPECT_EQ(sum.doubles, doubles) << "round " << round;
  }
}

TEST(BlockLoop, VisitsEachElementOnceInAnySplit) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const Shape shape = random_shape(random);
    std::int64_t first = 0, size = 0;
    const Layout layout = random_layout(random, shape, false, first, size);
    const Layout* const layouts[] = {&layout};
    const Walk walk(shape, layouts, 0, Walk::Direction::forward);
    std::vector<int> visits(static_cast<std::size_t>(size));
    BlockSplit split;
    split.axes = walk.rank();
    const auto draw = [&](std::int64_t n) { return 1 + static_cast<std::int64_t>(random()) % n; };
    split.block_columns = draw(walk.extent(walk.rank() - 1));
    split.first_columns = round % 2 == 0 ? draw(split.block_columns) : 0;
    if (walk.rank() > 1) split.rows = static_cast<int>(draw(walk.rank() - 1)) - 1;
    if (walk.rank() > 2) split.layers = (split.rows + 1) % (walk.rank() - 1);
    split.block_rows = draw(9);
    split.block_layers = draw(5);
    std::byte* const base = reinterpret_cast<std::byte*>(visits.data());
    std::byte* const data[] = {base + (first + walk.offset(0)) * 4};
    const std::int64_t itemsizes[] = {4};
    const BlockLoop loop(walk, data, itemsizes, split);
    const std::int64_t half = loop.count() / 2;
    const auto visit = [&](std::byte* const* at, std::int64_t rows, std::int64_t columns) {
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < columns; ++c)
          ++*reinterpret_cast<int*>(at[0] + r * loop.step(split.rows, 0) +
                                    c * loop.step(walk.rank() - 1, 0));
    };
    loop.run(0, half, visit);
    loop.run(half, loop.count(), visit);
    std::map<int, std::int64_t> counts;
    for (const int count : visits) ++counts[count];
    EXPECT_EQ(counts[1], walk.size()) << "round " << round;
    EXPECT_EQ(counts[0] + counts[1], size) << "round " << round;
  }
}

}  // namespace
}  // namespace spanwise::strided
