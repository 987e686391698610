#include "backends/cuda/graph.hpp"

#include "core/cuda_driver/error.hpp"
#include "core/kernel_error.hpp"

namespace rung::cuda {
namespace {

class Capture {
 public:
  // Relaxed mode, because a library may allocate in its first call.
  explicit Capture(Gpu& gpu) : gpu_(gpu) {
    const DriverApi& api = gpu.api();
    check(api, api.cuStreamBeginCapture(gpu.stream(), CaptureMode::relaxed),
          "cuStreamBeginCapture");
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture() {
    if (!ended_) gpu_.api().cuStreamEndCapture(gpu_.stream(), &graph_);
    if (graph_ != nullptr) gpu_.api().cuGraphDestroy(graph_);
  }

  GraphExec instantiate() {
    const DriverApi& api = gpu_.api();
    ended_ = true;
    check(api, api.cuStreamEndCapture(gpu_.stream(), &graph_), "cuStreamEndCapture");
    GraphExec exec = nullptr;
    check(api, api.cuGraphInstantiate(&exec, graph_, 0), "cuGraphInstantiate");
    return exec;
  }

 private:
  Gpu& gpu_;
  bool ended_ = false;
  Graph graph_ = nullptr;
};

}  // namespace

RecordedCalls::RecordedCalls(Gpu& gpu, const std::function<void()>& enqueue)
    : gpu_(gpu), generation_(gpu.generation()) {
  gpu.make_current();
  Capture capture(gpu);
  enqueue();
  exec_ = capture.instantiate();
}

RecordedCalls::~RecordedCalls() {
  if (generation_ == gpu_.generation()) gpu_.api().cuGraphExecDestroy(exec_);
}

void RecordedCalls::enqueue() {
  gpu_.make_current();
  if (generation_ != gpu_.generation()) {
    throw KernelError("a graph was lost when a kernel failed");
  }
  const Result result = gpu_.api().cuGraphLaunch(exec_, gpu_.stream());
  if (result != Result::success) gpu_.fail("graph", result);
}

}  // namespace rung::cuda
