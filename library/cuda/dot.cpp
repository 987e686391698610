// GPU dot products: from public vectors to the rung that the rules select, in the caller's stream.

#include <cstdint>

#include "library/canonical.hpp"
#include "library/cuda/launch_dot.hpp"
#include "library/cuda/result_slot.hpp"
#include "library/public_types.hpp"
#include "rung/cuda.hpp"

namespace rung {
namespace {

cuda::Stream handle_of(CudaStream stream) { return static_cast<cuda::Stream>(stream.handle()); }

template <class In>
Dot<In> checked(std::int64_t n, const In* x, std::int64_t incx, const In* y, std::int64_t incy,
                const CudaDotOptions& options) {
  check::mode(options.mode);
  check::workspace("dot", options.workspace, options.workspace_bytes,
                   cuda::least_dot_workspace_bytes);
  cuda::require_aligned("dot", x, sizeof(In));
  cuda::require_aligned("dot", y, sizeof(In));
  return canonical(n, x, incx, y, incy);
}

template <class In>
CudaDotChoice choose(const cuda::ContextCache& context, const Dot<In>& problem, DotMode mode) {
  return choose_cuda_dot({dtype_of<In>(), problem.n, mode, context.arch()});
}

template <class In, class Out>
void to_device(std::int64_t n, const In* x, std::int64_t incx, const In* y, std::int64_t incy,
               Out* result, CudaStream stream, const CudaDotOptions& options) {
  const Dot<In> problem = checked(n, x, incx, y, incy, options);
  check::result("dot", result);
  cuda::require_aligned("dot", result, sizeof(Out));
  cuda::ContextCache& context = cuda::current_context();
  const cuda::WorkspaceSource workspace{context, handle_of(stream), options.workspace,
                                        options.workspace_bytes};
  cuda::launch_dot(workspace, choose(context, problem, options.mode), problem, result);
}

/// Throws if the stream is capturing: the call would wait for the stream, which cannot be captured.
/// Must be checked before the driver invalidates the capture.
void refuse_capture(const cuda::ContextCache& context, cuda::Stream stream) {
  if (!cuda::capture_of(context.api(), stream).is_active) return;
  throw Error(Status::invalid_argument,
              "rung: dot: the stream is capturing a graph; the result must go to device memory");
}

/// Computes the result in device memory and copies it to the host.
template <class Out, class In>
Out to_host(std::int64_t n, const In* x, std::int64_t incx, const In* y, std::int64_t incy,
            CudaStream stream, const CudaDotOptions& options) {
  const Dot<In> problem = checked(n, x, incx, y, incy, options);
  cuda::ContextCache& context = cuda::current_context();
  const cuda::WorkspaceSource workspace{context, handle_of(stream), options.workspace,
                                        options.workspace_bytes};
  refuse_capture(context, workspace.stream);
  cuda::ResultSlot slot(workspace);
  cuda::launch_dot(workspace, choose(context, problem, options.mode), problem,
                   reinterpret_cast<Out*>(slot.address()));
  slot.fill();
  Out result{};
  slot.read(&result, sizeof result);
  return result;
}

}  // namespace

#define RUNG_DEFINE_DOT(suffix, In, Out, InC, OutC)                                        \
  void dot(std::int64_t n, const In* x, std::int64_t incx, const In* y, std::int64_t incy, \
           Out* result, CudaStream stream, const CudaDotOptions& options) {                \
    to_device(n, x, incx, y, incy, result, stream, options);                               \
  }                                                                                        \
  Out dot(std::int64_t n, const In* x, std::int64_t incx, const In* y, std::int64_t incy,  \
          CudaStream stream, const CudaDotOptions& options) {                              \
    return to_host<Out>(n, x, incx, y, incy, stream, options);                             \
  }
RUNG_PUBLIC_DOT_TYPES(RUNG_DEFINE_DOT)
#undef RUNG_DEFINE_DOT

}  // namespace rung
