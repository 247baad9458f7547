// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/ref.hpp"

namespace spanwise {

// Here, so that there is one virtual table in one library.
RefCounted::~RefCounted() = default;

void RefCounted::dispose() noexcept { delete this; }

}  // namespace spanwise
