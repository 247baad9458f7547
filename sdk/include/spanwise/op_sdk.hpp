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

#include "spanwise/array.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/devices.hpp"
#include "spanwise/error.hpp"
#include "spanwise/export.hpp"
#include "spanwise/graph/function.hpp"
#include "spanwise/graph/op.hpp"
#include "spanwise/kernel.hpp"

/// All that the author of an op includes.
namespace spanwise {

/// Throws GraphError unless there are `count` inputs.
SW_API void expect_arity(const Op& op, std::span<const Variable> inputs, int count);
/// Throws DTypeError unless input `i` is of a floating dtype.
SW_API void expect_floating(const Op& op, std::span<const Variable> inputs, int i);

/// Throws DTypeError or GraphError unless input `i` is one whole number.
SW_API void expect_integer(const Op& op, std::span<const Variable> inputs, int i);

/// The device that the inputs' types fix, if any does: what the outputs' types should say too, so
/// that the op runs there. The host (cpu) gives way to any other; functions move what is elsewhere.
/// Numbers on the host (rank 0) do not count beside other inputs where the op takes them as they
/// are. Throws GraphError where two inputs are fixed to different devices that are not the host.
SW_API std::optional<Device> common_device(const Op& op, std::span<const Variable> inputs);

/// Whether the types of the node's inputs from `first` on fix them to the host (cpu): a thunk reads
/// their values without waiting for a device. An open type may turn out to be on any.
SW_API bool are_on_host(const Apply& node, int first) noexcept;

/// What broadcasting makes of two extents of types, either of which may be open: 1 stretches, and
/// an open one may turn out to be 1, but beside a known and larger one that cannot matter. Nothing
/// where they do not broadcast.
SW_API std::optional<std::int64_t> broadcast_extents(std::int64_t a, std::int64_t b) noexcept;

/// For an op whose name says all that it is: equal to it are those of its class and its name.
class SW_API NamedOp : public Op {
 public:
  explicit NamedOp(std::string name) : name_(std::move(name)) {}
  std::string name() const override { return name_; }
  bool equals(const Op& other) const override;
  std::size_t hash() const override;

 private:
  std::string name_;
};

/// The cell's array if it is writable, C-contiguous, of that shape, dtype and device and nobody
/// else holds it; else a new one, put into the cell.
SW_API const Array& output_array(Cell& cell, const Shape& shape, DType dtype, Device device);

/// Makes ops by name: what Python shows as sw.ops.<name> and what printed graphs can name. Called
/// by a static initialiser of the op's own file. A factory without parameters takes no properties.
using OpFactory = std::function<Ref<const Op>()>;
using OpFactoryWithProperties = std::function<Ref<const Op>(const OpProperties& properties)>;
SW_API bool register_op(std::string name, OpFactory factory);
SW_API bool register_op(std::string name, OpFactoryWithProperties factory);
/// Throws ArgumentError listing the registered ops, or naming a property that the op does not take.
SW_API Ref<const Op> make_op(std::string_view name, const OpProperties& properties = {});
SW_API std::vector<std::string> op_names();

/// The property `name`, for factories. Throws ArgumentError where it is missing or of another type.
template <class T>
const T& property(std::string_view op, const OpProperties& properties, std::string_view name) {
  const auto found = properties.find(name);
  if (found == properties.end()) fail<ArgumentError>(op, ": expected a property ", name);
  if (!std::holds_alternative<T>(found->second))
    fail<ArgumentError>(op, ": property ", name, " is of the wrong type");
  return std::get<T>(found->second);
}
/// The same where it may be left out.
template <class T>
std::optional<T> optional_property(std::string_view op, const OpProperties& properties,
                                   std::string_view name) {
  if (!properties.contains(name)) return std::nullopt;
  return property<T>(op, properties, name);
}
/// Throws ArgumentError naming a property that is not among `known`.
SW_API void expect_properties(std::string_view op, const OpProperties& properties,
                              std::initializer_list<std::string_view> known);

/// What a library of ops brought: sw.ops.<name_space>.<name> in Python.
struct LoadedOps {
  struct Op {
    std::string name;  ///< make_op() wants "name_space.name"
    std::string summary;
  };
  std::string name_space;
  std::string path;
  std::vector<Op> ops{};
};

/// Loads a shared library of ops written against <spanwise/plugin.hpp> or, in C,
/// <spanwise/plugin.h> and registers them. It stays loaded to the end of the process; loading it
/// again changes nothing, also where the file is another by then. A path without a slash is looked
/// for in the current folder, then where the loader looks. Throws ArgumentError where there is no
/// such library, GraphError where it is no plug-in, is one of another version of the interface, or
/// has tables that do not hold together or names that are taken; nothing is registered then, but
/// the library stays loaded, as its code may run on. A file that is built again after that is
/// loaded.
SW_API LoadedOps load_ops(const std::string& path);

/// A CUDA C kernel declared as an op.
///
/// Inputs and outputs are declared "name: layout dtype[extents]", for example
/// "image: strided uint8[h, w, 3]" or "out: contiguous float32[h, w]". `layout` is `contiguous`
/// (shared where it is, else copied: see kernel_op_counts()) or `strided` (the kernel's parameter
/// is spanwise::View<T, N>). `dtype` is a dtype's name, or a capital letter such as T for "any, the
/// same wherever T stands". Extents are names, bound by the inputs' shapes, or integer expressions
/// over bound names and integer scalars with + - * // % ( ), min(), max() and cdiv(). `arguments`
/// lists the kernel's arguments in order: names of inputs, of outputs, of extents, of `scalars`, or
/// expressions over extents (passed as the parameter's integer type).
///
/// The kernel may read its inputs and must not write to them, const or not, but for those that
/// `overwrites` names: such an output is computed in the input's memory where that may be written
/// and lies as declared, else in a copy, and the kernel finds the input's elements in it. Where an
/// extent of the grid comes out as 0, nothing is launched.
struct KernelOpSpec {
  std::string name;  ///< of the op
  /// CUDA C/C++. A dtype letter is the name of a type in it, or of a template parameter of the
  /// kernel; an integer scalar may give a template parameter its value too.
  std::string source;
  std::string kernel{};  ///< of the __global__ function; default: `name`, else the only one
  std::vector<std::string> inputs{};
  std::vector<std::string> outputs{};
  /// Default: the kernel's parameters by their names where these are declared ones, else inputs,
  /// outputs, then extents in order of mention.
  std::vector<std::string> arguments{};
  std::vector<std::string> block{"256"};
  std::vector<std::string> grid{};  ///< default: the first output's size over the block, 1-D
  std::string shared = "0";         ///< bytes of dynamic shared memory, an expression
  std::map<std::string, Scalar> scalars{};
  ModuleOptions options{};
  /// Output -> the input in whose memory it is computed; both declared alike.
  std::map<std::string, std::string> overwrites{};
};

/// Throws GraphError or ArgumentError where the declaration does not hold together, before anything
/// is compiled; the kernel is compiled when a function that uses the op is.
SW_API Ref<const Op> kernel_op(KernelOpSpec spec);

/// What the contiguous inputs of all kernel ops of one name cost so far: how often an input was
/// taken as it was, and how often it was copied into C order first.
struct KernelOpCounts {
  std::string name;
  std::int64_t shared = 0, copied = 0, bytes_copied = 0;
};
SW_API std::vector<KernelOpCounts> kernel_op_counts();

}  // namespace spanwise
