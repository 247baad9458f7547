// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/runtime/communicator.hpp"

/// Rules of collective calls, the same for all engines.
namespace spanwise::runtime {

constexpr bool is_message(Collective op) noexcept {
  return op == Collective::send || op == Collective::recv;
}
constexpr bool is_reduction(Collective op) noexcept {
  return op == Collective::all_reduce || op == Collective::reduce ||
         op == Collective::reduce_scatter;
}
constexpr bool has_root(Collective op) noexcept {
  return op == Collective::reduce || op == Collective::broadcast;
}

/// Throws ArgumentError unless `peer` is a rank, and for a message another rank than `rank`. Does
/// nothing for operations without a peer.
void check_peer(Collective op, int peer, int rank, int size);

}  // namespace spanwise::runtime
