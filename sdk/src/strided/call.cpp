// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/strided/call.hpp"

#include <algorithm>

#include "spanwise/stream.hpp"

namespace spanwise::strided {

const BodyKernels::Entry* BodyKernels::find_entry(const PlanShape& shape, Device device) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.shape == shape && entry.device == device;
  });
  return found == entries_.end() ? nullptr : &*found;
}

const Kernel* BodyKernels::find(const PlanShape& shape, Device device) {
  const Entry* known = last_.load(std::memory_order_acquire);
  if (known == nullptr || known->shape != shape || known->device != device) {
    const std::lock_guard lock(mutex_);
    known = find_entry(shape, device);
    if (known == nullptr) return nullptr;
    last_.store(known, std::memory_order_release);
  }
  return &known->kernel;
}

const Kernel& BodyKernels::insert(const PlanShape& shape, Device device, Kernel kernel) {
  const std::lock_guard lock(mutex_);
  if (const Entry* known = find_entry(shape, device)) return known->kernel;
  entries_.push_front({shape, device, std::move(kernel)});
  last_.store(&entries_.front(), std::memory_order_release);
  return entries_.front().kernel;
}

Kernel compile_body(const Body& body, const PlanShape& shape, Device device) {
  ModuleOptions options;
  options.device = device;
  options.options = {"--fmad=false"};
  return SourceModule(cuda_source(body, shape), options).get_function(body.name);
}

void StridedCall::launch(const Kernel& kernel, std::span<void* const> others) const {
  const Stream stream = Stream::current(kernel.device());
  std::array<std::uintptr_t, max_arrays> starts;  // addresses, and the index's first
  std::array<void*, 2 * max_arrays + 2> values;
  std::size_t count = 0;
  for (; count < count_; ++count) {
    const PlanArray& array = planned_[count];
    if (arrays_[count] != nullptr) order_use(stream, *arrays_[count], is_written(array.role));
    starts[count] = array.address + static_cast<std::uintptr_t>(
                                        plan_.offset(static_cast<int>(count)) * array.itemsize);
    values[count] = &starts[count];
  }
  count = static_cast<std::size_t>(std::copy(others.begin(), others.end(), &values[count]) -
                                   values.data());
  const std::span<const std::int64_t> numbers = plan_.numbers();
  if (!numbers.empty()) values[count++] = const_cast<std::int64_t*>(numbers.data());
  std::int64_t steps = plan_.steps();
  if (plan_.shape().kind != PlanShape::Kind::tiles) values[count++] = &steps;
  kernel.launch_raw({{plan_.blocks(), 1, 1}, {block_threads, 1, 1}, 0, stream},
                    std::span(values.data(), count));
}

}  // namespace spanwise::strided
