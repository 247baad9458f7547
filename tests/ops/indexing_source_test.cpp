// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The CUDA text of indexing, compiled for an H200 without one.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../../ops/indexing/cuda/cuda_source.hpp"
#include "../../ops/indexing/search.hpp"
#include "backends/cuda/compile/compiler.hpp"
#include "backends/cuda/compile/nvrtc.hpp"
#include "spanwise/error.hpp"

namespace spanwise::ops {
namespace {

void expect_compiles(const std::string& text, const std::vector<std::string>& kernels) {
  if (cuda::nvrtc::installation()->library.empty()) GTEST_SKIP() << "NVRTC is not installed";
  const source::KernelSource source = source::scan_kernels(text);
  runtime::CompileRequest request;
  request.source = &source;
  try {
    const runtime::KernelBinary binary = cuda::compile({9, 0}, request);
    for (const std::string& kernel : kernels)
      EXPECT_TRUE(binary.symbols.contains(kernel)) << kernel;
  } catch (const CompileError& error) {
    ADD_FAILURE() << error.log();
  }
}

TEST(IndexingSource, MovesCompileForEveryWordAndRank) {
  std::vector<std::string> kernels;
  for (const char* name : {"read_elements", "write_elements", "find_last", "write_last"})
    for (const char* bits : {"32", "64"}) kernels.push_back(std::string(name) + bits);
  for (const MoveSource& wanted : {MoveSource{1, 1, 1}, MoveSource{2, 2, 0}, MoveSource{4, 3, 2},
                                   MoveSource{8, 5, 1}, MoveSource{16, 7, 4}})
    expect_compiles(move_source(wanted), kernels);
}

TEST(IndexingSource, IndicesAndMasksCompile) {
  expect_compiles(indices_source(), {"find_outside", "wrap_indices", "clip_indices"});
  for (const int rank : {1, 3})
    expect_compiles(mask_source(rank), {"count_tiles", "scan_tiles", "write_positions"});
}

TEST(IndexingSource, SearchesCompileForEveryDType) {
  for (const DType dtype :
       {int8, uint8, int16, uint16, int32, uint32, int64, uint64, float32, float64})
    for (const Side side : {Side::left, Side::right})
      expect_compiles(search_source(dtype, side), {"search"});
}

TEST(IndexingSource, AccumulationsCompileForEveryDType) {
  for (const DType dtype : {bool_, int8, uint8, int16, uint16, int32, uint32, int64, uint64,
                            float16, bfloat16, float32, float64, complex64, complex128}) {
    for (int how = 0; how < 5; ++how) {
      const bool is_sum = how < 2;
      if ((dtype.is_bool() && how == 1) || (dtype == complex128 && !is_sum)) continue;
      SCOPED_TRACE(text(dtype, " ", how));
      expect_compiles(accumulate_source({dtype, static_cast<Accumulation>(how), 2, how % 3}),
                      {"accumulate32", "accumulate64"});
    }
  }
}

}  // namespace
}  // namespace spanwise::ops
