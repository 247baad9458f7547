// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef SPANWISE_SCAN_CUH
#define SPANWISE_SCAN_CUH

// For CUDA C kernels: #include <spanwise/scan.cuh>. Scans of lines in one pass: each element is
// read once and each result written once. Blocks pass their sums to later blocks (decoupled
// look-back: Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back",
// 2016), but add them in a fixed order whatever the order of execution, so that results are the
// same from run to run. spanwise/runtime/scan.hpp computes the launch parameters on the host.

#include <spanwise/pack.cuh>

namespace spanwise {

/// Threads per block, and the bytes of a thread's elements or results, whichever are larger, in
/// one buffer in shared memory. Each thread has the same number of consecutive ones.
constexpr int scan_threads = 128, scan_thread_bytes = 128;
constexpr int scan_buffer_bytes = scan_threads * scan_thread_bytes;

/// A line to scan; steps in elements.
struct ScanLine {
  long long length, step, result_step;
};

// A Body defines the scan by the types Element, Result and Acc (whose size is a multiple of 4
// bytes; copied by memcpy) and the functions Acc identity(), Acc transform(Element), Acc
// combine(Acc a, Acc b), where a precedes b, and Result result(Acc before, Acc through), the result
// of an element, where `before` combines all elements before it and `through` includes it.
// combine() is associative and need not commute.

// ---- scan across the lanes of a warp

template <class A>
__device__ __forceinline__ A scan_from_lane(A x, int lane) {
  unsigned int words[sizeof(A) / 4];
  memcpy(words, &x, sizeof(A));
#pragma unroll
  for (int i = 0; i < (int)(sizeof(A) / 4); ++i)
    words[i] = __shfl_sync(0xffffffffu, words[i], lane);
  memcpy(&x, words, sizeof(A));
  return x;
}
// Inclusive scan of the lanes' values.
template <class Body>
__device__ __forceinline__ typename Body::Acc scan_of_lanes(typename Body::Acc own) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const typename Body::Acc below = scan_from_lane(own, (lane - distance) & 31);
    if (lane >= distance) own = Body::combine(below, own);
  }
  return own;
}

// ---- a part of a line in the shared memory of a warp

/// `items` consecutive elements per lane. Neighbouring lanes read and write neighbouring elements
/// in global memory, as packs if `packed`; shared memory transposes them. All lanes of the warp
/// call each function; `whole` if the line contains all elements of the part. fetch() begins to
/// read the part into shared memory; the other functions are called after it has been waited for.
template <class Body, int items, bool packed>
class ScanPart {
 public:
  typedef typename Body::Element E;
  typedef typename Body::Result Z;
  typedef typename Body::Acc A;
  static constexpr int elements = 32 * items;

  /// The part from element `first` of `line` on; `scratch` is the warp's share of the buffer.
  __device__ __forceinline__ ScanPart(unsigned char* scratch, const ScanLine& line, long long first)
      : scratch_(scratch), line_(line), first_(first), lane_(threadIdx.x % 32) {
    const long long left = line.length - first - lane_ * items;
    count_ = left < 0 ? 0 : left < items ? (int)left : items;
  }

  __device__ __forceinline__ bool is_whole() const { return first_ + elements <= line_.length; }

  /// Begins to read the part, as one group of fetches (commit_fetches()).
  template <bool whole>
  __device__ __forceinline__ void fetch(const E* x) {
    fetch_elements<whole>(x);
    commit_fetches();
  }

  /// The combined elements of the lane.
  template <bool whole>
  __device__ __forceinline__ A total() const {
    A all = Body::identity();
#pragma unroll 2
    for (int k = 0; k < packs<E>; ++k) {
      const Pack<E, width<E>> pack = load_pack<width<E>>(pack_address<E>(lane_ * packs<E> + k));
      // Combines within each pack first: a single chain of additions would serialize them.
      A own = whole || k * width<E> < count_ ? Body::transform(pack.x[0]) : Body::identity();
#pragma unroll
      for (int w = 1; w < width<E>; ++w)
        if (whole || k * width<E> + w < count_)
          own = Body::combine(own, Body::transform(pack.x[w]));
      all = k == 0 ? own : Body::combine(all, own);
    }
    return all;
  }

  /// Writes the results; `before` combines all elements before the lane's.
  template <bool whole>
  __device__ __forceinline__ void write(Z* z, A before) {
    // Results of the same size replace their elements one by one. Otherwise they would overwrite
    // elements that other lanes have not read yet.
    store_results<whole>(before, IsInPlace<sizeof(E) == sizeof(Z)>());
    __syncwarp();
    if (packed)
      write_packs<whole>(z);
    else
#pragma unroll 4
      for (int k = 0; k < items; ++k) {
        const long long i = first_ + k * 32 + lane_;
        if (whole || i < line_.length)
          z[i * line_.result_step] = *element_address<Z>(k * 32 + lane_);
      }
    __syncwarp();
  }

 private:
  template <bool whole>
  __device__ __forceinline__ void fetch_elements(const E* x) {
    if (packed) {
#pragma unroll
      for (int k = 0; k < packs<E>; ++k) {
        const long long i = first_ + (k * 32 + lane_) * width<E>;
        E* const target = pack_address<E>(k * 32 + lane_);
        if (whole || i + width<E> <= line_.length) {
          fetch_pack<width<E>>(target, x + i);
        } else {
#pragma unroll
          for (int w = 0; w < width<E>; ++w)
            if (i + w < line_.length) target[w] = x[i + w];
        }
      }
    } else {
      constexpr int batch = items < 16 ? items : 16;
#pragma unroll 1
      for (int begin = 0; begin < items; begin += batch) {
        E held[batch];
#pragma unroll
        for (int k = 0; k < batch; ++k) {
          const long long i = first_ + (begin + k) * 32 + lane_;
          if (whole || i < line_.length) held[k] = x[i * line_.step];
        }
#pragma unroll
        for (int k = 0; k < batch; ++k) *element_address<E>((begin + k) * 32 + lane_) = held[k];
      }
    }
  }

  // Elements per pack, and packs per lane.
  template <class T>
  static constexpr int width = (int)sizeof(T) * items <= 16 ? items : 16 / (int)sizeof(T);
  template <class T>
  static constexpr int packs = items / width<T>;

  template <bool whole>
  __device__ __forceinline__ void scan_element(E x, int number, Z& result, A& before) const {
    if (!whole && number >= count_) return;
    const A through = Body::combine(before, Body::transform(x));
    result = Body::result(before, through);
    before = through;
  }
  template <bool value>
  struct IsInPlace {};
  template <bool whole>
  __device__ __forceinline__ void store_results(A before, IsInPlace<true>) const {
    // Not unrolled further, to save registers: occupancy matters more, because blocks wait for
    // others.
#pragma unroll 2
    for (int k = 0; k < packs<E>; ++k) {
      const Pack<E, width<E>> pack = load_pack<width<E>>(pack_address<E>(lane_ * packs<E> + k));
      Pack<Z, width<E>> results;
#pragma unroll
      for (int w = 0; w < width<E>; ++w)
        scan_element<whole>(pack.x[w], k * width<E> + w, results.x[w], before);
      store_shared_pack(pack_address<Z>(lane_ * packs<E> + k), results);
    }
  }
  template <bool whole>
  __device__ __forceinline__ void store_results(A before, IsInPlace<false>) const {
    Pack<E, width<E>> held[packs<E>];
#pragma unroll
    for (int k = 0; k < packs<E>; ++k)
      held[k] = load_pack<width<E>>(pack_address<E>(lane_ * packs<E> + k));
    __syncwarp();
#pragma unroll
    for (int k = 0; k < packs<Z>; ++k) {
      Pack<Z, width<Z>> results;
#pragma unroll
      for (int w = 0; w < width<Z>; ++w) {
        constexpr int wide = width<E>;
        const int i = k * width<Z> + w;
        scan_element<whole>(held[i / wide].x[i % wide], i, results.x[w], before);
      }
      store_shared_pack(pack_address<Z>(lane_ * packs<Z> + k), results);
    }
  }
  template <bool whole>
  __device__ __forceinline__ void write_packs(Z* z) const {
#pragma unroll
    for (int k = 0; k < packs<Z>; ++k) {
      const long long i = first_ + (k * 32 + lane_) * width<Z>;
      const Pack<Z, width<Z>> pack = load_pack<width<Z>>(pack_address<Z>(k * 32 + lane_));
      if (whole || i + width<Z> <= line_.length) {
        store_pack(z + i, pack);
      } else {
#pragma unroll
        for (int w = 0; w < width<Z>; ++w)
          if (i + w < line_.length) z[i + w] = pack.x[w];
      }
    }
  }

  // The address of pack `number`, swizzled so that 16-byte accesses of eight lanes use all banks,
  // both for neighbouring packs and for packs packs<T> apart.
  template <class T>
  __device__ __forceinline__ T* pack_address(int number) const {
    const int at = packs<T> > 1 ? number ^ (number >> 3 & 7) : number;
    return (T*)scratch_ + at * width<T>;
  }
  template <class T>
  __device__ __forceinline__ T* element_address(int number) const {
    return pack_address<T>(number / width<T>) + number % width<T>;
  }

  unsigned char* const scratch_;
  const ScanLine& line_;
  const long long first_;
  const int lane_;
  int count_;
};

template <class Body>
struct ScanItems {
  static constexpr int max_bytes = sizeof(typename Body::Element) > sizeof(typename Body::Result)
                                       ? (int)sizeof(typename Body::Element)
                                       : (int)sizeof(typename Body::Result);
  static constexpr int of_lane = scan_thread_bytes / max_bytes;
};

// ---- a whole line scanned by one warp

/// Scans a line with the calling warp; `buffer` is the block's, of scan_buffer_bytes.
template <class Body, bool packed>
class WarpScan {
 public:
  typedef typename Body::Element E;
  typedef typename Body::Result Z;
  typedef typename Body::Acc A;

  __device__ __forceinline__ WarpScan(const E* x, Z* z, const ScanLine& line, unsigned char* buffer)
      : x_(x),
        z_(z),
        line_(line),
        scratch_(buffer + threadIdx.x / 32 * (32 * scan_thread_bytes)),
        carry_(Body::identity()) {}

  __device__ __forceinline__ void run() {
    constexpr int max_items = ScanItems<Body>::of_lane;
    do_parts<max_items>();
    do_parts<max_items / 4>();
    do_parts<max_items / 8>();
    if (first_ < line_.length) do_part<max_items / 8, false>();
  }

 private:
  template <int items>
  __device__ __forceinline__ void do_parts() {
    while (first_ + 32 * items <= line_.length) do_part<items, true>();
  }
  template <int items, bool whole>
  __device__ __forceinline__ void do_part() {
    ScanPart<Body, items, packed> part(scratch_, line_, first_);
    part.template fetch<whole>(x_);
    wait_for_fetches<0>();
    __syncwarp();
    const A own = scan_of_lanes<Body>(part.template total<whole>());
    const A below = scan_from_lane(own, (threadIdx.x - 1) & 31);
    part.template write<whole>(z_, threadIdx.x % 32 > 0 ? Body::combine(carry_, below) : carry_);
    carry_ = Body::combine(carry_, scan_from_lane(own, 31));
    first_ += part.elements;
  }

  const E* const x_;
  Z* const z_;
  const ScanLine& line_;
  unsigned char* const scratch_;
  A carry_;
  long long first_ = 0;
};

// ---- sums that blocks pass to later ones

/// The sums that the blocks of a line pass to later blocks: the sum of each chunk, of each group of
/// 32 chunks, and of each 32 groups. Each 32-bit word of a sum is stored together with a ready flag
/// in one 8-byte access, so a reader sees when it is complete. Sums of groups are stored 32 times,
/// once for the blocks of each position within a group: many readers of one address would delay its
/// write. The block that publishes the last sum of a group publishes the group's sum, so that no
/// block waits for another to do so.
template <class A>
class TilePrefixState {
  static_assert(sizeof(A) % 8 == 0, "the size of the accumulator must be a multiple of 8 bytes");

 public:
  /// `words` are 0 before the kernel and aligned to 16 bytes; each line has scan_words() of them,
  /// and this object uses those of line `line`.
  __device__ __forceinline__ TilePrefixState(unsigned long long* words, unsigned int line,
                                             unsigned int chunks)
      : chunks_(chunks),
        groups_(chunks > 32 ? (chunks + 31) / 32 : 0),
        supers_((groups_ + 31) / 32),
        words_(words +
               (long long)line * (sums_per_line() * sum_words + (groups_ + supers_ + 1) / 2 * 2)) {}

  __device__ __forceinline__ unsigned int chunks() const { return chunks_; }
  // Indices of the sums of groups, and of 32 groups, for the blocks at position `reader` of a
  // group.
  __device__ __forceinline__ unsigned int group_sum(unsigned int group, unsigned int reader) const {
    return chunks_ + reader * groups_ + group;
  }
  __device__ __forceinline__ unsigned int super_sum(unsigned int super, unsigned int reader) const {
    return chunks_ + 32 * groups_ + reader * supers_ + super;
  }

  /// Writes the sum at index `index`, which wait_for() returns in other blocks.
  __device__ __forceinline__ void publish(unsigned int index, A a) const {
    unsigned int parts[sum_words];
    memcpy(parts, &a, sizeof(A));
    unsigned long long* const address = words_ + (long long)index * sum_words;
#pragma unroll
    for (int i = 0; i < sum_words; i += 2)
      store_pair(address + i, (unsigned long long)parts[i] << 32 | 1,
                 (unsigned long long)parts[i + 1] << 32 | 1);
  }
  /// Counts the sum of a chunk, or of a group, which has been published. Returns whether all sums
  /// of its group, or of its 32 groups, have been published now.
  __device__ __forceinline__ bool completes_group(unsigned int chunk) const {
    return groups_ > 0 && is_last_of_32(chunk / 32);
  }
  __device__ __forceinline__ bool completes_super(unsigned int group) const {
    return is_last_of_32(groups_ + group / 32);
  }
  /// Reads the sum at index `index`; false if it is not written yet, and then `a` is undefined.
  __device__ __forceinline__ bool get(unsigned int index, A& a) const {
    const unsigned long long* const address = words_ + (long long)index * sum_words;
    unsigned long long words[sum_words];
#pragma unroll
    for (int i = 0; i < sum_words; i += 2) load_pair(address + i, words[i], words[i + 1]);
    unsigned int parts[sum_words], ready = 1;
#pragma unroll
    for (int i = 0; i < sum_words; ++i) {
      ready &= (unsigned int)words[i];
      parts[i] = (unsigned int)(words[i] >> 32);
    }
    memcpy(&a, parts, sizeof(A));
    return ready != 0;
  }
  /// Waits until the sum is written and returns it.
  __device__ __forceinline__ A wait_for(unsigned int index) const {
    A a;
    while (!get(index, a)) {
    }
    return a;
  }

 private:
  static constexpr int sum_words = sizeof(A) / 4;  // 8-byte words of a sum

  __device__ __forceinline__ unsigned int sums_per_line() const {
    return chunks_ + 32 * (groups_ + supers_);
  }
  // Counts up; the counters follow the sums of the line.
  __device__ __forceinline__ bool is_last_of_32(unsigned int counter) const {
    return atomicAdd(words_ + (long long)sums_per_line() * sum_words + counter, 1ull) == 31;
  }

  // Two words in one access; the compiler would split volatile accesses.
  static __device__ __forceinline__ void store_pair(unsigned long long* address,
                                                    unsigned long long x, unsigned long long y) {
#if defined(__CUDA_ARCH__) && !defined(SW_CPU)
    asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(address), "l"(x), "l"(y)
                 : "memory");
#else
    *(volatile unsigned long long*)address = x;
    *(volatile unsigned long long*)(address + 1) = y;
#endif
  }
  static __device__ __forceinline__ void load_pair(const unsigned long long* address,
                                                   unsigned long long& x, unsigned long long& y) {
#if defined(__CUDA_ARCH__) && !defined(SW_CPU)
    asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(x), "=l"(y)
                 : "l"(address)
                 : "memory");
#else
    x = *(const volatile unsigned long long*)address;
    y = *(const volatile unsigned long long*)(address + 1);
#endif
  }

  const unsigned int chunks_, groups_, supers_;
  unsigned long long* const words_;
};

// ---- lines split into chunks, which blocks take in turn

/// Bytes of dynamic shared memory of a block: three buffers.
constexpr int block_scan_bytes = 3 * scan_buffer_bytes;

/// Scans lines in chunks of `elements` elements. Each block takes chunks, in the order of their
/// numbers, until none is left. It works on three: one is fetched; the sum of the one before it is
/// published; and the one before that waits for the sums of all chunks before it, which other
/// blocks have mostly published in the meantime, and is written. A block waits only for chunks of
/// lower numbers, which running blocks have taken, so any number of blocks is correct.
///
/// locate(line, x, z) sets x and z to the addresses of the first element and result of a line.
template <class Body, bool packed, class Locate>
class BlockScan {
 public:
  typedef typename Body::Element E;
  typedef typename Body::Result Z;
  typedef typename Body::Acc A;
  static constexpr int items = ScanItems<Body>::of_lane;
  static constexpr long long elements = (long long)scan_threads * items;

  /// `words`, 0 before the kernel and aligned to 16 bytes: two, of which the first counts the
  /// chunks that are taken, then those of TilePrefixState; null if lines have one chunk. `buffers`
  /// has block_scan_bytes and is aligned to 16.
  __device__ __forceinline__ BlockScan(const Locate& locate, const ScanLine& line,
                                       unsigned int lines, unsigned int chunks,
                                       unsigned long long* words, unsigned char* buffers)
      : locate_(locate),
        line_(line),
        total_(lines * chunks),
        chunks_(chunks),
        words_(words),
        buffers_(buffers + threadIdx.x / 32 * warp_bytes) {}

  /// Called by all threads of the block.
  __device__ __forceinline__ void run() const {
    __shared__ unsigned int taken[2];
    if (threadIdx.x == 0) {
      taken[0] = words_ != nullptr ? (unsigned int)atomicAdd(words_, 2ull) : blockIdx.x;
      taken[1] = taken[0] + (words_ != nullptr ? 1 : gridDim.x);
    }
    __syncthreads();
    unsigned int current = taken[0], next = taken[1], pending = none;
    A pending_before = Body::identity();
    fetch(current, 0);
    for (int buffer = 0;; buffer = buffer == 2 ? 0 : buffer + 1) {
      unsigned int after_next = next + gridDim.x;
      if (threadIdx.x == 0 && words_ != nullptr) after_next = (unsigned int)atomicAdd(words_, 1ull);
      fetch(next, buffer == 2 ? 0 : buffer + 1);
      wait_for_fetches<1>();
      const A before = sum_chunk(current, buffer);
      if (pending != none) look_back(pending);
      if (threadIdx.x == 0) taken[0] = after_next;
      __syncthreads();
      if (pending != none) write(pending, pending_before, buffer == 0 ? 2 : buffer - 1);
      if (current >= total_) return;
      pending = current, pending_before = before;
      current = next, next = taken[0];
    }
  }

 private:
  static constexpr unsigned int none = 0xffffffffu;
  static constexpr int warps = scan_threads / 32, warp_bytes = 32 * scan_thread_bytes;
  typedef ScanPart<Body, items, packed> Part;

  // The warp's part of a chunk.
  __device__ __forceinline__ Part part_of(unsigned int number, int buffer) const {
    const long long first = number % chunks_ * elements + threadIdx.x / 32 * Part::elements;
    return Part(buffers_ + buffer * (warps * warp_bytes), line_, first);
  }
  __device__ __forceinline__ TilePrefixState<A> prefixes_of(unsigned int number) const {
    return TilePrefixState<A>(words_ + 2, number / chunks_, chunks_);
  }
  // Memory of the block for the sums that look_back() finds.
  static __device__ __forceinline__ A* levels() {
    __shared__ alignas(16) unsigned char bytes[3 * sizeof(A)];
    return (A*)bytes;
  }

  __device__ __forceinline__ void fetch(unsigned int number, int buffer) const {
    if (number >= total_) return commit_fetches();
    const E* x;
    Z* z;
    locate_(number / chunks_, x, z);
    Part part = part_of(number, buffer);
    if (part.is_whole())
      part.template fetch<true>(x);
    else
      part.template fetch<false>(x);
  }

  // Computes and publishes the sum of a chunk, if there is one with this number. Returns the sum of
  // the chunk's elements before the thread's.
  __device__ __forceinline__ A sum_chunk(unsigned int number, int buffer) const {
    __shared__ alignas(16) unsigned char bytes[warps * sizeof(A)];
    A* const of_warps = (A*)bytes;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    A own = Body::identity(), before = own, sum = own;
    if (number < total_) {
      __syncwarp();
      const Part part = part_of(number, buffer);
      own = scan_of_lanes<Body>(part.is_whole() ? part.template total<true>()
                                                : part.template total<false>());
      if (lane == 31) of_warps[warp] = own;
    }
    __syncthreads();
    if (number >= total_) return before;
#pragma unroll
    for (int i = 0; i < warps; ++i) {
      if (i == warp) before = sum;
      sum = Body::combine(sum, of_warps[i]);
    }
    const A below = scan_from_lane(own, (lane - 1) & 31);
    if (lane > 0) before = Body::combine(before, below);
    // By a warp that has nothing to do in look_back().
    if (chunks_ > 1 && warp == warps - 1) publish(number, sum);
    return before;
  }

  // Publishes the sum of a chunk, and those of groups that the chunk completes. No waiting: they
  // consist of sums that have been published.
  __device__ __forceinline__ void publish(unsigned int number, A sum) const {
    const TilePrefixState<A> prefixes = prefixes_of(number);
    const unsigned int chunk = number % chunks_, group = chunk / 32, lane = threadIdx.x % 32;
    int completes = 0;
    if (lane == 0) {
      prefixes.publish(chunk, sum);
      completes = prefixes.completes_group(chunk);
    }
    if (__shfl_sync(0xffffffffu, completes, 0) == 0) return;
    const A of_group = scan_of_lanes<Body>(prefixes.wait_for(group * 32 + lane));
    prefixes.publish(prefixes.group_sum(group, lane), scan_from_lane(of_group, 31));
    if (lane == 0) completes = prefixes.completes_super(group);
    if (__shfl_sync(0xffffffffu, completes, 0) == 0) return;
    const A of_super =
        scan_of_lanes<Body>(prefixes.wait_for(prefixes.group_sum(group / 32 * 32 + lane, lane)));
    prefixes.publish(prefixes.super_sum(group / 32, lane), scan_from_lane(of_super, 31));
  }

  // Finds the sums of all chunks before this one: of its group, of the other groups of its 32
  // groups, and of everything before these.
  __device__ __forceinline__ void look_back(unsigned int number) const {
    if (chunks_ == 1) return;
    const TilePrefixState<A> prefixes = prefixes_of(number);
    const unsigned int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned int chunk = number % chunks_, group = chunk / 32, reader = chunk % 32;
    const unsigned int first_group = group / 32 * 32;
    if (warp == 0) {
      const A a = sum_of(prefixes, chunk - reader, reader);
      if (lane == 31) levels()[0] = a;
    } else if (warp == 1) {
      const A a = sum_of(prefixes, prefixes.group_sum(first_group, reader), group - first_group);
      if (lane == 31) levels()[1] = a;
    } else if (warp == 2) {
      A a = Body::identity();
      const unsigned int supers = group / 32;
      for (unsigned int first = 0; first < supers; first += 32) {
        const unsigned int left = supers - first;
        const A next = sum_of(prefixes, prefixes.super_sum(first, reader), left < 32 ? left : 32);
        a = Body::combine(a, scan_from_lane(next, 31));
      }
      if (lane == 31) levels()[2] = a;
    }
  }
  // Combines `count` <= 32 sums from index `first` on; only the last lane gets the result.
  static __device__ __forceinline__ A sum_of(const TilePrefixState<A>& prefixes, unsigned int first,
                                             unsigned int count) {
    const unsigned int lane = threadIdx.x % 32;
    return scan_of_lanes<Body>(lane < count ? prefixes.wait_for(first + lane) : Body::identity());
  }

  // Writes the results of a chunk, after look_back() and a barrier.
  __device__ __forceinline__ void write(unsigned int number, A before, int buffer) const {
    if (chunks_ > 1)
      before = Body::combine(Body::combine(Body::combine(levels()[2], levels()[1]), levels()[0]),
                             before);
    const E* x;
    Z* z;
    locate_(number / chunks_, x, z);
    Part part = part_of(number, buffer);
    if (part.is_whole())
      part.template write<true>(z, before);
    else
      part.template write<false>(z, before);
  }

  const Locate& locate_;
  const ScanLine& line_;
  const unsigned int total_, chunks_;
  unsigned long long* const words_;
  unsigned char* const buffers_;
};

}  // namespace spanwise

#endif
