// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// What all kinds of strided loops share: packs of n elements along the last axis, of which the
// first `count` exist; the arrays of a kernel; and the two loops over a thread's packs.
//
// A kernel passes to visit_dense(), visit_rows(), visit_tiles(), visit_cells(),
// visit_merged() or visit_runs():
//   Shape      constants of the plan, those of PlanShape (spanwise/strided/plan.hpp)
//   Array...   a pointer to the first visited element, with its role and pattern
//   Body       a lambda that gets element k of each array, references to those that it may change
// The kind finds each pack's *place*: its offset in each array, and how many of its elements exist.

namespace spanwise {

// `remaining` elements, but at most `limit`.
__device__ __forceinline__ int elements_left(long long remaining, int limit) {
  return remaining < limit ? (int)remaining : limit;
}

// Elements with stride `step`, which may be negative.
template <int n, class T>
__device__ __forceinline__ void read_strided(Pack<T, n>& p, const T* a, long long step, int count) {
#pragma unroll
  for (int k = 0; k < n; ++k)
    if (k < count) p.x[k] = a[k * step];
}
// Adjacent elements; where count >= n, `a` must have the alignment of a pack.
template <int n, class T>
__device__ __forceinline__ void read_contiguous(Pack<T, n>& p, const T* a, int count) {
  if (count >= n)
    p = load_pack<n>(a);
  else
    read_strided(p, a, 1, count);
}
// Adjacent elements from `a` backwards, reversed in registers; where count >= n, a - (n - 1) must
// have the alignment of a pack.
template <int n, class T>
__device__ __forceinline__ void read_reversed(Pack<T, n>& p, const T* a, int count) {
  if (count >= n) {
    const Pack<T, n> whole = load_pack<n>(a - (n - 1));
#pragma unroll
    for (int k = 0; k < n; ++k) p.x[k] = whole.x[n - 1 - k];
  } else {
    read_strided(p, a, -1, count);
  }
}
// The 16 bytes that begin `skip` bytes, 1 to 15, after the first of `low`.
__device__ __forceinline__ uint4 shifted(const uint4& low, const uint4& high, unsigned int skip) {
  unsigned int words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
  // In steps, since registers cannot be indexed.
#pragma unroll
  for (int i = 0; i < 6; ++i) words[i] = skip & 8 ? words[i + 2] : words[i];
#pragma unroll
  for (int i = 0; i < 5; ++i) words[i] = skip & 4 ? words[i + 1] : words[i];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    words[i] = (unsigned int)(((unsigned long long)words[i + 1] << 32 | words[i]) >> skip % 4 * 8);
  return make_uint4(words[0], words[1], words[2], words[3]);
}
// 16 bytes of adjacent elements of any alignment, from the two aligned words of 16 bytes that
// contain them. Both words contain bytes of the array, and memory is allocated in larger units, so
// reading them is allowed.
template <int n, class T>
__device__ __forceinline__ void read_unaligned(Pack<T, n>& p, const T* a, int count) {
  const unsigned int skip = (unsigned int)((unsigned long long)a % 16);
  if (count < n) {
    read_strided(p, a, 1, count);
  } else if (skip == 0) {
    p = load_pack<n>(a);
  } else {
    const uint4* low = (const uint4*)((const char*)a - skip);
    const uint4 value = shifted(low[0], low[1], skip);
    memcpy(&p, &value, sizeof(p));
  }
}
template <int n, class T>
__device__ __forceinline__ void write_strided(T* z, const Pack<T, n>& q, long long step,
                                              int count) {
#pragma unroll
  for (int k = 0; k < n; ++k)
    if (k < count) z[k * step] = q.x[k];
}
template <int n, class T>
__device__ __forceinline__ void write_contiguous(T* z, const Pack<T, n>& q, int count) {
  if (count >= n)
    store_pack(z, q);
  else
    write_strided(z, q, 1, count);
}

// ---- arrays

/// How the body uses an array.
enum class Role {
  read,      ///< loaded before the body
  mask,      ///< the same; the body runs only where it is true
  write,     ///< stored after the body
  update,    ///< both
  in_place,  ///< the body gets the element in memory
  index,     ///< no memory: the body gets the element's offset
};

/// The memory along the last axis, as AccessPattern of spanwise/strided/plan.hpp.
enum class Pattern {
  contiguous,
  constant,
  reversed,
  strided,
  transposed,
  transposed_in_packs,
  unaligned,
  cells,
  planes,
  merged,
  merged_in_words
};

template <bool condition, class A, class B>
struct Select {
  typedef A type;
};
template <class A, class B>
struct Select<false, A, B> {
  typedef B type;
};

/// Array `number_` of a kernel. `strides_`: its row of StridedWalk::strides; written arrays of
/// equal strides share one.
template <int number_, class T, Role role_, Pattern pattern_, int strides_>
struct Array {
  typedef T Element;
  // Not static members, which NVRTC would emit as variables.
  enum : int { number = number_, strides = strides_ };
  enum : bool {
    is_constant = pattern_ == Pattern::constant,
    is_in_tile = pattern_ == Pattern::transposed || pattern_ == Pattern::transposed_in_packs ||
                 pattern_ == Pattern::cells || pattern_ == Pattern::planes ||
                 pattern_ == Pattern::merged || pattern_ == Pattern::merged_in_words,
    is_read = role_ == Role::read || role_ == Role::mask,
    is_stored = role_ == Role::write || role_ == Role::update,
    /// Whether packs are read from memory into registers.
    is_loaded = !is_in_tile && (is_read || role_ == Role::update)
  };
  __device__ static constexpr Role role() { return role_; }
  __device__ static constexpr Pattern pattern() { return pattern_; }
  typedef typename Select<is_read, const T*, T*>::type Pointer;

  /// The first visited element; of an index, its offset.
  typename Select<role_ == Role::index, long long, Pointer>::type first;
};

/// An array in one thread, with its packs in registers: those of `steps` places that are loaded
/// before the first of them is computed, or the one that is read from a tile or to be written.
template <class Shape, class A, int steps>
struct Lane {
  typedef typename Select<A::is_read || A::is_stored, typename A::Element, char>::type T;
  A array;
  Pack<T, A::is_constant ? 1 : Shape::width> packs[A::is_loaded ? steps : 1];

  // Leaves the packs without values: zeros would have to be selected.
  __device__ __forceinline__ explicit Lane(const A& a) : array(a) {}

  template <class Place>
  __device__ __forceinline__ void load(int step, const Place& place) {
    if constexpr (A::is_loaded && A::is_constant && Place::has_fixed_constants) {
      packs[step].x[0] = *array.first;
    } else if constexpr (A::is_loaded) {
      const auto* const from = array.first + place.offset(A::strides);
      if constexpr (A::is_constant) {
        if (place.count > 0) packs[step].x[0] = *from;
      } else if constexpr (A::pattern() == Pattern::contiguous) {
        read_contiguous(packs[step], from, place.count);
      } else if constexpr (A::pattern() == Pattern::unaligned) {
        read_unaligned(packs[step], from, place.count);
      } else if constexpr (A::pattern() == Pattern::reversed) {
        read_reversed(packs[step], from, place.count);
      } else {
        read_strided(packs[step], from, place.along(A::strides), place.count);
      }
    }
  }
  template <class Place>
  __device__ __forceinline__ void load_from_tile(const Place& place) {
    if constexpr (A::is_in_tile) packs[0] = place.from_tile(array);
  }
  /// Element k of the pack at `place`, as the body gets it.
  template <class Place>
  __device__ __forceinline__ decltype(auto) element(int step, const Place& place, int k) {
    if constexpr (A::role() == Role::index)
      return array.first + place.offset(A::strides) + k * place.along(A::strides);
    else if constexpr (A::role() == Role::in_place)
      return (array.first[place.offset(A::strides) + k * place.along(A::strides)]);
    else
      return (packs[A::is_loaded ? step : 0].x[A::is_constant ? 0 : k]);
  }
  template <class Place>
  __device__ __forceinline__ bool selects(int step, const Place& place, int k) {
    if constexpr (A::role() == Role::mask)
      return element(step, place, k);
    else
      return true;
  }
  template <class Place>
  __device__ __forceinline__ void store(int step, const Place& place) {
    if constexpr (A::is_stored) {
      auto* const to = array.first + place.offset(A::strides);
      if constexpr (A::pattern() == Pattern::contiguous)
        write_contiguous(to, packs[A::is_loaded ? step : 0], place.count);
      else
        write_strided(to, packs[A::is_loaded ? step : 0], place.along(A::strides), place.count);
    }
  }
};

/// Adds to the offset of each row of strides those of element `number` of the axes before `end`.
/// `Count` can count these elements, `Step` their offsets.
template <int end, class Step, int stride_rows, class Walk, class Count>
__device__ __forceinline__ void move_along(Step (&at)[stride_rows], const Walk& walk,
                                           Count number) {
#pragma unroll
  for (int axis = end - 1; axis >= 0; --axis) {
    const Count extent = (Count)walk.shape[axis];
    const Count index = axis > 0 ? number % extent : number;
    number = axis > 0 ? number / extent : 0;
#pragma unroll
    for (int k = 0; k < stride_rows; ++k) at[k] += (Step)index * (Step)walk.strides[k][axis];
  }
}

// ---- a thread's packs

/// Visits the packs of a thread: loads those of all steps, then computes and stores one after the
/// other. `packs(step)` is the place of a pack.
template <class Shape, int steps, class Packs, class Body, class... L>
__device__ __forceinline__ void visit_packs(const Packs& packs, const Body& body, L&&... lanes) {
#pragma unroll
  for (int step = 0; step < steps; ++step) {
    const auto place = packs(step);
    (lanes.load(step, place), ...);
  }
  if constexpr (Shape::is_tiled) packs.fill_tiles(lanes.array...);
#pragma unroll
  for (int step = 0; step < steps; ++step) {
    const auto place = packs(step);
    if constexpr (Shape::is_tiled)
      if (place.count <= 0) continue;
    if constexpr (Shape::is_tiled || Shape::inner > 0) (lanes.load_from_tile(place), ...);
#pragma unroll
    for (int k = 0; k < Shape::width; ++k) {
      if (k >= place.count) continue;
      if constexpr (Shape::has_mask)
        if (!(lanes.selects(step, place, k) && ...)) continue;
      body(lanes.element(step, place, k)...);
    }
    (lanes.store(step, place), ...);
  }
}

}  // namespace spanwise
