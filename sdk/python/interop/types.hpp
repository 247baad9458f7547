// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include "spanwise/bridge.hpp"

/// Which bridge serves which type of object. Asking the bridges costs attribute lookups; a type
/// that was served once is found again by the address of the type alone.
namespace spanwise::python {

namespace detail {
/// The last answer of bridge_of_type(): most programs ask about one type many times. Guarded by the
/// GIL.
struct RecentType {
  const PyTypeObject* type = nullptr;
  const Bridge* bridge = nullptr;
};
extern constinit RecentType recent_type;
const Bridge* find_bridge_of_type(PyTypeObject* type) noexcept;
}  // namespace detail

/// The bridge that served an object of exactly this type before, or null.
inline const Bridge* bridge_of_type(PyTypeObject* type) noexcept {
  if (type == detail::recent_type.type) return detail::recent_type.bridge;
  return detail::find_bridge_of_type(type);
}
/// Remembers it until the type goes. Best effort: without memory nothing is remembered.
void remember_bridge(PyTypeObject* type, const Bridge& bridge) noexcept;

}  // namespace spanwise::python
