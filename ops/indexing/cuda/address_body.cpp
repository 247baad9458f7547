// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "address_body.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "embedded/indexing_text.hpp"
#include "spanwise/error.hpp"
#include "spanwise/source/element_text.hpp"

namespace spanwise::ops {
namespace {

std::string_view indexing_file(std::string_view name) {
  return embedded::file_text(embedded::indexing_text, name);
}

// The element type that accumulate.cuh expects: unsigned where signedness makes no difference.
const char* accumulated_text(DType dtype, Accumulation how) {
  const bool keeps_sign = how == Accumulation::maximum || how == Accumulation::minimum;
  return dtype.is_integer() && !keeps_sign ? word_text(dtype.itemsize()) : element_text(dtype);
}

std::string accumulation(const AddressKey& key) {
  static constexpr const char* operations[] = {"Plus", "Minus", "Times", "Largest", "Smallest"};
  return text(indexing_file("half_bits.cuh"), indexing_file("elements.cuh"),
              indexing_file("half_elements.cuh"), "#define SW_FN __device__ __forceinline__\n",
              indexing_file("accumulate.cuh"), indexing_file("atomic.cuh"), "typedef ",
              accumulated_text(key.dtype, key.how), " Word;\ntypedef ",
              operations[static_cast<int>(key.how)], " How;\n");
}

std::string words(int bytes) {
  return text("typedef ", bytes == 16 ? "uint4" : word_text(bytes), " Word;\n");
}

// mark() returns the word before the mark was set. write_once also marks the words that hold marks:
// these second-level marks let most threads skip the write of the flag that there is any mark.
constexpr const char* marks_text = R"(
__device__ __forceinline__ bool has_bit(unsigned int word, long long i) {
  return (word >> (i & 31) & 1) != 0;
}
__device__ __forceinline__ unsigned int mark(unsigned int* words, long long i) {
  return atomicOr(words + (i >> 5), 1u << (i & 31));
}
)";

// Declares the offset of the element, and its number among those that the indices can select.
std::string address(const AddressKey& key, std::span<const std::string> indices) {
  std::string all = "      long long offset = 0, target = 0;\n";
  for (int j = 0; j < key.indices; ++j)
    all += text("      {\n        long long at = ", indices[static_cast<std::size_t>(j)],
                ";\n        at += at < 0 ? axes.extent[", j, "] : 0;\n        offset += at * ",
                "axes.stride[", j, "];\n        target += at * axes.target[", j, "];\n      }\n");
  return all;
}

std::string statement(const AddressKey& key, std::span<const std::string> elements) {
  const std::size_t arrays = std::size_t{key.has_value()} + std::size_t{key.has_element()};
  const std::string element = text("(&", elements[arrays - key.has_element()], ")[offset]");
  const std::string& order = elements[elements.size() - 2];
  const std::string number = text("(", elements.back(), " + target)");
  const std::string last = text("last[", number, "]");
  const std::string marked =
      key.only_marked ? text("if (has_bit(marks[words + (", number, " >> 5)], ", number, ")) ")
                      : std::string();
  switch (key.work) {
    case AddressWork::read:
      return text(elements[0], " = ", element);
    case AddressWork::write:
      return text(element, " = ", elements[0]);
    case AddressWork::find_last:
      return text(marked, "atomicMax(&", last, ", (Last)(", order, " + 1))");
    case AddressWork::write_last:
      return text(marked, "if (", last, " == (Last)(", order, " + 1)) ", element, " = ",
                  elements[0]);
    case AddressWork::write_once:
      return text(
          "const long long number = ", number, ";\n      if (!has_bit(mark(marks, number), ",
          "number)) {\n        ", element, " = ", elements[0],
          ";\n      } else {\n        atomicExch(&last[number], (Last)0);\n        ",
          "if (mark(marks + words, number) == 0 && mark(marks + 2 * words, number >> 5) == 0)",
          "\n          atomicOr(marks + 3 * words, 1u);\n      }");
    case AddressWork::accumulate:
      return text("Atomic<How, Word>::apply(&", element, ", ", elements[0], ")");
    default:
      return text(elements[0], " = offset");
  }
}

}  // namespace

strided::Body address_body(const AddressKey& key) {
  strided::Body body;
  body.prelude = key.work == AddressWork::accumulate ? accumulation(key) : words(key.word);
  const int axes = std::max(key.indices, 1);
  body.prelude += text("struct IndexedAxes { long long extent[", axes, "], stride[", axes,
                       "], target[", axes, "]; };\n");
  body.parameters = "const IndexedAxes axes, ";
  body.arguments = "axes, ";
  if (key.has_value()) body.arrays.push_back({"Word", key.value_role()});
  if (key.has_element()) body.arrays.push_back({"Word", key.element_role()});
  for (int j = 0; j < key.indices; ++j)
    body.arrays.push_back({"long long", strided::ArrayRole::read});
  if (key.finds_last()) {
    body.arrays.insert(body.arrays.end(), 2, {"long long", strided::ArrayRole::index});
    body.prelude += text("typedef ", word_text(key.dtype.itemsize()), " Last;\n");
    body.parameters += "Last* last, ";
    body.arguments += "last, ";
  }
  if (key.has_marks()) {
    body.prelude += marks_text;
    body.parameters += "unsigned int* marks, const long long words, ";
    body.arguments += "marks, words, ";
    if (key.only_marked) body.before = "  if (marks[3 * words] == 0) return;\n";
  }
  body.compute = [key](std::span<const std::string> elements) {
    const std::size_t arrays = std::size_t{key.has_value()} + std::size_t{key.has_element()};
    return text(address(key, elements.subspan(arrays)), "      ", statement(key, elements), ";\n");
  };
  return body;
}

}  // namespace spanwise::ops
