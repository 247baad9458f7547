// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spanwise/core/array.hpp"
#include "spanwise/core/dtype.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/graph/op.hpp"
#include "spanwise/graph/variable.hpp"

namespace spanwise {

/// What an op computes for each element, as text in CUDA C. Nodes with a body are fused with
/// elementwise operations. Inputs broadcast to the shape of the outputs.
struct ElementBody {
  struct Value {
    std::string name;  ///< in `operation`
    DType dtype;       ///< of the variable. In the text 16-bit floats are float
    friend bool operator==(const Value&, const Value&) = default;
  };

  std::string op;  ///< the op's name, for messages
  std::vector<Value> inputs, outputs;
  std::string operation;   ///< statements that read the inputs and assign the outputs
  std::string preamble{};  ///< text before it: functions and types
  /// Names of dtypes in the text: {"T", float32}.
  std::vector<std::pair<std::string, DType>> types{};

  friend bool operator==(const ElementBody&, const ElementBody&) = default;
};

/// Second base class, beside Op, of ops that may have a body.
class SW_API HasElementBody {
 public:
  virtual ~HasElementBody();
  /// The body of a node of the op; null where it has none.
  virtual std::shared_ptr<const ElementBody> element_body(const Apply& node) const = 0;
};

/// The result of a node that another node computes while it reads it, element by element, so that
/// it is never in memory. Each element depends on the operands' elements at the same index.
class ElementSource {
 public:
  /// The maximum number of operands.
  static constexpr int max_operands = 16;

  virtual ~ElementSource();
  /// Begins a call: reads the input cells. Returns the shape of the result; nothing where the
  /// elements of this call cannot be computed alone, so that only compute_all() may be called.
  virtual std::optional<Shape> begin() = 0;
  /// After begin(): arrays on the node's device that broadcast to the shape. Those of rank 0 may be
  /// on the host.
  virtual std::span<const Array* const> operands() const = 0;
  /// Computes the whole result into memory.
  virtual Array compute_all() = 0;
  /// On the CPU: computes `result`, a part of the result. `operands` are views of operands() that
  /// select the same part and broadcast to its shape, and the operands of rank 0. Several threads
  /// may call it at the same time.
  virtual void compute(std::span<const Array* const> operands, const Array& result) const = 0;
  /// For a GPU: CUDA C that defines, in the namespace `name`, the types M0, M1, ... of the operands
  /// and Z of the result, as they are in memory, and the function run(M0, M1, ..., Z&). It follows
  /// <spanwise/half_bits.cuh>.
  virtual std::string cuda_text(std::string_view name) const = 0;
};

/// Second base class, beside Op, of ops whose result may be computed where it is read.
class ElementProducer {
 public:
  virtual ~ElementProducer();
  /// Whether all nodes of the op have one output with an ElementSource.
  virtual bool has_element_source() const = 0;
  /// The source of a node of the op; `context` as for make_thunk().
  virtual std::unique_ptr<ElementSource> element_source(const ThunkContext& context) const = 0;
};

/// Second base class, beside Op, of ops that may read their one input from an ElementSource.
class ElementConsumer {
 public:
  virtual ~ElementConsumer();
  /// The op that replaces `node`, a node of this op, and the node of `producer`, an
  /// ElementProducer, that computes its input: it has the inputs of the latter and the output of
  /// the former. Null where the node needs its input in memory.
  virtual Ref<const Op> fused_with(Ref<const Op> producer, const Apply& node) const = 0;
};

using GivesElements [[deprecated("use ElementProducer")]] = ElementProducer;
using TakesElements [[deprecated("use ElementConsumer")]] = ElementConsumer;

}  // namespace spanwise
