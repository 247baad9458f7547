// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/backend.hpp"
#include "spanwise/core/array.hpp"
#include "spanwise/core/device.hpp"

namespace spanwise::graph {

class FunctionState;

/// Calls of a function on a GPU, recorded for the shapes and strides of their inputs: later calls
/// that fit a recording copy their inputs to where it reads them, queue it with one launch, and
/// copy its results to new arrays; no thunk runs. Updates are copied into the memory of their
/// shared variables, if nothing else refers to it. Calls that do not fit run the thunks; a call is
/// recorded when its like has occurred a few times. At most max_recordings are kept, with their
/// memory.
class RecordedCalls {
 public:
  static constexpr std::size_t max_recordings = 4;

  RecordedCalls();
  ~RecordedCalls();

  /// Runs the call whose inputs and shared values are in the cells of `function`, its updates
  /// included, or returns nothing: the caller then runs the program, with the same cells.
  std::optional<std::vector<Array>> run(FunctionState& function);
  /// Call before the values of `function.updated` that the program has computed are stored.
  void note_updates(std::span<const Array> values);
  void clear() noexcept;
  /// The calls that run() has done.
  std::int64_t repeats() const noexcept { return repeats_; }

 private:
  struct Recording;
  bool is_repeated(const FunctionState& function, const runtime::StreamState& stream);
  bool record(FunctionState& function, runtime::StreamState& stream);

  std::vector<std::unique_ptr<Recording>> recordings_;  // the last used comes first
  /// Calls of one kind without a recording.
  struct Occurrences {
    std::uint64_t hash = 0;
    int count = 0;
  };
  std::vector<Occurrences> occurrences_;
  std::vector<const void*> updated_addresses_;  // of the values that the program stored last
  int attempts_ = 0;                            // recordings made or tried
  std::int64_t repeats_ = 0;
};

}  // namespace spanwise::graph
