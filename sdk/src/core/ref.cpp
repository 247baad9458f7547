// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/core/ref.hpp"

namespace spanwise {

// Out of line, so that the vtable is emitted in this library only.
RefCounted::~RefCounted() = default;

void RefCounted::dispose() noexcept { delete this; }

}  // namespace spanwise
