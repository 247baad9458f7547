// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "address_body.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "embedded/indexing_text.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/parse/element_text.hpp"

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
// element's number among those that can be selected (AddressLoop::number_targets()).
std::string address_text(const AddressKey& key, std::span<const std::string> indices) {
  std::string declarations = "      long long offset = 0, target = 0;\n";
  for (int j = 0; j < key.indices; ++j)
    declarations +=
        text("      {\n        long long at = ", indices[static_cast<std::size_t>(j)],
             ";\n        at += at < 0 ? axes.extent[", j, "] : 0;\n        offset += at * ",
             "axes.stride[", j, "];\n        target += at * axes.target[", j, "];\n      }\n");
  return declarations;
}

// `elements`: of the arrays in the order of address_body(). The works that lack an array do not use
// the strings made from its element.
std::string work_text(const AddressKey& key, std::span<const std::string> elements) {
  const std::string element = text("(&", elements[key.has_value() ? 1 : 0], ")[offset]");
  const std::string& position = elements[elements.size() - 2];
  const std::string target = text("(", elements.back(), " + target)");
  const std::string last = text("last[", target, "]");
  const std::string marked =
      key.only_marked ? text("if (has_bit(marks[mark_words + (", target, " >> 5)], ", target, ")) ")
                      : std::string();
  switch (key.work) {
    case AddressWork::read:
      return text(elements[0], " = ", element);
    case AddressWork::write:
      return text(element, " = ", elements[0]);
    case AddressWork::find_last:
      return text(marked, "atomicMax(&", last, ", (Last)(", position, " + 1))");
    case AddressWork::write_last:
      return text(marked, "if (", last, " == (Last)(", position, " + 1)) ", element, " = ",
                  elements[0]);
    case AddressWork::write_once:
      return text("const long long number = ", target,
                  ";\n      if (!has_bit(mark(marks, number), number)) {\n        ", element, " = ",
                  elements[0],
                  ";\n      } else {\n        atomicExch(&last[number], (Last)0);\n        ",
                  "if (mark(marks + mark_words, number) == 0 && ",
                  "mark(marks + 2 * mark_words, number >> 5) == 0)",
                  "\n          atomicOr(marks + 3 * mark_words, 1u);\n      }");
    case AddressWork::accumulate:
      return text("Atomic<How, Word>::apply(&", element, ", ", elements[0], ")");
    default:  // add_up
      return text(elements[0], " = offset");
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
  body.arguments = "axes, ";
  if (key.has_value()) body.arrays.push_back({"Word", key.value_role()});
  if (key.has_element()) body.arrays.push_back({"Word", key.element_role()});
  for (int j = 0; j < key.indices; ++j)
    body.arrays.push_back({"long long", strided::ArrayRole::read});
  if (key.finds_last()) {
    body.arrays.insert(body.arrays.end(), 2,
                       {"long long", strided::ArrayRole::index});  // position, target
    body.prelude += text("typedef ", word_text(key.dtype.itemsize()), " Last;\n");
    body.parameters += "Last* last, ";
    body.arguments += "last, ";
  }
  if (key.has_marks()) {
    body.prelude += marks_text;
    body.parameters += "unsigned int* marks, const long long mark_words, ";
    body.arguments += "marks, mark_words, ";
    if (key.only_marked) body.before = "  if (marks[3 * mark_words] == 0) return;\n";
  }
  body.compute = [key](std::span<const std::string> elements) {
    // Index arrays follow the value and the element.
    const auto indices = elements.subspan(std::size_t{key.has_value()} + key.has_element());
    return text(address_text(key, indices), "      ", work_text(key, elements), ";\n");
  };
  return body;
}

}  // namespace spanwise::ops
