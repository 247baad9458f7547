// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "spanwise/export.hpp"

/// The CPU's worker threads, for ops whose work on the CPU is native C++.
namespace spanwise {

/// Threads that can share one piece of work, the caller included: config "cpu_threads".
SW_API int parallel_workers();

namespace detail {
SW_API void parallel_for(std::int64_t count, std::int64_t grain,
                         void (*call)(void* context, std::int64_t first, std::int64_t last),
                         void* context);
}  // namespace detail

/// Calls body(first, last) on pieces that make up [0, count), several threads at a time, and
/// returns when all are done. Pieces have at least `grain` items, so that a piece should be worth
/// some microseconds; below twice that, and with one worker, the caller does all in one call.
///
/// May be called from inside a body: whoever calls works too, so nobody waits for a free thread.
/// The first exception stops the handing out of pieces and is thrown here. How [0, count) is cut
/// depends on the number of workers: a result that must not (a sum) is made of pieces of the
/// caller's own, parallel_for(pieces, 1, ...). Needs no GIL; `body` must not either.
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
