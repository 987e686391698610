#pragma once
// The part of the binary interface of XLA's foreign functions, version 0, that a product needs: the
// layout of jaxlib's xla/ffi/api/c_api.h, which only grows at the ends of its structures.

#include <cstddef>
#include <cstdint>

namespace rung::python::xla {

struct Extension {
  std::size_t struct_size;
  int type;  // 1: metadata
  Extension* next;
};
constexpr int metadata_extension = 1;

struct ApiVersion {
  std::size_t struct_size;
  Extension* extensions;
  int major, minor;
};

struct Metadata {
  std::size_t struct_size;
  ApiVersion version;
  std::uint32_t traits;
};

/// XLA's query for a handler's metadata, before it calls the handler.
struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

struct Error;
enum class ErrorCode : int { invalid_argument = 3, unimplemented = 12, internal = 13 };

struct ErrorCreateArguments {
  std::size_t struct_size;
  Extension* extensions;
  const char* message;
  ErrorCode code;
};

struct Context;

struct StreamGetArguments {
  std::size_t struct_size;
  Extension* extensions;
  Context* context;
  void* stream;  // a CUstream
};

struct Api {
  std::size_t struct_size;
  Extension* extensions;
  ApiVersion version;
  const void* internal_api;
  Error* (*error_create)(ErrorCreateArguments*);
  void* error_get_details;
  void* error_destroy;
  void* handler_register;
  Error* (*stream_get)(StreamGetArguments*);
};

/// xla::PrimitiveType
enum class Dtype : int {
  s8 = 2,
  s32 = 4,
  f16 = 10,
  f32 = 11,
  f64 = 12,
  bf16 = 16,
  f8e5m2 = 19,
  f8e4m3fn = 20
};

/// A row-major buffer without gaps.
struct Buffer {
  std::size_t struct_size;
  Extension* extensions;
  Dtype dtype;
  void* data;
  std::int64_t rank;
  std::int64_t* dims;
};

struct Buffers {  // arguments, or results
  std::size_t struct_size;
  Extension* extensions;
  std::int64_t size;
  int* types;
  Buffer** buffers;
};

struct CallFrame {
  std::size_t struct_size;
  Extension* extensions;
  const Api* api;
  Context* context;
  int stage;
  Buffers arguments, results;
};

}  // namespace rung::python::xla
