// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "reduction_text.hpp"

#include "spanwise/error.hpp"
#include "words.hpp"

namespace spanwise::ops::user_kernels {
namespace {

/// One text in the making.
class ReductionText {
 public:
  ReductionText(const ReductionWords& words, std::span<const Operand> operands,
                const ReductionShape& shape, bool on_gpu)
      : words_(words), operands_(operands), shape_(shape), on_gpu_(on_gpu) {}

  std::string write() {
    std::string types = text("typedef ", words_.accumulator, " sw_acc;\n");
    types += text("static_assert(sizeof(sw_acc) <= ", largest_accumulator,
                  ", \"a reduction's accumulator has at most 64 bytes\");\n");
    types += on_gpu_ ? text("typedef unsigned ", shape_.is_large ? "long long" : "int",
                            " sw_index;\n#define SW_BESIDE ", shape_.side_by_side, "\n")
                     : text("typedef long long sw_index;\n");
    types += walk_struct("sw_kept_walk", shape_.kept_rank, kept_operands());
    types += walk_struct("sw_gone_walk", shape_.gone_rank, gone_operands());
    const std::string list = parameters(types);
    const std::string& name = words_.spec.common.name;
    const std::string reduce = text(
        "__device__ inline sw_acc sw_reduce(sw_acc a, sw_acc b) {\n  return static_cast<sw_acc>(",
        numbered(text("reduce_expr of ", name), words_.spec.reduce_expr), ");\n}\n");
    return text(opening(words_.spec.common, operands_, types), reduce, kernel(name, list, false),
                kernel(name + "_fold", list, true));
  }

 private:
  bool is_pointers() const { return words_.spec.spelling == Spelling::pointers; }
  static bool is_input_element(const Operand& operand) {
    return operand.is_element() && !operand.parameter->is_output;
  }
  static bool is_output(const Operand& operand) { return operand.parameter->is_output; }

  int inputs() const {
    return static_cast<int>(std::count_if(operands_.begin(), operands_.end(), is_input_element));
  }
  int outputs() const {
    return static_cast<int>(std::count_if(operands_.begin(), operands_.end(), is_output));
  }
  int kept_operands() const { return inputs() + outputs() + (words_.needs_index ? 1 : 0); }
  int gone_operands() const { return inputs() + (words_.needs_index ? 1 : 0); }

  std::string parameters(std::string& types) {
    std::string list;
    for (std::size_t i = 0; i < operands_.size(); ++i)
      list += parameter_text(operands_[i], shape_.forms[i], false, types);
    for (const Operand& operand : operands_) {
      if (!is_input_element(operand) || !operand.parameter->is_used_whole) continue;
      const std::string& name = operand.parameter->name;
      types += text("typedef sw_raw<", constness(operand), element_type(operand), ", ", shape_.axes,
                    ", false> sw_raw_", name, ";\n");
      list += text("const sw_raw_", name, " ", name, ", ");
    }
    return list +
           "const sw_kept_walk sw_kept, const sw_gone_walk sw_gone, const long long sw_results, "
           "const long long sw_length, const long long sw_share, const long long sw_apiece, "
           "sw_acc* sw_parts";
  }

  // long long <prefix>0, ... : where each operand of a walk is at step `index`.
  std::string places(const std::string& walk, const std::string& prefix, const std::string& index,
                     int rank, int count) const {
    std::string zeros, steps;
    for (int k = 0; k < count; ++k) {
      zeros += text("    long long ", prefix, k, " = 0;\n");
      steps +=
          text("      ", prefix, k, " += (long long)sw_place * ", walk, ".s", k, "[sw_axis];\n");
    }
    return text(
        zeros, "    {\n    sw_index sw_rest = ", index,
        ";\n#pragma unroll\n    for (int sw_axis = ", rank - 1, "; sw_axis >= 0; --sw_axis) {\n",
        "      const sw_index sw_extent = (sw_index)", walk, ".shape[sw_axis];\n",
        "      const sw_index sw_place = sw_axis > 0 ? sw_rest % sw_extent : sw_rest;\n",
        "      sw_rest = sw_axis > 0 ? sw_rest / sw_extent : 0;\n", steps, "    }\n    }\n");
  }

  // The elements that map_expr names, at what `offset(k, step)` says for operand k of the walk.
  template <class F>
  std::string elements(F&& offset) const {
    std::string out;
    int k = 0;
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const Operand& operand = operands_[i];
      if (!is_input_element(operand)) continue;
      const std::string type = element_type(operand), &name = operand.parameter->name;
      const std::string place =
          text("sw_p_", name, " + sw_kept", k, " + ", offset(k, int{shape_.forms[i].step}));
      out += is_pointers() ? text("      const ", type, "* const sw_at_", name, " = ", place, ";\n")
                           : text("      const ", type, " ", name, " = *(", place, ");\n");
      ++k;
    }
    if (words_.needs_index)
      out += text("      const long long i = sw_kept", inputs() + outputs(), " + ", offset(k, 2),
                  ";\n");
    return out;
  }

  std::string mapped() const {
    return text("      return static_cast<sw_acc>(",
                numbered(text("map_expr of ", words_.spec.common.name), words_.map_expr), ");\n");
  }

  // How many elements each result is made of, under CuPy's names.
  std::string counts() const {
    const std::string all = words_.map_expr + " " + words_.spec.post_map_expr;
    std::string out;
    if (has_word(all, "n")) out += "  const long long n = sw_results * sw_length;\n";
    if (has_word(all, "_in_ind")) out += "  const sw_count _in_ind{sw_results * sw_length};\n";
    if (has_word(all, "_out_ind")) out += "  const sw_count _out_ind{sw_results};\n";
    return out;
  }

  std::string finish() const {
    std::string out = "    const auto sw_finish = [&](sw_acc a) {\n";
    int k = inputs();
    std::string first;
    for (const Operand& operand : operands_) {
      if (!is_output(operand)) continue;
      const std::string& name = operand.parameter->name;
      if (first.empty()) first = name;
      out += text("      ", element_type(operand), "& ", name, " = sw_p_", name, "[sw_kept", k++,
                  "];\n");
    }
    if (words_.spec.post_map_expr.empty()) return out + text("      ", first, " = a;\n    };\n");
    return out +
           numbered(text("post_map_expr of ", words_.spec.common.name),
                    words_.spec.post_map_expr + "\n;") +
           "    };\n";
  }

  std::string nothing() const {
    if (words_.spec.identity.empty()) return "sw_acc()";
    return text("static_cast<sw_acc>(", words_.spec.identity, ")");
  }

  std::string kernel(const std::string& name, const std::string& list, bool folds) const {
    return text("extern \"C\" __global__ void ", name, "(", list, ") {\n",
                on_gpu_ ? gpu_body(folds) : cpu_body(folds), "}\n");
  }

  // The number of elements a result, of the reduction itself, also where parts are folded.
  std::string partial(bool folds) const {
    return folds ? "sw_finish(sw_a);\n"
                 : "if (gridDim.y == 1) sw_finish(sw_a); else sw_parts[blockIdx.y * sw_results + "
                   "(long long)sw_result] = sw_a;\n";
  }

  // ---- a GPU: threads of a block side by side over results, and in depth over elements

  std::string gpu_body(bool folds) const {
    const std::string beside = folds ? "1" : "SW_BESIDE";
    const std::string map =
        folds ? "      return sw_parts[(long long)sw_r * sw_results + (long long)sw_result];\n"
              : places("sw_gone", "sw_gone", "(sw_index)sw_r", shape_.gone_rank, gone_operands()) +
                    elements([](int k, int) { return text("sw_gone", k); }) + mapped();
    return text(
        counts_of(folds), "  constexpr int sw_depth = ", reduction_block, " / ", beside, ";\n",
        "  __shared__ alignas(16) unsigned char sw_bytes[", reduction_block,
        " * sizeof(sw_acc)];\n  sw_acc* const sw_tile = (sw_acc*)sw_bytes;\n",
        "  const int sw_down = threadIdx.x / ", beside, ";\n",
        "  const sw_index sw_result = (sw_index)blockIdx.x * ", beside, " + threadIdx.x % ", beside,
        ";\n  const long long sw_first = ", folds ? "0" : "blockIdx.y * sw_share", ";\n",
        "  const long long sw_end = ",
        folds ? "sw_length" : "sw_first + sw_share < sw_length ? sw_first + sw_share : sw_length",
        ";\n  const bool sw_is_there = sw_result < (sw_index)sw_results;\n",
        places("sw_kept", "sw_kept", "sw_is_there ? sw_result : 0", shape_.kept_rank,
               kept_operands()),
        "    const auto sw_map = [&](long long sw_r) -> sw_acc {\n", map, "    };\n", finish(),
        R"(  if (sw_is_there && sw_first + sw_down < sw_end) {
    long long sw_r = sw_first + sw_down;
    sw_acc sw_a = sw_map(sw_r);
#pragma unroll 4
    for (sw_r += sw_depth; sw_r < sw_end; sw_r += sw_depth) sw_a = sw_reduce(sw_a, sw_map(sw_r));
    sw_tile[threadIdx.x] = sw_a;
  }
  __syncthreads();
  const long long sw_left = sw_end - sw_first;
#pragma unroll
  for (int sw_half = sw_depth / 2; sw_half > 0; sw_half /= 2) {
    if (sw_is_there && sw_down < sw_half && sw_down + sw_half < sw_left)
      sw_tile[threadIdx.x] =
          sw_reduce(sw_tile[threadIdx.x], sw_tile[threadIdx.x + sw_half * )",
        beside, R"(]);
    __syncthreads();
  }
  if (sw_is_there && sw_down == 0) {
    sw_acc sw_a = sw_left > 0 ? sw_tile[threadIdx.x] : )",
        nothing(), ";\n    ", partial(folds), "  }\n");
  }

  // _in_ind counts elements of the arrays, which a fold does not know.
  std::string counts_of(bool folds) const {
    std::string out = counts();
    if (!folds) return out;
    for (std::size_t at; (at = out.find("sw_length")) != std::string::npos;)
      out.replace(at, 9, "sw_share");
    return out;
  }

  // ---- the CPU: a loop over the results of a block, and in it one over elements, in rows

  std::string cpu_body(bool folds) const {
    const std::string block =
        counts_of(folds) + R"(  const long long sw_from = (long long)blockIdx.x * sw_apiece;
  const long long sw_to = sw_from + sw_apiece < sw_results ? sw_from + sw_apiece : sw_results;
)";
    if (shape_.by_columns && !folds) return block + cpu_columns();
    return text(block, "  for (long long sw_result = sw_from; sw_result < sw_to; ++sw_result) {\n",
                places("sw_kept", "sw_kept", "sw_result", shape_.kept_rank, kept_operands()),
                finish(), "    sw_acc sw_a = ", nothing(), ";\n    bool sw_has = false;\n",
                folds ? cpu_fold() : over_gone(cpu_row()), "    ", partial(folds), "  }\n");
  }

  static std::string cpu_fold() {
    return R"(    for (long long sw_r = 0; sw_r < sw_length; ++sw_r) {
      const sw_acc sw_part = sw_parts[sw_r * sw_results + sw_result];
      sw_a = sw_has ? sw_reduce(sw_a, sw_part) : sw_part;
      sw_has = true;
    }
)";
  }

  // Lanes of a row are combined at once, which a processor's vectors can do, and then with one
  // another.
  std::string cpu_row() const {
    const auto offset = [](int k, int step) {
      return step == 0   ? text("sw_row", k)
             : step == 1 ? text("sw_row", k, " + sw_k")
                         : text("sw_row", k, " + sw_k * sw_step", k);
    };
    return text("      const auto sw_map = [&](long long sw_k) -> sw_acc {\n", elements(offset),
                mapped(), "      };\n", R"(      constexpr int sw_lanes = 32;
      long long sw_k = 0;
      if (sw_many >= 2 * sw_lanes) {
        sw_acc sw_lane[sw_lanes];
        for (int sw_l = 0; sw_l < sw_lanes; ++sw_l) sw_lane[sw_l] = sw_map(sw_l);
        for (sw_k = sw_lanes; sw_k + sw_lanes <= sw_many; sw_k += sw_lanes)
          for (int sw_l = 0; sw_l < sw_lanes; ++sw_l)
            sw_lane[sw_l] = sw_reduce(sw_lane[sw_l], sw_map(sw_k + sw_l));
        for (int sw_half = sw_lanes / 2; sw_half > 0; sw_half /= 2)
          for (int sw_l = 0; sw_l < sw_half; ++sw_l)
            sw_lane[sw_l] = sw_reduce(sw_lane[sw_l], sw_lane[sw_l + sw_half]);
        sw_a = sw_has ? sw_reduce(sw_a, sw_lane[0]) : sw_lane[0];
        sw_has = true;
      }
      for (; sw_k < sw_many; ++sw_k) {
        const sw_acc sw_b = sw_map(sw_k);
        sw_a = sw_has ? sw_reduce(sw_a, sw_b) : sw_b;
        sw_has = true;
      }
)");
  }

  // Results that are neighbours in memory, all of them for one element after the other.
  std::string cpu_columns() const {
    const int last = shape_.kept_rank - 1;
    const auto offset = [&](int k, int step) {
      const int kept = k < inputs() ? k : inputs() + outputs();
      const std::string row = text("sw_row", k, " + sw_k * sw_step", k);
      return step == 0   ? row
             : step == 1 ? row + " + sw_c"
                         : text(row, " + sw_c * sw_kept.s", kept, "[", last, "]");
    };
    const std::string row = text(
        "      for (long long sw_k = 0; sw_k < sw_many; ++sw_k) {\n"
        "      const auto sw_map = [&](long long sw_c) -> sw_acc {\n",
        elements(offset), mapped(), R"(      };
      if (sw_has)
        for (long long sw_c = 0; sw_c < sw_wide; ++sw_c)
          sw_lane[sw_c] = sw_reduce(sw_lane[sw_c], sw_map(sw_c));
      else
        for (long long sw_c = 0; sw_c < sw_wide; ++sw_c) sw_lane[sw_c] = sw_map(sw_c);
      sw_has = true;
      }
)");
    return text("  for (long long sw_begin = sw_from; sw_begin < sw_to;) {\n",
                places("sw_kept", "sw_kept", "sw_begin", shape_.kept_rank, kept_operands()),
                "    long long sw_wide = sw_kept.shape[", last, "] - sw_begin % sw_kept.shape[",
                last, "];\n    if (sw_wide > sw_to - sw_begin) sw_wide = sw_to - sw_begin;\n",
                "    if (sw_wide > ", reduction_columns, ") sw_wide = ", reduction_columns,
                ";\n    sw_acc sw_lane[", reduction_columns, "];\n    bool sw_has = false;\n",
                over_gone(row), "    for (long long sw_c = 0; sw_c < sw_wide; ++sw_c) {\n",
                "    const long long sw_result = sw_begin + sw_c;\n",
                places("sw_kept", "sw_kept", "sw_result", shape_.kept_rank, kept_operands()),
                finish(), "    sw_acc sw_a = sw_has ? sw_lane[sw_c] : ", nothing(), ";\n    ",
                partial(false), "    }\n    sw_begin += sw_wide;\n  }\n");
  }

  // `row` for each stretch of `sw_many` elements along the last axis that goes: operand k's first
  // is at sw_row<k>, the next sw_step<k> further.
  std::string over_gone(const std::string& row) const {
    const int last = shape_.gone_rank - 1;
    std::string rows;
    for (int k = 0; k < gone_operands(); ++k) {
      std::string sum;
      for (int axis = 0; axis <= last; ++axis)
        sum += text(axis > 0 ? " + " : "", "sw_at[", axis, "] * sw_gone.s", k, "[", axis, "]");
      rows += text("      const long long sw_row", k, " = ", sum, ", sw_step", k, " = sw_gone.s", k,
                   "[", last, "];\n");
    }
    return text(R"(    const long long sw_first = blockIdx.y * sw_share;
    const long long sw_end = sw_first + sw_share < sw_length ? sw_first + sw_share : sw_length;
    long long sw_at[)",
                shape_.gone_rank, "], sw_rest = sw_first;\n    for (int sw_axis = ", last,
                R"(; sw_axis >= 0; --sw_axis) {
      sw_at[sw_axis] = sw_axis > 0 ? sw_rest % sw_gone.shape[sw_axis] : sw_rest;
      if (sw_axis > 0) sw_rest /= sw_gone.shape[sw_axis];
    }
    for (long long sw_left = sw_end - sw_first; sw_left > 0;) {
      const long long sw_room = sw_gone.shape[)",
                last, "] - sw_at[", last,
                "];\n      const long long sw_many = sw_room < sw_left ? sw_room : sw_left;\n",
                rows, row, "      sw_left -= sw_many;\n      sw_at[", last,
                "] += sw_many;\n      for (int sw_axis = ", last,
                R"(; sw_axis > 0 && sw_at[sw_axis] == sw_gone.shape[sw_axis]; --sw_axis) {
        sw_at[sw_axis] = 0;
        ++sw_at[sw_axis - 1];
      }
    }
)");
  }

  const ReductionWords& words_;
  std::span<const Operand> operands_;
  const ReductionShape& shape_;
  bool on_gpu_;
};

}  // namespace

std::string reduction_source(const ReductionWords& words, std::span<const Operand> operands,
                             const ReductionShape& shape, bool on_gpu) {
  return ReductionText(words, operands, shape, on_gpu).write();
}

}  // namespace spanwise::ops::user_kernels
