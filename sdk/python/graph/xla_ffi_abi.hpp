// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// The binary interface by which XLA calls a foreign function (XLA FFI, xla/ffi/api/c_api.h), as
/// far as a handler needs it: no header of JAX is needed to build, and no compiler to run. Every
/// struct begins with its size, by which both sides find members that the other does not have.
namespace spanwise::xla {

/// The version that these declarations are of. Major versions differ in layout; minor versions add
/// members at the ends of structs.
constexpr int api_major = 0, api_minor = 3;

struct Extension {
  std::size_t struct_size;
  int type;
  Extension* next;
};
constexpr int metadata_extension = 1;

struct ApiVersion {
  std::size_t struct_size;
  Extension* extensions;
  int major, minor;
};

/// What XLA asks a handler for before it calls it.
struct Metadata {
  std::size_t struct_size;
  ApiVersion version;
  std::uint32_t traits;
};
struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

struct Error;
enum class ErrorCode : int { invalid_argument = 3, resource_exhausted = 8, internal = 13 };
struct ErrorArguments {
  std::size_t struct_size;
  Extension* extensions;
  const char* message;
  ErrorCode code;
};

struct Context;
struct StreamArguments {
  std::size_t struct_size;
  Extension* extensions;
  Context* context;
  void* stream;  ///< out: a CUstream
};
struct OrdinalArguments {
  std::size_t struct_size;
  Extension* extensions;
  Context* context;
  std::int32_t ordinal;  ///< out
};

struct Api {
  std::size_t struct_size;
  Extension* extensions;
  ApiVersion version;
  const void* internal;
  Error* (*create_error)(ErrorArguments*);
  void* unused_before_stream[3];
  Error* (*get_stream)(StreamArguments*);
  void* unused_before_ordinal[12];
  Error* (*get_ordinal)(OrdinalArguments*);
};

struct Buffer {
  std::size_t struct_size;
  Extension* extensions;
  int dtype;
  void* data;
  std::int64_t rank;
  const std::int64_t* extents;
};
constexpr int buffer_type = 1;  ///< the only type of arguments and results

struct Buffers {
  std::size_t struct_size;
  Extension* extensions;
  std::int64_t count;
  const int* types;
  Buffer* const* values;
};

struct ByteSpan {
  const char* data;
  std::size_t size;
};
struct Scalar {
  int dtype;
  const void* value;
};
constexpr int scalar_type = 3;

/// Sorted by name.
struct Attributes {
  std::size_t struct_size;
  Extension* extensions;
  std::int64_t count;
  const int* types;
  const ByteSpan* const* names;
  const void* const* values;
};

enum class Stage : int { instantiate, prepare, initialize, execute };

struct CallFrame {
  std::size_t struct_size;
  Extension* extensions;
  const Api* api;
  Context* context;
  Stage stage;
  Buffers arguments;
  Buffers results;
  Attributes attributes;
};

using Handler = Error*(CallFrame*);

}  // namespace spanwise::xla
