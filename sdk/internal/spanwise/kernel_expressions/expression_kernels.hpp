// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "spanwise/core/array.hpp"
#include "spanwise/core/dtype.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/core/layout.hpp"
#include "spanwise/core/ref.hpp"
#include "spanwise/core/scalar.hpp"
#include "spanwise/kernels/kernel.hpp"
#include "spanwise/kernels/kernel_table.hpp"
#include "spanwise/kernels/kernel_variables.hpp"
#include "spanwise/strided/plan.hpp"

/// Kernels that the library writes around an expression of the user: sw.ElementwiseKernel,
/// ReductionKernel and ScanKernel.
namespace spanwise::kernel_expressions {

/// PyCUDA's "float *x, float a", or CuPy's "float32 x, raw T y".
enum class ParameterStyle { pointers, values };

struct Parameter {
  enum class Kind {
    element,  ///< an array, accessed by element; in CuPy's syntax also a number
    raw,      ///< an array as a whole
    number,   ///< a number or a struct by value
  };

  std::string name;
  Kind kind = Kind::element;
  std::string type{};            ///< in C++; "" if `type_parameter` is set
  std::string type_parameter{};  ///< T: any dtype, the same for all parameters of type T
  std::optional<DType> dtype{};  ///< none: a type parameter, or a type of the preamble
  bool is_output = false;        ///< may be written
  bool is_assigned = false;      ///< is written: an output, or PyCUDA's pointer that is assigned to
  bool needs_whole_array = true;  ///< for element: also accessed by other indices than the loop's

  bool is_user_type() const noexcept { return !dtype && type_parameter.empty(); }
};

inline constexpr std::size_t max_operands = 24;

/// Storage for max_operands elements of type T, of which make() constructs the first few: clearing
/// all of them would take a large part of a small call's time.
template <class T>
class UninitializedArray {
 public:
  static_assert(std::is_trivially_destructible_v<T>);

  void make(std::size_t count) { std::uninitialized_value_construct_n(data(), count); }
  T* data() noexcept { return reinterpret_cast<T*>(storage_); }
  const T* data() const noexcept { return reinterpret_cast<const T*>(storage_); }
  T& operator[](std::size_t i) noexcept { return data()[i]; }
  const T& operator[](std::size_t i) const noexcept { return data()[i]; }

 private:
  alignas(T) std::byte storage_[max_operands * sizeof(T)];
};

/// The argument for one parameter; empty for an output that the kernel allocates.
struct Argument {
  const Array* array = nullptr;  ///< must live until the call returns
  std::optional<Scalar> number{};
  bool is_weak = false;                ///< a Python number, which has no dtype
  std::span<const std::byte> bytes{};  ///< a struct by value; must live as `array`

  bool is_given() const noexcept { return array != nullptr || number || !bytes.empty(); }
};

/// The array that determines the device of a call: the first of rank > 0, else the first on a GPU,
/// else the first. Null without arrays.
SW_API const Array* device_array(std::span<const Argument> arguments) noexcept;

/// The declaration of an element body.
struct ElementDeclaration {
  std::vector<Parameter> inputs, outputs;  ///< of dtypes or type parameters, by element
  std::string operation;                   ///< names elements without an index
};

/// Reads CuPy's declarations "T x, T y" and "T z" or, where `outputs` is empty, PyCUDA's "float *z,
/// float *x" with z[i] in the operation. Throws ArgumentError naming `label`, also for operations
/// that use more than their own elements.
SW_API ElementDeclaration element_declaration(const std::string& label, const std::string& inputs,
                                              const std::string& outputs, std::string operation,
                                              const std::string& preamble);

/// The properties of every kind of kernel in addition to its expressions.
struct CommonSpec {
  std::string kind;  ///< "ElementwiseKernel"
  std::string name;  ///< of the kernel in profiles and messages
  std::string preamble{};
  std::vector<std::string> options{};
  /// Uses the GPU's source and block sizes on the CPU too, which is slower: for tests.
  bool use_gpu_code = false;
};

/// `variables.get()` of the text of a kernel, whose type parameters are float.
SW_API Array get_variable(KernelVariables& variables, const CommonSpec& spec,
                          std::span<const Parameter> parameters, const std::string& name,
                          Device device);

struct ElementwiseSpec {
  CommonSpec common{};
  ParameterStyle style = ParameterStyle::values;
  std::string arguments{};   ///< of ParameterStyle::pointers
  std::string in_params{};   ///< of ParameterStyle::values
  std::string out_params{};  ///< of ParameterStyle::values
  std::string operation{};   ///< statements in `i`, `n`, `_ind` and the arguments
  std::string loop_prep{};   ///< before and after the loop over a thread's elements
  std::string after_loop{};
};

/// Executes a user's statement for each element. Compiled at the first call for each device,
/// combination of dtypes and strided::PlanShape. Thread-safe.
class SW_API ElementwiseKernel : public RefCounted {
 public:
  /// Throws ArgumentError for inconsistent declarations.
  explicit ElementwiseKernel(ElementwiseSpec spec);
  ~ElementwiseKernel() override;

  const ElementwiseSpec& spec() const noexcept { return spec_; }
  const std::string& label() const noexcept { return label_; }
  std::span<const Parameter> parameters() const noexcept { return parameters_; }
  /// The number of inputs with ParameterStyle::values; the outputs follow them.
  std::size_t inputs() const noexcept { return inputs_; }

  /// Broadcasts arrays to one shape (`size` elements if given), which outputs must have. An input
  /// that shares memory with an output is copied first unless both are the same view. Queued on the
  /// current stream. There is one argument per parameter; outputs without arguments are allocated
  /// and added to `allocated`.
  ///
  /// Throws what Operands throws, LayoutError for shapes that do not broadcast and for outputs that
  /// overlap themselves or one another, and CompileError.
  void operator()(std::span<const Argument> arguments, std::optional<std::int64_t> size,
                  std::vector<Array>& allocated) const;
  /// The source that this call would compile for a GPU or the CPU, regardless of the arrays'
  /// device.
  std::string source(std::span<const Argument> arguments, std::optional<std::int64_t> size,
                     bool on_gpu) const;

  KernelVariables& variables() const noexcept { return variables_; }

 private:
  class Call;
  struct Variant;
  strided::PlanOptions plan_options() const;

  ElementwiseSpec spec_;
  std::string label_;
  std::vector<Parameter> parameters_;
  std::size_t inputs_ = 0;
  bool needs_index_ = false;  // whether the code uses `i`
  bool outputs_need_memory_ = false;
  std::string operation_;  // as in the generated source

  strided::PlanOptions options_{};  // of plans on a GPU
  mutable KernelList<Variant, Kernel> kernels_;
  mutable KernelVariables variables_;
};

struct ReductionSpec {
  CommonSpec common{};
  ParameterStyle style = ParameterStyle::values;
  std::string arguments{};      ///< of ParameterStyle::pointers
  std::string result_type{};    ///< of ParameterStyle::pointers: the dtype of its one result
  std::string in_params{};      ///< of ParameterStyle::values
  std::string out_params{};     ///< of ParameterStyle::values
  std::string map_expr{};       ///< an expression in the arguments and `i`
  std::string reduce_expr{};    ///< an expression in `a` and `b`, in any order of elements
  std::string post_map_expr{};  ///< statements that set the outputs by `a`; "": the output is `a`
  std::string identity{};       ///< the result for no elements; "": an error
  std::string reduce_type{};    ///< the type of `a` and `b`; "": the first output's
};

/// The axes to reduce, and whether they are kept with extent 1.
struct ReductionAxes {
  std::bitset<max_rank> axes{};
  bool all = true;  ///< all axes; `axes` is ignored
  bool keepdims = false;
};

/// Combines elements by a user's map, associative and commutative operation, and final statements.
/// Compiled like ElementwiseKernel. Elements are combined in an order that depends on shapes and
/// strides alone, so results do not depend on the device's number of processors.
class SW_API ReductionKernel : public RefCounted {
 public:
  /// Throws ArgumentError for inconsistent declarations.
  explicit ReductionKernel(ReductionSpec spec);
  ~ReductionKernel() override;

  const ReductionSpec& spec() const noexcept { return spec_; }
  const std::string& label() const noexcept { return label_; }
  std::span<const Parameter> parameters() const noexcept { return parameters_; }
  /// The number of inputs; the outputs follow them.
  std::size_t inputs() const noexcept { return inputs_; }

  /// As ElementwiseKernel::operator(). Also throws ArgumentError if there are no elements and no
  /// identity.
  void operator()(std::span<const Argument> arguments, const ReductionAxes& axes,
                  std::vector<Array>& allocated) const;
  /// As ElementwiseKernel::source().
  std::string source(std::span<const Argument> arguments, const ReductionAxes& axes,
                     bool on_gpu) const;

  KernelVariables& variables() const noexcept { return variables_; }

 private:
  class Call;
  struct Variant;
  struct Kernels;

  ReductionSpec spec_;
  std::string label_;
  std::vector<Parameter> parameters_;
  std::size_t inputs_ = 0;
  Parameter accumulator_;
  bool needs_index_ = false;
  std::string map_expr_;  // as in the generated source

  mutable KernelList<Variant, Kernels> kernels_;
  mutable KernelVariables variables_;
};

/// How a scan on a GPU reads and writes lines: by elements; by packs of elements, if lines are
/// contiguous and aligned; by ScanPipeline, if they are long as well.
enum class ScanAccess : std::uint8_t { strided, packed, pipelined };

struct ScanSpec {
  CommonSpec common{};
  std::string type{};       ///< of elements: the name of a dtype or a C type
  std::string scan_expr{};  ///< an expression in `a`, the earlier elements combined, and `b`
  std::string neutral{};    ///< the first result of an exclusive scan
  bool is_exclusive = false;
};

/// Combines each element with all before it by a user's associative operation. Compiled like
/// ElementwiseKernel. The operation need not be commutative; the order in which
/// elements are combined depends on their number alone.
class SW_API ScanKernel : public RefCounted {
 public:
  /// Throws ArgumentError for an inconsistent spec.
  explicit ScanKernel(ScanSpec spec);
  ~ScanKernel() override;

  const ScanSpec& spec() const noexcept { return spec_; }
  const std::string& label() const noexcept { return label_; }

  /// Scans along `axis` (from the end if negative), from `input` to `output`, which may be the same
  /// view. Both have the kernel's dtype and one shape. Queued on the current stream. Throws
  /// DTypeError, LayoutError, DeviceError, ReadOnlyError, CompileError.
  void operator()(const Array& input, const Array& output, int axis) const;
  /// The source for arrays with `line_rank` axes besides the scanned one; `access` is for a GPU.
  std::string source(int line_rank, bool on_gpu, ScanAccess access) const;

  KernelVariables& variables() const noexcept { return variables_; }

 private:
  struct Variant;
  struct Kernels;
  struct Job;
  bool uses_gpu_code(Device device) const;
  const Kernels& kernels_for(const Variant& variant) const;
  void scan_with_gpu_code(const Job& job) const;
  void scan_on_cpu(const Job& job) const;
  void check(const Array& input, const Array& output) const;

  ScanSpec spec_;
  std::string label_;
  Parameter element_;

  mutable KernelList<Variant, Kernels> kernels_;
  mutable KernelVariables variables_;
};

}  // namespace spanwise::kernel_expressions
