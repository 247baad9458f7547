// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <string>

#include "spanwise/collectives/communicator.hpp"
#include "spanwise/graph/op.hpp"
#include "spanwise/op_sdk.hpp"
#include "spanwise/op_sdk/expression.hpp"

namespace spanwise::ops {
namespace {

/// The properties of a collective op; ops with equal properties are equal. `number` orders the
/// nodes of one communicator: the op gets it from Communicator::next_node(), which all ranks call
/// in the same order, and keeps it in pickles.
struct CollectiveSpec {
  Collective kind = Collective::all_reduce;
  std::string communicator;
  Reduction reduction = Reduction::sum;
  int peer = 0;  ///< as CollectiveOptions::peer
  std::int64_t number = 0;

  friend bool operator==(const CollectiveSpec&, const CollectiveSpec&) = default;
};

OpProperties properties_of(const CollectiveSpec& spec) {
  return {{"kind", std::string(name_of(spec.kind))},
          {"communicator", spec.communicator},
          {"reduction", std::string(name_of(spec.reduction))},
          {"peer", std::int64_t{spec.peer}},
          {"number", spec.number}};
}

Ref<Communicator> open_communicator(const std::string& name, const std::string& op) {
  Ref<Communicator> communicator = Communicator::find(name);
  if (!communicator)
    fail<CollectiveError>(op, ": there is no open communicator \"", name,
                          "\" in this process; call spanwise.collectives.init(name=\"", name,
                          "\") before compiling the function");
  return communicator;
}

/// Runs the operation on the device of the node. Not asynchronous: NCCL's calls must not be part of
/// a launch batch, since the ranks' batches differ.
class CollectiveThunk final : public Thunk {
 public:
  CollectiveThunk(const ThunkContext& context, const CollectiveSpec& spec, const std::string& name)
      : spec_(spec),
        label_(text("graph node ", spec.number)),
        communicator_(open_communicator(spec.communicator, name)),
        input_(context.input(0)),
        output_(context.output(0)),
        device_(context.device()) {}

  std::vector<int> run() override {
    const Array source = to_device(*input_->value, device_);
    CollectiveOptions options{.reduction = spec_.reduction, .peer = spec_.peer, .label = label_};
    if (spec_.kind == Collective::send) {
      communicator_->run(spec_.kind, source, options);
      output_->value = source;
      return {};
    }
    // Only rank `peer` receives the result of reduce; the output of the others is 0.
    const bool receives = spec_.kind != Collective::reduce || spec_.peer == communicator_->rank();
    const Shape shape =
        Communicator::result_shape(spec_.kind, source.shape(), communicator_->size());
    const Array& target = output_array(*output_, shape, source.dtype(), device_);
    if (!receives) fill(target, Scalar(0));
    options.out = receives ? &target : nullptr;
    communicator_->run(spec_.kind, source, options);
    return {};
  }

 private:
  CollectiveSpec spec_;
  std::string label_;
  Ref<Communicator> communicator_;
  Ref<Cell> input_, output_;
  Device device_;
};

class CollectiveOp final : public SequencedOp {
 public:
  explicit CollectiveOp(CollectiveSpec spec) : spec_(std::move(spec)) {
    Communicator::note_node(spec_.communicator, spec_.number);
  }

  std::string name() const override {
    return text("Collective{kind=", name_of(spec_.kind), ", communicator=", spec_.communicator,
                ", number=", spec_.number, '}');
  }
  std::string_view sequence() const override { return spec_.communicator; }
  std::int64_t position() const override { return spec_.number; }
  bool foldable(const Apply&) const override { return false; }

  bool equals(const Op& other) const override {
    const auto* same = dynamic_cast<const CollectiveOp*>(&other);
    return same != nullptr && same->spec_ == spec_;
  }
  std::size_t hash() const override {
    return std::hash<std::string>()(spec_.communicator) ^ std::hash<std::int64_t>()(spec_.number);
  }
  AliasMap view_map() const override {
    return spec_.kind == Collective::send ? AliasMap{{0, {0}}} : AliasMap{};
  }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    expect_arity(*this, inputs, 1);
    const TensorType& type = inputs[0].type();
    Communicator::check_reduction(spec_.kind, spec_.reduction, type.dtype());
    Shape shape = type.shape();
    if (changes_axis_0()) {
      if (shape.empty()) shape = Shape{TensorType::any};
      shape[0] = TensorType::any;
    }
    return make_apply(*this, inputs,
                      TensorType(type.dtype(), std::move(shape), common_device(*this, inputs)));
  }

  std::vector<ExtentSource> extent_sources(const Apply& node, int, int axis) const override {
    if (node.inputs()[0].type().rank() == 0 || (changes_axis_0() && axis == 0)) return {};
    return {{0, axis}};
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return std::make_unique<CollectiveThunk>(context, spec_, name());
  }

  bool connects(const Apply&, int, int) const override { return spec_.kind != Collective::recv; }

  /// The derivatives of the sum of all ranks' costs, as in torch.distributed.nn: on each rank,
  /// `outputs` holds the derivative of that rank's cost.
  std::vector<Cotangent> gradient(const Apply& node,
                                  std::span<const Cotangent> outputs) const override {
    const Variable& x = node.inputs()[0];
    const Variable& g = outputs[0].variable();
    const bool is_linear = spec_.reduction == Reduction::sum || spec_.reduction == Reduction::mean;
    if (!is_linear)
      return {Cotangent::undefined(text("the derivative of ", name_of(spec_.kind), " with op=\"",
                                        name_of(spec_.reduction), "\" is not defined"))};
    switch (spec_.kind) {
      case Collective::all_reduce:
        return {collective_of(Collective::all_reduce, g)};
      case Collective::reduce:
        return {divided_for_mean(collective_of(Collective::broadcast, g))};
      case Collective::broadcast:
        return {collective_of(Collective::reduce, g)};
      case Collective::all_gather:
        return {expression::reshape_like(collective_of(Collective::reduce_scatter, g), x)};
      case Collective::reduce_scatter:
        return {divided_for_mean(collective_of(Collective::all_gather, g))};
      case Collective::all_to_all:
        return {collective_of(Collective::all_to_all, g)};
      default:
        return {Cotangent::undefined(text("the derivative of ", name_of(spec_.kind),
                                          " would need a message in the other direction; use "
                                          "broadcast or all_to_all"))};
    }
  }

 private:
  bool changes_axis_0() const noexcept {
    return spec_.kind == Collective::all_gather || spec_.kind == Collective::reduce_scatter;
  }

  // A new node of kind `kind` over `g` in the same communicator; all_reduce takes this op's
  // reduction, other kinds sum.
  Variable collective_of(Collective kind, const Variable& g) const {
    CollectiveSpec spec{kind, spec_.communicator, Reduction::sum, spec_.peer,
                        Communicator::next_node(spec_.communicator)};
    if (kind == Collective::all_reduce) spec.reduction = spec_.reduction;
    return expression::apply("collective", {g}, properties_of(spec));
  }

  // `g`, divided by the number of ranks if the reduction is a mean.
  Variable divided_for_mean(const Variable& g) const {
    if (spec_.reduction != Reduction::mean) return g;
    return expression::operator/(g, open_communicator(spec_.communicator, name())->size());
  }

  CollectiveSpec spec_;
};

Ref<const Op> make_collective(const OpProperties& properties) {
  constexpr const char* op = "collective";
  expect_properties(op, properties, {"kind", "communicator", "reduction", "peer", "number"});
  return make_ref<const CollectiveOp>(
      CollectiveSpec{collective_named(property<std::string>(op, properties, "kind")),
                     property<std::string>(op, properties, "communicator"),
                     reduction_named(property<std::string>(op, properties, "reduction")),
                     static_cast<int>(property<std::int64_t>(op, properties, "peer")),
                     property<std::int64_t>(op, properties, "number")});
}

[[maybe_unused]] const bool collective_registered = register_op("collective", make_collective);

}  // namespace
}  // namespace spanwise::ops
