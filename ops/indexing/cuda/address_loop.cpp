// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>

#include "../selection.hpp"
#include "cuda_indexing.hpp"
#include "embedded/indexing_text.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/parse/c_text.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/stream.hpp"
#include "spanwise/strided/strided_call.hpp"

// The loops over selected elements on a GPU: the bodies of their kernels, and the plan of a loop.
namespace spanwise::ops {
namespace {

std::string_view indexing_file(std::string_view name) {
  return embedded::file_text(embedded::indexing_text, name);
}

// The element type that accumulate.cuh expects: unsigned where signedness makes no difference.
const char* accumulated_text(DType dtype, Accumulation how) {
  const bool depends_on_sign = how == Accumulation::maximum || how == Accumulation::minimum;
  return dtype.is_integer() && !depends_on_sign ? word_text(dtype.itemsize()) : element_text(dtype);
}

// Declares Word, How and Atomic<How, Word>.
std::string accumulation_text(const AddressKey& key) {
  // The structs of accumulate.cuh, in the order of Accumulation.
  static constexpr const char* operations[] = {"Plus", "Minus", "Times", "Largest", "Smallest"};
  return text(indexing_file("half_bits.cuh"), indexing_file("elements.cuh"),
              indexing_file("half_elements.cuh"), "#define SW_FN __device__ __forceinline__\n",
              indexing_file("accumulate.cuh"), indexing_file("atomic.cuh"), "typedef ",
              accumulated_text(key.dtype, key.how), " Word;\ntypedef ",
              operations[static_cast<int>(key.how)], " How;\n");
}

// mark() sets bit i and returns its word as it was before. In write_once, a thread that finds its
// bit of the first part of `marks` set goes on to the second part; from there on, only a thread for
// which mark() returns 0 sets the next part, so few threads write the last word.
constexpr const char* marks_text = R"(
__device__ __forceinline__ bool has_bit(unsigned int word, long long i) {
  return (word >> (i & 31) & 1) != 0;
}
__device__ __forceinline__ unsigned int mark(unsigned int* words, long long i) {
  return atomicOr(words + (i >> 5), 1u << (i & 31));
}
)";

// Declares `offset`, that of the selected element, and `target`, what the indices contribute to the
// element's number among those that can be selected (AddressLoop::number_targets()). The index
// arrays begin with array `first`.
std::string address_text(const AddressKey& key, int first) {
  std::string declarations = "      long long offset = 0, target = 0;\n";
  for (int j = 0; j < key.indices; ++j)
    declarations +=
        text("      {\n        long long at = sw_e", first + j,
             ";\n        at += at < 0 ? axes.extent[", j, "] : 0;\n        offset += at * ",
             "axes.stride[", j, "];\n        target += at * axes.target[", j, "];\n      }\n");
  return declarations;
}

// `arrays`: their number; their order is that of address_body(). The works that lack an array do
// not use the strings made from its element.
std::string work_text(const AddressKey& key, int arrays) {
  const std::string element = text("(&sw_e", key.has_value() ? 1 : 0, ")[offset]");
  const std::string position = text("sw_e", arrays - 2);
  const std::string target = text("(sw_e", arrays - 1, " + target)");
  const std::string last = text("last[", target, "]");
  const std::string marked =
      key.only_marked ? text("if (has_bit(marks[mark_words + (", target, " >> 5)], ", target, ")) ")
                      : std::string();
  switch (key.work) {
    case AddressWork::read:
      return text("sw_e0 = ", element);
    case AddressWork::write:
      return text(element, " = sw_e0");
    case AddressWork::find_last:
      return text(marked, "atomicMax(&", last, ", (Last)(", position, " + 1))");
    case AddressWork::write_last:
      return text(marked, "if (", last, " == (Last)(", position, " + 1)) ", element, " = sw_e0");
    case AddressWork::write_once:
      return text(
          "const long long number = ", target,
          ";\n      if (!has_bit(mark(marks, number), number)) {\n        ", element,
          " = sw_e0;\n      } else {\n        atomicExch(&last[number], (Last)0);\n        ",
          "if (mark(marks + mark_words, number) == 0 && ",
          "mark(marks + 2 * mark_words, number >> 5) == 0)",
          "\n          atomicOr(marks + 3 * mark_words, 1u);\n      }");
    case AddressWork::accumulate:
      return text("Atomic<How, Word>::apply(&", element, ", sw_e0)");
    default:  // add_up
      return "sw_e0 = offset";
  }
}

}  // namespace

strided::Body address_body(const AddressKey& key) {
  strided::Body body;
  body.prelude = key.work == AddressWork::accumulate
                     ? accumulation_text(key)
                     : text("typedef ", key.word == 16 ? "uint4" : word_text(key.word), " Word;\n");
  const int axes = std::max(key.indices, 1);  // C++ has no arrays of 0 elements
  body.prelude += text("struct IndexedAxes { long long extent[", axes, "], stride[", axes,
                       "], target[", axes, "]; };\n");
  body.parameters = "const IndexedAxes axes, ";
  if (key.has_value()) body.arrays.push_back({"Word", key.value_role()});
  if (key.has_element()) body.arrays.push_back({"Word", key.element_role()});
  for (int j = 0; j < key.indices; ++j)
    body.arrays.push_back({"long long", strided::ArrayRole::read});
  if (key.finds_last()) {
    body.arrays.insert(body.arrays.end(), 2,
                       {"long long", strided::ArrayRole::index});  // position, target
    body.prelude += text("typedef ", word_text(key.dtype.itemsize()), " Last;\n");
    body.parameters += "Last* last, ";
  }
  if (key.has_marks()) {
    body.prelude += marks_text;
    body.parameters += "unsigned int* marks, const long long mark_words, ";
    if (key.only_marked) body.before = "  if (marks[3 * mark_words] == 0) return;\n";
  }
  // Index arrays follow the value and the element.
  body.statements = text(address_text(key, int{key.has_value()} + key.has_element()), "      ",
                         work_text(key, static_cast<int>(body.arrays.size())), ";\n");
  return body;
}

namespace {

constexpr std::uintptr_t max_word = 16;
/// The minimal numbers of positions and elements for which an additional kernel, which determines
/// whether an element is selected repeatedly, takes less time than two that access `last` at
/// random. 16M of float32 on an H200: 1.0 ms instead of 2.0 if no element is, 2.0 instead of 1.6 if
/// a third of them are.
constexpr std::int64_t min_marked_positions = 1 << 16, min_marked_targets = 1 << 20;

std::uintptr_t address_of(const void* data) noexcept {
  return reinterpret_cast<std::uintptr_t>(data);
}

// The widest word at `bits`, an address, a size or several of them combined by |.
int word_at(std::uintptr_t bits) noexcept {
  return static_cast<int>(std::uintptr_t{1} << std::countr_zero(bits | max_word));
}

void launch_body(const AddressKey& key, strided::StridedCall& call, Device device,
                 std::vector<std::int64_t>& numbers, const LastPositions* last) {
  static auto& bodies = *new strided::BodyTable<AddressKey>;
  if (numbers.empty()) numbers.assign(3, 0);  // the struct of the kernel is never empty
  call.plan();
  const strided::BodyKernel& kernel =
      call.kernel(bodies[key], device, [&] { return address_body(key); });
  void *address = nullptr, *marks = nullptr;
  std::int64_t words = 0;
  if (key.finds_last()) {
    order_use(Stream::current(device), last->positions, true);
    address = last->positions.data();
  }
  if (key.has_marks()) {
    order_use(Stream::current(device), last->marks, true);
    marks = last->marks.data();
    words = last->marks.size() / 3;
  }
  void* const parameters[] = {numbers.data(), &address, &marks, &words};
  call.launch(kernel, std::span(parameters, key.has_marks() ? 4 : key.finds_last() ? 2 : 1));
}

// Whether two positions may select one element and write different values to it.
bool may_have_duplicates(const Selection& selection, const Array& value) noexcept {
  if (selection.indices.empty() || selection.unique) return false;
  for (int i = 0; i < selection.positions.size(); ++i)
    if (selection.positions[i] > 1 && value.strides()[selection.index_axis + i] != 0) return true;
  return false;
}

}  // namespace

AddressLoop::AddressLoop(const Selection& selection, const Array& value, bool in_words)
    : selection_(selection), value_(value), word_bytes_(selection.array.dtype().itemsize()) {
  if (in_words)
    word_bytes_ = word_at(static_cast<std::uintptr_t>(word_bytes_) | address_of(selection.data()) |
                          address_of(value.data()));
  add_axes();
  if (in_words) widen_rows();
  number_targets();
  while (indices_.size() > max_loaded_indices) fold_indices();
}

void AddressLoop::add_axes() {
  const std::int64_t words = selection_.array.dtype().itemsize() / word_bytes_;
  axes_.reserve(static_cast<std::size_t>(value_.rank()) + 1);
  const auto add = [&](std::int64_t extent, std::int64_t stride) {
    const auto axis = static_cast<int>(axes_.size());
    axes_.push_back({extent, stride * words, value_.strides()[axis] * words});
  };
  const auto add_basic = [&](int first, int last) {
    for (int i = first; i < last; ++i) {
      const BasicAxis& basic = selection_.basic[static_cast<std::size_t>(i)];
      add(basic.extent, basic.stride);
    }
  };
  add_basic(0, selection_.index_axis);
  for (int i = 0; i < selection_.positions.size(); ++i)
    add(selection_.positions[i], selection_.position_strides[i]);
  add_basic(selection_.index_axis, selection_.rank);
  trailing_axes_ = selection_.rank - selection_.index_axis;
  if (words > 1) {
    axes_.push_back({words, 1, 1});
    ++trailing_axes_;
  }
  indices_.reserve(selection_.indices.size());
  for (const IndexArray& index : selection_.indices)
    indices_.push_back({index.array, index.extent, index.stride * words});
}

// Merges the axes of a row, and moves several of its words as one.
void AddressLoop::widen_rows() {
  for (; trailing_axes_ > 1 && axes_[axes_.size() - 2].merges_with(axes_.back());
       --trailing_axes_) {
    const LoopAxis inner = axes_.back();
    axes_.pop_back();
    const std::int64_t extent = axes_.back().extent * inner.extent;
    if (inner.extent != 1) axes_.back() = inner;
    axes_.back().extent = extent;
  }
  while (trailing_axes_ > 0 && can_double_word()) {
    for (LoopAxis& axis : axes_) axis.element /= 2, axis.value /= 2;
    for (Index& index : indices_) index.stride /= 2;
    axes_.back() = {axes_.back().extent / 2, 1, 1};
    word_bytes_ *= 2;
  }
}

bool AddressLoop::can_double_word() const noexcept {
  const LoopAxis& row = axes_.back();
  if (row.element != 1 || row.value != 1 || row.extent % 2 != 0) return false;
  if (word_at(address_of(selection_.data()) | address_of(value_.data())) <= word_bytes_)
    return false;
  return std::all_of(axes_.begin(), axes_.end() - 1,
                     [](const LoopAxis& axis) { return (axis.element | axis.value) % 2 == 0; }) &&
         std::all_of(indices_.begin(), indices_.end(),
                     [](const Index& index) { return index.stride % 2 == 0; });
}

// Numbers what the indices may select at one index of the other axes: mixed radix over the axes of
// positions and the extents of the index arrays.
void AddressLoop::number_targets() {
  target_strides_ = Strides(selection_.positions.size());
  for (int i = selection_.positions.size() - 1; i >= 0; --i) {
    if (selection_.position_strides[i] == 0) continue;
    target_strides_[i] = targets_;
    targets_ *= selection_.positions[i];
  }
  for (Index& index : indices_) {
    index.target = targets_;
    targets_ *= index.extent;
  }
}

std::int64_t AddressLoop::elements() const noexcept {
  std::int64_t all = 1;
  for (const LoopAxis& axis : axes_) all *= axis.extent;
  return all;
}

// Replaces the first index arrays by the sums of what they contribute.
void AddressLoop::fold_indices() {
  const Index by_element{folded(&Index::stride), 0, 1, 0},
      by_target{folded(&Index::target), 0, 0, 1};
  indices_.erase(indices_.begin(), indices_.begin() + max_loaded_indices);
  indices_.push_back(by_element);
  indices_.push_back(by_target);
}

Array AddressLoop::folded(std::int64_t Index::* stride) const {
  const Array sums = empty(selection_.positions, int64, selection_.array.device());
  strided::StridedCall call(sums.shape());
  call.add(sums, strided::ArrayRole::write);
  std::vector<std::int64_t> numbers(3 * max_loaded_indices);
  for (std::size_t k = 0; k < max_loaded_indices; ++k) {
    call.add(indices_[k].array, strided::ArrayRole::read);
    numbers[k] = indices_[k].extent;
    numbers[max_loaded_indices + k] = indices_[k].*stride;
  }
  launch_body({.work = AddressWork::add_up, .indices = int{max_loaded_indices}}, call,
              sums.device(), numbers, nullptr);
  return sums;
}

Layout AddressLoop::layout_of(std::int64_t LoopAxis::* stride) const {
  const auto rank = static_cast<int>(axes_.size());
  Layout layout{Shape(rank), Strides(rank)};
  for (int i = 0; i < rank; ++i) {
    layout.shape[i] = axes_[static_cast<std::size_t>(i)].extent;
    layout.strides[i] = axes_[static_cast<std::size_t>(i)].*stride;
  }
  return layout;
}

// The layout of an array of the positions, in which the axes after these have extent 1.
Layout AddressLoop::on_positions(const Strides& strides) const {
  const int rank = selection_.positions.size();
  Layout layout{Shape(rank + trailing_axes_, 1), Strides(rank + trailing_axes_)};
  std::copy(selection_.positions.begin(), selection_.positions.end(), layout.shape.begin());
  std::copy(strides.begin(), strides.end(), layout.strides.begin());
  return layout;
}

void AddressLoop::run(AddressKey key, const LastPositions* last) const {
  key.indices = static_cast<int>(indices_.size());
  key.word = word_bytes_;
  const Layout value = layout_of(&LoopAxis::value), element = layout_of(&LoopAxis::element);
  const Layout target = on_positions(target_strides_);
  const Layout order = on_positions(Layout::row_major(selection_.positions).strides);
  strided::StridedCall call(key.has_element() ? value.shape : target.shape);
  if (key.has_value()) call.add(value_, value, value_.data(), word_bytes_, key.value_role());
  if (key.has_element())
    call.add(selection_.array, element, selection_.data(), word_bytes_, key.element_role());
  std::vector<Layout> layouts;
  layouts.reserve(indices_.size());
  std::vector<std::int64_t> numbers(3 * indices_.size());
  for (std::size_t k = 0; k < indices_.size(); ++k) {
    const Index& index = indices_[k];
    layouts.push_back(on_positions(index.array.strides()));
    call.add(index.array, layouts.back(), index.array.data(), 8, strided::ArrayRole::read);
    numbers[k] = index.extent;
    numbers[indices_.size() + k] = index.stride;
    numbers[2 * indices_.size() + k] = index.target;
  }
  if (key.finds_last()) {
    call.add_index(order);
    call.add_index(target);
  }
  launch_body(key, call, selection_.array.device(), numbers, last);
}

namespace {

// The last position of each element wins, in C order, as in NumPy. Elements that are selected once
// are all written by the first kernel where there are many; the later kernels then read only
// `marks`.
void write_last(const AddressLoop& loop, const Selection& selection) {
  const std::int64_t positions = Layout::row_major(selection.positions).size();
  const Device device = selection.array.device();
  const DType dtype = positions >= UINT32_MAX ? uint64 : uint32;
  const bool is_marked = positions >= min_marked_positions &&
                         loop.targets() >= min_marked_targets && loop.elements() == positions;
  const Shape targets{loop.targets()};
  const LastPositions last{
      is_marked ? empty(targets, dtype, device) : zeros(targets, dtype, device),
      zeros({is_marked ? 3 * ((loop.targets() - 1) / 32 + 1) + 1 : 0}, uint32, device)};
  if (is_marked) loop.run({.work = AddressWork::write_once, .dtype = dtype}, &last);
  for (const AddressWork work : {AddressWork::find_last, AddressWork::write_last})
    loop.run({.work = work, .dtype = dtype, .only_marked = is_marked}, &last);
}

}  // namespace

void move_on_gpu(const Selection& selection, const Array& value, MoveDirection direction) {
  if (value.size() == 0) return;
  const AddressLoop loop(selection, value, /*in_words=*/true);
  if (direction == MoveDirection::read) return loop.run({.work = AddressWork::read});
  if (!may_have_duplicates(selection, value)) return loop.run({.work = AddressWork::write});
  write_last(loop, selection);
}

void accumulate_on_gpu(const Selection& selection, const Array& value, Accumulation how) {
  const DType dtype = selection.array.dtype();
  const bool is_sum = how == Accumulation::add || how == Accumulation::subtract;
  if (dtype == complex128 && !is_sum)
    fail<DTypeError>(
        "accumulate: atomic functions of a GPU have at most 8 bytes, so it has no "
        "products, maxima and minima of complex128; accumulate on the CPU: "
        "a.to(\"cpu\")");
  if (value.size() == 0) return;
  AddressLoop(selection, value, /*in_words=*/false)
      .run({.work = AddressWork::accumulate, .dtype = dtype, .how = how});
}

}  // namespace spanwise::ops
