#include "library/cublas/products.hpp"

#include <cstddef>
#include <type_traits>

#include "library/cublas/handle.hpp"
#include "library/cublas/real.hpp"

namespace rung::cublas {
namespace {

/// The signature of the rung.h function for the types of a product.
template <class In, class Out, class Scalar>
using Function = rung_status(rung_order, rung_transpose, rung_transpose, std::int64_t, std::int64_t,
                             std::int64_t, Scalar, const In*, std::int64_t, const In*, std::int64_t,
                             Scalar, Out*, std::int64_t, void*, const rung_cuda_options*);

rung_transpose transpose(int op) { return op == 0 ? RUNG_NO_TRANS : RUNG_TRANS; }

template <class In, class Out, class Scalar>
int call(const Product& g, const State& state, Function<In, Out, Scalar>* function) {
  const auto* a = static_cast<const In*>(g.a.data);
  const auto* b = static_cast<const In*>(g.b.data);
  auto* c = static_cast<Out*>(const_cast<void*>(g.c.data));
  const Scalar alpha = *static_cast<const Scalar*>(g.alpha);
  const Scalar beta = *static_cast<const Scalar*>(g.beta);
  for (std::int64_t i = 0; i < g.batch; ++i) {
    const rung_status status =
        function(g.order, transpose(g.op_a), transpose(g.op_b), g.m, g.n, g.k, alpha, a, g.a.ld, b,
                 g.b.ld, beta, c, g.c.ld, state.stream, nullptr);
    // After the first product, another library could no longer compute the whole batch.
    if (status != RUNG_OK) return i == 0 ? answer(status) : static_cast<int>(execution_failed);
    a += g.a.stride;
    b += g.b.stride;
    c += g.c.stride;
  }
  return success;
}

int multiply_f32(const Product& g, const State& state) {
  const bool may_round =
      g.compute == compute_32f_fast_tf32 || (g.compute == compute_32f && state.allows_tf32());
  if (may_round) {
    const int with_tf32 = call(g, state, rung_cuda_gemm_tf32);
    if (with_tf32 != unanswered) return with_tf32;
  }
  return call(g, state, rung_cuda_gemm_f32);
}

bool has_types(const Product& g, int in, int out) {
  return g.a.type == in && g.b.type == in && g.c.type == out;
}

bool sums_in_float(const Product& g) {
  return g.compute == compute_32f || g.compute == compute_32f_pedantic ||
         g.compute == compute_32f_fast_16f || g.compute == compute_32f_fast_16bf ||
         g.compute == compute_32f_fast_tf32;
}

int multiply_by_types(const Product& g, const State& state) {
  if (sums_in_float(g)) {
    if (has_types(g, r_32f, r_32f)) return multiply_f32(g, state);
    if (has_types(g, r_16bf, r_16bf)) return call(g, state, rung_cuda_gemm_bf16_bf16);
    if (has_types(g, r_16f, r_16f)) return call(g, state, rung_cuda_gemm_f16_f16);
    if (has_types(g, r_16bf, r_32f)) return call(g, state, rung_cuda_gemm_bf16);
    if (has_types(g, r_16f, r_32f)) return call(g, state, rung_cuda_gemm_f16);
    if (has_types(g, r_8f_e4m3, r_32f)) return call(g, state, rung_cuda_gemm_e4m3);
    if (has_types(g, r_8f_e5m2, r_32f)) return call(g, state, rung_cuda_gemm_e5m2);
  }
  if ((g.compute == compute_64f || g.compute == compute_64f_pedantic) &&
      has_types(g, r_64f, r_64f)) {
    return call(g, state, rung_cuda_gemm_f64);
  }
  if ((g.compute == compute_32i || g.compute == compute_32i_pedantic) &&
      has_types(g, r_8i, r_32i)) {
    return call(g, state, rung_cuda_gemm_i8);
  }
  return unanswered;
}

}  // namespace

int answer(rung_status status) {
  switch (status) {
    case RUNG_OK: return success;
    case RUNG_OUT_OF_MEMORY: return alloc_failed;
    case RUNG_DEVICE_ERROR: return execution_failed;
    case RUNG_UNAVAILABLE: return unanswered;
    case RUNG_INVALID_ARGUMENT:  // the real cuBLAS reports the parameter
      return real_function("cublasCreate_v2") == nullptr ? static_cast<int>(invalid_value)
                                                         : unanswered;
    default: return internal_error;
  }
}

int multiply(const State& state, const Product& product) {
  // cuBLAS computes a batch in one launch; here, each product is a launch.
  if (product.batch > 1 && real_function("cublasGemmEx") != nullptr) return unanswered;
  if (state.pointer_mode != host_pointers) return unanswered;
  return multiply_by_types(product, state);
}

int multiply(Handle handle, const Product& product) {
  const std::optional<State> state = state_of(handle);
  return state ? multiply(*state, product) : unanswered;
}

}  // namespace rung::cublas
