// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/runtime/parallel.hpp"

#include <algorithm>

#include "runtime/backend.hpp"

namespace spanwise {
namespace {

// More pieces than workers, so that the others take over pieces of a worker that is descheduled.
constexpr std::int64_t pieces_per_worker = 4;
// Long pieces begin at a multiple of this many items: on a cache line for every dtype.
constexpr std::int64_t unit = 64;

struct WorkPieces {
  std::int64_t count, pieces;
  void (*call)(void* context, std::int64_t first, std::int64_t last);
  void* context;

  std::int64_t start(std::int64_t piece) const noexcept {
    if (piece >= pieces) return count;
    const std::int64_t first = count / pieces * piece + count % pieces * piece / pieces;
    return count / pieces >= 16 * unit ? first / unit * unit : first;
  }
  static void run(void* self, std::uint64_t piece) {
    const auto& all = *static_cast<const WorkPieces*>(self);
    const auto index = static_cast<std::int64_t>(piece);
    all.call(all.context, all.start(index), all.start(index + 1));
  }
};

}  // namespace

int parallel_workers() { return runtime::backend_for(cpu).workers(); }

void detail::parallel_for(std::int64_t count, std::int64_t grain,
                          void (*call)(void* context, std::int64_t first, std::int64_t last),
                          void* context) {
  runtime::Backend& backend = runtime::backend_for(cpu);
  const std::int64_t workers = backend.workers();
  const std::int64_t max_pieces = count / std::max<std::int64_t>(grain, 1);
  WorkPieces pieces{count, std::min(max_pieces, workers * pieces_per_worker), call, context};
  if (workers < 2 || pieces.pieces < 2) return call(context, 0, count);
  backend.run_parallel(static_cast<std::uint64_t>(pieces.pieces), &WorkPieces::run, &pieces);
}

}  // namespace spanwise
