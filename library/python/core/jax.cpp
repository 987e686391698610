// XLA FFI handlers rung_jax_matmul_cpu and rung_jax_matmul_cuda, which rung.jax registers. They
// take two arguments of shapes (..., m, k) and (..., k, n) with the same batch and return one
// result of shape (..., m, n).

#include <string>

#include "rung/rung.h"
#include "xla_ffi.hpp"

namespace rung::python {
namespace {

using namespace xla;

Error* error(const Api& api, ErrorCode code, const std::string& message) {
  ErrorCreateArguments arguments = {sizeof(arguments), nullptr, message.c_str(), code};
  return api.error_create(&arguments);
}

int dtype_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32: return RUNG_DTYPE_F32;
    case Dtype::f64: return RUNG_DTYPE_F64;
    case Dtype::s32: return RUNG_DTYPE_I32;
    case Dtype::bf16: return RUNG_DTYPE_BF16;
    case Dtype::f16: return RUNG_DTYPE_F16;
    case Dtype::s8: return RUNG_DTYPE_I8;
    case Dtype::f8e4m3fn: return RUNG_DTYPE_E4M3;
    case Dtype::f8e5m2: return RUNG_DTYPE_E5M2;
  }
  return -1;
}

std::int64_t element_size(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64: return 8;
    case Dtype::f32:
    case Dtype::s32: return 4;
    case Dtype::f16:
    case Dtype::bf16: return 2;
    default: return 1;
  }
}

/// True if three buffers are the operands and the result of a batch of products.
bool fits(const Buffer& a, const Buffer& b, const Buffer& c) {
  const std::int64_t rank = a.rank;
  if (rank < 2 || b.rank != rank || c.rank != rank) return false;
  for (std::int64_t i = 0; i < rank - 2; ++i) {
    if (a.dims[i] != b.dims[i] || a.dims[i] != c.dims[i]) return false;
  }
  return a.dims[rank - 1] == b.dims[rank - 2] && c.dims[rank - 2] == a.dims[rank - 2] &&
         c.dims[rank - 1] == b.dims[rank - 1];
}

/// Matrix `number` of the batch.
rung_tensor matrix(const Buffer& buffer, std::int64_t number, int device) {
  const std::int64_t* const shape = buffer.dims + buffer.rank - 2;
  auto* const data = static_cast<char*>(buffer.data);
  return {data + number * shape[0] * shape[1] * element_size(buffer.dtype),
          device,
          0,
          2,
          dtype_of(buffer.dtype),
          shape,
          nullptr};
}

Error* matmul(const CallFrame& frame, int device) {
  const Api& api = *frame.api;
  if (frame.arguments.size != 2 || frame.results.size != 1) {
    return error(api, ErrorCode::invalid_argument, "rung: matmul has two arguments and one result");
  }
  const Buffer &a = *frame.arguments.buffers[0], &b = *frame.arguments.buffers[1];
  const Buffer& c = *frame.results.buffers[0];
  if (!fits(a, b, c)) {
    return error(api, ErrorCode::invalid_argument, "rung: matmul: the shapes do not fit");
  }
  if (dtype_of(a.dtype) < 0 || dtype_of(b.dtype) < 0 || dtype_of(c.dtype) < 0) {
    return error(api, ErrorCode::unimplemented, "rung: matmul: an element type is not supported");
  }
  rung_tensor_options options = RUNG_TENSOR_OPTIONS_INIT;
  if (device == RUNG_DEVICE_CUDA) {
    StreamGetArguments stream = {sizeof(stream), nullptr, frame.context, nullptr};
    if (Error* const failed = api.stream_get(&stream); failed != nullptr) return failed;
    options.stream = stream.stream;
  }
  std::int64_t batch = 1;
  for (std::int64_t i = 0; i < c.rank - 2; ++i) batch *= c.dims[i];
  for (std::int64_t i = 0; i < batch; ++i) {
    const rung_tensor left = matrix(a, i, device), right = matrix(b, i, device),
                      product = matrix(c, i, device);
    if (rung_gemm(&left, &right, &product, 1, 0, &options) != RUNG_OK) {
      return error(api, ErrorCode::internal, rung_last_error());
    }
  }
  return nullptr;
}

Error* handle(const CallFrame* frame, int device) {
  Extension* const extension = frame->extensions;
  if (extension == nullptr || extension->type != metadata_extension) return matmul(*frame, device);
  // Everything used here exists in every version 0, so report the caller's version.
  ApiVersion& version = reinterpret_cast<MetadataExtension*>(extension)->metadata->version;
  version.major = frame->api->version.major;
  version.minor = frame->api->version.minor;
  return nullptr;
}

}  // namespace
}  // namespace rung::python

#define RUNG_HANDLER extern "C" __attribute__((visibility("default")))

RUNG_HANDLER rung::python::xla::Error* rung_jax_matmul_cpu(
    const rung::python::xla::CallFrame* frame) {
  return rung::python::handle(frame, RUNG_DEVICE_CPU);
}

RUNG_HANDLER rung::python::xla::Error* rung_jax_matmul_cuda(
    const rung::python::xla::CallFrame* frame) {
  return rung::python::handle(frame, RUNG_DEVICE_CUDA);
}
