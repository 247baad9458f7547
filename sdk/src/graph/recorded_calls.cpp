// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/recorded_calls.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "graph/function_state.hpp"
#include "runtime/copy_steps.hpp"
#include "runtime/settings.hpp"
#include "runtime/stream_order.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/graph/shared.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/queued_work.hpp"

namespace spanwise::graph {
namespace {

using runtime::RecordedCall;
using runtime::StreamState;

// A call is recorded when it occurs for this time without a recording.
constexpr int occurrences_before_recording = 3;
constexpr std::size_t max_occurrences = 8;
// Recordings that a function makes at most; every repeats_per_attempt repeats permit one more.
constexpr int max_attempts = 8;
constexpr std::int64_t repeats_per_attempt = 64;
// Copying takes a GPU about 1 us for each MiB, running a step without a recording takes the host 2
// to 4 us: larger values are read where they are, if they are there again at the next call.
constexpr std::int64_t copied_bytes_per_step = 256 << 10;
// Values on the host are part of the key of a recording up to this size.
constexpr std::int64_t max_host_bytes = 64;

bool same_layout(const Layout& a, const Layout& b) noexcept {
  return a.shape == b.shape && a.strides == b.strides;
}

const void* lowest_address(const Array& array) noexcept {
  return static_cast<const std::byte*>(array.storage().data()) +
         array.layout().offset_range().first * array.dtype().itemsize();
}

// A copy of the bytes of two dense arrays with equal strides.
RecordedCall::Copy copy_of(const Array& source, const Array& target) noexcept {
  return {lowest_address(source), const_cast<void*>(lowest_address(target)),
          static_cast<std::size_t>(source.nbytes())};
}

bool may_be_copied(const Array& array) {
  return array.size() > 0 && runtime::is_dense(array.layout());
}

// An uninitialised array with the strides of `like`, which may_be_copied().
Array empty_with_strides(const Array& like) {
  Layout layout = like.layout();
  layout.offset -= layout.offset_range().first;
  return empty_in(std::move(layout), like.dtype(), like.device());
}

bool is_updated(const FunctionState& function, const SharedSlot& slot) {
  return std::ranges::find(function.updated, slot.shared) != function.updated.end();
}

std::uint64_t combined(std::uint64_t hash, std::uint64_t value) noexcept {
  return (hash ^ value) * 0x9e3779b97f4a7c15u + (hash >> 29);
}

std::uint64_t hash_of(const Array& value, bool has_address) {
  std::uint64_t hash = std::hash<int>()(value.device().is_cpu() ? -1 : value.device().ordinal());
  for (const std::int64_t extent : value.shape())
    hash = combined(hash, static_cast<std::uint64_t>(extent));
  for (const std::int64_t stride : value.strides())
    hash = combined(hash, static_cast<std::uint64_t>(stride));
  if (runs_on_host(value.device()))
    return value.nbytes() > max_host_bytes || !value.layout().is_row_major()
               ? hash
               : combined(hash, std::hash<std::string_view>()(
                                    {static_cast<const char*>(value.data()),
                                     static_cast<std::size_t>(value.nbytes())}));
  return has_address ? combined(hash, reinterpret_cast<std::uintptr_t>(value.data())) : hash;
}

}  // namespace

struct RecordedCalls::Recording {
  /// An input or a shared value as it was when the call was recorded.
  struct Operand {
    Device device;
    Layout layout;
    std::optional<Array> copy{};    ///< what the recording reads, where the value is copied
    const void* address = nullptr;  ///< where it reads the value on the device, without a copy
    std::string bytes{};            ///< the value on the host, which it has read

    bool fits(const Array& value) const noexcept {
      if (value.device() != device || !same_layout(value.layout(), layout)) return false;
      if (copy) return true;
      if (address != nullptr) return value.data() == address;
      return std::memcmp(value.data(), bytes.data(), bytes.size()) == 0;
    }
  };

  Ref<StreamState> stream;
  std::uint64_t config_version = config::version();
  std::vector<Operand> inputs, shared;
  std::vector<Array> results;        ///< where the recording leaves them
  std::vector<const void*> updated;  ///< addresses of the values to update
  std::vector<Array> memory;         ///< of intermediate results
  Ref<RecordedCall> call;

  bool fits(const FunctionState& function, const StreamState& current) const noexcept {
    if (&current != stream.get() || config_version != config::version()) return false;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (!inputs[i].fits(*function.input_slots[i].cell->value)) return false;
    for (std::size_t i = 0; i < shared.size(); ++i)
      if (!shared[i].fits(*function.shared_slots[i].cell->value)) return false;
    return true;
  }

  std::optional<Operand> operand(const Array& value, std::int64_t& copied_bytes) const;
  bool add_operands(const FunctionState& function, std::int64_t copied_bytes);
  bool find_updated(const FunctionState& function, std::span<const void* const> addresses);
  void hold_memory(const FunctionState& function);
  bool run_program(FunctionState& function);
  std::optional<std::vector<Array>> repeat(const FunctionState& function);
};

// Nothing where the recording cannot read the value. `copied_bytes` are left for copies.
std::optional<RecordedCalls::Recording::Operand> RecordedCalls::Recording::operand(
    const Array& value, std::int64_t& copied_bytes) const {
  Operand operand{value.device(), value.layout()};
  if (runs_on_host(value.device())) {
    if (value.nbytes() > max_host_bytes || !value.layout().is_row_major()) return std::nullopt;
    operand.bytes.assign(static_cast<const char*>(value.data()),
                         static_cast<std::size_t>(value.nbytes()));
    return operand;
  }
  if (value.device() != stream->device() || value.size() == 0) return std::nullopt;
  if (value.nbytes() <= copied_bytes && may_be_copied(value)) {
    copied_bytes -= value.nbytes();
    operand.copy = empty_with_strides(value);
    return operand;
  }
  // A captured stream must not wait for other streams.
  runtime::order_use(*stream, value.storage(), /*writes=*/false);
  if (!value.storage().uses().is_only_user(*stream)) return std::nullopt;
  operand.address = value.data();
  return operand;
}

bool RecordedCalls::Recording::add_operands(const FunctionState& function,
                                            std::int64_t copied_bytes) {
  for (const InputSlot& slot : function.input_slots) {
    std::optional<Operand> input = operand(*slot.cell->value, copied_bytes);
    if (!input) return false;
    inputs.push_back(*std::move(input));
  }
  for (const SharedSlot& slot : function.shared_slots) {
    std::int64_t none = -1;  // a shared value is where it was at the last call
    std::optional<Operand> value = operand(*slot.cell->value, none);
    if (!value) return false;
    shared.push_back(*std::move(value));
  }
  return true;
}

// Whether the values to update are those that the program has stored last, and so are memory of the
// library that only the shared variable refers to.
bool RecordedCalls::Recording::find_updated(const FunctionState& function,
                                            std::span<const void* const> addresses) {
  const SharedAccess access;
  for (const Ref<SharedValue>& shared_value : function.updated)
    updated.push_back(access.value(*shared_value).data());
  return std::ranges::equal(updated, addresses);
}

// Keeps what the cells hold after a run, without views of shared values, which have their memory.
void RecordedCalls::Recording::hold_memory(const FunctionState& function) {
  const auto is_shared = [&](const Array& value) {
    return std::ranges::any_of(function.shared_slots, [&](const SharedSlot& slot) {
      return &slot.cell->value->storage().uses() == &value.storage().uses();
    });
  };
  for (const Step& step : function.program.steps())
    for (const Ref<Cell>& cell : step.outputs)
      if (cell->value && cell->value->device() == stream->device() && cell->value->storage() &&
          !is_shared(*cell->value))
        memory.push_back(*cell->value);
}

// Records a run of the program and copies of its operands and results. Afterwards the cells are
// empty: their memory belongs to the recording.
bool RecordedCalls::Recording::run_program(FunctionState& function) {
  std::vector<RecordedCall::Copy> before, after;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].copy) continue;
    std::optional<Array>& value = function.input_slots[i].cell->value;
    before.push_back(copy_of(*value, *inputs[i].copy));
    value = inputs[i].copy;
  }
  try {
    if (!call->begin(*stream)) return false;
    const runtime::RecordingScope recording;
    function.program.run();
    results = function.collect_results();
    hold_memory(function);
  } catch (...) {  // the program runs again without recording, and reports the error
    call->abort();
    return false;
  }
  std::vector<Array> targets;
  const std::size_t outputs = results.size() - updated.size();
  bool can_copy = true;
  for (std::size_t i = 0; i < results.size() && can_copy; ++i) {
    can_copy = results[i].device() == stream->device() && may_be_copied(results[i]);
    if (!can_copy) break;
    if (i < outputs) targets.push_back(empty_with_strides(results[i]));
    after.push_back({lowest_address(results[i]),
                     i < outputs ? const_cast<void*>(lowest_address(targets[i]))
                                 : const_cast<void*>(updated[i - outputs]),
                     static_cast<std::size_t>(results[i].nbytes())});
  }
  if (!can_copy) {
    call->abort();
    return false;
  }
  return call->end(before, after);
}

// The results of the call in the cells of `function`, which fits; nothing, with no work queued,
// where others refer to a value to update, or the device rejects an address: `call` is null then.
std::optional<std::vector<Array>> RecordedCalls::Recording::repeat(const FunctionState& function) {
  std::vector<RecordedCall::Copy> before, after;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Array& value = *function.input_slots[i].cell->value;
    if (!inputs[i].bytes.empty()) continue;
    runtime::order_use(*stream, value.storage(), /*writes=*/false);
    if (inputs[i].copy) before.push_back(copy_of(value, *inputs[i].copy));
  }
  for (std::size_t i = 0; i < shared.size(); ++i)
    if (shared[i].address != nullptr)
      runtime::order_use(*stream, function.shared_slots[i].cell->value->storage(),
                         /*writes=*/false);
  std::vector<Array> outputs;
  const std::size_t count = results.size() - updated.size();
  for (std::size_t i = 0; i < count; ++i) {
    outputs.push_back(empty_with_strides(results[i]));
    after.push_back(copy_of(results[i], outputs.back()));
  }
  const SharedAccess access;
  for (std::size_t i = 0; i < updated.size(); ++i) {
    const Array& target = access.value(*function.updated[i]);
    const auto references =
        1 + std::ranges::count(function.shared_slots, function.updated[i], &SharedSlot::shared);
    const Array& result = results[count + i];
    if (target.data() != updated[i] || !same_layout(target.layout(), result.layout()) ||
        target.readonly() || target.storage().use_count() != references)
      return std::nullopt;
    after.push_back(copy_of(result, target));
  }
  for (const Ref<SharedValue>& shared_value : function.updated)
    runtime::order_use(*stream, access.value(*shared_value).storage(), /*writes=*/true);
  if (call->launch(before, after)) return outputs;
  call = {};
  return std::nullopt;
}

RecordedCalls::RecordedCalls() = default;
RecordedCalls::~RecordedCalls() = default;

void RecordedCalls::clear() noexcept {
  recordings_.clear();
  occurrences_.clear();
}

void RecordedCalls::note_updates(std::span<const Array> values) {
  updated_addresses_.clear();
  for (const Array& value : values) updated_addresses_.push_back(value.data());
}

std::optional<std::vector<Array>> RecordedCalls::run(FunctionState& function) {
  StreamState& stream = runtime::current_stream(function.device);
  const auto fitting = [&] {
    return std::ranges::find_if(
        recordings_, [&](const auto& recording) { return recording->fits(function, stream); });
  };
  auto found = fitting();
  if (found == recordings_.end()) {
    if (!is_repeated(function, stream) ||
        attempts_ >= max_attempts + repeats_ / repeats_per_attempt)
      return std::nullopt;
    ++attempts_;
    if (runtime::kernel_check().any() || stream.is_captured() || !record(function, stream))
      return std::nullopt;
    found = recordings_.begin();
  } else if (stream.is_captured()) {
    return std::nullopt;
  }
  std::rotate(recordings_.begin(), found, found + 1);
  std::optional<std::vector<Array>> results = recordings_.front()->repeat(function);
  if (results) ++repeats_;
  if (!recordings_.front()->call) recordings_.erase(recordings_.begin());
  return results;
}

// Counts the call; whether one like it has occurred often enough to be recorded.
bool RecordedCalls::is_repeated(const FunctionState& function, const StreamState& stream) {
  std::uint64_t hash = reinterpret_cast<std::uintptr_t>(&stream);
  for (const InputSlot& slot : function.input_slots)
    hash = combined(hash, hash_of(*slot.cell->value, !may_be_copied(*slot.cell->value)));
  for (const SharedSlot& slot : function.shared_slots)
    hash = combined(hash, hash_of(*slot.cell->value, !is_updated(function, slot)));
  const auto known = std::ranges::find(occurrences_, hash, &Occurrences::hash);
  Occurrences occurrences = known == occurrences_.end() ? Occurrences{hash} : *known;
  if (known != occurrences_.end())
    occurrences_.erase(known);
  else if (occurrences_.size() == max_occurrences)
    occurrences_.pop_back();
  const bool is_repeated = ++occurrences.count >= occurrences_before_recording;
  if (is_repeated) occurrences.count = 0;
  occurrences_.insert(occurrences_.begin(), occurrences);
  return is_repeated;
}

// Adds a recording of the call in the cells of `function`, which keep the call's inputs.
bool RecordedCalls::record(FunctionState& function, StreamState& stream) {
  auto recording = std::make_unique<Recording>();
  recording->stream = Ref<StreamState>(&stream);
  recording->call = runtime::backend_for(function.device).recorded_call(function.device.ordinal());
  const auto copied_bytes =
      static_cast<std::int64_t>(function.program.steps().size()) * copied_bytes_per_step;
  try {
    if (!recording->call || !recording->add_operands(function, copied_bytes) ||
        !recording->find_updated(function, updated_addresses_))
      return false;
  } catch (const OutOfMemoryError&) {  // of the copies: the program needs none
    return false;
  }
  std::vector<std::optional<Array>> inputs, shared;
  for (const InputSlot& slot : function.input_slots) inputs.push_back(slot.cell->value);
  for (const SharedSlot& slot : function.shared_slots) shared.push_back(slot.cell->value);
  const bool is_complete = recording->run_program(function);
  function.clear_cells();
  for (std::size_t i = 0; i < inputs.size(); ++i)
    function.input_slots[i].cell->value = std::move(inputs[i]);
  for (std::size_t i = 0; i < shared.size(); ++i)
    function.shared_slots[i].cell->value = std::move(shared[i]);
  if (!is_complete) return false;
  if (recordings_.size() == max_recordings) recordings_.pop_back();
  recordings_.insert(recordings_.begin(), std::move(recording));
  return true;
}

}  // namespace spanwise::graph
