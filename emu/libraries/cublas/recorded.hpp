#pragma once
// Calls of cuBLAS on a stream that captures: the graph runs them.

#include <string>

#include "emu/libraries/cublas/context.hpp"
#include "emu/runtime/report.hpp"

namespace rung::emu::cublas {

/// Runs call(context) now. If the handle's stream captures, the graph does, each time, with a copy of
/// the handle on the legacy stream; the graph owns the copy.
template <class Call>
void run_or_record(const cublasContext& context, const Call& call) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(context.stream, &status));
  if (status == cudaStreamCaptureStatusNone) return call(context);
  struct Recorded {
    cublasContext context;
    Call call;
  };
  const auto check_driver = [](cuda::Result result) {
    if (result != cuda::Result::success) throw Failure{CUBLAS_STATUS_EXECUTION_FAILED};
  };
  cuda::CaptureStatus found{};
  cuda::Graph graph = nullptr;
  check_driver(driver().cuStreamGetCaptureInfo(to_driver(context.stream), &found, nullptr, &graph,
                                               nullptr, nullptr));
  auto* const recorded = new Recorded{context, call};
  recorded->context.stream = nullptr;
  cuda::UserObject object = nullptr;
  constexpr unsigned without_synchronisation = 1, move = 1;  // CU_USER_OBJECT_NO_DESTRUCTOR_SYNC, …
  check_driver(driver().cuUserObjectCreate(
      &object, recorded, [](void* it) { delete static_cast<Recorded*>(it); }, 1,
      without_synchronisation));
  check_driver(driver().cuGraphRetainUserObject(graph, object, 1, move));
  check(cudaLaunchHostFunc(
      context.stream,
      [](void* data) {
        const emu::LibraryCall library("cuBLAS call");
        const auto& it = *static_cast<const Recorded*>(data);
        try {
          it.call(it.context);
        } catch (const Failure& failure) {
          report_error(std::string("a cuBLAS call in a graph failed with status ") +
                       std::to_string(static_cast<int>(failure.status)));
        }
      },
      recorded));
}

}  // namespace rung::emu::cublas
