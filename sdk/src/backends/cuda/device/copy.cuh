// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Strided copies of a plan (copy_plan.hpp), one unit a time. Index is unsigned, Offset signed, of
// equal width: 32 bits where the plan is not wide, which is the faster index arithmetic.

#ifdef __CUDA_ARCH__
#define SW_UNROLL _Pragma("unroll 8")
// Of loops whose index finds a register.
#define SW_UNROLL_ALL _Pragma("unroll")
#define SW_BYTES(n) alignas(n)
#else
#define SW_UNROLL
#define SW_UNROLL_ALL
// Hosts' compilers reason from the types of memory.
#define SW_BYTES(n) __attribute__((may_alias, aligned(n)))
#endif

template <class Index, class Offset, int rank>
struct Axes {
  Index extent[rank];
  Offset source[rank], target[rank];
  unsigned multiplier[rank], shift[rank];  // n / extent == n * multiplier >> shift for n < 2^31
};

template <class Offset>
struct Place {
  Offset source, target;
};

template <class Index, class Offset, int rank>
__device__ inline Index quotient(Index index, const Axes<Index, Offset, rank>& axes, int axis) {
  if (sizeof(Index) > 4) return index / axes.extent[axis];
  return (Index)((unsigned long long)index * axes.multiplier[axis] >> axes.shift[axis]);
}

// Where the unit `index`, in the order of the first `count` axes, is on both sides.
template <class Index, class Offset, int rank>
__device__ inline Place<Offset> place_of(Index index, const Axes<Index, Offset, rank>& axes,
                                         int count) {
  Place<Offset> place = {0, 0};
  SW_UNROLL
  for (int axis = count - 1; axis > 0; --axis) {
    const Index next = quotient(index, axes, axis);
    const Offset i = (Offset)(index - next * axes.extent[axis]);
    place.source += i * axes.source[axis];
    place.target += i * axes.target[axis];
    index = next;
  }
  if (count > 0) {
    place.source += (Offset)index * axes.source[0];
    place.target += (Offset)index * axes.target[0];
  }
  return place;
}

// What one instruction moves, as whole registers.
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

// Elements that are moved together. By way of Raw, since a compiler may take a load of the elements
// for many small ones.
template <class Element, int count>
struct Pack {
  Element at[count];

  __device__ static Pack load(const Element* place) {
    typedef Raw<(int)sizeof(Element) * count> Whole;
    const Whole whole = *(const Whole*)place;
    Pack pack;
    memcpy(&pack, &whole, sizeof(Pack));
    return pack;
  }
  __device__ void store(Element* place) const {
    typedef Raw<(int)sizeof(Element) * count> Whole;
    Whole whole;
    memcpy(&whole, at, sizeof(Pack));
    *(Whole*)place = whole;
  }
};
// One alone is aligned as its parts are, which for a complex number is less than its size.
template <class Element>
struct Pack<Element, 1> {
  Element at[1];

  __device__ static Pack load(const Element* place) { return {{*place}}; }
  __device__ void store(Element* place) const { *place = at[0]; }
};

// How the elements of a unit lie in the source.
struct Run {  // as in the target
  static constexpr bool loads_whole = true;
  template <class Element, int count, class Offset>
  __device__ static Pack<Element, count> load(const Element* place, Offset) {
    return Pack<Element, count>::load(place);
  }
};
template <int group>
struct Turned {  // backwards in groups of so many
  static constexpr bool loads_whole = true;
  template <class Element, int count, class Offset>
  __device__ static Pack<Element, count> load(const Element* place, Offset) {
    const Pack<Element, count> whole = Pack<Element, count>::load(place);
    Pack<Element, count> turned;
    SW_UNROLL
    for (int i = 0; i < count; ++i)
      turned.at[i] = whole.at[i / group * group + group - 1 - i % group];
    return turned;
  }
};
struct Apart {  // `step` apart, which may be 0
  static constexpr bool loads_whole = false;
  template <class Element, int count, class Offset>
  __device__ static Pack<Element, count> load(const Element* place, Offset step) {
    Pack<Element, count> pack;
    pack.at[0] = *place;
    SW_UNROLL
    for (int i = 1; i < count; ++i)
      pack.at[i] = step != 0 ? place[(Offset)i * step] : pack.at[0];  // one load for all
    return pack;
  }
};

// One block's share: `per_thread` units of `count` elements each, `threads` apart, all loaded
// before the first is stored so that their loads are under way together. Offsets of the source
// count units where they are loaded whole, else elements; those of the target count units.
template <int threads, int per_thread, int count, class From, class Target, class Source,
          class Index, class Offset, int rank>
__device__ inline void copy_strided(const Source* source, Target* target, Offset step, Index size,
                                    const Axes<Index, Offset, rank>& axes, unsigned block,
                                    unsigned thread) {
  const Index first = (Index)block * (threads * per_thread) + thread;
  Pack<Source, count> values[per_thread] = {};  // the guards below are beyond a compiler's proofs
  Offset places[per_thread] = {};
  SW_UNROLL
  for (int k = 0; k < per_thread; ++k) {
    const Index index = first + (Index)(k * threads);
    if (index >= size) continue;
    const Place<Offset> place = place_of(index, axes, rank);
    values[k] = From::template load<Source, count>(
        source + place.source * (From::loads_whole ? count : 1), step);
    places[k] = place.target;
  }
  SW_UNROLL
  for (int k = 0; k < per_thread; ++k) {
    const Index index = first + (Index)(k * threads);
    if (index >= size) continue;
    Pack<Target, count> made;
    SW_UNROLL
    for (int i = 0; i < count; ++i) made.at[i] = Convert<Target, Source>::from(values[k].at[i]);
    made.store(target + places[k] * count);
  }
}

template <int threads, class Unit, class Index, class Offset, int rank>
__device__ inline void fill_strided(Unit* target, Unit value, Index size,
                                    const Axes<Index, Offset, rank>& axes, unsigned block,
                                    unsigned thread) {
  const Index index = (Index)block * threads + thread;
  if (index < size) target[place_of(index, axes, rank).target] = value;
}
