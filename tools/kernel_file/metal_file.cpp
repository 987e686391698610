#include "tools/kernel_file/metal_file.hpp"

#include <cstring>
#include <vector>

#include "backends/host_storage.hpp"
#include "backends/metal/gemm_call.hpp"
#include "core/dtype.hpp"

namespace rung {
namespace {

/// The arguments of a kernel in the order of its parameters, with the bytes of those that are
/// passed by value.
class Arguments {
 public:
  explicit Arguments(std::shared_ptr<const MetalKernel> kernel)
      : kernel_(std::move(kernel)),
        bytes_(kernel_->file().signature.parameters.size()),
        arguments_(bytes_.size()) {}

  void set(Role role, std::int64_t value) { set_bytes(role, &value); }

  /// Converts the value to float, or to an integer for integer kernels.
  void set_scalar(Role role, double value) {
    const auto number = static_cast<std::int64_t>(value);
    const auto real = static_cast<float>(value);
    if (is_integer(kernel_->file().signature.dtype)) {
      set_bytes(role, &number);
    } else {
      set_bytes(role, &real);
    }
  }

  void set_scalars(std::vector<std::byte> bytes) {
    for_each(Role::scalars, [&](std::size_t i) {
      bytes_[i] = std::move(bytes);
      arguments_[i] = {.bytes = bytes_[i]};
    });
  }

  void set(Role role, const metal::Argument& argument) {
    for_each(role, [&](std::size_t i) { arguments_[i] = argument; });
  }

  void dispatch(const metal::Launch& launch, int threads) const {
    kernel_->device().dispatch(kernel_->pipeline(), launch, arguments_, threads);
  }

 private:
  template <class Use>
  void for_each(Role role, const Use& use) const {
    const auto& parameters = kernel_->file().signature.parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].role == role) use(i);
    }
  }

  /// Stores the low bytes of a value, as many as the parameter has.
  void set_bytes(Role role, const void* value) {
    for_each(role, [&](std::size_t i) {
      bytes_[i].resize(kernel_->info().parameters[i].bytes);
      std::memcpy(bytes_[i].data(), value, bytes_[i].size());
      arguments_[i] = {.bytes = bytes_[i]};
    });
  }

  std::shared_ptr<const MetalKernel> kernel_;
  std::vector<std::vector<std::byte>> bytes_;
  std::vector<metal::Argument> arguments_;
};

/// Operands and arguments of a GEMM on the device.
struct GemmOnDevice {
  GemmOnDevice(const std::shared_ptr<const MetalKernel>& kernel, const GemmCall& call)
      : a(kernel->device(), host_storage(call.a, call.m, call.k, input_bytes(call.dtype), true),
          call.a.data),
        b(kernel->device(), host_storage(call.b, call.k, call.n, input_bytes(call.dtype), true),
          call.b.data),
        c(kernel->device(), host_storage(call.c, call.m, call.n, output_bytes(call.dtype), true),
          call.c.data),
        arguments(kernel) {
    const Signature& signature = kernel->file().signature;
    const GemmArguments passed = arguments_of(signature, call);
    arguments.set(Role::m, passed.m);
    arguments.set(Role::n, passed.n);
    arguments.set(Role::k, call.k);
    arguments.set(Role::lda, passed.lda);
    arguments.set(Role::ldb, passed.ldb);
    arguments.set(Role::ldc, passed.ldc);
    arguments.set_scalar(Role::alpha, call.alpha);
    arguments.set_scalar(Role::beta, call.beta);
    arguments.set(Role::a, (passed.swapped ? b : a).argument());
    arguments.set(Role::b, (passed.swapped ? a : b).argument());
    arguments.set(Role::c, c.argument());
    arguments.set_scalars(metal::gemm_scalars(call, a, b, c));
    launch = kernel->launch(passed.m, passed.n);
  }

  metal::DeviceOperand a, b, c;
  Arguments arguments;
  metal::Launch launch;
};

struct DotOnDevice {
  DotOnDevice(const std::shared_ptr<const MetalKernel>& kernel, const DotCall& call)
      : device(kernel->device()),
        x(device, host_storage_of_x(call, true), call.x),
        y(device, host_storage_of_y(call, true), call.y),
        result(device.allocate(result_bytes)),
        arguments(kernel) {
    arguments.set(Role::n, call.n);
    arguments.set(Role::incx, call.incx);
    arguments.set(Role::incy, call.incy);
    arguments.set(Role::x, x.argument());
    arguments.set(Role::y, y.argument());
    arguments.set(Role::result, metal::Argument{{}, result.get(), 0});
    arguments.set_scalars(scalars_of(call));
    launch = kernel->launch(1, call.n);
  }

  std::vector<std::byte> scalars_of(const DotCall& call) const {
    const auto vector_bytes = 4 * static_cast<std::int64_t>(input_bytes(call.dtype));
    const bool are_vectors = call.incx == 1 && call.incy == 1 && x.is_aligned(vector_bytes) &&
                             y.is_aligned(vector_bytes);
    const DotScalars scalars = {call.n, call.incx, call.incy, are_vectors};
    const auto* const first = reinterpret_cast<const std::byte*>(&scalars);
    return {first, first + sizeof scalars};
  }

  static constexpr std::int64_t result_bytes = 4;  // sizeof(float) or sizeof(int)

  metal::Device& device;
  metal::DeviceOperand x, y;
  std::unique_ptr<metal::Buffer> result;
  Arguments arguments;
  metal::Launch launch;
};

}  // namespace

Bound MetalFile::bind(const GemmCall& call, int threads) const {
  const Signature& signature = kernel_->file().signature;
  if (std::string reason = why_not(signature, call); !reason.empty()) return {{}, reason};
  const auto bound = std::make_shared<GemmOnDevice>(kernel_, call);
  if (const auto reason = kernel_->device().why_not(bound->launch)) return {{}, *reason};
  const auto enqueue = [bound, threads](std::int64_t calls) {
    for (std::int64_t i = 0; i < calls; ++i) bound->arguments.dispatch(bound->launch, threads);
  };
  const auto download = [bound] {
    bound->c.download();
    bound->a.download();
    bound->b.download();
  };
  return {{enqueue, [kernel = kernel_] { kernel->device().wait(); }, download}, {}};
}

Bound MetalFile::bind(const DotCall& call, int threads, void* result) const {
  const Signature& signature = kernel_->file().signature;
  if (std::string reason = why_not(signature, call); !reason.empty()) return {{}, reason};
  const auto bound = std::make_shared<DotOnDevice>(kernel_, call);
  if (const auto reason = kernel_->device().why_not(bound->launch)) return {{}, *reason};
  const auto enqueue = [bound, threads](std::int64_t calls) {
    for (std::int64_t i = 0; i < calls; ++i) {
      bound->device.set_to_zero(*bound->result, 0, DotOnDevice::result_bytes);
      bound->arguments.dispatch(bound->launch, threads);
    }
  };
  const auto download = [bound, result] {
    bound->result->read(result, 0, DotOnDevice::result_bytes);
    bound->x.download();
    bound->y.download();
  };
  return {{enqueue, [kernel = kernel_] { kernel->device().wait(); }, download}, {}};
}

}  // namespace rung
