// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tuple>

#include "../indexing.hpp"
#include "spanwise/strided/body.hpp"

/// Bodies of strided loops over the positions of an index: the loop loads the index arrays, the
/// body computes the address of the selected element.
namespace spanwise::ops {

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

}  // namespace spanwise::ops
