// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/arguments/argument_errors.hpp"

#include "core/string_utils.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::kernels {
namespace {

using Rule = ParameterRule::Kind;

std::string described(const KernelParameter& parameter) {
  if (parameter.type.empty()) return text(parameter.size, " bytes of unknown type");
  const bool needs_space = !parameter.type.ends_with('*') && !parameter.name.empty();
  return text("'", parameter.type, needs_space ? " " : "", parameter.name, "'");
}

// The parameter list in C syntax, for a wrong number of arguments.
std::string signature_text(const KernelState& function) {
  return text('(', joined(function.signature().parameters, ", ", described), ')');
}

/// An argument that does not match its parameter; the members throw the error that says why.
class ArgumentMismatch {
 public:
  ArgumentMismatch(const KernelState& function, std::size_t index, const KernelArg& argument)
      : function_(function),
        index_(index),
        argument_(argument),
        rule_(function.signature().rules[index]),
        parameter_(function.signature().parameters[index]) {}

  [[noreturn]] void explain() const {
    if (argument_.is_array()) explain_array(argument_.array());
    if (argument_.kind() == KernelArg::Kind::bytes) explain_bytes();
    if (argument_.kind() == KernelArg::Kind::address)
      refuse(expected_text(), "an address of 8 bytes", "pass a value of the parameter's type");
    explain_number(argument_.scalar());
  }

 private:
  template <class E = KernelArgumentError>
  [[noreturn]] void refuse(const std::string& expected, const std::string& got,
                           const std::string& remedy) const {
    fail<E>("kernel '", function_.name(), "', argument ", index_ + 1, " of ",
            function_.signature().parameters.size(), " (", described(parameter_), "): expected ",
            expected, ", got ", got, ". Remedy: ", remedy);
  }

  std::string expected_text() const {
    if (rule_.kind == Rule::scalar) return text("a number that ", rule_.dtype, " holds");
    if (rule_.kind == Rule::opaque) return text("a value of ", rule_.size, " bytes");
    const std::string dtype = rule_.has_dtype ? rule_.dtype.name() + " " : "";
    const std::string axes =
        rule_.kind == Rule::view ? text(" with ", int{rule_.view_rank}, " axes") : "";
    return text("a ", dtype, "array", axes, " on ", function_.device());
  }

  [[noreturn]] void explain_array(const Array& array) const {
    const std::string got = text("an array: ", array);
    if (rule_.kind == Rule::scalar)
      refuse(expected_text(), got,
             "pass its value, item(x), or declare the parameter as a pointer");
    if (rule_.kind == Rule::opaque && rule_.size != sizeof(void*))
      refuse(expected_text(), got,
             "pass the struct's bytes; arrays require a pointer or a spanwise::View");
    if (!is_reachable(array.device(), function_.device())) explain_device(array, got);
    if (argument_.kind() == KernelArg::Kind::array && !accepts_elements(rule_, array.dtype()))
      explain_dtype(array, got);
    if (argument_.kind() == KernelArg::Kind::memory && rule_.kind == Rule::view)
      refuse(expected_text(), "untyped memory", "give it a dtype and a shape, as an array");
    if (rule_.kind == Rule::view && array.rank() != rule_.view_rank)
      refuse(expected_text(), got,
             "reshape it, or declare the parameter with the array's number of axes");
    if (rule_.writes && array.readonly() && rule_.kind != Rule::opaque) explain_readonly(array);
    refuse("a C-contiguous array, as a raw pointer carries no strides",
           text("an array whose strides are ", array.strides(), " elements: ", array),
           text("say how the parameter takes arrays: contiguous, copied in and back out, "
                "f.bind(args=[..., \"contiguous ",
                array.dtype(), "*\", ...]) or contiguous(x) yourself; strided, spanwise::View<T, ",
                array.rank(),
                "> of <spanwise/view.cuh> in the kernel; or raw, its address x.ptr as a number and "
                "its strides as arguments"));
  }

  [[noreturn]] void explain_readonly(const Array& array) const {
    const char* declaration = rule_.kind == Rule::view ? "View<const T, N>" : "a pointer to const";
    refuse<ReadOnlyError>(
        "an array that may be written", text("a read-only array: ", array),
        text("pass a copy, or, if the kernel only reads, declare the parameter as ", declaration));
  }

  [[noreturn]] void explain_device(const Array& array, const std::string& got) const {
    const Device device = function_.device();
    const std::string remedy =
        array.device().is_cpu()
            ? text(
                  "for a host array around one call wrap it in sw.driver.In, Out or InOut; to keep "
                  "it on the device use sw.array(x, device=\"",
                  device, "\") (C++: to_device(x, device))")
            : text("move it with x.to(\"", device,
                   "\") (C++: to_device(x, device)), or compile the kernel for ", array.device());
    refuse(expected_text(), got, remedy);
  }

  [[noreturn]] void explain_dtype(const Array& array, const std::string& got) const {
    refuse(expected_text(), got,
           text("convert it with astype(x, ", rule_.dtype, "), or declare the parameter for ",
                array.dtype()));
  }

  [[noreturn]] void explain_bytes() const {
    const std::string got = text("a struct of ", argument_.raw().size(), " bytes");
    if (rule_.kind == Rule::pointer)
      refuse(expected_text(), got, "put the struct into an array and pass that");
    refuse(text("a value of ", rule_.size, " bytes"), got,
           "lay the struct out as the kernel's compiler does (NumPy: np.dtype(..., align=True))");
  }

  [[noreturn]] void explain_number(const Scalar& number) const {
    const std::string got = text("the ", number_type(), " ", number);
    if (rule_.kind == Rule::pointer)
      refuse(expected_text(), got,
             "pass an array; is the order of the arguments right? An address is a whole number of "
             "64 bits, and None or nullptr a null pointer");
    if (rule_.kind == Rule::view)
      refuse(expected_text(), got, "pass an array; is the order of the arguments right?");
    if (rule_.kind == Rule::opaque)
      refuse(expected_text(), got,
             "pass a number of that size, such as np.int32(x), or the struct's bytes");
    const bool loses_fraction =
        number.dtype().is_floating() && !rule_.dtype.is_floating() && !rule_.dtype.is_complex();
    refuse(expected_text(), got,
           loses_fraction
               ? text("round it yourself, int(x), or declare the parameter as a floating type")
               : text("pass a value within the range and precision of ", rule_.dtype,
                      ", or declare a wider parameter"));
  }

  std::string number_type() const {
    if (argument_.kind() == KernelArg::Kind::integer) return "integer";
    if (argument_.kind() == KernelArg::Kind::real) return "real number";
    return argument_.scalar().dtype().name() + " value";
  }

  const KernelState& function_;
  std::size_t index_;
  const KernelArg& argument_;
  const ParameterRule& rule_;
  const KernelParameter& parameter_;
};

}  // namespace

void fail_count(const KernelState& function, std::size_t count) {
  const std::size_t expected = function.signature().parameters.size();
  fail<KernelArgumentError>("kernel '", function.name(), "': expected ", expected,
                            expected == 1 ? " argument " : " arguments ", signature_text(function),
                            ", got ", count,
                            ". Remedy: pass one value for each parameter, in this order");
}

void fail_argument(const KernelState& function, std::size_t index, const KernelArg& argument) {
  ArgumentMismatch(function, index, argument).explain();
}

}  // namespace spanwise::kernels
