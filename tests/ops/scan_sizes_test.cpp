// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The sizes that the host launches scans with (spanwise/runtime/scan.hpp), against the constants of
// the headers for kernels, which NVRTC compares.
#include <string>

#include "spanwise/core/error.hpp"
#include "spanwise/runtime/scan.hpp"
#include "support/compiled_source.hpp"
#include "support/nvrtc_fixture.hpp"

namespace spanwise {
namespace {

std::string equality(const char* device_constant, std::int64_t host_value) {
  return text("static_assert(spanwise::", device_constant, " == ", host_value, ", \"",
              device_constant, "\");\n");
}

void expect_equal_in_kernels(const std::string& header, const std::string& equalities) {
  test::expect_compiles(text("#include <spanwise/", header, ">\n", equalities,
                             "extern \"C\" __global__ void kernel() {}\n"),
                        {"kernel"}, {.includes_device_headers = true});
}

class ScanSizes : public test::NvrtcTest<> {};

TEST_F(ScanSizes, OfBlocksAndWarpsEqualTheConstantsOfKernels) {
  const ScanLaunch by_warps(1, 32, 4, 4, 8), by_blocks(1, 1 << 20, 4, 4, 8);
  expect_equal_in_kernels("scan.cuh", equality("scan_threads", scan_threads) +
                                          equality("scan_thread_bytes", scan_thread_bytes) +
                                          equality("scan_buffer_bytes", by_warps.shared_bytes) +
                                          equality("block_scan_bytes", by_blocks.shared_bytes));
}

TEST_F(ScanSizes, OfThePipelineEqualTheConstantsOfKernels) {
  expect_equal_in_kernels(
      "scan_pipeline.cuh",
      equality("pipeline_threads", ScanPipeline::threads) +
          equality("pipeline_chunk_bytes", ScanPipeline::chunk_bytes) +
          equality("pipeline_stages * spanwise::pipeline_chunk_bytes", ScanPipeline::shared_bytes));
}

}  // namespace
}  // namespace spanwise
