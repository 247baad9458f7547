// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "op_sdk/kernel_op/declaration.hpp"
#include "op_sdk/kernel_op/parameter.hpp"

namespace spanwise::op_sdk {

/// The op of a KernelOpSpec.
class KernelOp final : public Op {
 public:
  explicit KernelOp(KernelOpSpec spec) : declaration_(std::move(spec)) {}

  std::string name() const override { return declaration_.spec.name; }
  Ref<Apply> make_node(std::span<const Variable> inputs) const override;
  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override;
  bool equals(const Op& other) const override;
  std::size_t hash() const override;
  AliasMap destroy_map() const override { return declaration_.overwrites; }
  std::vector<Cotangent> gradient(const Apply& node,
                                  std::span<const Cotangent> outputs) const override;

  const KernelDeclaration& declaration() const noexcept { return declaration_; }

 private:
  void check_input(const DeclaredParameter& parameter, const Variable& input,
                   const TypeBindings& bindings) const;

  KernelDeclaration declaration_;
};

/// Compiles the kernel of `declaration` for `device` with the dtype letters bound.
Kernel compile_kernel(const KernelDeclaration& declaration, const TypeBindings& bindings,
                      Device device);

/// Counters of contiguous inputs (KernelOpCounts), shared by all ops of a name.
struct CopyCounter {
  std::atomic<std::int64_t> shared{0}, copied{0}, bytes_copied{0};
};
CopyCounter& copy_counter(const std::string& op_name);

/// The thunk of a node of `op` that launches `kernel`.
std::unique_ptr<Thunk> make_kernel_thunk(Ref<const KernelOp> op, const TypeBindings& bindings,
                                         Kernel kernel, const ThunkContext& context);

}  // namespace spanwise::op_sdk
