// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "spanwise/core/array.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/graph/function.hpp"
#include "spanwise/graph/op.hpp"
#include "spanwise/kernels/kernel.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/devices.hpp"

/// The header for authors of ops: checks, registration, kernel_op() and plug-ins.
namespace spanwise {

/// Throws GraphError unless there are `count` inputs, none of them null.
SW_API void expect_arity(const Op& op, std::span<const Variable> inputs, int count);
/// Throws DTypeError unless input `i` is of a floating dtype.
SW_API void expect_floating(const Op& op, std::span<const Variable> inputs, int i);

/// Throws DTypeError or GraphError unless input `i` has an integer dtype and rank 0.
SW_API void expect_integer(const Op& op, std::span<const Variable> inputs, int i);

/// Op::extent_sources() for the axis at `from_last` (1 is the last axis) of the result of
/// broadcasting `inputs`: those that have the axis, except where its extent is 1.
SW_API std::vector<ExtentSource> broadcast_sources(std::span<const Variable> inputs, int from_last);

/// The device that the inputs' types specify; nullopt where none does. Outputs with this device in
/// their type make the node run there. The CPU yields to any other device; compiling a function
/// inserts the transfers. Rank-0 inputs on the host are ignored where the op takes_host_scalars()
/// and has other inputs. Throws GraphError where two inputs specify different devices that are not
/// the CPU.
SW_API std::optional<Device> common_device(const Op& op, std::span<const Variable> inputs);

/// Whether the types of the node's inputs from index `first` on all specify the CPU, so that a
/// thunk reads their values without waiting for a device. False where a type specifies no device.
SW_API bool are_on_host(const Apply& node, int first) noexcept;

/// The shape to which the inputs broadcast, as far as their types show. Throws LayoutError that
/// begins with `op`.
SW_API Shape broadcast_types(const std::string& op, std::span<const Variable> inputs);

/// A node that applies `op` to `inputs`, with one output of type `type`.
SW_API Ref<Apply> make_apply(const Op& op, std::span<const Variable> inputs, TensorType type);

/// Base of ops without properties: two ops are equal if their class and name are.
class SW_API NamedOp : public Op {
 public:
  explicit NamedOp(std::string name) : name_(std::move(name)) {}
  std::string name() const override { return name_; }
  bool equals(const Op& other) const override;
  std::size_t hash() const override;

 private:
  std::string name_;
};

/// Base of ops whose output has the shape of input 0.
class SW_API SameShapeOp : public NamedOp {
 public:
  using NamedOp::NamedOp;
  std::vector<ExtentSource> extent_sources(const Apply&, int, int axis) const override {
    return {{0, axis}};
  }
};

/// Returns the cell's array if it is writable, of that layout, dtype and device, and the cell holds
/// its only reference; else allocates a new array and puts it into the cell.
SW_API const Array& output_array(Cell& cell, const Layout& layout, DType dtype, Device device);
/// The same in C order.
inline const Array& output_array(Cell& cell, const Shape& shape, DType dtype, Device device) {
  return output_array(cell, Layout::row_major(shape), dtype, device);
}

/// Creates ops by name: sw.ops.<name> in Python, and the names in printed graphs. register_op() is
/// called by a static initialiser of the op's own file; throws ArgumentError for a name that is
/// taken. An OpFactory without parameters accepts no properties.
using OpFactory = std::function<Ref<const Op>()>;
using OpFactoryWithProperties = std::function<Ref<const Op>(const OpProperties& properties)>;
SW_API bool register_op(std::string name, OpFactory factory);
SW_API bool register_op(std::string name, OpFactoryWithProperties factory);
/// Throws ArgumentError listing the registered ops, or naming a property that the op does not have.
SW_API Ref<const Op> make_op(std::string_view name, const OpProperties& properties = {});
SW_API std::vector<std::string> op_names();

/// The property `name`, for factories. Throws ArgumentError where it is missing or has another
/// type.
template <class T>
const T& property(std::string_view op, const OpProperties& properties, std::string_view name) {
  const auto entry = properties.find(name);
  if (entry == properties.end()) fail<ArgumentError>(op, ": expected a property ", name);
  if (!std::holds_alternative<T>(entry->second))
    fail<ArgumentError>(op, ": property ", name, " is of the wrong type");
  return std::get<T>(entry->second);
}
/// The same for an optional property: nullopt where it is missing.
template <class T>
std::optional<T> optional_property(std::string_view op, const OpProperties& properties,
                                   std::string_view name) {
  if (!properties.contains(name)) return std::nullopt;
  return property<T>(op, properties, name);
}
/// Throws ArgumentError naming a property that is not among `known`.
SW_API void expect_properties(std::string_view op, const OpProperties& properties,
                              std::initializer_list<std::string_view> known);

/// register_op() of the class `Kind`, which is made from its only property, of type T.
template <class Kind, class T>
bool register_op_with(const char* name, const char* property_name) {
  return register_op(name, [=](const OpProperties& properties) -> Ref<const Op> {
    expect_properties(name, properties, {property_name});
    return make_ref<const Kind>(property<T>(name, properties, property_name));
  });
}

/// The ops of a loaded library: sw.ops.<name_space>.<name> in Python.
struct LoadedOps {
  struct Op {
    std::string name;  ///< for make_op(): "name_space.name"
    std::string summary;
  };
  std::string name_space;
  std::string path;
  std::vector<Op> ops{};
};

/// Loads a shared library of ops written against <spanwise/plugin.hpp> or, in C,
/// <spanwise/plugin.h>, and registers them. The library stays loaded until the process exits;
/// loading it again returns the same result, even if the file has changed. A path without a slash
/// is looked up in the current directory, then by dlopen(). Throws ArgumentError where the library
/// cannot be loaded, GraphError where it is no plug-in, has another major version of the interface,
/// or has inconsistent tables or names that are taken. After GraphError nothing is registered, and
/// the library stays loaded, since its threads and callbacks may still run; a rebuilt file at the
/// same path is loaded anew.
SW_API LoadedOps load_ops(const std::string& path);

/// Op::gradient() as a function.
using GradientRule =
    std::function<std::vector<Cotangent>(const Apply& node, std::span<const Cotangent> outputs)>;

/// A CUDA C kernel declared as an op.
///
/// Inputs and outputs are declared "name: layout dtype[extents]", for example "image: strided
/// uint8[h, w, 3]" or "out: contiguous float32[h, w]". `layout` is `contiguous` (an input that is
/// not C-contiguous is copied: see kernel_op_counts()) or `strided` (the kernel's parameter is
/// spanwise::View<T, N>). `dtype` is a dtype's name, or a capital letter such as T for any dtype,
/// the same one everywhere. Extents are names, bound by the inputs' shapes, or integer expressions
/// over bound names and integer scalars with + - * // % ( ), min(), max() and cdiv(). `arguments`
/// lists the kernel's arguments in order: names of inputs, outputs, extents or `scalars`, or
/// expressions over extents (passed as the parameter's integer type).
///
/// The kernel may read its inputs and must not write to them, const or not, except for those named
/// in `overwrites`: such an output is computed in the input's memory where that is writable and has
/// the declared layout, else in a copy of the input; in both cases it initially holds the input's
/// elements. Where an extent of the grid is 0, nothing is launched.
struct KernelOpSpec {
  std::string name;  ///< of the op
  /// CUDA C/C++. A dtype letter may be used as a type name, or be a template parameter of the
  /// kernel; an integer scalar may also be the value of a template parameter.
  std::string source;
  std::string kernel{};  ///< the __global__ function; default: `name`, else the only one
  std::vector<std::string> inputs{};
  std::vector<std::string> outputs{};
  /// Default: the kernel's parameter names where all of them are declared names; where none is:
  /// inputs, outputs, then extents in order of mention.
  std::vector<std::string> arguments{};
  std::vector<std::string> block{"256"};
  std::vector<std::string> grid{};  ///< default: the first output's size over the block, 1-D
  std::string shared = "0";         ///< bytes of dynamic shared memory, an expression
  std::map<std::string, Scalar> scalars{};
  ModuleOptions options{};
  /// Output -> the input whose memory it is computed in; both must have the same declaration.
  std::map<std::string, std::string> overwrites{};
  /// Op::gradient() of the op. Ops that differ only in it are equal: they compute the same values.
  GradientRule gradient{};
};

/// Throws GraphError or ArgumentError where the declaration is inconsistent. The kernel is compiled
/// when a function that uses the op is compiled.
SW_API Ref<const Op> kernel_op(KernelOpSpec spec);
/// The text and the options by which a function compiles the kernel of such an op where its letters
/// stand for these dtypes, for compilers that run ahead of time. Throws ArgumentError for another
/// op and where a letter has no dtype.
SW_API std::pair<std::string, ModuleOptions> kernel_op_source(const Op& op,
                                                              const std::map<char, DType>& dtypes);

/// The __constant__ or __device__ variable `name` of a kernel_op()'s source as a uint8 array over
/// its bytes, on `device` or the default one. All functions with this op read the values that are
/// written there. Dtype letters stand for float. Throws ArgumentError where there is none of that
/// name, and for other ops.
SW_API Array kernel_op_global(const Op& op, const std::string& name,
                              std::optional<Device> device = {});

/// Counters of the contiguous inputs of all kernel ops of one name: how often an input was used
/// without a copy, how often it was first copied into C order, and the bytes of these copies.
struct KernelOpCounts {
  std::string name;
  std::int64_t shared = 0, copied = 0, bytes_copied = 0;
};
SW_API std::vector<KernelOpCounts> kernel_op_counts();

}  // namespace spanwise
