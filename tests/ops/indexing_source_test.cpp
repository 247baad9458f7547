// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The CUDA text of indexing, compiled for an H200 without one.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../../ops/indexing/cuda/cuda_indexing.hpp"
#include "../../ops/indexing/indexing.hpp"
#include "support/compiled_source.hpp"
#include "support/nvrtc_fixture.hpp"

namespace spanwise::ops {
namespace {

class IndexingSource : public test::NvrtcTest<> {};

using test::expect_compiles;

// A body in each kind of loop that a plan may choose for it.
void expect_body_compiles(const strided::Body& body, int rank) {
  strided::PlanShape shape;
  shape.count = static_cast<std::uint8_t>(body.arrays.size());
  expect_compiles(cuda_source(body, shape), {"run"});
  shape.kind = strided::PlanShape::Kind::rows;
  shape.rank = static_cast<std::uint8_t>(rank);
  shape.is_large = true;
  shape.patterns.fill(strided::AccessPattern::strided);
  expect_compiles(cuda_source(body, shape), {"run"});
}

TEST_F(IndexingSource, MovesCompileForEveryWorkAndWord) {
  for (const AddressWork work : {AddressWork::read, AddressWork::write, AddressWork::find_last,
                                 AddressWork::write_last, AddressWork::add_up})
    for (const int word : {1, 2, 4, 8, 16}) {
      if (work == AddressWork::add_up && word != 8) continue;
      SCOPED_TRACE(text(static_cast<int>(work), " ", word));
      const int indices = work == AddressWork::read ? word / 2 : 1 + word;
      expect_body_compiles(
          address_body({.work = work, .indices = std::min(indices, 16), .word = word}), 1 + word);
    }
  for (const AddressWork work :
       {AddressWork::write_once, AddressWork::find_last, AddressWork::write_last})
    expect_body_compiles(address_body({.work = work,
                                       .indices = 1,
                                       .word = 4,
                                       .dtype = uint32,
                                       .only_marked = work != AddressWork::write_once}),
                         2);
}

TEST_F(IndexingSource, IndicesAndMasksCompile) {
  for (const IndexWork work : {IndexWork::find_outside, IndexWork::wrap, IndexWork::clip})
    expect_body_compiles(index_body(work), 2);
  for (const int rank : {1, 3})
    expect_compiles(mask_source(rank), {"count_tiles", "scan_tiles", "write_positions"});
}

TEST_F(IndexingSource, SearchesCompileForEveryDType) {
  for (const DType dtype :
       {int8, uint8, int16, uint16, int32, uint32, int64, uint64, float32, float64})
    for (const Side side : {Side::left, Side::right})
      expect_compiles(search_source(dtype, side), {"search"});
}

TEST_F(IndexingSource, AccumulationsCompileForEveryDType) {
  for (const DType dtype : {bool_, int8, uint8, int16, uint16, int32, uint32, int64, uint64,
                            float16, bfloat16, float32, float64, complex64, complex128}) {
    for (const Accumulation kind :
         {Accumulation::add, Accumulation::subtract, Accumulation::multiply, Accumulation::maximum,
          Accumulation::minimum}) {
      const bool is_sum = kind == Accumulation::add || kind == Accumulation::subtract;
      if (dtype.is_bool() && kind == Accumulation::subtract) continue;
      if (dtype == complex128 && !is_sum) continue;
      SCOPED_TRACE(text(dtype, " ", static_cast<int>(kind)));
      expect_body_compiles(address_body({.work = AddressWork::accumulate,
                                         .indices = static_cast<int>(kind) % 3,  // 0, 1 and 2
                                         .dtype = dtype,
                                         .how = kind}),
                           2);
    }
  }
}

}  // namespace
}  // namespace spanwise::ops
