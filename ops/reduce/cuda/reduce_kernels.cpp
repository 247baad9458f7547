// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "reduce_kernels.hpp"

#include <string_view>

#include "embedded/reduce_text.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/parse/c_text.hpp"

namespace spanwise::ops::reduce {
namespace {

std::string_view reduce_file(std::string_view name) {
  return embedded::file_text(embedded::reduce_text, name);
}

// Integer accumulators are unsigned, so that sums wrap around.
std::string accumulator_text(const ReductionTypes& types) {
  const bool is_value = types.kind == ReductionKind::min || types.kind == ReductionKind::max ||
                        info(types.kind).gives_index;
  if (is_value && types.accumulator.is_bool()) return "unsigned char";
  return !is_value && types.accumulator == int64 ? word_text(8) : element_text(types.accumulator);
}

bool is_scan(const CudaShape& shape) {
  return shape.form == CudaShape::Form::scan || shape.form == CudaShape::Form::scan_columns;
}
bool is_running_product(const CudaShape& shape) {
  return is_scan(shape) && shape.types.kind == ReductionKind::prod &&
         (shape.types.accumulator.is_floating() || shape.types.accumulator.is_complex());
}

std::string body_text(const CudaShape& shape) {
  const ReductionTypes& types = shape.types;
  const char* const name = info(types.kind).body;
  switch (types.kind) {
    case ReductionKind::any:
    case ReductionKind::all:
    case ReductionKind::count:
      return name;
    case ReductionKind::deviation:
      return text(name, "<", element_text(shape.subtrahend), " >");
    default:
      break;
  }
  if (is_running_product(shape)) return text("RunningProduct<", accumulator_text(types), " >");
  const std::string body = text(name, "<", accumulator_text(types), " >");
  return info(types.kind).gives_index ? text("IndexOf<", body, " >") : body;
}

/// The functions by which the kernels read elements that are computed from operands.
class ComputedText {
 public:
  explicit ComputedText(const CudaShape& shape) : shape_(shape) {}

  std::string write() const {
    return text(helpers, "struct Pack { ", members(), "};\n",
                "__device__ __forceinline__ E element_of(const JobArrays& arrays, const "
                "JobOffsets& at) {\n",
                result([&](int k) { return text("*(", address(k), ")"); }),
                "__device__ __forceinline__ Pack pack_at(const JobArrays& arrays, const "
                "JobOffsets& at) {\n",
                "  Pack pack;\n", loads(), "  return pack;\n}\n",
                "__device__ __forceinline__ E value_of(const JobArrays& arrays, const Pack& pack, "
                "int w) {\n",
                result([&](int k) { return text("pack.m", k, is_constant(k) ? "" : ".x[w]"); }),
                "__device__ __forceinline__ void move_along(JobOffsets& at, long long n) {\n",
                moves(), "}\n");
  }

 private:
  bool is_number(int k) const { return (shape_.numbers >> k & 1) != 0; }
  bool is_constant(int k) const { return (shape_.constants >> k & 1) != 0; }
  static std::string type(int k) { return text("sw_source::M", k); }
  static std::string address(int k) {
    return text("address_in<", type(k), " >(arrays.operands[", k, "]) + at.operand[", k, "]");
  }

  template <class F>
  std::string result(F&& element) const {
    std::string list;
    for (int k = 0; k < shape_.operands; ++k)
      list +=
          (is_number(k) ? text("value_in<", type(k), " >(arrays.operands[", k, "])") : element(k)) +
          ", ";
    return text("  sw_source::Z z;\n  sw_source::run(", list,
                "z);\n  return same_bytes<E>(z);\n}\n");
  }
  template <class F>
  std::string for_each_array(F&& write) const {
    std::string all;
    for (int k = 0; k < shape_.operands; ++k)
      if (!is_number(k)) all += write(k);
    return all;
  }
  std::string members() const {
    return for_each_array([&](int k) {
      return is_constant(k) ? text(type(k), " m", k, "; ")
                            : text("spanwise::Pack<", type(k), ", WIDTH> m", k, "; ");
    });
  }
  std::string loads() const {
    return for_each_array([&](int k) {
      return is_constant(k)
                 ? text("  pack.m", k, " = *(", address(k), ");\n")
                 : text("  pack.m", k, " = spanwise::load_pack<WIDTH>(", address(k), ");\n");
    });
  }
  std::string moves() const {
    return for_each_array([&](int k) {
      return is_constant(k) ? std::string() : text("  at.operand[", k, "] += n;\n");
    });
  }

  // An element of a dtype has one type here and another in the namespace of the source.
  static constexpr const char* helpers = R"(
template <class T>
__device__ __forceinline__ const T* address_in(const OperandBytes& operand) {
  return (const T*)operand.words[0];
}
template <class T>
__device__ __forceinline__ T value_in(const OperandBytes& operand) {
  T value;
  memcpy(&value, operand.words, sizeof(T));
  return value;
}
template <class T, class From>
__device__ __forceinline__ T same_bytes(From x) {
  T same;
  memcpy(&same, &x, sizeof(T));
  return same;
}
)";

  const CudaShape& shape_;
};

}  // namespace

int accumulator_bytes(const CudaShape& shape) noexcept {
  const ReductionTypes& types = shape.types;
  // The size of Running of running_product.cuh.
  if (is_running_product(shape)) return types.accumulator.itemsize() + 16;
  const int value = types.accumulator.itemsize();
  if (!info(types.kind).gives_index) return value;
  return (value + 7) / 8 * 8 + 8;
}

std::string cuda_source(const CudaShape& shape, const ElementSource* computed) {
  const bool is_in_blocks = shape.form == CudaShape::Form::scan;
  return text(
      reduce_file("half_bits.cuh"),
      is_in_blocks
          ? text("#include <spanwise/scan", shape.is_pipelined ? "_pipeline" : "", ".cuh>\n")
          : "",
      reduce_file("elements.cuh"), reduce_file("half_elements.cuh"),
      "#define SW_FN __device__ __forceinline__\n", reduce_file("reduce_bodies.cuh"),
      is_scan(shape) ? reduce_file("running_product.cuh") : "", "typedef ",
      element_text(shape.types.element), " E;\ntypedef ", element_text(shape.result),
      " Z;\ntypedef ", element_text(shape.subtrahend), " C;\ntypedef ", body_text(shape),
      " Body;\ntypedef ", shape.is_large ? "unsigned long long" : "unsigned int",
      " Index;\n#define FORM ", static_cast<int>(shape.form), "\n#define KEPT ", shape.kept,
      "\n#define REDUCED ", shape.reduced, "\n#define GROUP ", shape.group, "\n#define WIDTH ",
      shape.width, "\n#define IS_PACKED ", int{shape.is_packed}, "\n#define IS_PIPELINED ",
      int{shape.is_pipelined}, "\n#define GIVES_INDEX ", int{info(shape.types.kind).gives_index},
      "\n#define IS_SUM ", int{is_sum(shape.types.kind)}, "\n#define HAS_MASK ",
      int{shape.has_mask}, "\n#define HAS_PARAM ",
      int{info(shape.types.kind).has_subtrahend && !shape.has_own_mean}, "\n#define OWN_MEAN ",
      int{shape.has_own_mean}, "\n#define HAS_DIVISORS ", int{shape.has_divisors},
      "\n#define HAS_INITIAL ", int{shape.has_initial}, "\n#define FINISH ",
      static_cast<int>(shape.finish), "\n#define OPERANDS ", shape.operands, "\n",
      computed != nullptr ? "#include <spanwise/pack.cuh>\n" + computed->cuda_text("sw_source")
                          : "",
      reduce_file("reduce_common.cuh"),
      computed != nullptr ? ComputedText(shape).write() : std::string(),
      reduce_file("reductions.cuh"), reduce_file("scans.cuh"));
}

namespace {

ReduceKernels compiled(const CudaShape& shape, Device device, const ElementSource* computed) {
  // As on the host, products are rounded before they are added.
  const SourceModule module(cuda_source(shape, computed),
                            {.options = {"--fmad=false"}, .device = device});
  ReduceKernels kernels{module, module.get_function("run"), {}, {}, {}, {}};
  if (shape.form == CudaShape::Form::scan) {
    if (!shape.is_pipelined) kernels.lines = module.get_function("lines");
  } else if (shape.form == CudaShape::Form::scan_columns) {
    kernels.totals = module.get_function("totals");
    kernels.carries = module.get_function("carries");
  } else {
    kernels.fold = module.get_function("fold");
  }
  return kernels;
}

}  // namespace

const ReduceKernels& ReduceKernelTable::get(const CudaShape& shape, Device device,
                                            const ElementSource* computed) {
  auto& list = by_kind_[static_cast<std::size_t>(shape.types.kind)];
  return list.get(Key{shape, device}, [&] { return compiled(shape, device, computed); });
}

const ReduceKernels& reduce_kernels(const CudaShape& shape, Device device) {
  static auto& table = *new ReduceKernelTable;  // never destroyed: see KernelTable
  return table.get(shape, device, nullptr);
}

}  // namespace spanwise::ops::reduce
