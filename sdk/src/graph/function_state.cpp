// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/function_state.hpp"

#include <algorithm>
#include <utility>

#include "spanwise/copy.hpp"
#include "spanwise/error.hpp"

namespace spanwise::graph {
namespace {

[[noreturn, gnu::cold]] void fail_input(const FunctionState& function, std::size_t index,
                                        const Array& got) {
  const InputSlot& slot = function.input_slots[index];
  const TensorType anywhere(slot.type.dtype(), slot.type.shape());
  fail<InputError>("Bad input argument to function ", function.name, " at index ", index,
                   " (0-based), ", slot.label, " of ", slot.type, ": ",
                   anywhere.mismatch(got).value_or(""));
}

bool fits(const InputSlot& slot, const Array& value) {
  if (value.dtype() != slot.type.dtype() || value.rank() != slot.type.rank()) return false;
  return !slot.has_fixed_extents || TensorType(slot.type.dtype(), slot.type.shape()).matches(value);
}

bool same_memory(const Array& a, const Array& b) {
  return a.size() > 0 && b.size() > 0 && may_share_memory(a, b);
}

}  // namespace

/// One call at a time.
class FunctionState::Turn {
 public:
  explicit Turn(FunctionState& function) : function_(function) {
    const std::thread::id self = std::this_thread::get_id();
    require<GraphError>(function_.caller_.load(std::memory_order_relaxed) != self, "function ",
                        function_.name,
                        " was called by an op that it is just running; expected "
                        "no recursion: compile a second function for the inner call");
    function_.mutex_.lock();
    function_.caller_.store(self, std::memory_order_relaxed);
  }
  ~Turn() {
    function_.caller_.store({}, std::memory_order_relaxed);
    function_.mutex_.unlock();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  FunctionState& function_;
};

std::vector<Array> FunctionState::call(std::span<const Array> arguments) {
  const Turn turn(*this);
  struct Cleaner {
    FunctionState& function;
    ~Cleaner() { function.tidy(); }
  } const cleaner{*this};
  take_inputs(arguments);
  program.run();
  return give_outputs();
}

void FunctionState::free() {
  const Turn turn(*this);
  for (const Ref<Cell>& cell : kept_cells) cell->value.reset();
}

void FunctionState::take_inputs(std::span<const Array> arguments) {
  if (arguments.size() != input_slots.size()) [[unlikely]]
    fail<InputError>("function ", name, ": expected ", input_slots.size(), " inputs, got ",
                     arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const InputSlot& slot = input_slots[i];
    const Array& given = arguments[i];
    if (!fits(slot, given)) [[unlikely]]
      fail_input(*this, i, given);
    if (given.device() == slot.device) [[likely]]
      slot.cell->value = given;
    else
      slot.cell->value = to_device(given, slot.device);
  }
}

std::vector<Array> FunctionState::give_outputs() {
  std::vector<Array> results;
  results.reserve(result_slots.size());
  for (const ResultSlot& slot : result_slots) {
    Cell& cell = *slot.cell;
    if (slot.is_leaf) {
      results.push_back(copy(*cell.value));
    } else if (cell.value) {
      Array result = std::move(*cell.value);
      cell.value.reset();
      results.push_back(own(std::move(result), results));
    } else {  // the same variable as an earlier output
      const auto first = std::find_if(result_slots.begin(), result_slots.end(),
                                      [&](const ResultSlot& s) { return s.cell == slot.cell; });
      results.push_back(copy(results[static_cast<std::size_t>(first - result_slots.begin())]));
    }
  }
  return results;
}

// The caller may write to a result, so it must be nobody else's.
Array FunctionState::own(Array result, std::span<const Array> earlier) {
  return is_taken(result, earlier) ? copy(result) : std::move(result);
}

bool FunctionState::is_taken(const Array& result, std::span<const Array> earlier) const {
  const auto shares_with = [&](const Ref<Cell>& cell) {
    return cell->value && same_memory(result, *cell->value);
  };
  return std::any_of(earlier.begin(), earlier.end(),
                     [&](const Array& other) { return same_memory(result, other); }) ||
         std::any_of(input_slots.begin(), input_slots.end(),
                     [&](const InputSlot& slot) { return shares_with(slot.cell); }) ||
         std::any_of(constant_cells.begin(), constant_cells.end(), shares_with);
}

// Also after a failed call. A kept buffer that a result, the caller or another cell shares is let
// go: the next call would write to it.
void FunctionState::tidy() noexcept {
  for (const Ref<Cell>& cell : transient_cells) cell->value.reset();
  for (const Ref<Cell>& cell : kept_cells)
    if (cell->value && cell->value->storage().use_count() > 1) cell->value.reset();
}

}  // namespace spanwise::graph
