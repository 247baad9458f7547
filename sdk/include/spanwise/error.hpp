// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "spanwise/export.hpp"
#include "spanwise/text.hpp"

namespace spanwise {

/// Base of everything that Spanwise throws on purpose.
///
/// A message says who complains, what was expected, what came, and what to do about it. In Python
/// each class below is `spanwise.<same name>`, deriving from the built-in named in its comment, so
/// that `except ValueError` keeps working in programs that never heard of Spanwise.
class SW_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A value that the function cannot take. Python: also ValueError.
class SW_API ArgumentError : public Error {
 public:
  using Error::Error;
};

/// A shape, stride or axis that does not fit. Python: also ValueError.
class SW_API LayoutError : public Error {
 public:
  using Error::Error;
};

/// An index outside its axis. Python: also IndexError.
class SW_API BoundsError : public Error {
 public:
  using Error::Error;
};

/// A dtype that the operation or the target library does not take. Python: also TypeError.
class SW_API DTypeError : public Error {
 public:
  using Error::Error;
};

/// Sharing was asked for and would need a copy. Python: also ValueError and BufferError.
class SW_API CopyNeededError : public Error {
 public:
  using Error::Error;
};

/// Writing to memory that its owner handed out as read-only. Python: also ValueError.
class SW_API ReadOnlyError : public Error {
 public:
  using Error::Error;
};

/// An object that no bridge, or not this bridge, can take. Python: also TypeError.
class SW_API BridgeError : public Error {
 public:
  using Error::Error;
};

/// A kernel call whose arguments do not fit the compiled kernel. Python: also TypeError.
class SW_API KernelArgumentError : public Error {
 public:
  using Error::Error;
};

/// A kernel that does not compile; carries the compiler's log and the source as compiled.
class SW_API CompileError : public Error {
 public:
  CompileError(const std::string& message, std::string log, std::string source)
      : Error(message), log_(std::move(log)), source_(std::move(source)) {}

  /// The compiler's own words, with the line numbers of the user's source.
  const std::string& log() const noexcept { return log_; }
  /// The user's source with line numbers in front of each line.
  const std::string& source() const noexcept { return source_; }

 private:
  std::string log_;
  std::string source_;
};

/// A device, driver or library that failed or is absent.
class SW_API DeviceError : public Error {
 public:
  explicit DeviceError(const std::string& message, int code = 0, std::string name = {})
      : Error(message), code_(code), name_(std::move(name)) {}

  /// The driver's numeric result, 0 where the failure did not come from a driver.
  int code() const noexcept { return code_; }
  /// The driver's symbol for it, for example "CUDA_ERROR_INVALID_VALUE".
  const std::string& name() const noexcept { return name_; }

 private:
  int code_;
  std::string name_;
};

/// No memory left on a device. Python: also MemoryError.
class SW_API OutOfMemoryError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// A graph that is malformed, or an op that broke its contract.
class SW_API GraphError : public Error {
 public:
  using Error::Error;
};

/// Throws E with the joined parts as its message. A check is an `if` in front of it: the parts are
/// then computed only where the check fails.
template <class E = Error, class... Parts>
[[noreturn, gnu::cold]] void fail(const Parts&... parts) {
  throw E(text(parts...));
}

}  // namespace spanwise
