// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_move.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "cuda_module.hpp"
#include "cuda_source.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/stream.hpp"

namespace spanwise::ops {
namespace {

constexpr std::int64_t threads_per_block = 256;

// One axis of the result: all strides in words, those of the index arrays in elements.
struct Axis {
  std::int64_t extent = 1, array = 0, value = 0, target = 0;
  std::vector<std::int64_t> index;

  // Whether `inner` only continues this axis.
  bool runs_on_in(const Axis& inner) const {
    const auto continues = [&](std::int64_t outer, std::int64_t step) {
      return outer == inner.extent * step;
    };
    return continues(array, inner.array) && continues(value, inner.value) &&
           continues(target, inner.target) &&
           std::equal(index.begin(), index.end(), inner.index.begin(), continues);
  }
};

// The largest word that divides the element and both addresses.
int word_for(const Selection& selection, const Array& value) {
  const int item = selection.array.dtype().itemsize();
  const auto address = [](const void* data) {
    return std::max<std::uintptr_t>(reinterpret_cast<std::uintptr_t>(data), 1);
  };
  const auto aligned = [](std::uintptr_t x) { return std::uintptr_t{1} << std::countr_zero(x); };
  const std::uintptr_t least =
      std::min({aligned(static_cast<std::uintptr_t>(item)), aligned(address(selection.data())),
                aligned(address(value.data()))});
  // Sixteen bytes move as two words of eight (see word_type()).
  if (item == 16 && least >= 8) return 16;
  return static_cast<int>(std::min<std::uintptr_t>(least, 8));
}

class GpuMove {
 public:
  GpuMove(const Selection& selection, const Array& value, Direction direction)
      : selection_(selection),
        value_(value),
        word_(word_for(selection, value)),
        words_(selection.array.dtype().itemsize() / word_) {
    plan_targets();
    for (int i = 0; i < selection.place; ++i) add_plain(i);
    for (int i = 0; i < selection.positions.size(); ++i) add_position(i);
    for (int i = selection.place; i < selection.rank; ++i) add_plain(i);
    if (words_ > 1) add({words_, 1, 1, 1, zeros_for_indices()});
    if (axes_.empty()) axes_.push_back({1, 0, 0, 0, zeros_for_indices()});
    for (const Axis& axis : axes_) size_ *= axis.extent;
    run(direction);
  }

 private:
  std::vector<std::int64_t> zeros_for_indices() const {
    return std::vector<std::int64_t>(selection_.indices.size(), 0);
  }

  // The places that may be named: one an index array's extent, and one a plain axis' element.
  void plan_targets() {
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

  void add_plain(int i) {
    const PlainAxis& plain = selection_.plain[static_cast<std::size_t>(i)];
    const int axis = i < selection_.place ? i : i + selection_.positions.size();
    add({plain.extent, plain.stride * words_, value_.strides()[axis] * words_,
         plain_targets_[static_cast<std::size_t>(i)], zeros_for_indices()});
  }
  void add_position(int i) {
    Axis axis{selection_.positions[i],
              selection_.riding[i] * words_,
              value_.strides()[selection_.place + i] * words_,
              riding_targets_[i],
              {}};
    for (const Indices& indices : selection_.indices)
      axis.index.push_back(indices.array.strides()[i]);
    add(std::move(axis));
  }
  void add(Axis axis) {
    if (axis.extent == 1) return;
    if (!axes_.empty() && axes_.back().runs_on_in(axis)) {
      axis.extent *= axes_.back().extent;
      axes_.back() = std::move(axis);
    } else {
      axes_.push_back(std::move(axis));
    }
  }

  // Two positions can only name one element where an index array says so, and it only matters where
  // the two would write different values.
  bool may_name_twice() const {
    if (selection_.indices.empty() || selection_.unique) return false;
    for (int i = 0; i < selection_.positions.size(); ++i)
      if (selection_.positions[i] > 1 && value_.strides()[selection_.place + i] != 0) return true;
    return false;
  }

  // The bytes of the kernels' Plan: each number is eight bytes, so there are no gaps.
  std::vector<std::int64_t> packed_plan() const {
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

  void run(Direction direction) const {
    static auto& modules = *new Modules<MoveSource>;
    const Device device = selection_.array.device();
    const MoveSource wanted{word_, static_cast<int>(axes_.size()),
                            static_cast<int>(selection_.indices.size())};
    const SourceModule module = modules.get(device, wanted, [&] { return move_source(wanted); });
    const Stream stream = Stream::current(device);
    order_use(stream, selection_.array, direction == Direction::write);
    order_use(stream, value_, direction == Direction::read);
    for (const Indices& indices : selection_.indices) order_use(stream, indices.array, false);

    const std::vector<std::int64_t> plan = packed_plan();
    const KernelArg bytes = KernelArg::bytes(std::as_bytes(std::span(plan)));
    const KernelArg array = address_of(selection_.data()), value = address_of(value_.data());
    const LaunchConfig config{{size_ / threads_per_block + (size_ % threads_per_block != 0), 1, 1},
                              {threads_per_block, 1, 1},
                              0,
                              stream};
    const auto kernel = [&](const char* name) {
      return module.get_function(std::string(name) + (size_ < INT32_MAX ? "32" : "64"));
    };
    if (direction == Direction::read) {
      kernel("read_elements")(config, {array, value, bytes, size_});
    } else if (!may_name_twice()) {
      kernel("write_elements")(config, {array, value, bytes, size_});
    } else {
      const Array last = zeros({targets_}, uint64, device);
      kernel("find_last")(config, {last, bytes, size_});
      kernel("write_last")(config, {array, value, last, bytes, size_});
    }
  }

  const Selection& selection_;
  const Array& value_;
  int word_;
  std::int64_t words_, size_ = 1, targets_ = 1;
  std::array<std::int64_t, max_rank> plain_targets_;
  Strides riding_targets_;
  std::vector<std::int64_t> index_targets_;
  std::vector<Axis> axes_;
};

}  // namespace

void move_on_gpu(const Selection& selection, const Array& value, Direction direction) {
  if (value.size() > 0) GpuMove(selection, value, direction);
}

}  // namespace spanwise::ops
