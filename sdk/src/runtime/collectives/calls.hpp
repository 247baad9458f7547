// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/communicator.hpp"

/// What holds for a collective call whatever engine executes it.
namespace spanwise::runtime {

constexpr bool is_message(Collective op) noexcept {
  return op == Collective::send || op == Collective::recv;
}
constexpr bool reduces(Collective op) noexcept {
  return op == Collective::all_reduce || op == Collective::reduce ||
         op == Collective::reduce_scatter;
}
constexpr bool has_root(Collective op) noexcept {
  return op == Collective::reduce || op == Collective::broadcast;
}

/// Throws ArgumentError unless `peer` is a rank, and another one for a message.
void check_peer(Collective op, int peer, int rank, int size);

/// Whether the two arrays may have bytes in common.
bool may_share_bytes(const Array& a, const Array& b) noexcept;

}  // namespace spanwise::runtime
