// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "../cpu/index_loops.hpp"
#include "../indexing.hpp"
#include "spanwise/strided/strided_call.hpp"

/// Indexing on a GPU, by generated kernels queued on the current stream.
namespace spanwise::ops {

// ---- Bodies of strided loops over the positions of an index: the loop loads the index arrays, the
// body computes the address of the selected element.

/// The index arrays that one loop can load.
inline constexpr int max_loaded_indices = 16;

enum class AddressWork : std::uint8_t {
  read,        ///< value = element
  write,       ///< element = value
  find_last,   ///< last[target] = 1 + the last position in C order that selects the element
  write_last,  ///< element = value at these positions only
  write_once,  ///< element = value at one position of each target; last[target] = 0 and a mark in
               ///< `marks` for targets with several
  accumulate,  ///< element = how(element, value), atomically
  add_up,      ///< value = the element's offset, int64
};

/// The properties that determine a body.
struct AddressKey {
  AddressWork work{};
  int indices = 0;      ///< index arrays, at most max_loaded_indices
  int word = 8;         ///< bytes that are moved at once: 1, 2, 4, 8 or 16
  DType dtype = int64;  ///< of `last`, or of accumulated elements; complex128 has sums only
  Accumulation how{};
  bool only_marked = false;  ///< find_last, write_last: skip targets that write_once did not mark

  friend bool operator<(const AddressKey& a, const AddressKey& b) noexcept {
    const auto key = [](const AddressKey& k) {
      return std::tuple(k.work, k.indices, k.word, k.dtype.code(), k.dtype.bits(), k.how,
                        k.only_marked);
    };
    return key(a) < key(b);
  }
  bool has_value() const noexcept { return work != AddressWork::find_last; }
  bool has_element() const noexcept { return has_value() && work != AddressWork::add_up; }
  bool finds_last() const noexcept {
    return work == AddressWork::find_last || work == AddressWork::write_last || has_marks();
  }
  bool has_marks() const noexcept { return work == AddressWork::write_once || only_marked; }
  strided::ArrayRole value_role() const noexcept {
    const bool is_written = work == AddressWork::read || work == AddressWork::add_up;
    return is_written ? strided::ArrayRole::write : strided::ArrayRole::read;
  }
  strided::ArrayRole element_role() const noexcept {
    return work == AddressWork::read ? strided::ArrayRole::read_in_place
                                     : strided::ArrayRole::write_in_place;
  }
};

/// Arrays: the value, the element for an index of zeros (in place), the index arrays (int64), and
/// the position in C order and the number of the target (ArrayRole::index); without those that the
/// work does not need. Parameters: for each index array its axis' extent, then all strides, then
/// all strides of targets, int64; the address of `last` if it is needed; and for write_once and
/// only_marked `marks`, uint32, and `mark_words`, int64. `marks` has three parts of `mark_words`
/// words: a bit for each target that is written, one for each that is selected again, and one for
/// each word of the second part that is not 0; then a word that is 1 if the second part has any
/// bit. All are 0 before write_once.
strided::Body address_body(const AddressKey& key);

/// move_on_host() as kernels; all arrays are on one GPU, and the selection has no mask. If several
/// positions may select one element, a first kernel finds the last position of each element, so
/// that the result is NumPy's and reproducible; it allocates 4 bytes, or 8 from 2^32 positions, and
/// 2 bits per element or row that the indices can select.
void move_on_gpu(const Selection& selection, const Array& value, MoveDirection direction);

/// IndexingBackend::fill_masked as a kernel.
void fill_masked_on_gpu(const Array& target, const Array& mask, const Array& value);
/// Its body, for elements of `bytes` bytes; `has_number`: the value is a parameter, no array.
strided::Body masked_fill_body(int bytes, bool has_number);

/// Accumulates with kernels. All arrays are on one GPU and aligned to their elements; the selection
/// has no mask. Throws DTypeError.
void accumulate_on_gpu(const Selection& selection, const Array& value, Accumulation how);

/// `last` and `marks` of AddressWork; the latter empty for works without marks.
struct LastPositions {
  Array positions, marks;
};

/// A selection and a value of its result's shape as a loop over the result's axes; both must
/// outlive it. Strides are in words: elements, parts of them, or several adjacent ones of a row.
class AddressLoop {
 public:
  /// `in_words`: words are chosen by alignment, as wide as possible; else they are elements.
  AddressLoop(const Selection& selection, const Array& value, bool in_words);

  /// The number of elements that the indices can select at one index of the other axes.
  std::int64_t targets() const noexcept { return targets_; }
  /// The number of words that the loop visits.
  std::int64_t elements() const noexcept;
  /// Queues the kernel of `key`, whose indices and word are set here. `last`: targets() numbers of
  /// key.dtype, for works that need them.
  void run(AddressKey key, const LastPositions* last = nullptr) const;

 private:
  struct LoopAxis {
    std::int64_t extent, element, value;
    bool merges_with(const LoopAxis& inner) const noexcept {
      return extent == 1 || inner.extent == 1 ||
             (element == inner.extent * inner.element && value == inner.extent * inner.value);
    }
  };
  // An index array; negative values get `extent` added.
  struct Index {
    Array array;
    std::int64_t extent, stride, target = 0;
  };

  void add_axes();
  void widen_rows();
  bool can_double_word() const noexcept;
  void number_targets();
  void fold_indices();
  Array folded(std::int64_t Index::* stride) const;
  Layout layout_of(std::int64_t LoopAxis::* stride) const;
  Layout on_positions(const Strides& strides) const;

  const Selection& selection_;
  const Array& value_;
  int word_bytes_, trailing_axes_ = 0;  // trailing: after the positions
  std::vector<LoopAxis> axes_;
  std::vector<Index> indices_;
  Strides target_strides_;
  std::int64_t targets_ = 1;
};

// ---- Checks of index arrays, masks and searches.

/// What index_body() computes from each index of an index array: its arrays are the indices and,
/// except for find_outside, the results (int64). Its parameters are the extent and, for
/// find_outside, the address of two uint64 that become 1 and an out-of-range index if there is one.
enum class IndexWork : std::uint8_t { find_outside, check_later, wrap, clip };
strided::Body index_body(IndexWork work);

/// An index of `indices` (int64, aligned) outside [-extent, extent), if there is one. Downloads 16
/// bytes, so the call waits.
std::optional<std::int64_t> outside_on_gpu(const Array& indices, std::int64_t extent);
/// IndexingBackend::check_later().
Array check_later_on_gpu(const Array& indices, std::int64_t extent, int axis);
/// The indices mapped to [0, extent) by `bounds` (wrap or clip).
Array apply_bounds_on_gpu(const Array& indices, std::int64_t extent, Bounds bounds);

/// count_true() and positions_of_true() of a bool array. Both download 8 bytes, so the call waits.
std::int64_t count_true_on_gpu(const Array& mask);
Array positions_of_true_on_gpu(const Array& mask);
/// CUDA C with `count_tiles`, `scan_tiles` and `write_positions` for masks of `rank` axes.
std::string mask_source(int rank);

/// search_on_host() on a GPU.
void search_by_kernel(const Array& sorted, const Array& values, Side side, const Array& positions);
/// CUDA C with the kernel `search` for one dtype.
std::string search_source(DType dtype, Side side);

}  // namespace spanwise::ops
