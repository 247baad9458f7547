// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include "spanwise/bridge.hpp"

/// A cache from types of objects to the bridges that import them, keyed by the address of the type:
/// Bridge::accepts() costs attribute lookups.
namespace spanwise::python {

namespace detail {
/// The last result of bridge_of_type(), since most calls in a row are for one type. Guarded by the
/// GIL.
struct RecentType {
  const PyTypeObject* type = nullptr;
  const Bridge* bridge = nullptr;
};
extern constinit RecentType recent_type;
const Bridge* find_bridge_of_type(PyTypeObject* type) noexcept;
}  // namespace detail

/// The bridge that imported an object of exactly this type before, or null.
inline const Bridge* bridge_of_type(PyTypeObject* type) noexcept {
  if (type == detail::recent_type.type) return detail::recent_type.bridge;
  return detail::find_bridge_of_type(type);
}
/// Adds an entry, which is removed when the type is destroyed. Has no effect when out of memory.
void remember_bridge(PyTypeObject* type, const Bridge& bridge) noexcept;

}  // namespace spanwise::python
