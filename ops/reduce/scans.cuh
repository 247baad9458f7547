// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Scans, by the parts of parts.cuh: of lines (form 3), and of columns (form 4).

#if FORM == 3 || FORM == 4
// The axis that is scanned, in `chunks` of so many elements.
struct Line {
  long long lines, length, step, result_step, chunks, chunk;
};
#endif

#if FORM == 3
// A warp takes WIDTH elements a thread, one access. A warp with a line takes so many at a time; one
// with its part of a chunk loads ROUNDS times PART of them before it adds up the first.
#define STEPS (WIDTH > 1 || sizeof(E) == 16 ? 4 : 8)
#define SPAN (32 * WIDTH)
#define PART 2
#define ROUNDS STEPS

template <class T>
__device__ __forceinline__ T from_lane(T x, int lane) {
  union {
    T value;
    unsigned int words[sizeof(T) / 4];
  } u;
  u.value = x;
#pragma unroll
  for (int i = 0; i < (int)(sizeof(T) / 4); ++i)
    u.words[i] = __shfl_sync(0xffffffffu, u.words[i], lane);
  return u.value;
}

// What a warp has at hand: elements, and what the warp has before those of this thread.
template <int steps>
struct Held {
  spanwise::Pack<E, WIDTH> x[steps];
  A before[steps];
};

// The warp's elements from `first` on; `whole` where all of them are there.
template <bool whole, int steps>
__device__ __forceinline__ void take(Held<steps>& held, const E* x, const Line& line,
                                     long long first) {
#pragma unroll
  for (int k = 0; k < steps; ++k) {
    const long long i = first + k * SPAN + threadIdx.x % 32 * WIDTH;
    if (WIDTH > 1 && whole) {
      held.x[k] = spanwise::load_pack<WIDTH>(x + i);
    } else {
#pragma unroll
      for (int w = 0; w < WIDTH; ++w)
        if (whole || i + w < line.length) held.x[k].x[w] = x[(i + w) * line.step];
    }
  }
}
// Fills in `before`; returns what the warp has.
template <bool whole, int steps>
__device__ __forceinline__ A add_up(Held<steps>& held, const Line& line, long long first) {
  const int lane = threadIdx.x % 32;
  A all = Body::identity();
#pragma unroll
  for (int k = 0; k < steps; ++k) {
    const long long i = first + k * SPAN + lane * WIDTH;
    A own = Body::identity();
#pragma unroll
    for (int w = 0; w < WIDTH; ++w)
      if (whole || i + w < line.length) own = Body::combine(own, Body::lift(held.x[k].x[w], P()));
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const A below = from_lane(own, (lane - distance) & 31);
      if (lane >= distance) own = Body::combine(below, own);
    }
    const A below = from_lane(own, (lane - 1) & 31);
    held.before[k] = lane > 0 ? Body::combine(all, below) : all;
    all = Body::combine(all, from_lane(own, 31));
  }
  return all;
}
// The sums themselves, where `base` is before all of the warp.
template <bool whole, int steps>
__device__ __forceinline__ void give(const Held<steps>& held, Z* z, const Line& line,
                                     long long first, A base) {
  constexpr int bytes = WIDTH * (int)sizeof(Z), part = bytes > 16 ? 16 / (int)sizeof(Z) : WIDTH;
#pragma unroll
  for (int k = 0; k < steps; ++k) {
    const long long i = first + k * SPAN + threadIdx.x % 32 * WIDTH;
    A sum = Body::combine(base, held.before[k]);
#pragma unroll
    for (int w = 0; w < WIDTH; w += part) {
      spanwise::Pack<Z, part> sums;
#pragma unroll
      for (int v = 0; v < part; ++v) {
        if (!whole && i + w + v >= line.length) continue;
        sum = Body::combine(sum, Body::lift(held.x[k].x[w + v], P()));
        if (WIDTH > 1 && whole)
          sums.x[v] = Store<Z>::from(sum);
        else
          z[(i + w + v) * line.result_step] = Store<Z>::from(sum);
      }
      if (WIDTH > 1 && whole) spanwise::store_pack(z + i + w, sums);
    }
  }
}

// ---- chunks of a line, a block for each

// What blocks tell those after them. Of each line: the sum of every chunk, of every group of 32
// chunks, and of all up to the end of every 32nd group; each with a flag that says it is there. A
// chunk adds up the same of them in the same order, whoever comes first: the result is the same
// from run to run, which it is not where a block takes what it finds (the decoupled look-back of
// Merrill and Garland, 2016, whose way of telling this is). A block waits only for those that took
// their numbers before it, and so have begun.
struct Told {
  A* sums;
  unsigned int* flags;  // 0 before the kernel
};
__device__ __forceinline__ void tell(const Told& told, long long place, A a) {
  told.sums[place] = a;
  __threadfence();
  *(volatile unsigned int*)(told.flags + place) = 1;
}
// Past the first-level cache, where the line of memory may be from before the sum was written.
__device__ __forceinline__ A hear(const Told& told, long long place) {
  while (*(const volatile unsigned int*)(told.flags + place) == 0) {
  }
  __threadfence();
  union {
    A value;
    unsigned long long words[sizeof(A) / 8];
  } u;
  const unsigned long long* words = (const unsigned long long*)(told.sums + place);
#pragma unroll
  for (int i = 0; i < (int)(sizeof(A) / 8); ++i) u.words[i] = __ldcg(words + i);
  return u.value;
}

// What the line has before this chunk, whose sum is `own`; all threads call it, and get it.
__device__ __forceinline__ A before_chunk(const Told& told, const Line& line, long long chunk,
                                          A own) {
  __shared__ A levels[3];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const long long group = chunk / 32, super = group / 32;
  const long long groups = line.chunks, supers = groups + (line.chunks + 31) / 32;
  if (warp == 0) {
    if (lane == 0) tell(told, chunk, own);
    const A a = joined<32>(lane < chunk % 32 ? hear(told, group * 32 + lane) : Body::identity());
    if (lane == 0) {
      levels[0] = a;
      if (chunk % 32 == 31) tell(told, groups + group, Body::combine(a, own));
    }
  } else if (warp == 1) {
    const A a =
        joined<32>(lane < group % 32 ? hear(told, groups + super * 32 + lane) : Body::identity());
    if (lane == 0) levels[1] = a;
  } else if (warp == 2 && lane == 0) {
    levels[2] = super > 0 ? hear(told, supers + super - 1) : Body::identity();
  }
  __syncthreads();
  const A before = Body::combine(Body::combine(levels[2], levels[1]), levels[0]);
  if (threadIdx.x == 0 && chunk % 1024 == 1023)
    tell(told, supers + super, Body::combine(before, own));
  return before;
}

// The order in which blocks begin: a block's number is the place of its chunk.
__device__ __forceinline__ long long number_of_block(unsigned int* begun) {
  if (begun == nullptr) return blockIdx.x;
  __shared__ unsigned int number;
  if (threadIdx.x == 0) number = atomicAdd(begun, 1u);
  __syncthreads();
  return number;
}

// Where threads' own elements wait for what is before them, so that registers are left for more
// blocks at a time.
struct Waiting {
  spanwise::Pack<E, WIDTH> x[ROUNDS * PART][BLOCK];
};

__device__ __forceinline__ void fetch(Held<PART>& held, const Waiting& waiting, int round) {
#pragma unroll
  for (int k = 0; k < PART; ++k) held.x[k] = waiting.x[round * PART + k][threadIdx.x];
}

template <bool whole>
__device__ __forceinline__ void do_chunk(const E* x, Z* z, Waiting& waiting, const Told& told,
                                         const Line& line, long long chunk) {
  __shared__ A of_warps[BLOCK / 32];
  const int warp = threadIdx.x / 32;
  const long long first = chunk * line.chunk + warp * (SPAN * PART * ROUNDS);
  {
    Held<PART * ROUNDS> held;
    take<whole>(held, x, line, first);
#pragma unroll
    for (int k = 0; k < PART * ROUNDS; ++k) waiting.x[k][threadIdx.x] = held.x[k];
  }
  A own = Body::identity();
#pragma unroll 1
  for (int r = 0; r < ROUNDS; ++r) {
    Held<PART> held;
    fetch(held, waiting, r);
    own = Body::combine(own, add_up<whole>(held, line, first + r * (SPAN * PART)));
  }
  if (threadIdx.x % 32 == 0) of_warps[warp] = own;
  __syncthreads();
  A all = Body::identity(), before = all;
#pragma unroll
  for (int i = 0; i < BLOCK / 32; ++i) {
    if (i == warp) before = all;
    all = Body::combine(all, of_warps[i]);
  }
  if (line.chunks > 1) before = Body::combine(before_chunk(told, line, chunk, all), before);
  // Added up once more: cheaper than registers, of which blocks in flight are made.
#pragma unroll 1
  for (int r = 0; r < ROUNDS; ++r) {
    Held<PART> held;
    fetch(held, waiting, r);
    own = add_up<whole>(held, line, first + r * (SPAN * PART));
    give<whole>(held, z, line, first + r * (SPAN * PART), before);
    before = Body::combine(before, own);
  }
}

// `sums` has room for what the lines' blocks tell, one line after the other, and so have `flags`,
// after one that counts; both are null where a line is one chunk.
extern "C" __global__ void __launch_bounds__(BLOCK, sizeof(A) == 8 ? 4 : 2)
    run(const E* input, Z* result, A* sums, unsigned int* flags, const Axes axes, const Line line) {
  __shared__ Waiting waiting;
  const long long block = number_of_block(flags), number = block / line.chunks,
                  chunk = block % line.chunks;
  const Offsets at = kept_at(axes, (Index)number);
  const long long places = line.chunks + (line.chunks + 31) / 32 + (line.chunks + 1023) / 1024;
  const Told told = {sums + number * places, flags + 1 + number * places};
  if ((chunk + 1) * line.chunk <= line.length)
    do_chunk<true>(input + at.input, result + at.result, waiting, told, line, chunk);
  else
    do_chunk<false>(input + at.input, result + at.result, waiting, told, line, chunk);
}

// ---- a warp for each line, where there are many or they are short

template <bool whole, int steps>
__device__ __forceinline__ void do_part(const E* x, Z* z, const Line& line, long long first,
                                        A& carry) {
  Held<steps> held;
  take<whole>(held, x, line, first);
  const A own = add_up<whole>(held, line, first);
  give<whole>(held, z, line, first, carry);
  carry = Body::combine(carry, own);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    lines(const E* input, Z* result, const Axes axes, const Line line) {
  const long long number = (long long)blockIdx.x * (BLOCK / 32) + threadIdx.x / 32;
  if (number >= line.lines) return;
  const Offsets at = kept_at(axes, (Index)number);
  const E* x = input + at.input;
  Z* z = result + at.result;
  A carry = Body::identity();
  long long first = 0;
  for (; first + SPAN * STEPS <= line.length; first += SPAN * STEPS)
    do_part<true, STEPS>(x, z, line, first, carry);
  for (; first + SPAN <= line.length; first += SPAN) do_part<true, 1>(x, z, line, first, carry);
  if (first < line.length) do_part<false, 1>(x, z, line, first, carry);
}
#endif

#if FORM == 4
// Lines that are neighbours in memory: a thread for each chunk of each, so that threads beside one
// another read what is beside one another. Blocks of a chunk come one after the other.
#define AHEAD 8
struct Piece {
  long long number, chunk, first, last;
};
__device__ __forceinline__ Piece own_piece(const Line& line) {
  const unsigned int across = (unsigned int)((line.lines + BLOCK - 1) / BLOCK);
  Piece piece;
  piece.number = blockIdx.x % across * (long long)BLOCK + threadIdx.x;
  piece.chunk = blockIdx.x / across;
  piece.first = piece.chunk * line.chunk;
  piece.last = piece.first + line.chunk < line.length ? piece.first + line.chunk : line.length;
  return piece;
}

// The sum of each chunk, those of all lines one after the other.
extern "C" __global__ void __launch_bounds__(BLOCK)
    totals(const E* input, A* parts, const Axes axes, const Line line) {
  const Piece piece = own_piece(line);
  if (piece.number >= line.lines) return;
  const E* x = input + kept_at(axes, (Index)piece.number).input;
  A sum = Body::identity();
  long long i = piece.first;
  for (; i + AHEAD <= piece.last; i += AHEAD) {
    E values[AHEAD];
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) values[k] = x[(i + k) * line.step];
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) sum = Body::combine(sum, Body::lift(values[k], P()));
  }
  for (; i < piece.last; ++i) sum = Body::combine(sum, Body::lift(x[i * line.step], P()));
  parts[piece.chunk * line.lines + piece.number] = sum;
}
// Each chunk's sum becomes that of the chunks before it.
extern "C" __global__ void __launch_bounds__(BLOCK) carries(A* parts, const Line line) {
  const long long number = (long long)blockIdx.x * BLOCK + threadIdx.x;
  if (number >= line.lines) return;
  A carry = Body::identity();
  for (long long chunk = 0; chunk < line.chunks; ++chunk) {
    const A own = parts[chunk * line.lines + number];
    parts[chunk * line.lines + number] = carry;
    carry = Body::combine(carry, own);
  }
}
// The sums themselves; `parts` is null where a line is one chunk.
extern "C" __global__ void __launch_bounds__(BLOCK)
    run(const E* input, Z* result, const A* parts, const Axes axes, const Line line) {
  const Piece piece = own_piece(line);
  if (piece.number >= line.lines) return;
  const Offsets at = kept_at(axes, (Index)piece.number);
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
      sum = Body::combine(sum, Body::lift(values[k], P()));
      z[(i + k) * line.result_step] = Store<Z>::from(sum);
    }
  }
  for (; i < piece.last; ++i) {
    sum = Body::combine(sum, Body::lift(x[i * line.step], P()));
    z[i * line.result_step] = Store<Z>::from(sum);
  }
}
#endif
