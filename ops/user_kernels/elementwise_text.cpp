// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "elementwise_text.hpp"

#include <string_view>

#include "expression_text.hpp"
#include "spanwise/error.hpp"

namespace spanwise::ops::user_kernels {
namespace {

/// Writes the source of one kernel.
class ElementwiseText {
 public:
  ElementwiseText(const ElementwiseCode& words, std::span<const Operand> operands,
                  const ElementwiseShape& shape, bool on_gpu)
      : code_(words), operands_(operands), shape_(shape), on_gpu_(on_gpu) {}

  std::string write() {
    std::string types;
    const std::string list = parameters(types);
    if (!shape_.is_flat) types += walk_struct("sw_walk", shape_.rank, walk_operands());
    const ElementwiseSpec& spec = code_.spec;
    return text(
        prologue(spec.common, operands_, types), "extern \"C\" __global__ void ", spec.common.name,
        "(", list, ") {\n", whole_array_pointers(), index_size_object(),
        with_line_directives(text("loop_prep of ", spec.common.name), terminated(spec.loop_prep)),
        on_gpu_ ? gpu_loop() : cpu_loop(),
        with_line_directives(text("after_loop of ", spec.common.name), terminated(spec.after_loop)),
        "}\n");
  }

 private:
  bool is_pointers() const { return code_.spec.style == ParameterStyle::pointers; }

  // The number of operands of the walk: arrays accessed by element, and the index.
  int walk_operands() const {
    int count = code_.needs_index ? 1 : 0;
    for (const Operand& operand : operands_) count += operand.is_element();
    return count;
  }

  static std::string terminated(const std::string& statements) {
    return statements.empty() ? "" : statements + "\n;";
  }

  std::string parameters(std::string& types) {
    std::string list;
    for (std::size_t i = 0; i < operands_.size(); ++i)
      list += parameter_text(operands_[i], shape_.forms[i], is_pointers(), types);
    if (!shape_.is_flat) {
      for (const Operand& operand : operands_) {
        if (!operand.is_element() || !operand.parameter->needs_whole_array) continue;
        const std::string& name = operand.parameter->name;
        types += text("typedef sw_raw<", constness(operand), element_type(operand), ", ",
                      shape_.axes, ", false> sw_raw_", name, ";\n");
        list += text("const sw_raw_", name, " ", name, ", ");
      }
      list += "const sw_walk sw_w, ";
    }
    return list + (on_gpu_ ? "const long long n" : "const long long n, const long long sw_chunk");
  }

  // In a flat kernel, arrays that are also used as a whole are pointers.
  std::string whole_array_pointers() const {
    std::string out;
    for (const Operand& operand : operands_)
      if (shape_.is_flat && operand.is_element() && operand.parameter->needs_whole_array)
        out += text("  ", constness(operand), element_type(operand), "* const ",
                    operand.parameter->name, " = sw_p_", operand.parameter->name, ";\n");
    return out;
  }

  std::string index_size_object() const {
    return has_token(code_.operation, "_ind") ? "  const sw_count _ind{n};\n" : "";
  }

  // Defines x, or x[i], of the operation: the element at `base` + `offset`.
  std::string element(const Operand& operand, const std::string& base,
                      const std::string& offset) const {
    const std::string type = element_type(operand), &name = operand.parameter->name;
    if (is_pointers())
      return text("    ", constness(operand), type, "* const sw_at_", name, " = ", base, " + ",
                  offset, ";\n");
    const char* reference = operand.parameter->is_output ? "& " : " ";
    return text("    ", constness(operand), type, reference, name, " = ", base, "[", offset,
                "];\n");
  }

  // A return in the operation ends the element, not the thread's loop.
  std::string body() const {
    const std::string operation = with_line_directives(
        text("operation of ", code_.spec.common.name), terminated(code_.operation));
    if (!has_token(code_.operation, "return")) return operation;
    return text("    [&] { do {", operation, "    } while (0); }();\n");
  }

  std::string flat_body() const {
    std::string out;
    if (code_.needs_index) out += "    const long long i = sw_k;\n";
    for (const Operand& operand : operands_)
      if (operand.is_element())
        out += element(operand, text("sw_p_", operand.parameter->name), "sw_k");
    return out + body();
  }

  // ---- a GPU: one element per thread, in a grid-stride loop

  std::string gpu_loop() const {
    if (shape_.is_flat) return gpu_tiles();
    return text("  typedef unsigned ", shape_.is_large ? "long long" : "int", " sw_index;\n",
                "  for (sw_index sw_k = (sw_index)blockIdx.x * blockDim.x + threadIdx.x; "
                "sw_k < (sw_index)n;\n       sw_k += (sw_index)gridDim.x * blockDim.x) {\n",
                gpu_walk_body(), "  }\n");
  }

  // Loads several elements of the inputs before it stores any, so that the loads overlap. Adjacent
  // threads read and write adjacent elements.
  std::string gpu_tiles() const {
    std::string loads, elements;
    if (code_.needs_index) elements += "    const long long i = sw_k;\n";
    for (const Operand& operand : operands_) {
      if (!operand.is_element()) continue;
      const std::string type = element_type(operand), &name = operand.parameter->name;
      if (operand.parameter->is_output || operand.parameter->is_user_type()) {
        elements += element(operand, "sw_p_" + name, "sw_k");
        continue;
      }
      loads += text("    ", type, " sw_v_", name, "[sw_per_thread];\n#pragma unroll\n",
                    "    for (int sw_u = 0; sw_u < sw_per_thread; ++sw_u)\n",
                    "      if (sw_t + sw_u * sw_stride < n) sw_v_", name, "[sw_u] = sw_p_", name,
                    "[sw_t + sw_u * sw_stride];\n");
      elements += element(operand, "sw_v_" + name, "sw_u");
    }
    return text("  constexpr int sw_per_thread = ", elements_per_thread(code_.operation),
                ", sw_stride = ", elementwise_block, R"(;
  for (long long sw_t = (long long)blockIdx.x * (sw_per_thread * sw_stride) + threadIdx.x; sw_t < n;
       sw_t += (long long)gridDim.x * (sw_per_thread * sw_stride)) {
)",
                loads, "#pragma unroll\n    for (int sw_u = 0; sw_u < sw_per_thread; ++sw_u) {\n",
                "    const long long sw_k = sw_t + sw_u * sw_stride;\n    if (sw_k >= n) break;\n",
                elements, body(), "    }\n  }\n");
  }

  std::string gpu_walk_body() const {
    std::string zeros, steps, elements;
    int index = 0;
    const auto walk = [&](const std::string& name) {
      zeros += text("    long long sw_o", index, " = 0;\n");
      steps +=
          text("      sw_o", index, " += (long long)sw_position * sw_w.s", index, "[sw_axis];\n");
      ++index;
      return name;
    };
    for (const Operand& operand : operands_) {
      if (!operand.is_element()) continue;
      elements += element(operand, text("sw_p_", operand.parameter->name), text("sw_o", index));
      walk(operand.parameter->name);
    }
    if (code_.needs_index) {
      elements += text("    const long long i = sw_o", index, ";\n");
      walk("i");
    }
    return text(zeros, "    sw_index sw_rest = sw_k;\n#pragma unroll\n    for (int sw_axis = ",
                shape_.rank - 1, "; sw_axis >= 0; --sw_axis) {\n",
                "      const sw_index sw_extent = (sw_index)sw_w.shape[sw_axis];\n",
                "      const sw_index sw_position = sw_axis > 0 ? sw_rest % sw_extent : sw_rest;\n",
                "      sw_rest = sw_axis > 0 ? sw_rest / sw_extent : 0;\n", steps, "    }\n",
                elements, body());
  }

  // ---- the CPU: loops over a block's elements

  std::string cpu_loop() const {
    const std::string share =
        "  const long long sw_first = (long long)blockIdx.x * sw_chunk;\n"
        "  const long long sw_last = sw_first + sw_chunk < n ? sw_first + sw_chunk : n;\n";
    if (shape_.is_flat)
      return text(share, "  for (long long sw_k = sw_first; sw_k < sw_last; ++sw_k) {\n",
                  flat_body(), "  }\n");
    return share + cpu_walk_loop();
  }

  std::string cpu_walk_loop() const {
    const int last = shape_.rank - 1;
    std::string bases, elements;
    int index = 0;
    const auto offset = [&] {
      std::string sum;
      for (int axis = 0; axis <= last; ++axis)
        sum += text(axis > 0 ? " + " : "", "sw_at[", axis, "] * sw_w.s", index, "[", axis, "]");
      return sum;
    };
    for (std::size_t k = 0; k < operands_.size(); ++k) {
      const Operand& operand = operands_[k];
      if (!operand.is_element()) continue;
      const std::string& name = operand.parameter->name;
      const int step = shape_.forms[k].step;
      bases += text("    ", constness(operand), element_type(operand), "* const sw_row_", name,
                    " = sw_p_", name, " + (", offset(), ");\n");
      if (step == 2)
        bases += text("    const long long sw_step", index, " = sw_w.s", index, "[", last, "];\n");
      elements += element(operand, text("sw_row_", name),
                          step == 0   ? "0"
                          : step == 1 ? "sw_k"
                                      : text("sw_k * sw_step", index));
      ++index;
    }
    if (code_.needs_index) {
      bases += text("    const long long sw_i = ", offset(), ", sw_i_step = sw_w.s", index, "[",
                    last, "];\n");
      elements += "    const long long i = sw_i + sw_k * sw_i_step;\n";
    }
    return text("  long long sw_at[", shape_.rank, "], sw_rest = sw_first;\n",
                "  for (int sw_axis = ", last, "; sw_axis >= 0; --sw_axis) {\n",
                "    sw_at[sw_axis] = sw_axis > 0 ? sw_rest % sw_w.shape[sw_axis] : sw_rest;\n",
                "    sw_rest /= sw_w.shape[sw_axis];\n  }\n",
                "  for (long long sw_left = sw_last - sw_first; sw_left > 0;) {\n",
                "    const long long sw_room = sw_w.shape[", last, "] - sw_at[", last, "];\n",
                "    const long long sw_run = sw_room < sw_left ? sw_room : sw_left;\n", bases,
                "    for (long long sw_k = 0; sw_k < sw_run; ++sw_k) {\n", elements, body(),
                "    }\n    sw_left -= sw_run;\n    sw_at[", last, "] += sw_run;\n",
                "    for (int sw_axis = ", last,
                "; sw_axis > 0 && sw_at[sw_axis] == sw_w.shape[sw_axis]; --sw_axis) {\n",
                "      sw_at[sw_axis] = 0;\n      ++sw_at[sw_axis - 1];\n    }\n  }\n");
  }

  const ElementwiseCode& code_;
  std::span<const Operand> operands_;
  const ElementwiseShape& shape_;
  bool on_gpu_;
};

}  // namespace

std::int64_t elements_per_thread(const std::string& operation) {
  constexpr std::size_t longest = 400;
  const bool loops = has_token(operation, "for") || has_token(operation, "while");
  return loops || operation.size() > longest ? 1 : 4;
}

std::string elementwise_source(const ElementwiseCode& words, std::span<const Operand> operands,
                               const ElementwiseShape& shape, bool on_gpu) {
  return ElementwiseText(words, operands, shape, on_gpu).write();
}

}  // namespace spanwise::ops::user_kernels
