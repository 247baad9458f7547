// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "../cpu/host_loops.hpp"
#include "address_body.hpp"

namespace spanwise::ops {

/// move_on_host() as kernels queued on the current stream; all arrays are on one GPU, and the
/// selection has no mask. If several positions may select one element, a first kernel finds the
/// last position of each element, so that the result is NumPy's and reproducible; it allocates 4
/// bytes, or 8 from 2^32 positions, and 2 bits per element or row that the indices can select.
void move_on_gpu(const Selection& selection, const Array& value, MoveDirection direction);

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

}  // namespace spanwise::ops
