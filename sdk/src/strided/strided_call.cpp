// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/strided/strided_call.hpp"

#include <algorithm>

#include "kernels/module_state.hpp"
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
  Arguments(const StridedCall& call, std::span<void* const> body_arguments) {
    add_starts(call);
    for (void* argument : body_arguments) all_.add(argument);
    add_plan(call);
  }
  Arguments(const StridedCall& call, const RawArguments& body_arguments) {
    add_starts(call);
    all_.add(body_arguments);
    add_plan(call);
  }
  const RawArguments& all() const noexcept { return all_; }

 private:
  void add_starts(const StridedCall& call) {
    for (std::size_t k = 0; k < call.count_; ++k) {
      starts_[k] = call.start(static_cast<int>(k));
      if (call.arrays_[k] != nullptr)
        all_.add(&starts_[k], *call.arrays_[k]);
      else
        all_.add(&starts_[k]);
    }
  }
  void add_plan(const StridedCall& call) {
    const std::span<const std::int64_t> numbers = call.plan_.numbers();
    if (!numbers.empty()) all_.add(numbers.data());
    steps_ = call.plan_.steps();
    if (call.plan_.shape().has_steps()) all_.add(&steps_);
  }

  std::int64_t steps_;
  std::array<std::uintptr_t, max_arrays> starts_;
  RawArguments all_;
};

runtime::StreamState& StridedCall::order_arrays(Device device) const {
  runtime::StreamState& stream = runtime::current_stream(device);
  for (std::size_t k = 0; k < count_; ++k)
    if (arrays_[k] != nullptr)
      runtime::order_use(stream, arrays_[k]->storage(), is_written(planned_[k].role));
  return stream;
}

void StridedCall::launch(const BodyKernel& kernel, std::span<void* const> body_arguments) const {
  launch_ordered(kernel, body_arguments, order_arrays(kernel.kernel_.device()));
}

void StridedCall::launch_ordered(const BodyKernel& kernel, std::span<void* const> body_arguments,
                                 runtime::StreamState& stream) const {
  kernel.kernel_.state().kernel().launch({plan_.blocks(), 1, 1},
                                         {shape().threads_per_block(), 1, 1}, 0, stream,
                                         Arguments(*this, body_arguments).all().values().data());
}

void StridedCall::launch(const Kernel& kernel, const RawArguments& body_arguments) const {
  order_arrays(kernel.device());
  kernel.launch_raw({{plan_.blocks(), 1, 1}, {shape().threads_per_block(), 1, 1}},
                    Arguments(*this, body_arguments).all());
}

}  // namespace spanwise::strided
