// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "core/string_utils.hpp"
#include "kernels/bundle.hpp"
#include "op_sdk/kernel_declaration.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/core/view.hpp"
#include "spanwise/kernels/kernel_variables.hpp"
#include "spanwise/runtime/queued_work.hpp"

// kernel_op(): the op of a declared CUDA kernel, and the thunk that launches it.
namespace spanwise {
namespace op_sdk {
namespace {

/// Evaluates a declaration's names and expressions for given input shapes.
class NamedExtents {
 public:
  explicit NamedExtents(const KernelDeclaration& declaration)
      : declaration_(declaration), values_(declaration.preset) {}

  /// Sets the names from the inputs' shapes, whose extents may be TensorType::any. Throws
  /// LayoutError naming the op, the input, the axis, the expected and the actual extent.
  void bind(std::span<const Shape* const> shapes) {
    const auto extent = [&](const KernelDeclaration::BoundAxis& axis) {
      return (*shapes[static_cast<std::size_t>(axis.input)])[axis.axis];
    };
    for (const KernelDeclaration::BoundAxis& axis : declaration_.binding)
      values_[static_cast<std::size_t>(axis.name)] = extent(axis);
    for (const KernelDeclaration::BoundAxis& axis : declaration_.checked) {
      const std::int64_t got = extent(axis);
      if (got != TensorType::any && is_known(*axis.expression) && got != value(*axis.expression))
          [[unlikely]]
        fail_extent(axis, got);
    }
  }

  bool is_known(const ExtentExpression& expression) const noexcept {
    return std::ranges::all_of(expression.names(), [&](int name) {
      return values_[static_cast<std::size_t>(name)] != TensorType::any ||
             declaration_.is_preset(name);
    });
  }

  /// The value of an expression for which is_known() is true. Throws ArgumentError.
  std::int64_t value(const ExtentExpression& expression) const {
    return expression.evaluate(values_);
  }
  /// The shape of `parameter`, with TensorType::any for unknown extents. Throws LayoutError for a
  /// negative extent.
  Shape shape(const DeclaredParameter& parameter) const {
    Shape shape(parameter.rank());
    for (int axis = 0; axis < shape.size(); ++axis) {
      const ExtentExpression& extent = parameter.extents[static_cast<std::size_t>(axis)];
      if (!is_known(extent)) {
        shape[axis] = TensorType::any;
        continue;
      }
      shape[axis] = value(extent);
      if (shape[axis] < 0)
        fail<LayoutError>(declaration_.spec.name, ": output ", parameter.name, ", axis ", axis,
                          ": ", extent.text(), " = ", shape[axis], "; expected an extent >= 0");
    }
    return shape;
  }

 private:
  [[noreturn]] void fail_extent(const KernelDeclaration::BoundAxis& axis, std::int64_t got) const {
    const DeclaredParameter& input = declaration_.inputs[static_cast<std::size_t>(axis.input)];
    const std::string& written = axis.expression->text();
    const std::string expected = std::to_string(value(*axis.expression));
    fail<LayoutError>(declaration_.spec.name, ": input ", input.name, ", axis ", axis.axis,
                      ": expected extent ", expected == written ? "" : written + " = ", expected,
                      ", got ", got);
  }

  const KernelDeclaration& declaration_;
  std::vector<std::int64_t> values_;
};

std::string template_arguments(const KernelDeclaration& declaration, const TypeBindings& bindings) {
  return joined(declaration.template_parameters, ", ", [&](const std::string& name) {
    const auto scalar = declaration.spec.scalars.find(name);
    return scalar != declaration.spec.scalars.end()
               ? text(scalar->second)
               : c_type(bindings.at(name[0]), declaration.spec.name).name;
  });
}

// Defines dtype letters as type aliases, not macros: headers use the same letters for template
// parameters, which may shadow a type but would be replaced by a macro.
std::string with_letters(const KernelDeclaration& declaration, const TypeBindings& bindings) {
  std::string includes, types;
  for (const auto& [letter, dtype] : bindings) {
    const CType type = c_type(dtype, declaration.spec.name);
    if (!type.header.empty()) includes += text("#include <", type.header, ">\n");
    types += text("using ", letter, " = ", type.name, ";\n");
  }
  if (types.empty()) return declaration.spec.source;
  return includes + types + "#line 1\n" + declaration.spec.source;
}

// Checks pointee types that were unknown before the dtype letters were bound.
void check_pointees(const KernelDeclaration& declaration, const TypeBindings& bindings,
                    std::span<const KernelParameter> parameters) {
  for (std::size_t i = 0; i < declaration.arguments.size() && i < parameters.size(); ++i) {
    const DeclaredParameter* declared = declaration.parameter_of(declaration.arguments[i]);
    if (declared == nullptr) continue;
    const DType dtype = dtype_of(*declared, bindings);
    const KernelParameter& parameter = parameters[i];
    const bool is_wrong = parameter.is_pointer && parameter.dtype && *parameter.dtype != dtype;
    if (is_wrong)
      fail<GraphError>(declaration.spec.name, ": ", declared->name, " is ", dtype,
                       ", but parameter \"", parameter.type, " ", parameter.name,
                       "\" of the kernel points to another type; write it with the dtype letter");
  }
}

// What is compiled, and the name of the kernel in it, with the dtype letters bound.
struct BoundSource {
  std::string text, kernel;
  ModuleOptions options;
};

BoundSource bind_source(const KernelDeclaration& declaration, const TypeBindings& bindings) {
  BoundSource bound{with_letters(declaration, bindings), declaration.kernel.qualified_name,
                    declaration.spec.options};
  if (!declaration.template_parameters.empty()) {
    bound.kernel += text("<", template_arguments(declaration, bindings), ">");
    bound.options.names.push_back(bound.kernel);
  }
  return bound;
}

// Compiles the kernel of `declaration` for `device` with the dtype letters bound.
Kernel compile_kernel(const KernelDeclaration& declaration, const TypeBindings& bindings,
                      Device device) {
  BoundSource bound = bind_source(declaration, bindings);
  // A bundle may have the instance of a template for these dtypes, compiled from the source alone.
  const std::string& source = declaration.spec.source;
  const ModuleOptions& options = bound.options;
  if (kernels::find_attached(source, options.options, options.names, device) != nullptr)
    bound.text = source;
  bound.options.device = device;
  bound.options.is_covered = true;
  const SourceModule module(bound.text, std::move(bound.options));
  Kernel kernel = module.get_function(bound.kernel);
  check_pointees(declaration, bindings, kernel.parameters());
  return kernel;
}

/// Counters of contiguous inputs (KernelOpCounts), shared by all ops of a name.
struct CopyCounter {
  std::atomic<std::int64_t> shared{0}, copied{0}, bytes_copied{0};
};
struct Counters {
  Mutex mutex;
  std::map<std::string, CopyCounter> by_name;
};

Counters& counters() {
  static NeverDestroyed<Counters> counters;  // outlives every thunk
  return *counters;
}

CopyCounter& copy_counter(const std::string& op_name) {
  const std::lock_guard lock(counters().mutex);
  return counters().by_name[op_name];
}

/// The op of a KernelOpSpec.
class KernelOp final : public Op {
 public:
  explicit KernelOp(KernelOpSpec spec)
      : declaration_(std::move(spec)),
        may_have_variables_(parse::declares_variables(declaration_.spec.source) ||
                            !declaration_.spec.options.include_dirs.empty()) {}

  std::string name() const override { return declaration_.spec.name; }
  Ref<Apply> make_node(std::span<const Variable> inputs) const override;
  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override;
  bool equals(const Op& other) const override;
  std::size_t hash() const override;
  AliasMap destroy_map() const override { return declaration_.overwrites; }
  /// Not where only the values of variables, which get_global() changes, may differ between calls.
  bool foldable(const Apply& node) const override {
    const auto is_constant = [](const Variable& input) { return input.value() != nullptr; };
    return !may_have_variables_ || !std::ranges::all_of(node.inputs(), is_constant);
  }
  std::vector<Cotangent> gradient(const Apply& node,
                                  std::span<const Cotangent> outputs) const override;

  const KernelDeclaration& declaration() const noexcept { return declaration_; }
  KernelVariables& variables() const noexcept { return variables_; }
  Array get_global(const std::string& variable, Device device) const;

 private:
  void check_input(const DeclaredParameter& parameter, const Variable& input,
                   const TypeBindings& bindings) const;

  KernelDeclaration declaration_;
  bool may_have_variables_;
  mutable KernelVariables variables_;
};

/// An input of the node.
struct BoundInput {
  Ref<Cell> cell;
  Ref<Cell> scratch = make_ref<Cell>();  // a copy in C order, reused by the next call
  const Array* array = nullptr;          // what the running call passes to the kernel
  int overwritten_by = -1;               // index of the output that overwrites it, or -1
};

/// An output of the node.
struct BoundOutput {
  Ref<Cell> cell;
  DType dtype;
  BoundInput* overwritten = nullptr;  // the input in whose memory it is computed, or null
  const Array* array = nullptr;       // what the running call passes to the kernel
};

class KernelThunk final : public Thunk {
 public:
  KernelThunk(Ref<const KernelOp> op, const TypeBindings& bindings, Kernel kernel,
              const ThunkContext& context)
      : op_(std::move(op)),
        declaration_(op_->declaration()),
        kernel_(std::move(kernel)),
        device_(context.device()),
        extents_(declaration_),
        counter_(copy_counter(declaration_.spec.name)) {
    for (std::size_t i = 0; i < declaration_.inputs.size(); ++i)
      inputs_.push_back({context.input(static_cast<int>(i))});
    for (std::size_t i = 0; i < declaration_.outputs.size(); ++i)
      outputs_.push_back(
          {context.output(static_cast<int>(i)), dtype_of(declaration_.outputs[i], bindings)});
    for (const auto& [output, inputs] : declaration_.overwrites) {
      BoundInput& input = inputs_[static_cast<std::size_t>(inputs.front())];
      input.overwritten_by = output;
      outputs_[static_cast<std::size_t>(output)].overwritten = &input;
    }
    shapes_.resize(inputs_.size());
    arguments_.reserve(declaration_.arguments.size());
    views_.reserve(declaration_.arguments.size());
  }

  bool is_async() const override { return true; }
  std::vector<int> run() override {
    for (std::size_t i = 0; i < inputs_.size(); ++i) shapes_[i] = &inputs_[i].cell->value->shape();
    extents_.bind(shapes_);
    const LaunchConfig config = launch_config();
    if (config.grid.x > 0 && config.grid.y > 0 && config.grid.z > 0) {
      for (std::size_t i = 0; i < inputs_.size(); ++i) prepare(inputs_[i], declaration_.inputs[i]);
      gather_arguments(*config.stream);
      op_->variables().around(kernel_, [&] { kernel_.launch(config, arguments_); });
      for (BoundInput& input : inputs_) input.array = nullptr;
    }
    return {};
  }

 private:
  // Also allocates the outputs, since the default grid covers the first one.
  LaunchConfig launch_config() {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      BoundOutput& output = outputs_[i];
      output.array = output.overwritten != nullptr
                         ? &array_to_overwrite(output, declaration_.outputs[i])
                         : &output_array(*output.cell, extents_.shape(declaration_.outputs[i]),
                                         output.dtype, device_);
    }
    LaunchConfig config{dims("grid", declaration_.grid, 0), dims("block", declaration_.block, 1),
                        value_from(0, "shared", declaration_.shared), Stream::current(device_)};
    if (declaration_.grid.empty()) {
      const std::int64_t threads = config.block.x * config.block.y * config.block.z;
      const std::int64_t size = outputs_.front().array->size();
      config.grid.x = size / threads + (size % threads != 0);
    }
    return config;
  }

  // The overwritten input itself, or a copy where it is on another device, read-only or in another
  // layout.
  const Array& array_to_overwrite(BoundOutput& output, const DeclaredParameter& parameter) {
    const Array& input = *output.overwritten->cell->value;
    const bool is_usable = input.device() == device_ && !input.readonly() &&
                           (parameter.strided || input.layout().is_row_major());
    if (is_usable) {
      counter_.shared.fetch_add(1, std::memory_order_relaxed);
      output.cell->value = input;
      return *output.cell->value;
    }
    return copy_in_c_order(input, *output.cell);
  }

  Dim3 dims(const char* field, const std::vector<ExtentExpression>& extents,
            std::int64_t min) const {
    Dim3 dims;
    std::int64_t* const components[] = {&dims.x, &dims.y, &dims.z};
    for (std::size_t i = 0; i < extents.size(); ++i)
      *components[i] = value_from(min, field, extents[i]);
    return dims;
  }

  // The value of an expression of the launch configuration, which must be at least `min`.
  std::int64_t value_from(std::int64_t min, const char* field,
                          const ExtentExpression& expression) const {
    const std::int64_t value = extents_.value(expression);
    if (value < min)
      fail<ArgumentError>(declaration_.spec.name, ": ", field, ": ", expression.text(), " = ",
                          value, "; expected at least ", min);
    return value;
  }

  void prepare(BoundInput& input, const DeclaredParameter& parameter) {
    if (input.overwritten_by >= 0) {
      input.array = outputs_[static_cast<std::size_t>(input.overwritten_by)].array;
      return;
    }
    const Array* array = &*input.cell->value;
    if (array->device() != device_)
      array = &input.scratch->value.emplace(to_device(*array, device_));
    if (!parameter.strided) {
      if (array->layout().is_row_major()) {
        counter_.shared.fetch_add(1, std::memory_order_relaxed);
      } else {
        array = &copy_in_c_order(*array, *input.scratch);
      }
    }
    input.array = array;
  }

  // Copies `array`, which may be the one in `scratch`, into `scratch`.
  const Array& copy_in_c_order(const Array& array, Cell& scratch) {
    counter_.copied.fetch_add(1, std::memory_order_relaxed);
    counter_.bytes_copied.fetch_add(array.nbytes(), std::memory_order_relaxed);
    if (&array == (scratch.value ? &*scratch.value : nullptr))
      return scratch.value.emplace(contiguous(Array(array)));
    if (runtime::is_recording()) scratch.value.reset();
    const Array& target = output_array(scratch, array.shape(), array.dtype(), device_);
    copy(array, target);
    return target;
  }

  // Arrays are passed as addresses, which the launch does not check again, since the declaration
  // was checked against the kernel's parameters. An input is ordered as a read, even if the
  // kernel's parameter is not const.
  void gather_arguments(const Stream& stream) {
    arguments_.clear();
    views_.clear();
    for (const KernelArgument& argument : declaration_.arguments) {
      const auto index = static_cast<std::size_t>(argument.index);
      switch (argument.kind) {
        case KernelArgument::Kind::input:
          add(stream, *inputs_[index].array, declaration_.inputs[index], false);
          break;
        case KernelArgument::Kind::output:
          add(stream, *outputs_[index].array, declaration_.outputs[index], true);
          break;
        case KernelArgument::Kind::scalar:
          add(argument.scalar);
          break;
        case KernelArgument::Kind::expression:
          arguments_.push_back(KernelArg::integer(extents_.value(argument.expression)));
      }
    }
  }

  void add(const Stream& stream, const Array& array, const DeclaredParameter& parameter,
           bool writes) {
    order_use(stream, array, writes);
    if (parameter.strided)
      arguments_.push_back(KernelArg::bytes(views_.emplace_back(array).bytes(), array));
    else
      arguments_.push_back(
          KernelArg::address(reinterpret_cast<std::uintptr_t>(array.data()), array));
  }

  // Passed like a Python number: converted to the parameter's type if that keeps its value.
  void add(const Scalar& scalar) {
    if (scalar.dtype().is_integer() && scalar.fits(int64))
      arguments_.push_back(KernelArg::integer(scalar.as_int64()));
    else if (scalar.dtype().is_floating())
      arguments_.push_back(KernelArg::real(scalar.as_double()));
    else
      arguments_.emplace_back(scalar);
  }

  Ref<const KernelOp> op_;
  const KernelDeclaration& declaration_;
  Kernel kernel_;
  Device device_;
  NamedExtents extents_;
  CopyCounter& counter_;
  std::vector<BoundInput> inputs_;
  std::vector<BoundOutput> outputs_;
  std::vector<const Shape*> shapes_;
  std::vector<KernelArg> arguments_;
  std::vector<PackedView> views_;
};

bool same_scalars(const std::map<std::string, Scalar>& a, const std::map<std::string, Scalar>& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.dtype() == y.second.dtype() &&
           std::memcmp(x.second.data(), y.second.data(),
                       static_cast<std::size_t>(x.second.dtype().itemsize())) == 0;
  });
}

// The dtype of each letter: that of the first input with the letter.
TypeBindings bind_letters(const KernelDeclaration& declaration, std::span<const Variable> inputs) {
  TypeBindings bindings;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (const char letter = declaration.inputs[i].dtype_letter; letter != 0)
      bindings.emplace(letter, inputs[i].type().dtype());
  return bindings;
}

std::vector<const Shape*> shapes_of(std::span<const Variable> variables) {
  std::vector<const Shape*> shapes;
  for (const Variable& variable : variables) shapes.push_back(&variable.type().shape());
  return shapes;
}

Ref<Apply> KernelOp::make_node(std::span<const Variable> inputs) const {
  expect_arity(*this, inputs, static_cast<int>(declaration_.inputs.size()));
  const TypeBindings bindings = bind_letters(declaration_, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    check_input(declaration_.inputs[i], inputs[i], bindings);
  const std::optional<Device> device = common_device(*this, inputs);
  NamedExtents extents(declaration_);
  extents.bind(shapes_of(inputs));
  std::vector<Variable> outputs;
  for (const DeclaredParameter& output : declaration_.outputs)
    outputs.emplace_back(TensorType(dtype_of(output, bindings), extents.shape(output), device));
  return Apply::make(Ref<const Op>(this), {inputs.begin(), inputs.end()}, std::move(outputs));
}

void KernelOp::check_input(const DeclaredParameter& parameter, const Variable& input,
                           const TypeBindings& bindings) const {
  const TensorType& type = input.type();
  const DType expected = dtype_of(parameter, bindings);
  if (type.dtype() != expected)
    fail<DTypeError>(name(), ": input ", parameter.name, ": expected dtype ", expected,
                     parameter.dtype_letter ? text(" (", parameter.dtype_letter, ")") : "",
                     ", got ", type.dtype(), " (", input.label(),
                     "); cast it, or declare the dtype with a letter");
  if (type.rank() != parameter.rank())
    fail<LayoutError>(name(), ": input ", parameter.name, ": expected ", parameter.rank(),
                      " axes, got ", type.rank(), " (", input.label(), ")");
}

std::unique_ptr<Thunk> KernelOp::make_thunk(const ThunkContext& context) const {
  const TypeBindings bindings = bind_letters(declaration_, context.node().inputs());
  Kernel kernel = compile_kernel(declaration_, bindings, context.device());
  return std::make_unique<KernelThunk>(Ref<const KernelOp>(this), bindings, std::move(kernel),
                                       context);
}

std::vector<Cotangent> KernelOp::gradient(const Apply& node,
                                          std::span<const Cotangent> outputs) const {
  if (declaration_.spec.gradient) return declaration_.spec.gradient(node, outputs);
  return {node.inputs().size(), Cotangent::undefined("the kernel_op was declared without grad=")};
}

Array KernelOp::get_global(const std::string& variable, Device device) const {
  TypeBindings bindings;
  for (const DeclaredParameter& input : declaration_.inputs)
    if (input.dtype_letter != 0) bindings.emplace(input.dtype_letter, float32);
  ModuleOptions options = declaration_.spec.options;
  options.device = device;
  return variables_.get(name(), "the source", with_letters(declaration_, bindings), options,
                        variable);
}

bool KernelOp::equals(const Op& other) const {
  const auto* kernel_op = dynamic_cast<const KernelOp*>(&other);
  if (kernel_op == nullptr) return false;
  if (kernel_op == this || may_have_variables_) return kernel_op == this;
  const KernelOpSpec &a = declaration_.spec, &b = kernel_op->declaration_.spec;
  return a.name == b.name && a.source == b.source && a.kernel == b.kernel && a.inputs == b.inputs &&
         a.outputs == b.outputs && a.arguments == b.arguments && a.block == b.block &&
         a.grid == b.grid && a.shared == b.shared && a.overwrites == b.overwrites &&
         same_scalars(a.scalars, b.scalars) && a.options == b.options;
}

std::size_t KernelOp::hash() const {
  const std::hash<std::string> hash;
  return hash(declaration_.spec.name) * 31 + hash(declaration_.spec.source);
}

}  // namespace
}  // namespace op_sdk

Ref<const Op> kernel_op(KernelOpSpec spec) {
  return make_ref<const op_sdk::KernelOp>(std::move(spec));
}

Array kernel_op_global(const Op& op, const std::string& name, std::optional<Device> device) {
  const auto* kernel_op = dynamic_cast<const op_sdk::KernelOp*>(&op);
  if (kernel_op == nullptr)
    fail<ArgumentError>("kernel_op_global: expected an op that kernel_op() made, got ", op.name());
  return kernel_op->get_global(name, device.value_or(default_device()));
}

std::pair<std::string, ModuleOptions> kernel_op_source(const Op& op,
                                                       const std::map<char, DType>& dtypes) {
  const auto* kernel_op = dynamic_cast<const op_sdk::KernelOp*>(&op);
  if (kernel_op == nullptr)
    fail<ArgumentError>("kernel_op_source: expected an op made by kernel_op, got ", op.name());
  const op_sdk::KernelDeclaration& declaration = kernel_op->declaration();
  op_sdk::TypeBindings bindings;
  for (const auto* parameters : {&declaration.inputs, &declaration.outputs}) {
    for (const op_sdk::DeclaredParameter& parameter : *parameters) {
      if (parameter.dtype_letter == 0) continue;
      const auto found = dtypes.find(parameter.dtype_letter);
      if (found == dtypes.end())
        fail<ArgumentError>(op.name(), ": expected a dtype for the letter ", parameter.dtype_letter,
                            " of ", parameter.name, ", such as dtypes={\"", parameter.dtype_letter,
                            "\": [\"float32\"]}");
      bindings.insert(*found);
    }
  }
  op_sdk::BoundSource bound = op_sdk::bind_source(declaration, bindings);
  return {std::move(bound.text), std::move(bound.options)};
}

std::vector<KernelOpCounts> kernel_op_counts() {
  std::vector<KernelOpCounts> counts;
  const std::lock_guard lock(op_sdk::counters().mutex);
  for (const auto& [name, counter] : op_sdk::counters().by_name)
    counts.push_back({name, counter.shared, counter.copied, counter.bytes_copied});
  return counts;
}

}  // namespace spanwise
