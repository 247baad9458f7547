// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "draw.hpp"
#include "random_body.hpp"
#include "spanwise/runtime/stream.hpp"
#include "spanwise/strided/call.hpp"

namespace spanwise::ops::random {
namespace {

using strided::ArrayRole;

void fill_on_cuda(const DrawSpec& spec, Draw draw, const Array& out) {
  static auto& bodies = *new strided::BodyTable<FillKey>;
  const Distribution kind = spec.kind;
  const int itemsize = out.dtype().itemsize(), each = elements_per_block(kind, itemsize);
  const int block_bytes = itemsize * each;
  const Layout blocks = Layout::row_major({(out.size() + each - 1) / each});
  strided::StridedCall call(blocks.shape);
  call.add(out, blocks, out.data(), block_bytes, ArrayRole::write_in_place);
  call.add_index(blocks);
  // Several blocks per thread share the keys of all rounds; other bodies are long.
  const bool is_short =
      itemsize == 4 && (kind == Distribution::words || kind == Distribution::uniform ||
                        kind == Distribution::normal || kind == Distribution::exponential);
  call.plan({.max_width = 1, .packs = is_short ? 4 : 1});
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(out.data()) %
                              static_cast<unsigned>(std::min(block_bytes, 16)) ==
                          0;
  const FillKey key{kind, itemsize, draw.scale != 1 || draw.shift != 0,
                    out.size() % each == 0 && is_aligned};
  const Kernel& kernel = call.kernel(bodies[key], out.device(), [&] { return fill_body(key); });
  const Stream stream = Stream::current(out.device());
  for (const Array* array : {spec.lows, spec.spans, spec.table})
    if (array != nullptr) order_use(stream, *array, false);
  void* const parameters[] = {&draw};
  call.launch(kernel, parameters);
}

void permute_on_cuda(Bijection bijection, const Array& out) {
  static auto& kernels = *new strided::BodyKernels;
  const Layout indices = Layout::row_major(out.shape());
  strided::StridedCall call(out.shape());
  call.add(out, ArrayRole::write);
  call.add_index(indices);
  call.plan();
  void* const parameters[] = {&bijection};
  call.launch(call.kernel(kernels, out.device(), permutation_body), parameters);
}

constexpr RandomBackend cuda_backend{&fill_on_cuda, &permute_on_cuda};
[[maybe_unused]] const auto* const previous_cuda_backend =
    random_backends.set(DeviceKind::cuda, &cuda_backend);

}  // namespace
}  // namespace spanwise::ops::random
