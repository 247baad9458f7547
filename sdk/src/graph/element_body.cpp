// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/graph/element_body.hpp"

namespace spanwise {

HasElementBody::~HasElementBody() = default;

}  // namespace spanwise
