#include "library/dist/nccl/symmetric_memory.hpp"

namespace rung::nccl {

std::unique_ptr<SymmetricMemory> SymmetricMemory::make(Session& session, std::int64_t bytes) {
  std::unique_ptr<SymmetricMemory> memory(new SymmetricMemory(session, bytes));
  const bool is_there = memory->allocate();
  for (const int all : session.all_gather<int>(is_there ? 1 : 0)) {
    if (all == 0) return nullptr;
  }
  return memory;
}

bool SymmetricMemory::allocate() {
  const Api& nccl = session_.nccl();
  if (nccl.ncclMemAlloc == nullptr || nccl.ncclMemFree == nullptr ||
      nccl.ncclCommWindowRegister == nullptr || nccl.ncclCommWindowDeregister == nullptr) {
    return false;
  }
  const auto size = static_cast<std::size_t>(bytes_);
  // All ranks must take part in the decision, whether or not their allocation succeeded.
  const bool has_memory = nccl.ncclMemAlloc(&data_, size) == Result::success;
  for (const int all : session_.all_gather<int>(has_memory ? 1 : 0)) {
    if (all == 0) return false;
  }
  return nccl.ncclCommWindowRegister(session_.comm(), data_, size, &window_, window_is_symmetric) ==
             Result::success &&
         window_ != nullptr;
}

SymmetricMemory::~SymmetricMemory() {
  if (!session_.is_alive()) return;  // other ranks may still read it
  if (window_ != nullptr) session_.nccl().ncclCommWindowDeregister(session_.comm(), window_);
  if (data_ != nullptr) session_.nccl().ncclMemFree(data_);
}

}  // namespace rung::nccl
