#pragma once
// The part of DLPack 1.x's binary interface that a consumer of matrices needs, from its
// specification (https://dmlc.github.io/dlpack/latest/c_api.html).

#include <cstdint>

namespace rung::python::dlpack {

struct Version {
  std::uint32_t major, minor;
};
constexpr Version version{1, 3};

struct Device {
  std::int32_t type;  // includes the values of rung_device_type
  std::int32_t id;
};

enum class TypeCode : std::uint8_t {
  signed_integer = 0,
  unsigned_integer = 1,
  floating = 2,
  bfloat = 4,
  float8_e4m3fn = 10,
  float8_e5m2 = 12,
};

struct DataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: row-major without gaps
  std::uint64_t byte_offset;
};

/// The target of a capsule named "dltensor".
struct ManagedTensor {
  Tensor tensor;
  void* context;
  void (*deleter)(ManagedTensor*);
};

constexpr std::uint64_t flag_read_only = 1, flag_is_copied = 2;

/// The target of a capsule named "dltensor_versioned".
struct VersionedTensor {
  Version version;
  void* context;
  void (*deleter)(VersionedTensor*);
  std::uint64_t flags;
  Tensor tensor;
};

/// The target of a type's capsule __dlpack_c_exchange_api__: the same exchange without intermediate
/// Python objects. Functions return 0, or -1 with a Python exception.
struct ExchangeApi {
  Version version;
  ExchangeApi* previous;  // table of an older major version
  int (*allocate)(Tensor* prototype, VersionedTensor** out, void* error_context,
                  void (*set_error)(void* error_context, const char* kind, const char* message));
  int (*managed_tensor_of)(void* object, VersionedTensor** out);
  int (*object_of)(VersionedTensor* tensor, void** out_object);
  int (*tensor_of)(void* object, Tensor* out);  // valid as long as the object; may be null
  int (*current_stream)(std::int32_t device_type, std::int32_t device_id, void** out);
};

}  // namespace rung::python::dlpack
