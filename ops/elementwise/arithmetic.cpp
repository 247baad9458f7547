// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "arithmetic.hpp"

#include <algorithm>
#include <utility>

namespace spanwise::ops {
namespace {

// What broadcasting makes of two static extents: 1 stretches; an open extent may turn out to be 1,
// but where the other is known and larger it cannot matter.
std::int64_t broadcast_extent(const std::string& op, int axis, std::int64_t a, std::int64_t b) {
  if (a == b) return a;
  if (a == 1) return b;
  if (b == 1) return a;
  if (a == TensorType::any) return b;
  if (b == TensorType::any) return a;
  fail<LayoutError>(op, ": extents ", a, " and ", b, " at axis ", axis,
                    " do not broadcast; expected equal extents, or 1");
}

Shape broadcast_static(const std::string& op, std::span<const Variable> operands) {
  int rank = 0;
  for (const Variable& operand : operands) rank = std::max(rank, operand.type().rank());
  Shape shape(rank, 1);
  for (const Variable& operand : operands) {
    const Shape& own = operand.type().shape();
    const int skipped = rank - own.size();
    for (int axis = skipped; axis < rank; ++axis)
      shape[axis] = broadcast_extent(op, axis, shape[axis], own[axis - skipped]);
  }
  return shape;
}

class ArithmeticOp final : public Op {
 public:
  explicit ArithmeticOp(Arithmetic kind) : kind_(kind) {}

  std::string name() const override { return facts(kind_).op_name; }
  bool equals(const Op& other) const override {
    const auto* same = dynamic_cast<const ArithmeticOp*>(&other);
    return same != nullptr && same->kind_ == kind_;
  }
  std::size_t hash() const override { return std::hash<std::string>()(name()); }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    expect_arity(*this, inputs, facts(kind_).arity);
    TensorType type(result_dtype(kind_, inputs), broadcast_static(name(), inputs),
                    common_device(*this, inputs));
    return Apply::make(Ref<const Op>(this), {inputs.begin(), inputs.end()},
                       {Variable(std::move(type))});
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return context.device().is_cpu() ? make_cpu_thunk(kind_, context)
                                     : make_cuda_thunk(kind_, context);
  }

 private:
  Arithmetic kind_;
};

bool register_all() {
  for (const Arithmetic kind : {Arithmetic::add, Arithmetic::subtract, Arithmetic::multiply,
                                Arithmetic::divide, Arithmetic::negative}) {
    // One object each: ops are immutable, and one object compares fastest.
    const Ref<const Op> op = make_ref<const ArithmeticOp>(kind);
    register_op(facts(kind).registered, [op] { return op; });
  }
  return true;
}

[[maybe_unused]] const bool arithmetic_registered = register_all();

}  // namespace

const ArithmeticFacts& facts(Arithmetic kind) noexcept {
  static constexpr ArithmeticFacts all[] = {{"Add", "add", "add", 2},
                                            {"Subtract", "subtract", "subtract", 2},
                                            {"Multiply", "multiply", "multiply", 2},
                                            {"Divide", "divide", "divide", 2},
                                            {"Negative", "negative", "negative", 1}};
  return all[static_cast<int>(kind)];
}

DType result_dtype(Arithmetic kind, std::span<const Variable> operands) {
  DType dtype = operands[0].type().dtype();
  require<DTypeError>(dtype.is_computable(), facts(kind).op_name, ": cannot compute with ", dtype);
  for (const Variable& operand : operands.subspan(1))
    dtype = promote(dtype, operand.type().dtype());
  const bool is_refused = kind == Arithmetic::subtract || kind == Arithmetic::negative;
  require<DTypeError>(!dtype.is_bool() || !is_refused, facts(kind).op_name,
                      ": not defined for bool, as in NumPy; cast to an integer dtype");
  const bool is_exact = dtype.is_bool() || dtype.is_integer();
  return kind == Arithmetic::divide && is_exact ? float64 : dtype;
}

}  // namespace spanwise::ops
