#include "vgpu/model/counters.hpp"

namespace rung::vgpu {

Counters& Counters::operator+=(const Counters& other) {
  global_load_requests += other.global_load_requests;
  global_load_sectors += other.global_load_sectors;
  global_store_requests += other.global_store_requests;
  global_store_sectors += other.global_store_sectors;
  shared_load_requests += other.shared_load_requests;
  shared_load_wavefronts += other.shared_load_wavefronts;
  shared_store_requests += other.shared_store_requests;
  shared_store_wavefronts += other.shared_store_wavefronts;
  ffma += other.ffma;
  instructions += other.instructions;
  barriers += other.barriers;
  divergent_branches += other.divergent_branches;
  thread_instructions += other.thread_instructions;
  branches += other.branches;
  global_atomics += other.global_atomics;
  shared_atomics += other.shared_atomics;
  local_load_requests += other.local_load_requests;
  local_store_requests += other.local_store_requests;
  issued_shared_load_requests += other.issued_shared_load_requests;
  issued_shared_load_wavefronts += other.issued_shared_load_wavefronts;
  issued_shared_store_requests += other.issued_shared_store_requests;
  issued_shared_store_wavefronts += other.issued_shared_store_wavefronts;
  bulk_loads += other.bulk_loads;
  bulk_load_bytes += other.bulk_load_bytes;
  bulk_load_sectors += other.bulk_load_sectors;
  bulk_load_lines += other.bulk_load_lines;
  bulk_stores += other.bulk_stores;
  bulk_store_bytes += other.bulk_store_bytes;
  bulk_store_sectors += other.bulk_store_sectors;
  bulk_store_lines += other.bulk_store_lines;
  bulk_shared_store_bytes += other.bulk_shared_store_bytes;
  bulk_shared_load_bytes += other.bulk_shared_load_bytes;
  tensor_multiply_adds += other.tensor_multiply_adds;
  wgmma_shared_load_bytes += other.wgmma_shared_load_bytes;
  wgmma_shared_load_wavefronts += other.wgmma_shared_load_wavefronts;
  tcgen05_shared_load_bytes += other.tcgen05_shared_load_bytes;
  return *this;
}

const char* name(InstrClass instr_class) {
  switch (instr_class) {
    case InstrClass::fp32: return "fp32";
    case InstrClass::fp64: return "fp64";
    case InstrClass::fp16: return "fp16";
    case InstrClass::integer: return "integer";
    case InstrClass::conversion: return "conversion";
    case InstrClass::logic: return "logic";
    case InstrClass::move: return "move";
    case InstrClass::special_function: return "special function";
    case InstrClass::matrix: return "matrix";
    case InstrClass::global_memory: return "global memory";
    case InstrClass::shared_memory: return "shared memory";
    case InstrClass::local_memory: return "local memory";
    case InstrClass::constant_memory: return "constant memory";
    case InstrClass::atomic: return "atomic";
    case InstrClass::async_copy: return "asynchronous copy";
    case InstrClass::control: return "control";
    case InstrClass::barrier: return "barrier";
    case InstrClass::warp: return "warp";
    case InstrClass::other: break;
  }
  return "other";
}

}  // namespace rung::vgpu
