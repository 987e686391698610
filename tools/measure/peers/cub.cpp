#include <fmt/format.h>

#include <filesystem>

#include "backends/cuda/cuda.hpp"
#include "backends/cuda/device_buffer.hpp"
#include "backends/cuda/dot_operands.hpp"
#include "core/dtype.hpp"
#include "core/kernel_error.hpp"
#include "core/shared_library/shared_library.hpp"
#include "tools/measure/peers/cub/shim.h"
#include "tools/measure/peers/gpu_batch.hpp"
#include "tools/measure/peers/open.hpp"

namespace rung {
namespace {

struct Functions {
  decltype(rung_cub_version)* version;
  decltype(rung_cub_status_name)* status_name;
  decltype(rung_cub_dot)* dot;

  explicit Functions(const SharedLibrary& library) {
    const auto find = [&]<class F>(F*& function, const char* symbol) {
      function = library.find<F>(symbol);
      if (function == nullptr && missing.empty()) missing = symbol;
    };
    find(version, "rung_cub_version");
    find(status_name, "rung_cub_status_name");
    find(dot, "rung_cub_dot");
  }

  void check(int status) const {
    if (status != 0) throw KernelError(fmt::format("cub::DeviceReduce: {}", status_name(status)));
  }

  std::string missing;  // the first function missing in the library
};

class Cub final : public Peer {
 public:
  Cub(const SharedLibrary& library, cuda::Gpu& gpu)
      : path_(library.path("rung_cub_version")), functions_(library), gpu_(gpu) {}

  const std::string& missing() const { return functions_.missing; }

  std::string name() const override { return "cub"; }
  std::string version() const override {
    const int version = functions_.version();
    return fmt::format("{}.{}.{}", version / 100000, version / 100 % 1000, version % 100);
  }
  std::string kernels() const override { return "cub::DeviceReduce::Sum"; }
  std::string path() const override { return path_; }
  std::string note() const override { return "dot as the sum of a transform iterator's products"; }

  Bound bind(const GemmCall&, int) const override { return {{}, "has no product of matrices"}; }

  Bound bind(const DotCall& call, int /*threads*/, void* result) const override {
    if (call.dtype == Dtype::bf16 || call.dtype == Dtype::f16) {
      return {{}, fmt::format("was not compiled for {}", ::rung::name(call.dtype))};
    }
    if (call.incx != 1 || (call.y != nullptr && call.incy != 1)) return {{}, "needs unit strides"};
    gpu_.make_current();
    const auto operands = std::make_shared<cuda::DotOperands>(gpu_, call, result);
    std::size_t bytes = 0;
    functions_.check(dot(*operands, call, nullptr, bytes));
    const auto workspace = std::make_shared<cuda::DeviceBuffer>(gpu_, bytes);
    const auto launch = [=, this] {
      std::size_t given = bytes;
      functions_.check(dot(*operands, call, workspace->data(), given));
    };
    return {batch_on_gpu("cub", operands, launch), {}};
  }

 private:
  int dot(const cuda::DotOperands& operands, const DotCall& call, void* workspace,
          std::size_t& bytes) const {
    const RungCubType type = call.dtype == Dtype::f64   ? rung_cub_f64
                             : call.dtype == Dtype::i32 ? rung_cub_i32
                                                        : rung_cub_f32;
    return functions_.dot(type, call.n, operands.x(), call.y == nullptr ? nullptr : operands.y(),
                          operands.result().data(), workspace, &bytes, gpu_.stream());
  }

  std::string path_;
  Functions functions_;
  cuda::Gpu& gpu_;
};

/// librung_cub.so in the directory of this program.
std::string beside_the_program() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "librung_cub.so" : (program.parent_path() / "librung_cub.so").string();
}

}  // namespace

std::unique_ptr<Peer> open_cub(const Backend& backend, std::string& why_not) {
  const std::string beside = beside_the_program();
  const SharedLibrary library("RUNG_CUB", {beside.c_str(), "librung_cub.so"});
  why_not = library.why_not();
  if (!library) return nullptr;
  auto peer = std::make_unique<Cub>(library, *gpu_of(backend));
  if (peer->missing().empty()) return peer;
  why_not = "it lacks " + peer->missing();
  return nullptr;
}

}  // namespace rung
