// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/strided/strided_call.hpp"

#include <algorithm>

#include "kernels/module_state.hpp"
#include "runtime/settings.hpp"
#include "runtime/stream_order.hpp"

namespace spanwise::strided {

Kernel compile_body(const Body& body, const PlanShape& shape, Device device) {
  ModuleOptions options;
  options.device = device;
  options.options = {"--fmad=false"};
  return SourceModule(cuda_source(body, shape), options).get_function(body.name);
}

class StridedCall::Arguments {
 public:
  Arguments(const StridedCall& call, std::span<void* const> body_arguments) noexcept
      : steps_(call.plan_.steps()) {
    for (std::size_t k = 0; k < call.count_; ++k) {
      starts_[k] = call.start(static_cast<int>(k));
      add(&starts_[k]);
    }
    for (void* argument : body_arguments) add(argument);
    const std::span<const std::int64_t> numbers = call.plan_.numbers();
    if (!numbers.empty()) add(const_cast<std::int64_t*>(numbers.data()));
    if (call.plan_.shape().has_steps()) add(&steps_);
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  std::span<void* const> values() const noexcept { return {values_.data(), count_}; }

 private:
  void add(void* value) noexcept { values_[count_++] = value; }

  std::int64_t steps_;
  std::size_t count_ = 0;
  std::array<std::uintptr_t, max_arrays> starts_;
  std::array<void*, 2 * max_arrays + 2> values_;
};

void StridedCall::launch(const Kernel& kernel, std::span<void* const> body_arguments) const {
  runtime::StreamState& stream = runtime::current_stream(kernel.device());
  for (std::size_t k = 0; k < count_; ++k)
    if (arrays_[k] != nullptr)
      runtime::order_use(stream, arrays_[k]->storage(), is_written(planned_[k].role));
  if (!runtime::kernel_check().any()) [[likely]]
    return launch_ordered(kernel, body_arguments, stream);
  kernel.launch_raw({{plan_.blocks(), 1, 1}, {shape().threads_per_block(), 1, 1}},
                    Arguments(*this, body_arguments).values());
}

void StridedCall::launch_ordered(const Kernel& kernel, std::span<void* const> body_arguments,
                                 runtime::StreamState& stream) const {
  kernel.state().kernel().launch({plan_.blocks(), 1, 1}, {shape().threads_per_block(), 1, 1}, 0,
                                 stream, Arguments(*this, body_arguments).values().data());
}

}  // namespace spanwise::strided
