#pragma once
// Base class of the peers with a CBLAS interface (32-bit sizes).

#include <memory>
#include <string>
#include <string_view>

#include "core/shared_library/shared_library.hpp"
#include "tools/measure/peers/peer.hpp"

namespace rung {

class CblasPeer : public Peer {
 public:
  CblasPeer(std::string_view name, const SharedLibrary& library);

  /// The prefix of all function names in the library: "scipy_" or empty.
  static std::string prefix(const SharedLibrary& library);

  /// True if the library has all of cblas_{s,d}gemm and cblas_{s,d}dot.
  bool complete() const;

  std::string name() const override { return name_; }
  std::string path() const override { return path_; }
  Bound bind(const GemmCall& call, int threads) const override;
  Bound bind(const DotCall& call, int threads, void* result) const override;

 protected:
  virtual void set_threads(int threads) const = 0;

 private:
  template <class T>
  using GemmFunction = void(int order, int trans_a, int trans_b, int m, int n, int k, T alpha,
                            const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc);
  /// Introduced by MKL, like the next one, and adopted by other libraries.
  template <class In>
  using MixedFunction = void(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                             const In* a, int lda, const In* b, int ldb, float beta, float* c,
                             int ldc);
  template <class T>
  using BatchFunction = void(int order, int trans_a, int trans_b, int m, int n, int k, T alpha,
                             const T* a, int lda, int stride_a, const T* b, int ldb, int stride_b,
                             T beta, T* c, int ldc, int stride_c, int batch);
  template <class T>
  using DotFunction = T(int n, const T* x, int incx, const T* y, int incy);

  Bound bind_batch(const GemmCall& call) const;

  std::string name_;
  std::string path_;
  GemmFunction<float>* sgemm_;
  GemmFunction<double>* dgemm_;
  BatchFunction<float>* sgemm_batch_;  // null if not supported, like the next
  BatchFunction<double>* dgemm_batch_;
  DotFunction<float>* sdot_;
  DotFunction<double>* ddot_;
  MixedFunction<bfloat16>* bf16_gemm_;  // null if not supported, like the next
  MixedFunction<float16>* f16_gemm_;
};

/// Opens a CblasPeer of class P, whose constructor has the library as its parameter.
template <class P>
std::unique_ptr<Peer> open_cblas_peer(const SharedLibrary& library, std::string& why_not) {
  why_not = library.why_not();
  if (!library) return nullptr;
  auto peer = std::make_unique<P>(library);
  if (peer->complete()) return peer;
  why_not = "it lacks cblas_sgemm, cblas_dgemm, cblas_sdot or cblas_ddot";
  return nullptr;
}

}  // namespace rung
