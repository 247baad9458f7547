// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/runtime/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

#include "spanwise/runtime/config.hpp"

namespace spanwise {
namespace {

TEST(ParallelFor, CoversEveryIndexOnce) {
  for (const std::int64_t count : {0, 1, 7, 64, 1000, 100'000}) {
    for (const std::int64_t grain : {1, 10, 4096}) {
      std::vector<std::atomic<int>> hits(static_cast<std::size_t>(count));
      parallel_for(count, grain, [&](std::int64_t first, std::int64_t last) {
        ASSERT_LT(first, last);
        for (std::int64_t i = first; i < last; ++i) ++hits[static_cast<std::size_t>(i)];
      });
      for (const auto& hit : hits) ASSERT_EQ(hit, 1);
    }
  }
}

TEST(ParallelFor, SmallWorkIsOneCall) {
  int calls = 0;
  // Fewer indices than two grains.
  parallel_for(1999, 1000, [&](std::int64_t, std::int64_t) { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST(ParallelFor, OneWorkerDoesAllInOneCall) {
  const std::string before = config::get("cpu_threads");
  config::set("cpu_threads", "1");
  int calls = 0;
  parallel_for(1 << 20, 16, [&](std::int64_t, std::int64_t) { ++calls; });
  config::set("cpu_threads", before);
  EXPECT_EQ(calls, 1);
}

TEST(ParallelFor, CanBeNested) {
  std::atomic<std::int64_t> sum{0};
  parallel_for(64, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      parallel_for(100, 1, [&](std::int64_t from, std::int64_t to) { sum += to - from; });
  });
  EXPECT_EQ(sum, 6400);
}

TEST(ParallelFor, CarriesTheExceptionToTheCaller) {
  EXPECT_THROW(parallel_for(1000, 1,
                            [](std::int64_t first, std::int64_t) {
                              if (first > 0) throw std::domain_error("no");
                            }),
               std::domain_error);
}

}  // namespace
}  // namespace spanwise
