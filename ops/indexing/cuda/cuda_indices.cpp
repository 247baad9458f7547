// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_indices.hpp"

#include <cstring>

#include "../backend.hpp"
#include "address_loop.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/stream.hpp"
#include "spanwise/strided/call.hpp"

namespace spanwise::ops {
namespace {

using strided::ArrayRole;

// The kernel of index_body(work), compiled once for each shape of plan.
const Kernel& index_kernel(IndexWork work, const strided::StridedCall& call, Device device) {
  static auto& bodies = *new strided::BodyTable<IndexWork>;
  return call.kernel(bodies[work], device, [&] { return index_body(work); });
}

}  // namespace

strided::Body index_body(IndexWork work) {
  strided::Body body;
  body.parameters = "const long long extent, ";
  body.arguments = "extent, ";
  body.arrays = {{"long long", ArrayRole::read}};
  if (work == IndexWork::find_outside) {
    body.parameters += "unsigned long long* outside, ";
    body.arguments += "outside, ";
  } else {
    body.arrays.push_back({"long long", ArrayRole::write});
  }
  body.compute = [work](std::span<const std::string> elements) -> std::string {
    const std::string load = text("      const long long index = ", elements[0], ";\n      ");
    switch (work) {
      case IndexWork::find_outside:
        return text(load, "if ((index < -extent || index >= extent) && ",
                    "atomicCAS(outside, 0ULL, 1ULL) == 0ULL) ",
                    "outside[1] = (unsigned long long)index;\n");
      case IndexWork::wrap:
        return text(load, elements[1], " = index % extent + (index % extent < 0 ? extent : 0);\n");
      default:
        return text(load, elements[1],
                    " = index < 0 ? 0 : index >= extent ? extent - 1 : index;\n");
    }
  };
  return body;
}

std::optional<std::int64_t> outside_on_gpu(const Array& indices, std::int64_t extent) {
  if (indices.size() == 0) return {};
  const Array outside = zeros({2}, uint64, indices.device());
  order_use(Stream::current(outside.device()), outside, true);
  strided::StridedCall call(indices.shape());
  call.add(indices, ArrayRole::read);
  call.plan();
  void* address = outside.data();
  void* const parameters[] = {&extent, &address};
  call.launch(index_kernel(IndexWork::find_outside, call, outside.device()), parameters);
  const Array host = to_device(outside, cpu);
  std::int64_t words[2];
  std::memcpy(words, host.data(), sizeof words);
  if (words[0] == 0) return {};
  return words[1];
}

Array apply_bounds_on_gpu(const Array& indices, std::int64_t extent, Bounds bounds) {
  Array bounded = empty(indices.shape(), int64, indices.device());
  if (indices.size() == 0) return bounded;
  strided::StridedCall call(indices.shape());
  call.add(indices, ArrayRole::read);
  call.add(bounded, ArrayRole::write);
  call.plan();
  void* const parameters[] = {&extent};
  const IndexWork work = bounds == Bounds::wrap ? IndexWork::wrap : IndexWork::clip;
  call.launch(index_kernel(work, call, bounded.device()), parameters);
  return bounded;
}

namespace {

constexpr IndexingBackend cuda_backend{.takes_masks = false,
                                       .needs_aligned = true,
                                       .move = &move_on_gpu,
                                       .accumulate = &accumulate_on_gpu,
                                       .find_outside = &outside_on_gpu,
                                       .apply_bounds = &apply_bounds_on_gpu,
                                       .count_true = &count_true_on_gpu,
                                       .positions_of_true = &positions_of_true_on_gpu,
                                       .search = &search_by_kernel};
[[maybe_unused]] const auto* const previous_cuda_backend =
    indexing_backends.set(DeviceKind::cuda, &cuda_backend);

}  // namespace

}  // namespace spanwise::ops
