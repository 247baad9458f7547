// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// A scan on a GPU in one pass: a block for each chunk of a line, or a warp for each line.

struct sw_scan_body {
  typedef T Element;
  typedef T Result;
  // An operation need not have a neutral element: what is not there has none.
  struct alignas(8) Acc {
    T value;
    unsigned int is_there;
  };

  static __device__ __forceinline__ Acc identity() {
    Acc none;
    none.value = T();
    none.is_there = 0;
    return none;
  }
  static __device__ __forceinline__ Acc lift(T x) {
    Acc one;
    one.value = x;
    one.is_there = 1;
    return one;
  }
  static __device__ __forceinline__ Acc combine(Acc a, Acc b) {
    if (!a.is_there) return b;
    if (!b.is_there) return a;
    return lift(sw_combine(a.value, b.value));
  }
  static __device__ __forceinline__ T result(Acc before, Acc through) {
    return sw_scan_result(before.is_there, before.value, through.value);
  }
};

#define sw_scan_parameters                                                              \
  const T *sw_x, T *sw_z, const sw_scan_walk sw_walk, const spanwise::ScanLine sw_line, \
      long long sw_lines, long long sw_chunks, unsigned long long *sw_told
#define sw_scan_arguments sw_x, sw_z, sw_walk, sw_line, sw_lines, sw_chunks, sw_told

__device__ __forceinline__ void sw_scan_run(sw_scan_parameters) {
  __shared__ alignas(16) unsigned char tile[spanwise::scan_tile_bytes];
  const unsigned int block = spanwise::scan_block_number(sw_told), chunks = (unsigned int)sw_chunks,
                     number = block / chunks;
  const sw_scan_place at(sw_walk, number);
  const spanwise::TilePrefixState<sw_scan_body::Acc> told(sw_told + 2, number, chunks);
  spanwise::BlockScan<sw_scan_body, sw_packed>(sw_x + at.x, sw_z + at.z, sw_line, told,
                                               block % chunks)
      .run(tile);
}

__device__ __forceinline__ void sw_scan_lines(sw_scan_parameters) {
  __shared__ alignas(16) unsigned char tile[spanwise::scan_tile_bytes];
  const long long number = blockIdx.x * (long long)(blockDim.x / 32) + threadIdx.x / 32;
  if (number >= sw_lines) return;
  const sw_scan_place at(sw_walk, number);
  spanwise::WarpScan<sw_scan_body, sw_packed>(sw_x + at.x, sw_z + at.z, sw_line, tile).run();
}
