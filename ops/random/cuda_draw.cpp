// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>

#include "cuda_source.hpp"
#include "draw.hpp"
#include "spanwise/kernel.hpp"
#include "spanwise/kernels/kernel_table.hpp"
#include "spanwise/stream.hpp"

namespace spanwise::ops::random {
namespace {

constexpr std::int64_t threads = 256, max_thread_blocks = 1 << 16;

// Compiled at first use and cached per device, kind and element size.
template <class MakeSource>
Kernel random_kernel(Device device, int kind, int itemsize, MakeSource&& make_source) {
  static auto& known = *new KernelTable<std::map<std::tuple<int, int, int>, Kernel>>;
  return known.get({device.ordinal(), kind, itemsize}, [&] {
    ModuleOptions options;
    options.device = device;
    // As on the CPU, products are rounded before they are added.
    options.options = {"--fmad=false"};
    return SourceModule(make_source(), options).get_function("run");
  });
}

LaunchConfig launch_for(std::int64_t work, const Stream& stream) {
  return {{std::min((work + threads - 1) / threads, max_thread_blocks)}, {threads}, 0, stream};
}

KernelArg random_address(const Array& array) {
  return KernelArg::address(reinterpret_cast<std::uintptr_t>(array.data()));
}

template <class Plan>
KernelArg bytes_of(const Plan& plan) {
  return KernelArg::bytes(std::as_bytes(std::span(&plan, 1)));
}

}  // namespace

void fill_on_cuda(Kind kind, const Numbers& numbers, Draw draw, const Array& out) {
  const int itemsize = out.dtype().itemsize();
  const Kernel kernel = random_kernel(out.device(), static_cast<int>(kind), itemsize,
                                      [&] { return fill_source(kind, itemsize); });
  const Stream stream = Stream::current(out.device());
  for (const Array* array : {numbers.lows, numbers.spans, numbers.table})
    if (array != nullptr) order_use(stream, *array, false);
  order_use(stream, out, true);
  const std::int64_t each = elements_per_block(kind, itemsize);
  kernel(launch_for((out.size() + each - 1) / each, stream), {bytes_of(draw), random_address(out)});
}

void permute_on_cuda(const Bijection& bijection, const Array& out) {
  const Kernel kernel =
      random_kernel(out.device(), kind_count, 0, [] { return permutation_source(); });
  const Stream stream = Stream::current(out.device());
  order_use(stream, out, true);
  const auto count = static_cast<std::uint64_t>(out.size());
  kernel(launch_for(out.size(), stream), {bytes_of(bijection), random_address(out), count});
}

}  // namespace spanwise::ops::random
