// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_move.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "cuda_module.hpp"
#include "cuda_plan.hpp"
#include "cuda_source.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/stream.hpp"

namespace spanwise::ops {
namespace {

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
  // 16 bytes are moved as two words of 8 (see word_type()).
  if (item == 16 && least >= 8) return 16;
  return static_cast<int>(std::min<std::uintptr_t>(least, 8));
}

}  // namespace

void move_on_gpu(const Selection& selection, const Array& value, Direction direction) {
  if (value.size() == 0) return;
  static auto& modules = *new Modules<MoveSource>;
  const Device device = selection.array.device();
  const int word = word_for(selection, value);
  const GpuPlan plan(selection, value, selection.array.dtype().itemsize() / word);
  const MoveSource wanted{word, plan.rank(), plan.index_count()};
  const SourceModule module = modules.get(device, wanted, [&] { return move_source(wanted); });
  const Stream stream = Stream::current(device);
  plan.order(stream, direction == Direction::write);

  const std::vector<std::int64_t> packed = plan.packed();
  const KernelArg bytes = KernelArg::bytes(std::as_bytes(std::span(packed)));
  const KernelArg array = address_of(selection.data()), values = address_of(value.data());
  const LaunchConfig config = plan.launch(stream);
  const auto kernel = [&](const char* name) { return module.get_function(plan.kernel(name)); };
  if (direction == Direction::read) {
    kernel("read_elements")(config, {array, values, bytes, plan.size()});
  } else if (!plan.may_have_duplicates()) {
    kernel("write_elements")(config, {array, values, bytes, plan.size()});
  } else {
    const Array last = zeros({plan.targets()}, uint64, device);
    kernel("find_last")(config, {last, bytes, plan.size()});
    kernel("write_last")(config, {array, values, last, bytes, plan.size()});
  }
}

}  // namespace spanwise::ops
