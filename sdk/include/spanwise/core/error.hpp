// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "spanwise/core/export.hpp"

namespace spanwise {

/// One part of a text: a reference to a value that can be printed with operator<<. Valid as long as
/// the value. The printing is compiled into the library, so that code which only throws errors does
/// not include stream headers, and does not use the locale of a C++ library that is linked
/// statically into an extension module.
class SW_API TextPart {
 public:
  template <class T>
  TextPart(const T& value) noexcept {
    if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      set(std::string_view(value));
    } else if constexpr (std::same_as<T, char>) {
      set(std::string_view(&value, 1));
    } else if constexpr (std::signed_integral<T>) {
      kind_ = Kind::signed_integer;
      signed_ = value;
    } else if constexpr (std::unsigned_integral<T>) {
      kind_ = Kind::unsigned_integer;
      unsigned_ = value;
    } else if constexpr (std::floating_point<T>) {
      kind_ = Kind::real;
      real_ = static_cast<double>(value);
    } else {
      kind_ = Kind::printed;
      printed_ = {&value, [](std::ostream& out, const void* object) {
                    out << *static_cast<const T*>(object);
                  }};
    }
  }

  void append_to(std::string& out) const;

 private:
  enum class Kind : unsigned char { characters, signed_integer, unsigned_integer, real, printed };
  struct Characters {
    const char* first;
    std::size_t count;
  };
  struct Printed {
    const void* object;
    void (*print)(std::ostream&, const void*);
  };

  void set(std::string_view characters) noexcept {
    kind_ = Kind::characters;
    characters_ = {characters.data(), characters.size()};
  }

  Kind kind_;
  union {
    Characters characters_;
    long long signed_;
    unsigned long long unsigned_;
    double real_;
    Printed printed_;
  };
};

/// Concatenates the parts.
SW_API std::string join_text(std::initializer_list<TextPart> parts);

/// Concatenates `parts`, each printed as operator<< prints it.
template <class... Parts>
std::string text(const Parts&... parts) {
  return join_text({TextPart(parts)...});
}

/// Base class of Spanwise's exceptions.
///
/// A message says which function failed, what was expected, what was given, and what to do about
/// it. In Python each class below is `spanwise.<same name>`, deriving from the built-in named in
/// its comment, so that `except ValueError` also works in programs that do not use Spanwise.
class SW_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An invalid argument. Python: also ValueError.
class SW_API ArgumentError : public Error {
 public:
  using Error::Error;
};

/// An invalid shape, stride or axis. Python: also ValueError.
class SW_API LayoutError : public Error {
 public:
  using Error::Error;
};

/// An out-of-range axis. Python: also IndexError, like numpy.exceptions.AxisError.
class SW_API AxisError : public LayoutError {
 public:
  using LayoutError::LayoutError;
};

/// An index out of range. Python: also IndexError.
class SW_API BoundsError : public Error {
 public:
  using Error::Error;
};

/// A dtype that the operation or the target library does not support. Python: also TypeError.
class SW_API DTypeError : public Error {
 public:
  using Error::Error;
};

/// Sharing was requested but needs a copy. Python: also ValueError and BufferError.
class SW_API CopyNeededError : public Error {
 public:
  using Error::Error;
};

/// Why memory cannot be shared, and what the caller can do.
struct ShareBlocker {
  std::string reason;  ///< a clause: "a stride of 6 bytes is no multiple of the 4-byte element"
  std::string remedy;  ///< an imperative: "pass x.copy()"
};

/// A CopyNeededError with its parts; the message is "<prefix>: <reason>; <remedy>".
class SW_API SharingError : public CopyNeededError {
 public:
  SharingError(std::string_view prefix, ShareBlocker blocker)
      : CopyNeededError(text(prefix, ": ", blocker.reason, "; ", blocker.remedy)),
        blocker_(std::move(blocker)) {}
  /// The same error with another message.
  SharingError(const SharingError& error, const std::string& message)
      : CopyNeededError(message), blocker_(error.blocker_) {}
  const ShareBlocker& blocker() const noexcept { return blocker_; }

 private:
  ShareBlocker blocker_;
};

/// A write to memory that its owner exported as read-only. Python: also ValueError.
class SW_API ReadOnlyError : public Error {
 public:
  using Error::Error;
};

/// An object that no bridge, or not the given bridge, can import or export. Python: also TypeError.
class SW_API BridgeError : public Error {
 public:
  using Error::Error;
};

/// A kernel call whose arguments do not match the compiled kernel. Python: also TypeError.
class SW_API KernelArgumentError : public Error {
 public:
  using Error::Error;
};

/// A kernel that does not compile; holds the compiler's log and the source.
class SW_API CompileError : public Error {
 public:
  CompileError(const std::string& message, std::string log, std::string source)
      : Error(message), log_(std::move(log)), source_(std::move(source)) {}

  /// The compiler's messages, with the line numbers of the user's source.
  const std::string& log() const noexcept { return log_; }
  /// The user's source, each line prefixed with its number.
  const std::string& source() const noexcept { return source_; }

 private:
  std::string log_;
  std::string source_;
};

/// A device, driver or library that failed or is missing.
class SW_API DeviceError : public Error {
 public:
  explicit DeviceError(const std::string& message, int code = 0, std::string name = {})
      : Error(message), code_(code), name_(std::move(name)) {}

  /// The driver's numeric result, 0 where the failure did not come from a driver.
  int code() const noexcept { return code_; }
  /// The driver's symbolic name of code(), for example "CUDA_ERROR_INVALID_VALUE".
  const std::string& name() const noexcept { return name_; }

 private:
  int code_;
  std::string name_;
};

/// A kernel that failed while it ran: an assertion, a signal, divergent barriers, or a finding of
/// config "kernel_check". The message names the kernel and, where known, thread and line.
class SW_API KernelFaultError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// No memory left on a device. Python: also MemoryError.
class SW_API OutOfMemoryError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// A malformed graph, or an op that violates its contract.
class SW_API GraphError : public Error {
 public:
  using Error::Error;
};

/// A collective call that failed: ranks that disagree, do not arrive in time, have ended or have
/// raised an exception. Python: spanwise.CollectiveError, also RuntimeError.
class SW_API CollectiveError : public Error {
 public:
  explicit CollectiveError(const std::string& message, std::int64_t number = -1,
                           std::string op = {}, std::vector<std::string> calls = {})
      : Error(message), number_(number), op_(std::move(op)), calls_(std::move(calls)) {}
  /// Number of the failed call of its communicator, from 0; -1 outside of a call.
  std::int64_t number() const noexcept { return number_; }
  /// The failed call: "all_reduce(sum) of float32 (3, 4)".
  const std::string& op() const noexcept { return op_; }
  /// The last call of each rank, by rank; empty where unknown.
  const std::vector<std::string>& calls() const noexcept { return calls_; }

 private:
  std::int64_t number_;
  std::string op_;
  std::vector<std::string> calls_;
};

/// Throws E with the concatenated parts as its message. Call it inside an `if`, so that the parts
/// are only evaluated where the check fails.
template <class E = Error, class... Parts>
[[noreturn, gnu::cold]] void fail(const Parts&... parts) {
  throw E(text(parts...));
}

}  // namespace spanwise
