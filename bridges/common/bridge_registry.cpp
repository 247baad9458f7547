// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <mutex>
#include <utility>

#include "spanwise/bridge.hpp"
#include "spanwise/core/fork.hpp"

namespace spanwise {
namespace {

struct BridgeRegistry {
  Mutex mutex;
  std::vector<const Bridge*> bridges;  // in ascending order of (priority(), name())
};

// Never destroyed: bridges register before main() and are looked up until the process ends.
BridgeRegistry& registry() {
  static NeverDestroyed<BridgeRegistry> the_registry;
  return *the_registry;
}

thread_local int strict_depth = 0;

}  // namespace

Bridge::~Bridge() = default;

bool Bridge::try_describe(_object*, BorrowedTensor&) const { return false; }
bool Bridge::speaks_dlpack(_object*) const { return false; }

std::optional<ShareBlocker> Bridge::share_blocker(const Array&) const {
  fail<BridgeError>(name(), ": it supports import only, no export");
}

_object* Bridge::wrap(const Array&) const {
  fail<BridgeError>(name(), ": it supports import only, no export");
}

Array Bridge::exportable_copy(const Array& array) const { return copy(array); }

void Bridge::count_import(bool copied, std::int64_t bytes) const noexcept {
  auto& counter = copied ? tally_.imports_copied : tally_.imports_shared;
  counter.fetch_add(1, std::memory_order_relaxed);
  if (copied) tally_.bytes_copied.fetch_add(bytes, std::memory_order_relaxed);
}

void Bridge::count_export(bool copied, std::int64_t bytes) const noexcept {
  auto& counter = copied ? tally_.exports_copied : tally_.exports_shared;
  counter.fetch_add(1, std::memory_order_relaxed);
  if (copied) tally_.bytes_copied.fetch_add(bytes, std::memory_order_relaxed);
}

BridgeCounts Bridge::counts() const {
  return {std::string(name()),   tally_.imports_shared + tally_.imports_under_gil,
          tally_.imports_copied, tally_.exports_shared + tally_.exports_under_gil,
          tally_.exports_copied, tally_.bytes_copied};
}

bool register_bridge(const Bridge& bridge) {
  BridgeRegistry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto key = [](const Bridge* b) { return std::pair(b->priority(), b->name()); };
  const auto position =
      std::upper_bound(all.bridges.begin(), all.bridges.end(), &bridge,
                       [&](const Bridge* a, const Bridge* b) { return key(a) < key(b); });
  all.bridges.insert(position, &bridge);
  return true;
}

const Bridge* find_bridge(std::string_view name) noexcept {
  BridgeRegistry& all = registry();
  const std::lock_guard lock(all.mutex);
  for (const Bridge* bridge : all.bridges)
    if (bridge->name() == name) return bridge;
  return nullptr;
}

std::vector<const Bridge*> registered_bridges() {
  BridgeRegistry& all = registry();
  const std::lock_guard lock(all.mutex);
  return all.bridges;
}

StrictCopies::StrictCopies() noexcept { ++strict_depth; }
StrictCopies::~StrictCopies() { --strict_depth; }
bool StrictCopies::active() noexcept { return strict_depth > 0; }

}  // namespace spanwise
