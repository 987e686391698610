#include "library/dist/nccl/collectives.hpp"

#include "library/dist/nccl/product.hpp"

namespace rung::nccl {
namespace {

DataType data_type_of(ElementType type) {
  switch (type) {
    case ElementType::f64: return DataType::f64;
    case ElementType::bf16: return DataType::bf16;
    case ElementType::f16: return DataType::f16;
    default: return DataType::f32;
  }
}

void* pointer(cuda::DevicePointer memory) { return reinterpret_cast<void*>(memory); }

std::size_t elements(std::int64_t bytes, ElementType type) {
  return static_cast<std::size_t>(bytes / bytes_of(type));
}

}  // namespace

void all_gather(const Session& session, cuda::DevicePointer own, cuda::DevicePointer all,
                std::int64_t block_bytes, cuda::Stream stream) {
  const Api& nccl = session.nccl();
  require(nccl,
          nccl.ncclAllGather(pointer(own), pointer(all), static_cast<std::size_t>(block_bytes),
                             DataType::bytes, session.comm(), stream),
          "ncclAllGather");
}

void reduce_scatter(const Session& session, cuda::DevicePointer all, cuda::DevicePointer own,
                    std::int64_t block_bytes, ElementType type, cuda::Stream stream) {
  const Api& nccl = session.nccl();
  require(nccl,
          nccl.ncclReduceScatter(pointer(all), pointer(own), elements(block_bytes, type),
                                 data_type_of(type), Reduction::sum, session.comm(), stream),
          "ncclReduceScatter");
}

void all_reduce(const Session& session, cuda::DevicePointer memory, std::int64_t bytes,
                ElementType type, cuda::Stream stream) {
  const Api& nccl = session.nccl();
  require(nccl,
          nccl.ncclAllReduce(pointer(memory), pointer(memory), elements(bytes, type),
                             data_type_of(type), Reduction::sum, session.comm(), stream),
          "ncclAllReduce");
}

}  // namespace rung::nccl
