// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// A scan on a GPU in one pass: one block per chunk of a line, or one warp per line; or, where
// scan_pipeline.cuh is included, several chunks per block at a time.

struct sw_scan_body {
  typedef T Element;
  typedef T Result;
  // The operation may have no neutral element; an accumulator without a value takes its place.
  struct alignas(8) Acc {
    T value;
    unsigned int has_value;
  };

  static __device__ __forceinline__ Acc identity() {
    Acc acc;
    acc.value = T();
    acc.has_value = 0;
    return acc;
  }
  static __device__ __forceinline__ Acc transform(T x) {
    Acc acc;
    acc.value = x;
    acc.has_value = 1;
    return acc;
  }
  static __device__ __forceinline__ Acc combine(Acc a, Acc b) {
#ifdef SW_CPU
    if (!a.has_value) return b;
    if (!b.has_value) return a;
    return transform(sw_combine(a.value, b.value));
#else
    // Without branches, between which the compiler could not interleave several combinations. The
    // operation on an absent value gives a meaningless result, which is not used, but cannot trap.
    Acc combined;
    combined.value = sw_combine(a.value, b.value);
    combined.value = a.has_value ? b.has_value ? combined.value : a.value : b.value;
    combined.has_value = a.has_value | b.has_value;
    return combined;
#endif
  }
  static __device__ __forceinline__ T result(Acc before, Acc through) {
    return sw_scan_result(before.has_value, before.value, through.value);
  }
};

#define sw_scan_parameters                                                              \
  const T *sw_x, T *sw_z, const sw_scan_walk sw_walk, const spanwise::ScanLine sw_line, \
      long long sw_lines, long long sw_chunks, unsigned long long *sw_words
#define sw_scan_arguments sw_x, sw_z, sw_walk, sw_line, sw_lines, sw_chunks, sw_words

struct sw_scan_locate {
  const T* x;
  T* z;
  const sw_scan_walk& walk;
  __device__ __forceinline__ void operator()(unsigned int number, const T*& line_x,
                                             T*& line_z) const {
    const sw_scan_line at(walk, number);
    line_x = x + at.x, line_z = z + at.z;
  }
};

#ifdef SPANWISE_SCAN_PIPELINE_CUH
__device__ __forceinline__ void sw_scan_run(sw_scan_parameters) {
  extern __shared__ uint4 sw_buffers[];
  typedef spanwise::PipelinedScan<sw_scan_body, sw_scan_locate> Scan;
  __shared__ alignas(16) unsigned char sw_state[sizeof(Scan::State)];
  const sw_scan_locate locate = {sw_x, sw_z, sw_walk};
  Scan(locate, sw_line.length, (unsigned int)sw_lines, (unsigned int)sw_chunks, sw_words,
       (unsigned char*)sw_buffers, *(Scan::State*)sw_state)
      .run();
}
#else
__device__ __forceinline__ void sw_scan_run(sw_scan_parameters) {
  extern __shared__ uint4 sw_buffers[];
  const sw_scan_locate locate = {sw_x, sw_z, sw_walk};
  spanwise::BlockScan<sw_scan_body, sw_packed, sw_scan_locate>(
      locate, sw_line, (unsigned int)sw_lines, (unsigned int)sw_chunks, sw_words,
      (unsigned char*)sw_buffers)
      .run();
}

__device__ __forceinline__ void sw_scan_lines(sw_scan_parameters) {
  extern __shared__ uint4 sw_buffers[];
  const long long number = blockIdx.x * (long long)(blockDim.x / 32) + threadIdx.x / 32;
  if (number >= sw_lines) return;
  const sw_scan_line at(sw_walk, number);
  spanwise::WarpScan<sw_scan_body, sw_packed>(sw_x + at.x, sw_z + at.z, sw_line,
                                              (unsigned char*)sw_buffers)
      .run();
}
#endif
