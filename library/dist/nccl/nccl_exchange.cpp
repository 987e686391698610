// Transfers blocks with ncclSend and ncclRecv, on the side stream.

#include <array>

#include "library/dist/nccl/exchange.hpp"

namespace rung::nccl {
namespace {

/// The maximum number of thread blocks of NCCL's kernels on NVLink. Each takes an SM from
/// concurrent products.
constexpr int max_ctas = 32;

class NcclExchange final : public Exchange {
 public:
  explicit NcclExchange(Session& session) : Exchange(session), driver_(session.driver()) {}
  ~NcclExchange() override {
    if (!session_.is_alive()) return;
    driver_.cuStreamSynchronize(session_.side());
    for (const cuda::Event event : arrived_) {
      if (event != nullptr) driver_.cuEventDestroy(event);
    }
    if (memory_ != 0) driver_.cuMemFree(memory_);
  }

  dist::Transport transport() const override { return dist::Transport::nccl; }
  int multiprocessors() const override { return max_ctas; }
  cuda::DevicePointer incoming() const override { return memory_; }
  cuda::DevicePointer outgoing() const override {
    return memory_ + static_cast<cuda::DevicePointer>(bytes_);
  }

  void reserve(std::int64_t bytes) override {
    if (bytes <= bytes_) return;
    session_.wait(session_.side());
    if (memory_ != 0) require(driver_, driver_.cuMemFree(memory_), "cuMemFree");
    memory_ = 0;
    bytes_ = 0;
    require(driver_, driver_.cuMemAlloc(&memory_, 2 * static_cast<std::size_t>(bytes)),
            "cuMemAlloc");
    bytes_ = bytes;
  }

  void begin(cuda::Stream stream) override { session_.order(stream, session_.side()); }

  void post(int number, const Step& step, cuda::Stream stream) override {
    const cuda::Stream side = session_.side();
    session_.order(stream, side);
    const cuda::DevicePointer packed = pack(step, side);
    session_.part("sends", "send", step.out.lines, side, [&] { send_and_receive(step, packed); });
    cuda::Event& event = arrived_.at(static_cast<std::size_t>(number));
    if (event == nullptr) {
      require(driver_, driver_.cuEventCreate(&event, cuda::event_disable_timing), "cuEventCreate");
    }
    require(driver_, driver_.cuEventRecord(event, side), "cuEventRecord");
  }

  void await(int number, cuda::Stream stream) override {
    require(driver_,
            driver_.cuStreamWaitEvent(stream, arrived_.at(static_cast<std::size_t>(number)), 0),
            "cuStreamWaitEvent");
  }

  void finish(cuda::Stream stream) override { await_all(stream); }

 private:
  void send_and_receive(const Step& step, cuda::DevicePointer packed) {
    const Api& nccl = session_.nccl();
    const cuda::Stream side = session_.side();
    require(nccl, nccl.ncclGroupStart(), "ncclGroupStart");
    if (!step.out.is_empty()) {
      require(nccl,
              nccl.ncclSend(reinterpret_cast<const void*>(packed),
                            static_cast<std::size_t>(step.out.lines * step.pitch), DataType::bytes,
                            step.to, session_.comm(), side),
              "ncclSend");
    }
    if (step.in_lines > 0) {
      require(nccl,
              nccl.ncclRecv(reinterpret_cast<void*>(
                                incoming() + static_cast<cuda::DevicePointer>(step.in_offset)),
                            static_cast<std::size_t>(step.in_lines * step.pitch), DataType::bytes,
                            step.source, session_.comm(), side),
              "ncclRecv");
    }
    require(nccl, nccl.ncclGroupEnd(), "ncclGroupEnd");
  }

  /// Packs the step's block, because NCCL sends contiguous bytes.
  cuda::DevicePointer pack(const Step& step, cuda::Stream side) const {
    const bool is_own = step.out.data >= outgoing() &&
                        step.out.data < outgoing() + static_cast<cuda::DevicePointer>(bytes_);
    const bool is_contiguous = step.out.line_bytes == step.pitch && step.out.pitch == step.pitch;
    if (step.out.is_empty() || is_own || is_contiguous) return step.out.data;
    const cuda::DevicePointer own = outgoing() + static_cast<cuda::DevicePointer>(step.in_offset);
    copy(driver_, step.out, own, step.pitch, side);
    return own;
  }

  const cuda::DriverApi& driver_;
  cuda::DevicePointer memory_ = 0;
  std::int64_t bytes_ = 0;
  std::array<cuda::Event, max_steps> arrived_ = {};
};

}  // namespace

std::unique_ptr<Exchange> make_nccl_exchange(Session& session) {
  return std::make_unique<NcclExchange>(session);
}

}  // namespace rung::nccl
