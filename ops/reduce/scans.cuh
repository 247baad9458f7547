// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Scans, with the functions of reduce_common.cuh: of lines (form 3), and of columns (form 4).

#if FORM == 3 || FORM == 4
// The scanned axis: `chunks` chunks of `chunk` elements.
struct ScanLines {
  long long lines, length, step, result_step, chunks, chunk;
};
#endif

#if FORM == 3
// The body as BlockScan, WarpScan and PipelinedScan need it.
struct Scanned : Body {
  typedef E Element;
  typedef Z Result;
  static __device__ __forceinline__ A transform(E x) { return Body::transform(x, P()); }
  static __device__ __forceinline__ Z result(A, A through) {
    return Store<Z>::from(result_of(through));
  }
};

// The addresses of the first element of line `number`.
struct Locate {
  const E* input;
  Z* result;
  const JobAxes& axes;
  __device__ __forceinline__ void operator()(unsigned int number, const E*& x, Z*& z) const {
    const JobOffsets at = kept_at(axes, (Index)number);
    x = input + at.input, z = result + at.result;
  }
};

#if IS_PIPELINED
extern "C" __global__ void __launch_bounds__(spanwise::pipeline_threads, 1)
    run(const E* input, Z* result, unsigned long long* words, const JobAxes axes,
        const ScanLines line) {
  extern __shared__ uint4 buffers[];
  typedef spanwise::PipelinedScan<Scanned, Locate> Scan;
  __shared__ alignas(16) unsigned char state[sizeof(Scan::State)];
  const Locate locate = {input, result, axes};
  Scan(locate, line.length, (unsigned int)line.lines, (unsigned int)line.chunks, words,
       (unsigned char*)buffers, *(Scan::State*)state)
      .run();
}
#else
extern "C" __global__ void __launch_bounds__(spanwise::scan_threads, 4)
    run(const E* input, Z* result, unsigned long long* words, const JobAxes axes,
        const ScanLines line) {
  extern __shared__ uint4 buffers[];
  const spanwise::ScanLine strides = {line.length, line.step, line.result_step};
  const Locate locate = {input, result, axes};
  spanwise::BlockScan<Scanned, IS_PACKED, Locate>(locate, strides, (unsigned int)line.lines,
                                                  (unsigned int)line.chunks, words,
                                                  (unsigned char*)buffers)
      .run();
}

// One warp for each line.
extern "C" __global__ void __launch_bounds__(spanwise::scan_threads, sizeof(A) == 8 ? 10 : 8)
    lines(const E* input, Z* result, const JobAxes axes, const ScanLines line) {
  extern __shared__ uint4 buffer[];
  const long long number = ((long long)blockIdx.x * spanwise::scan_threads + threadIdx.x) / 32;
  if (number >= line.lines) return;
  const JobOffsets at = kept_at(axes, (Index)number);
  const spanwise::ScanLine strides = {line.length, line.step, line.result_step};
  spanwise::WarpScan<Scanned, IS_PACKED>(input + at.input, result + at.result, strides,
                                         (unsigned char*)buffer)
      .run();
}
#endif
#endif

#if FORM == 4
// Lines that are adjacent in memory: one thread for each chunk of each line, so that adjacent
// threads read adjacent elements. The blocks of a chunk are consecutive.
#define AHEAD 8  // elements that a thread loads before it combines them
struct LineChunk {
  long long number, chunk, first, last;
};
__device__ __forceinline__ LineChunk own_chunk(const ScanLines& line) {
  const unsigned int across = (unsigned int)((line.lines + BLOCK - 1) / BLOCK);
  LineChunk piece;
  piece.number = blockIdx.x % across * (long long)BLOCK + threadIdx.x;
  piece.chunk = blockIdx.x / across;
  piece.first = piece.chunk * line.chunk;
  piece.last = piece.first + line.chunk < line.length ? piece.first + line.chunk : line.length;
  return piece;
}

// Computes the sum of each chunk. The sums of all lines are contiguous for each chunk.
extern "C" __global__ void __launch_bounds__(BLOCK)
    totals(const E* input, A* parts, const JobAxes axes, const ScanLines line) {
  const LineChunk piece = own_chunk(line);
  if (piece.number >= line.lines) return;
  const E* x = input + kept_at(axes, (Index)piece.number).input;
  A sum = Body::identity();
  long long i = piece.first;
  for (; i + AHEAD <= piece.last; i += AHEAD) {
    E values[AHEAD];
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) values[k] = x[(i + k) * line.step];
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) sum = Body::combine(sum, Body::transform(values[k], P()));
  }
  for (; i < piece.last; ++i) sum = Body::combine(sum, Body::transform(x[i * line.step], P()));
  parts[piece.chunk * line.lines + piece.number] = sum;
}
// Replaces each chunk's sum by the sum of all chunks before it.
extern "C" __global__ void __launch_bounds__(BLOCK) carries(A* parts, const ScanLines line) {
  const long long number = (long long)blockIdx.x * BLOCK + threadIdx.x;
  if (number >= line.lines) return;
  A carry = Body::identity();
  for (long long chunk = 0; chunk < line.chunks; ++chunk) {
    const A sum = parts[chunk * line.lines + number];
    parts[chunk * line.lines + number] = carry;
    carry = Body::combine(carry, sum);
  }
}
// Writes the running sums; `parts` is null if lines have only one chunk.
extern "C" __global__ void __launch_bounds__(BLOCK)
    run(const E* input, Z* result, const A* parts, const JobAxes axes, const ScanLines line) {
  const LineChunk piece = own_chunk(line);
  if (piece.number >= line.lines) return;
  const JobOffsets at = kept_at(axes, (Index)piece.number);
  const E* x = input + at.input;
  Z* z = result + at.result;
  A sum = parts != nullptr ? parts[piece.chunk * line.lines + piece.number] : Body::identity();
  long long i = piece.first;
  for (; i + AHEAD <= piece.last; i += AHEAD) {
    E values[AHEAD];
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) values[k] = x[(i + k) * line.step];
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
      sum = Body::combine(sum, Body::transform(values[k], P()));
      z[(i + k) * line.result_step] = Store<Z>::from(result_of(sum));
    }
  }
  for (; i < piece.last; ++i) {
    sum = Body::combine(sum, Body::transform(x[i * line.step], P()));
    z[i * line.result_step] = Store<Z>::from(result_of(sum));
  }
}
#endif
