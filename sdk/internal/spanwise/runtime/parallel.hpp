// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

/// The CPU's worker threads, for ops whose work on the CPU is native C++.
namespace spanwise {

/// Number of threads that run one parallel_for(), the calling thread included: config
/// "cpu_threads".
int parallel_workers();

namespace detail {
void parallel_for(std::int64_t count, std::int64_t grain,
                  void (*call)(void* context, std::int64_t first, std::int64_t last),
                  void* context);
}  // namespace detail

/// Calls body(first, last) on ranges that partition [0, count), on several threads, and returns
/// when all are done. Each range has at least `grain` items; choose `grain` so that a range takes
/// some microseconds. If count < 2 * grain, or there is only one worker, the calling thread makes
/// one call with the whole range.
///
/// May be called from inside a body: the calling thread works too, so nested calls do not deadlock.
/// After the first exception no further ranges are started, and it is rethrown here. The partition
/// depends on the number of workers: where the result must not (a floating-point sum), make the
/// parts yourself and call parallel_for(parts, 1, ...). Does not need the GIL; `body` must not need
/// it either.
template <class F>
void parallel_for(std::int64_t count, std::int64_t grain, F&& body) {
  using Body = std::remove_reference_t<F>;
  if (count <= 0) return;
  if (count < 2 * grain) return body(std::int64_t{0}, count);
  detail::parallel_for(
      count, grain,
      [](void* context, std::int64_t first, std::int64_t last) {
        (*static_cast<Body*>(context))(first, last);
      },
      const_cast<std::remove_const_t<Body>*>(std::addressof(body)));
}

}  // namespace spanwise
