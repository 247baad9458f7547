// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Stable sorts of rows of adjacent keys by their digits of eight bits, the lowest first. Short rows
// are sorted by one block each, in its registers (sort_rows). Long rows take one pass over memory
// for each digit, after one that counts the digits of all passes: the blocks of a pass find where
// their keys go by the counts of earlier blocks (Adinets and Merrill, "Onesweep: A Faster Least
// Significant Digit Radix Sort for GPUs", 2022).
//
// sort.cpp defines Word, the unsigned integer with the bits of a key, Count, an unsigned integer
// for positions in a row, and
// - ORDER: 0 for unsigned integers, 1 for signed ones, 2 for floats, whose infinity is
//   INFINITY_BITS, 3 for bool; DESCENDING;
// - HAS_INDICES: writes the positions of the keys before; HAS_KEYS: writes the keys;
// - THREADS of a block, ITEMS of a thread, BLOCKS of a multiprocessor.
// Keys keep their bits: of zeros their signs, of NaNs, which are last, their payloads.

constexpr int bins = 256, passes = sizeof(Word), warps = THREADS / 32, tile = THREADS * ITEMS;
/// Bins of one thread. The threads that have some are the first ones.
constexpr int own_bins = THREADS < bins ? bins / THREADS : 1, bin_threads = bins / own_bins;
[[maybe_unused]] constexpr Word sign = (Word)((Word)1 << (8 * sizeof(Word) - 1));
constexpr unsigned int all_lanes = 0xffffffffu;

/// An unsigned integer with the order of the keys; equal keys have equal ones.
__device__ __forceinline__ Word ordered(Word bits) {
#if ORDER == 0
  const Word key = bits;
#elif ORDER == 1
  const Word key = bits ^ sign;
#elif ORDER == 2
  const Word magnitude = bits & (Word)~sign;
  if (magnitude > INFINITY_BITS) return (Word) ~(Word)0;
  const Word key = magnitude == 0 ? sign : (bits & sign) != 0 ? (Word)~bits : (Word)(bits | sign);
#else
  const Word key = bits != 0;
#endif
  return DESCENDING ? (Word)~key : key;
}
/// No key is after this one.
__device__ __forceinline__ Word last_key() {
#if ORDER == 0
  return DESCENDING ? (Word)0 : (Word) ~(Word)0;
#elif ORDER == 1
  return DESCENDING ? sign : (Word)~sign;
#elif ORDER == 2
  return (Word) ~(Word)0;
#else
  return DESCENDING ? 0 : 1;
#endif
}
__device__ __forceinline__ unsigned int digit_of(Word bits, int pass) {
  return (unsigned int)(ordered(bits) >> (8 * pass)) & (bins - 1);
}

/// The lanes of the warp with the digit, by eight votes.
__device__ __forceinline__ unsigned int lanes_with(unsigned int digit) {
  unsigned int lanes = all_lanes;
#pragma unroll
  for (int bit = 0; bit < 8; ++bit) {
    const bool is_set = (digit >> bit & 1) != 0;
    const unsigned int votes = __ballot_sync(all_lanes, is_set);
    lanes &= is_set ? votes : ~votes;
  }
  return lanes;
}

/// The sum of the values of the threads before this one; `sums` has one element a warp.
template <class T>
__device__ __forceinline__ T sum_before(T own, T* sums) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  T through = own;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const T below = __shfl_up_sync(all_lanes, through, distance);
    if (lane >= distance) through += below;
  }
  if (lane == 31) sums[warp] = through;
  __syncthreads();
  T before = through - own;
#pragma unroll
  for (int w = 0; w < (bin_threads - 1) / 32; ++w)
    if (w < warp) before += sums[w];
  return before;
}

/// Ranks of the keys of a block by one digit. Item i of a thread is key 32 * i + lane of its warp's
/// part of the tile. All threads of the block call each function, in this order.
class TileRanks {
 public:
  static constexpr int count_words = warps * bins;
  /// Whether a word for each digit of a warp gathers its lanes. On an H200 this took 0.87 of the
  /// time of votes for 64M keys, and 1.3 for rows of 100 keys, of which a thread has four.
  static constexpr bool gathers = ITEMS >= 8;
  static constexpr int memory_words = (gathers ? 2 : 1) * count_words;

  /// `counts` has memory_words elements, `sums` one a warp.
  __device__ __forceinline__ TileRanks(unsigned int* counts, unsigned int* sums)
      : counts_(counts), own_counts_(counts + threadIdx.x / 32 * bins), sums_(sums) {
    for (int i = threadIdx.x; i < memory_words; i += THREADS) counts_[i] = 0;
    __syncthreads();
  }

  /// Sets totals[k] to the keys of the tile in bin own_bins * threadIdx.x + k.
  __device__ __forceinline__ void count(const unsigned int (&digits)[ITEMS],
                                        unsigned int (&totals)[own_bins]) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) atomicAdd(own_counts_ + digits[i], 1u);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < own_bins; ++k) {
      totals[k] = 0;
      if (threadIdx.x < bin_threads)
#pragma unroll
        for (int w = 0; w < warps; ++w) totals[k] += counts_[w * bins + own_bins * threadIdx.x + k];
    }
  }

  /// Sets firsts[k] to the keys of the tile in lower bins, and replaces each digit by the rank of
  /// its key.
  __device__ __forceinline__ void rank(unsigned int (&digits)[ITEMS],
                                       const unsigned int (&totals)[own_bins],
                                       unsigned int (&firsts)[own_bins]) {
    unsigned int all = 0;
#pragma unroll
    for (int k = 0; k < own_bins; ++k) all += totals[k];
    unsigned int before = sum_before(all, sums_);
#pragma unroll
    for (int k = 0; k < own_bins; ++k) {
      firsts[k] = before;
      if (threadIdx.x < bin_threads)
#pragma unroll
        for (int w = 0; w < warps; ++w) {
          unsigned int& count = counts_[w * bins + own_bins * threadIdx.x + k];
          const unsigned int own = count;
          count = before;
          before += own;
        }
    }
    __syncthreads();
    const int lane = threadIdx.x % 32;
    const unsigned int up_to_lane = all_lanes >> (31 - lane);
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      unsigned int* const gathered = own_counts_ + count_words + digits[i];
      unsigned int lanes;
      if constexpr (gathers) {
        atomicOr(gathered, 1u << lane);
        __syncwarp();
        lanes = *(volatile unsigned int*)gathered;
      } else {
        lanes = lanes_with(digits[i]);
      }
      const int last = 31 - __clz((int)lanes);
      const unsigned int number = __popc(lanes & up_to_lane);  // from 1 on; the last has all
      unsigned int first = 0;
      if (lane == last) first = atomicAdd(own_counts_ + digits[i], number);
      digits[i] = __shfl_sync(all_lanes, first, last) + number - 1;  // all lanes have read the word
      if constexpr (gathers) {
        if (lane == last) *gathered = 0;
        __syncwarp();
      }
    }
    __syncthreads();
  }

 private:
  unsigned int *const counts_, *const own_counts_, *const sums_;
};

/// The memory for TileRanks::memory_words and then for `tile` keys or positions.
constexpr int item_bytes = HAS_INDICES && sizeof(Count) > sizeof(Word) ? sizeof(Count)
                                                                       : sizeof(Word);
constexpr int exchange_bytes = tile * item_bytes > 4 * TileRanks::memory_words
                                   ? tile* item_bytes
                                   : 4 * TileRanks::memory_words;

/// Position of item 0 of a thread in its tile; the others follow in steps of 32.
__device__ __forceinline__ unsigned int first_item() {
  return threadIdx.x / 32 * (32 * ITEMS) + threadIdx.x % 32;
}

/// The items of a tile with `valid` keys, and the last key behind them.
__device__ __forceinline__ void load(const Word* from, unsigned int valid, Word (&items)[ITEMS]) {
  const unsigned int first = first_item();
  if (valid >= tile) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) items[i] = from[first + 32 * i];
  } else {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i)
      items[i] = first + 32 * i < valid ? from[first + 32 * i] : last_key();
  }
}

#if FORM == 0

/// Item i becomes that with the rank of item i's position.
template <class T>
__device__ __forceinline__ void exchange(T (&items)[ITEMS], const unsigned int (&ranks)[ITEMS],
                                         T* shared) {
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) shared[ranks[i]] = items[i];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) items[i] = shared[first_item() + 32 * i];
  __syncthreads();
}

extern "C" __global__ void __launch_bounds__(THREADS)
    sort_rows(const Word* input, Word* keys, long long* indices, const unsigned int length) {
  __shared__ alignas(16) unsigned char memory[exchange_bytes];
  __shared__ unsigned int sums[warps];
  const long long row = (long long)blockIdx.x * length;
  Word items[ITEMS];
  Count positions[ITEMS];
  load(input + row, length, items);
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) positions[i] = first_item() + 32 * i;
#pragma unroll 1
  for (int pass = 0; pass < passes; ++pass) {
    unsigned int ranks[ITEMS], totals[own_bins], firsts[own_bins];
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) ranks[i] = digit_of(items[i], pass);
    TileRanks tile_ranks((unsigned int*)memory, sums);
    tile_ranks.count(ranks, totals);
    tile_ranks.rank(ranks, totals, firsts);
    exchange(items, ranks, (Word*)memory);
    if (HAS_INDICES) exchange(positions, ranks, (Count*)memory);
  }
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    const unsigned int at = first_item() + 32 * i;
    if (at >= length) continue;
    if (HAS_KEYS) keys[row + at] = items[i];
    if (HAS_INDICES) indices[row + at] = (long long)positions[i];
  }
}

#else  // FORM 1

// `words`, 0 at first: the passes that are needed, as bits; for each pass the tiles that are taken;
// from header_words on for each row and pass the keys of each bin, later the keys of lower bins.
constexpr int header_words = 16;
/// Flags of what a tile publishes for a bin: its keys, or those of the tiles up to it.
constexpr Count of_tile = (Count)1 << (8 * sizeof(Count) - 2), up_to_tile = of_tile << 1;
constexpr Count flags = of_tile | up_to_tile;

/// Counts the digits of one of the `parts` of a row.
extern "C" __global__ void __launch_bounds__(THREADS)
    count_digits(const Word* keys, Count* words, const Count length, const unsigned int parts) {
  __shared__ unsigned int counts[passes * bins];
  for (int i = threadIdx.x; i < passes * bins; i += THREADS) counts[i] = 0;
  __syncthreads();
  const unsigned int row = blockIdx.x / parts;
  const Count part = (length - 1) / parts + 1, begin = blockIdx.x % parts * part;
  const Count end = begin > length ? begin : length - begin > part ? begin + part : length;
  keys += (long long)row * length;
  constexpr int batch = 8;
  for (Count i = begin + threadIdx.x; i < end; i += batch * THREADS) {
    Word held[batch];
#pragma unroll
    for (int k = 0; k < batch; ++k)
      if (i + k * THREADS < end) held[k] = keys[i + k * THREADS];
#pragma unroll
    for (int k = 0; k < batch; ++k) {
      if (i + k * THREADS >= end) continue;
      const Word key = ordered(held[k]);
#pragma unroll
      for (int pass = 0; pass < passes; ++pass)
        atomicAdd(counts + pass * bins + ((unsigned int)(key >> (8 * pass)) & (bins - 1)), 1u);
    }
  }
  __syncthreads();
  Count* const totals = words + header_words + (long long)row * passes * bins;
  for (int i = threadIdx.x; i < passes * bins; i += THREADS)
    if (counts[i] != 0) atomicAdd(totals + i, (Count)counts[i]);
}

/// One block for each row and pass. A pass whose digit is the same for all keys of each row is not
/// needed.
extern "C" __global__ void __launch_bounds__(THREADS) start_bins(Count* words, const Count length) {
  __shared__ Count sums[warps];
  Count* const own = words + header_words + (long long)blockIdx.x * bins + threadIdx.x;
  const Count count = threadIdx.x < bins ? *own : 0;
  const Count before = sum_before(count, sums);
  if (count != 0 && count != length) atomicOr(words, (Count)1 << blockIdx.x % passes);
  if (threadIdx.x < bins) *own = before;
}

/// The keys of the bin in the tiles of the row before the one that publishes at `own`.
__device__ __forceinline__ Count look_back(const Count* own) {
  Count before = 0;
  for (;;) {
    own -= bins;
    Count word = 0;
    while ((word & flags) == 0) word = *(const volatile Count*)own;
    before += word & ~flags;
    if ((word & up_to_tile) != 0) return before;
  }
}

/// Writes the `valid` first elements of the tile to their targets.
template <class T>
__device__ __forceinline__ void scatter(const Count* from, const Count (&targets)[ITEMS], int valid,
                                        T* to) {
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    const int at = threadIdx.x + i * THREADS;
    if (at < valid) to[targets[i]] = (T)from[at];
  }
}

/// The positions in the row of the keys of a tile: in the first pass their own.
__device__ __forceinline__ void load_positions(const Count* from, Count start, bool is_first,
                                               int valid, Count (&held)[ITEMS]) {
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    const unsigned int at = first_item() + 32 * i;
    held[i] = is_first ? (Count)(start + at) : at < valid ? from[at] : (Count)0;
  }
}

/// One digit. Of the passes that are needed the first one reads `input`, the last one writes `keys`
/// and `indices`; those between write `keys` and `spare_keys`, `positions` and `spare_positions` in
/// turn. `published` and `next_published` have a word for each row, tile and bin.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    sort_digit(const Word* input, Word* keys, Word* spare_keys, long long* indices,
               Count* positions, Count* spare_positions, Count* words, Count* published,
               Count* next_published, const Count length, const unsigned int tiles,
               const int pass) {
  __shared__ alignas(16) unsigned char memory[exchange_bytes];
  __shared__ Count places[bins];  // of the keys of a bin in the row, less their ranks in the tile
  __shared__ unsigned int sums[warps], number;
  const unsigned int marked = (unsigned int)words[0];
  const unsigned int needed = marked != 0 ? marked : 1u << (passes - 1);
  if ((needed >> pass & 1) == 0) return;
  const int before = __popc(needed & ((1u << pass) - 1)), after = __popc(needed >> pass) - 1;
  if (threadIdx.x == 0) number = (unsigned int)atomicAdd(words + 1 + pass, (Count)1);
  TileRanks tile_ranks((unsigned int*)memory, sums);  // synchronises
  const unsigned int row = number / tiles, tile_in_row = number % tiles;
  const Count start = (Count)tile_in_row * tile;
  const int valid = length - start < tile ? (int)(length - start) : tile;
  const long long row_start = (long long)row * length;
  const Word* const from = (before == 0      ? input
                            : after % 2 == 0 ? spare_keys
                                             : keys) +
                           row_start + start;

  Word items[ITEMS];
  unsigned int ranks[ITEMS], totals[own_bins], firsts[own_bins];
  const unsigned int first = first_item();
  load(from, valid, items);
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) ranks[i] = digit_of(items[i], pass);
  tile_ranks.count(ranks, totals);

  const bool has_bin = threadIdx.x < bins;
  const long long word = (long long)number * bins + threadIdx.x;
  Count* const own = (before % 2 == 0 ? published : next_published) + word;
  if (has_bin) {
    *(volatile Count*)own = totals[0] | (tile_in_row == 0 ? up_to_tile : of_tile);
    if (after > 0) (before % 2 == 0 ? next_published : published)[word] = 0;
  }
  tile_ranks.rank(ranks, totals, firsts);
  Word* const sorted = (Word*)memory;
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) sorted[ranks[i]] = items[i];
#if HAS_INDICES
  Count held[ITEMS];  // loaded here, as the following waits for other blocks
  load_positions((after % 2 == 0 ? spare_positions : positions) + row_start + start, start,
                 before == 0, valid, held);
#endif
  if (has_bin) {
    Count lower = words[header_words + ((long long)row * passes + pass) * bins + threadIdx.x];
    if (tile_in_row != 0) {
      const Count earlier = look_back(own);
      *(volatile Count*)own = (earlier + totals[0]) | up_to_tile;
      lower += earlier;
    }
    places[threadIdx.x] = lower - firsts[0];
  }
  __syncthreads();

  Word* const to = (after % 2 == 0 ? keys : spare_keys) + row_start;
  Count targets[ITEMS];
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    const int at = threadIdx.x + i * THREADS;
    if (at >= valid) continue;
    const Word key = sorted[at];
    targets[i] = places[digit_of(key, pass)] + at;
    if (HAS_KEYS || after > 0) to[targets[i]] = key;
  }
#if HAS_INDICES
  __syncthreads();
#pragma unroll
  for (int i = 0; i < ITEMS; ++i)
    if (first + 32 * i < valid) ((Count*)memory)[ranks[i]] = held[i];
  __syncthreads();
  if (after == 0)
    scatter((const Count*)memory, targets, valid, indices + row_start);
  else
    scatter((const Count*)memory, targets, valid,
            (after % 2 == 0 ? positions : spare_positions) + row_start);
#endif
}

#endif
