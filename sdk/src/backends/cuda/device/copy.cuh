// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Strided copies of a plan (copy_plan.hpp), unit by unit. Index is unsigned, Offset signed, of
// equal width: 32 bits unless the plan is wide, since their arithmetic is faster.

#ifdef __CUDA_ARCH__
#define SW_UNROLL _Pragma("unroll 8")
// For loops whose index selects a register.
#define SW_UNROLL_ALL _Pragma("unroll")
#define SW_BYTES(n) alignas(n)
#else
#define SW_UNROLL
#define SW_UNROLL_ALL
// Host compilers apply type-based alias analysis.
#define SW_BYTES(n) __attribute__((may_alias, aligned(n)))
#endif

template <class Index, class Offset, int rank>
struct Axes {
  Index extent[rank];
  Offset source[rank], target[rank];
  unsigned multiplier[rank], shift[rank];  // n / extent == n * multiplier >> shift for n < 2^31
};

template <class Offset>
struct Location {
  Offset source, target;
};

template <class Index, class Offset, int rank>
__device__ inline Index quotient(Index index, const Axes<Index, Offset, rank>& axes, int axis) {
  if (sizeof(Index) > 4) return index / axes.extent[axis];
  return (Index)((unsigned long long)index * axes.multiplier[axis] >> axes.shift[axis]);
}

// The offsets on both sides of unit `index`, counted over the first `count` axes.
template <class Index, class Offset, int rank>
__device__ inline Location<Offset> location_of(Index index, const Axes<Index, Offset, rank>& axes,
                                               int count) {
  Location<Offset> location = {0, 0};
  SW_UNROLL
  for (int axis = count - 1; axis > 0; --axis) {
    const Index next = quotient(index, axes, axis);
    const Offset i = (Offset)(index - next * axes.extent[axis]);
    location.source += i * axes.source[axis];
    location.target += i * axes.target[axis];
    index = next;
  }
  if (count > 0) {
    location.source += (Offset)index * axes.source[0];
    location.target += (Offset)index * axes.target[0];
  }
  return location;
}

// The data of one memory access, in registers.
template <int bytes>
struct Raw;
template <>
struct SW_BYTES(1) Raw<1> {
  unsigned char at;
};
template <>
struct SW_BYTES(2) Raw<2> {
  unsigned short at;
};
template <>
struct SW_BYTES(4) Raw<4> {
  unsigned at[1];
};
template <>
struct SW_BYTES(8) Raw<8> {
  unsigned at[2];
};
template <>
struct SW_BYTES(16) Raw<16> {
  unsigned at[4];
};

// Elements that are accessed together. Accessed as Raw, since the compiler may split an access to
// the elements.
template <class Element, int count>
struct Pack {
  Element at[count];

  __device__ static Pack load(const Element* location) {
    typedef Raw<(int)sizeof(Element) * count> Whole;
    const Whole whole = *(const Whole*)location;
    Pack pack;
    memcpy(&pack, &whole, sizeof(Pack));
    return pack;
  }
  __device__ void store(Element* location) const {
    typedef Raw<(int)sizeof(Element) * count> Whole;
    Whole whole;
    memcpy(&whole, at, sizeof(Pack));
    *(Whole*)location = whole;
  }
};
// A single element is aligned to its parts, which for complex numbers is less than its size.
template <class Element>
struct Pack<Element, 1> {
  Element at[1];

  __device__ static Pack load(const Element* location) { return {{*location}}; }
  __device__ void store(Element* location) const { *location = at[0]; }
};

// The layout of the elements of a unit in the source.
struct Contiguous {
  static constexpr bool loads_whole = true;
  template <class Element, int count, class Offset>
  __device__ static Pack<Element, count> load(const Element* location, Offset) {
    return Pack<Element, count>::load(location);
  }
};
template <int group>
struct Reversed {  // in groups of `group` elements
  static constexpr bool loads_whole = true;
  template <class Element, int count, class Offset>
  __device__ static Pack<Element, count> load(const Element* location, Offset) {
    const Pack<Element, count> whole = Pack<Element, count>::load(location);
    Pack<Element, count> reversed;
    SW_UNROLL
    for (int i = 0; i < count; ++i)
      reversed.at[i] = whole.at[i / group * group + group - 1 - i % group];
    return reversed;
  }
};
struct Strided {  // by `step`, which may be 0
  static constexpr bool loads_whole = false;
  template <class Element, int count, class Offset>
  __device__ static Pack<Element, count> load(const Element* location, Offset step) {
    Pack<Element, count> pack;
    pack.at[0] = *location;
    SW_UNROLL
    for (int i = 1; i < count; ++i)
      pack.at[i] = step != 0 ? location[(Offset)i * step] : pack.at[0];  // step 0 needs one load
    return pack;
  }
};

// The work of one block: each thread copies `per_thread` units of `count` elements, with stride
// `threads`, and loads all before it stores the first, so that the loads overlap. Source offsets
// count units if these are loaded in one access, else elements; target offsets count units.
template <int threads, int per_thread, int count, class From, class Target, class Source,
          class Index, class Offset, int rank>
__device__ inline void copy_strided(const Source* source, Target* target, Offset step, Index size,
                                    const Axes<Index, Offset, rank>& axes, unsigned block,
                                    unsigned thread) {
  const Index first = (Index)block * (threads * per_thread) + thread;
  Pack<Source, count> values[per_thread] = {};  // initialised, to avoid a false warning
  Offset offsets[per_thread] = {};
  SW_UNROLL
  for (int k = 0; k < per_thread; ++k) {
    const Index index = first + (Index)(k * threads);
    if (index >= size) continue;
    const Location<Offset> location = location_of(index, axes, rank);
    values[k] = From::template load<Source, count>(
        source + location.source * (From::loads_whole ? count : 1), step);
    offsets[k] = location.target;
  }
  SW_UNROLL
  for (int k = 0; k < per_thread; ++k) {
    const Index index = first + (Index)(k * threads);
    if (index >= size) continue;
    Pack<Target, count> result;
    SW_UNROLL
    for (int i = 0; i < count; ++i) result.at[i] = Convert<Target, Source>::from(values[k].at[i]);
    result.store(target + offsets[k] * count);
  }
}

template <int threads, class Unit, class Index, class Offset, int rank>
__device__ inline void fill_strided(Unit* target, Unit value, Index size,
                                    const Axes<Index, Offset, rank>& axes, unsigned block,
                                    unsigned thread) {
  const Index index = (Index)block * threads + thread;
  if (index < size) target[location_of(index, axes, rank).target] = value;
}
