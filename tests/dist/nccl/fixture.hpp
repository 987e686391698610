#pragma once
// Fixture for tests of tensor parallel products: ranks are threads on the virtual GPU, with a
// stand-in for NCCL.

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "../../library/cuda/fixture.hpp"
#include "case.hpp"
#include "vgpu/memory/device_memory.hpp"
#include "virtual_ranks.hpp"

namespace rung::nccl {

class TensorParallelTest : public CudaLibrary {
 protected:
  void SetUp() override {
    CudaLibrary::SetUp();
    vgpu::let_host_access_device_memory();  // virtual_ranks.cpp sums and copies on the host
    static const cuda::Driver driver = {.api = &vgpu::virtual_driver(), .takes_cubin = false};
    cuda::use_driver(&driver);
    static const Backend standin = {.driver = &vgpu::virtual_driver(),
                                    .peers = &standin_peers(),
                                    .nccl = &standin_nccl(),
                                    .streams_run_at_once = false};
    use_backend(&standin);
    vgpu::set_launch_defaults({.observe = false});
  }
  void TearDown() override {
    set_patience(patience);
    vgpu::set_launch_defaults({});
    use_backend(nullptr);
    CudaLibrary::TearDown();
  }

  /// Runs the case on one thread per rank and compares each rank's result.
  void run(const Case& o) {
    const auto errors = on_ranks(o.ranks, [&](int rank, Comm comm) {
      TensorParallel parallel(comm, {.timeout = 300, .transport = o.transport, .bandwidth = 300e9});
      Operands operands(o, rank);
      cuda::Stream stream = nullptr;
      vgpu::virtual_driver().cuStreamCreate(&stream, cuda::stream_non_blocking);
      for (int time = 0; time < o.calls; ++time) {
        operands.c.reset();
        call(parallel, o, operands, stream);
        parallel.synchronize(CudaStream(stream));
        const std::string wrong = operands.difference();
        if (!wrong.empty()) {
          throw std::runtime_error("call " + std::to_string(time) + ": " + wrong);
        }
      }
    });
    for (std::size_t rank = 0; rank < errors.size(); ++rank) {
      EXPECT_EQ(errors[rank], "") << o.text() << ", rank " << rank;
    }
  }
};

constexpr Kind kinds[] = {Kind::all_gather, Kind::reduce_scatter, Kind::all_reduce};
constexpr Transport transports[] = {Transport::nccl, Transport::copy_engine};

}  // namespace rung::nccl
