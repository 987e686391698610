#include <algorithm>
#include <exception>
#include <new>
#include <string>

#include "rung/nccl.h"
#include "rung/tensor_parallel.hpp"

struct rung_tensor_parallel {
  rung::dist::TensorParallel parallel;
};

namespace {

using rung::Error, rung::Order, rung::Status;

thread_local std::string last_error;

rung_status report(Status status, const char* text) {
  last_error = text;
  return static_cast<rung_status>(status);
}

template <class Body>
rung_status guarded(const Body& body) noexcept {
  try {
    body();
    return RUNG_OK;
  } catch (const Error& error) {
    return report(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return report(Status::out_of_memory, "rung: out of memory");
  } catch (const std::exception& error) {
    return report(Status::internal_error, error.what());
  }
}

template <class Options>
Options read(const Options* options, const Options& defaults) {
  if (options == nullptr) return defaults;
  if (options->struct_size != sizeof(Options)) {
    throw Error(Status::invalid_argument, "rung: struct_size is " +
                                              std::to_string(options->struct_size) +
                                              "; it must be " + std::to_string(sizeof(Options)));
  }
  return *options;
}

/// One of the strides must be 1; the stride of an extent of 1 is ignored.
template <class View>
View view_of(const char* name, const rung_tensor& t) {
  const std::string begin = std::string("rung: ") + name + ": ";
  if (t.ndim != 2) throw Error(Status::invalid_argument, begin + "ndim must be 2");
  if (t.device_type != RUNG_DEVICE_CUDA) {
    throw Error(Status::invalid_argument, begin + "device_type must be RUNG_DEVICE_CUDA");
  }
  const std::int64_t rows = t.shape[0], cols = t.shape[1];
  const auto type = static_cast<rung::ElementType>(t.dtype);
  if (t.strides == nullptr) return {t.data, type, rows, cols, std::max<std::int64_t>(cols, 1)};
  const std::int64_t down = t.strides[0], across = t.strides[1];
  if (across == 1 || cols <= 1) {
    return {t.data, type, rows, cols, rows <= 1 ? std::max<std::int64_t>(cols, 1) : down};
  }
  if (down == 1 || rows <= 1) return {t.data, type, rows, cols, across, Order::col_major};
  throw Error(Status::invalid_argument, begin + "strides are " + std::to_string(down) + " and " +
                                            std::to_string(across) + "; one must be 1");
}

}  // namespace

rung_status rung_tensor_parallel_create(void* comm, const rung_tensor_parallel_options* options,
                                        rung_tensor_parallel** created) {
  return guarded([&] {
    if (created == nullptr) throw Error(Status::invalid_argument, "rung: created is null");
    const auto o = read(options, RUNG_TENSOR_PARALLEL_OPTIONS_INIT);
    *created = new rung_tensor_parallel{rung::dist::TensorParallel(
        comm, {.timeout = o.timeout,
               .transport = static_cast<rung::dist::Transport>(o.transport),
               .deterministic = o.deterministic != 0})};
  });
}

void rung_tensor_parallel_destroy(rung_tensor_parallel* parallel) { delete parallel; }

rung_transport rung_tensor_parallel_transport(const rung_tensor_parallel* parallel) {
  return static_cast<rung_transport>(parallel->parallel.transport());
}

rung_status rung_tensor_parallel_gemm(rung_tensor_parallel* parallel, rung_collective collective,
                                      const rung_tensor* a, const rung_tensor* b,
                                      const rung_tensor* c, double alpha, double beta,
                                      const rung_tensor_parallel_call* call) {
  return guarded([&] {
    const auto options = read(call, RUNG_TENSOR_PARALLEL_CALL_INIT);
    using rung::dist::TensorParallel;
    const auto method = collective == RUNG_ALL_GATHER_GEMM ? &TensorParallel::all_gather_gemm
                        : collective == RUNG_GEMM_REDUCE_SCATTER
                            ? &TensorParallel::gemm_reduce_scatter
                            : &TensorParallel::gemm_all_reduce;
    (parallel->parallel.*method)(
        alpha, view_of<rung::InputMatrix>("A", *a), view_of<rung::InputMatrix>("B", *b), beta,
        view_of<rung::OutputMatrix>("C", *c), rung::CudaStream(options.stream),
        {.schedule = static_cast<rung::dist::Schedule>(options.schedule),
         .chunks = options.chunks});
  });
}

rung_status rung_tensor_parallel_synchronize(rung_tensor_parallel* parallel, void* stream) {
  return guarded([&] { parallel->parallel.synchronize(rung::CudaStream(stream)); });
}

const char* rung_tensor_parallel_last_error(void) { return last_error.c_str(); }
