// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/graph/element_source.hpp"

namespace spanwise {

ElementSource::~ElementSource() = default;
GivesElements::~GivesElements() = default;
TakesElements::~TakesElements() = default;

}  // namespace spanwise
