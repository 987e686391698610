#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>

#include "backends/cuda/cuda.hpp"
#include "backends/cuda/device_buffer.hpp"
#include "core/dtype.hpp"
#include "core/kernel_error.hpp"
#include "tools/measure/peers/blas_operand.hpp"
#include "tools/measure/peers/cublaslt_api.hpp"
#include "tools/measure/peers/epilogue_on_gpu.hpp"
#include "tools/measure/peers/gpu_batch.hpp"
#include "tools/measure/peers/open.hpp"
#include "tools/measure/timing.hpp"

namespace rung {
namespace {

using cublaslt::Algorithm;
using cublaslt::Functions;
using cublaslt::Plan;

constexpr std::size_t workspace_bytes = 64 << 20;
constexpr int max_choices = 10;

/// The key of the cache of algorithms.
using Problem =
    std::tuple<Dtype, std::int64_t, std::int64_t, std::int64_t, cublas::Operation,
               cublas::Operation, std::int64_t, std::int64_t, std::int64_t, std::uint32_t,
               std::uint32_t, std::uint32_t, bool, std::int64_t, std::string>;

Problem problem_of(const ColumnMajorGemm& g, const Plan& plan, const GemmCall& call,
                   const std::string& around) {
  return {g.dtype,
          g.m,
          g.n,
          g.k,
          g.first.operation,
          g.second.operation,
          g.first.ld,
          g.second.ld,
          g.ldc,
          plan.alignments[0],
          plan.alignments[1],
          plan.alignments[2],
          call.beta != 0,
          g.batch,
          around};
}

/// A brief reason why cuBLASLt does not support this epilogue. It adds the residual before the
/// activation, and its auxiliary output for relu is a bit mask.
std::optional<std::string> why_not(const EpilogueParts& parts) {
  const Activation activation = parts.activation;
  if (activation == Activation::silu) return "has no silu";
  if (activation == Activation::gelu_erf) return "has no gelu by erf";
  if (parts.aux && activation != Activation::gelu_tanh) return "has aux only with gelu";
  if (parts.residual && activation != Activation::none) {
    return "adds the residual before the activation";
  }
  return std::nullopt;
}

std::optional<std::string> why_not(const GemmCall& call) {
  if (call.dtype == Dtype::e5m2) return "multiplies e5m2 only by e4m3";
  const bool is_narrow = call.dtype == Dtype::i8 || call.dtype == Dtype::e4m3;
  // cuBLASLt's layout "TN", with swapped factors.
  const bool along_k = !BlasOperand(call.a, call.m, call.k).transposed &&
                       BlasOperand(call.b, call.k, call.n).transposed;
  if (is_narrow && !along_k) {
    return fmt::format("takes {} only with A and B along k (layout nt)", name(call.dtype));
  }
  return why_not_in_cublas(call);
}

class CublasLt final : public Peer {
 public:
  CublasLt(const SharedLibrary& library, cuda::Gpu& gpu)
      : path_(library.path("cublasLtMatmul")), functions_(library), gpu_(gpu) {
    if (functions_.missing.empty()) version_ = functions_.version();
  }

  const std::string& missing() const { return functions_.missing; }

  std::string name() const override { return "cublaslt"; }
  std::string version() const override { return version_; }
  std::string kernels() const override {
    return fmt::format("the fastest of its first {} choices", max_choices);
  }
  std::string path() const override { return path_; }
  std::string note() const override { return "8-bit floats without fast accumulation"; }

  Bound bind(const GemmCall& call, int /*threads*/) const override {
    if (call.batch != 1 && call.dtype != Dtype::e4m3) {
      return {{}, "is asked for batches of e4m3 alone: for others cublas is"};
    }
    if (const auto reason = why_not(call)) return {{}, *reason};
    gpu_.make_current();
    const std::lock_guard lock(mutex_);
    renew_session();
    const ColumnMajorGemm g(gpu_, call);
    return bind(call, "", {std::make_shared<Plan>(functions_, g), g, nullptr});
  }
  Bound bind_epilogue(const CallWithEpilogue& host, int /*threads*/) const override {
    const GemmCall& call = host.call;
    if (const auto reason = why_not(call)) return {{}, *reason};
    if (const auto reason = why_not(host.parts)) return {{}, *reason};
    gpu_.make_current();
    const std::lock_guard lock(mutex_);
    renew_session();
    const auto on_gpu = std::make_shared<EpilogueOnGpu>(gpu_, host);
    GemmCall with_residual = call;
    if (host.parts.residual) with_residual.beta = 1;
    ColumnMajorGemm g(gpu_, with_residual);
    const auto plan = std::make_shared<Plan>(functions_, g);
    if (host.a_scales.data == nullptr) {
      plan->add_epilogue(functions_, g, on_gpu->call);
    } else if (!plan->add_block_scales(functions_, on_gpu->call)) {
      return {{}, "has no block scales"};
    }
    const std::string around = host.a_scales.data != nullptr ? "scales" : rung::name(host.parts);
    return bind(with_residual, around, {plan, g, on_gpu});
  }
  Bound bind(const DotCall&, int, void*) const override { return {{}, "has no dot product"}; }

 private:
  struct Session {
    Session(const Functions& functions, cuda::Gpu& gpu)
        : workspace(gpu, workspace_bytes), handle(functions.destroy) {
      functions.check(functions.create(handle.out()), "cublasLtCreate");
    }

    cuda::DeviceBuffer workspace;
    cublaslt::Object<cublaslt::Handle> handle;
    std::map<Problem, Algorithm> chosen;
  };

  void renew_session() const {
    if (session_ != nullptr && session_->workspace.is_present()) return;
    session_ = std::make_shared<Session>(functions_, gpu_);
  }

  /// The arguments of cublasLtMatmul, except the algorithm.
  struct Product {
    std::shared_ptr<Plan> plan;
    ColumnMajorGemm g;
    std::shared_ptr<EpilogueOnGpu> epilogue;  // null if none

    const void* added() const {
      const bool has_residual = epilogue != nullptr && epilogue->residual != nullptr;
      return has_residual ? epilogue->call.residual.data : g.c;
    }
  };

  /// `around`: a text describing the epilogue or the scales.
  Bound bind(const GemmCall& call, const std::string& around, const Product& product) const {
    const Problem problem = problem_of(product.g, *product.plan, call, around);
    if (!session_->chosen.contains(problem)) {
      const auto choices =
          product.plan->choices(functions_, session_->handle, workspace_bytes, max_choices);
      if (choices.empty()) return {{}, "has no algorithm for it"};
      // Uses separate operands, because C is overwritten.
      session_->chosen[problem] =
          fastest(choices, {product.plan, ColumnMajorGemm(gpu_, call), product.epilogue});
    }
    return {batch(product, session_->chosen[problem]), {}};
  }

  BoundCall batch(const Product& product, const Algorithm& algorithm) const {
    const auto launch = [this, session = session_, product, algorithm] {
      const auto& [plan, g, epilogue] = product;
      functions_.check(
          functions_.matmul(session->handle, plan->operation, &g.alpha, g.first.data, plan->first,
                            g.second.data, plan->second, &g.beta, product.added(), plan->c, g.c,
                            plan->c, &algorithm, session->workspace.data(),
                            session->workspace.bytes(), gpu_.stream()),
          "cublasLtMatmul");
    };
    return batch_on_gpu("cublaslt", product.g.operands, launch);
  }

  /// Throws the KernelError of the last algorithm if none succeeds.
  Algorithm fastest(const std::vector<Algorithm>& choices, const Product& scratch) const {
    std::optional<Algorithm> best;
    double least = std::numeric_limits<double>::infinity();
    std::string failure;
    for (const Algorithm& choice : choices) {
      try {
        const double seconds = seconds_of(batch(scratch, choice));
        if (seconds >= least) continue;
        least = seconds;
        best = choice;
      } catch (const KernelError& error) {
        failure = error.what();
      }
    }
    if (!best) throw KernelError(failure);
    return *best;
  }

  /// The time per call in seconds.
  static double seconds_of(const BoundCall& candidate) {
    constexpr double sample_seconds = 1e-3;
    candidate.run(1);
    const double once = time_batch(candidate, 1);
    const auto calls = static_cast<std::int64_t>(std::ceil(sample_seconds / once));
    double seconds = once;
    for (int sample = 0; sample < 3; ++sample) {
      seconds = std::min(seconds, time_batch(candidate, calls) / static_cast<double>(calls));
    }
    return seconds;
  }

  std::string path_;
  Functions functions_;
  cuda::Gpu& gpu_;
  std::string version_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<Session> session_;
};

}  // namespace

std::unique_ptr<Peer> open_cublaslt(const Backend& backend, std::string& why_not) {
  const SharedLibrary library("RUNG_CUBLASLT", {"libcublasLt.so.13", "libcublasLt.so.12",
                                                "libcublasLt.so.11", "libcublasLt.so"});
  why_not = library.why_not();
  if (!library) return nullptr;
  auto peer = std::make_unique<CublasLt>(library, *gpu_of(backend));
  if (peer->missing().empty()) return peer;
  why_not = "it lacks " + peer->missing();
  return nullptr;
}

}  // namespace rung
