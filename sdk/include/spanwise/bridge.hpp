// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spanwise/array.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/export.hpp"

struct _object;  // PyObject: this header is usable without Python's

namespace spanwise {

/// What the caller of an import asks for.
struct ImportOptions {
  CopyMode copy = CopyMode::if_needed;
  std::optional<DType> dtype{};    ///< cast to this
  std::optional<Device> device{};  ///< move there; default: stay where the data is
  bool writable = false;           ///< refuse read-only memory with ReadOnlyError
};

/// Another library's array, as its bridge sees it.
struct ForeignView {
  Array array;
  /// The stream on which the producer's work on the memory is queued, as the CUDA Array Interface
  /// counts them (1 legacy, 2 per-thread, else a CUstream); 0: there is no queued work.
  std::uintptr_t stream = 0;
};

/// Everything about one foreign library or protocol, and nothing else: copying, ordering, lifetime,
/// errors and counters are done once, by the functions below. All members run under the GIL.
class SW_API Bridge {
 public:
  virtual ~Bridge();
  /// "numpy", "dlpack", ...; what sw.convert() and sw.bridges() call it.
  virtual std::string_view name() const = 0;
  /// Bridges are asked in ascending order; exact types before protocols.
  virtual int order() const = 0;
  /// Whether objects like `object` are this bridge's; must not raise. The answer is remembered for
  /// the object's type.
  virtual bool accepts(_object* object) const = 0;
  /// A window onto the object's memory that keeps the object alive. Throws CopyNeededError where the
  /// memory cannot be described by a Layout (say why); other errors as they come.
  virtual ForeignView view(_object* object) const = 0;
  /// A private copy, for memory that view() cannot describe. The default throws what view() threw.
  virtual Array copy(_object* object) const;
  /// The array as an object of the library, sharing memory (a new reference). Throws CopyNeededError
  /// naming the layout where the library cannot hold it, DTypeError for a dtype that it lacks,
  /// BridgeError where the library is not installed.
  virtual _object* wrap(const Array& array) const = 0;
  /// Layout and device as the library needs them, for wrap() after a copy: by default C-contiguous on
  /// the array's own device.
  virtual Array fitting(const Array& array) const;
};

/// What an exchange did, or would do.
struct Exchange {
  bool shares = false;
  std::string reason;       ///< one clause: "C-contiguous float32 on cpu"
  std::int64_t bytes = 0;   ///< copied, or that would be copied
  std::string layout;       ///< of the source
  std::string remedy;       ///< what would make it share, "" where it does
};

/// Adds a bridge; called by a static initialiser of the bridge itself.
SW_API bool register_bridge(const Bridge& bridge);
/// Nullptr where there is none of that name.
SW_API const Bridge* find_bridge(std::string_view name) noexcept;

/// How often a bridge shared and copied so far.
struct BridgeCounts {
  std::string name;
  std::int64_t imports_shared = 0, imports_copied = 0, exports_shared = 0, exports_copied = 0;
  std::int64_t bytes_copied = 0;
};
SW_API std::vector<BridgeCounts> bridge_counts();

}  // namespace spanwise
