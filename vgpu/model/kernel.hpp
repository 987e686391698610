#pragma once
// A kernel in the form that the engine runs: basic blocks of decoded instructions.

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "vgpu/model/instr.hpp"
#include "vgpu/model/launch.hpp"
#include "vgpu/model/unused_loads.hpp"

namespace rung::vgpu {

/// A basic block. The engine runs block after block; the end of a block selects the next. All data
/// that it reads each time are in one cache line.
struct alignas(64) BasicBlock {
  enum class End : std::uint8_t {
    next,      // falls through to `next`
    branch,    // lanes whose guard is true go to `taken`, the others to `next`
    jump,      // all lanes go to `taken`
    indirect,  // each lane goes to targets[its index]
    exit,      // all lanes exit
    exit_if,   // lanes whose guard is true exit, the others go to `next`
  };
  std::uint32_t first = 0, count = 0;                // in Kernel::code, excluding the end
  std::uint32_t native_first = 0, native_count = 0;  // in Kernel::native_code
  End end = End::next;
  bool guard_negated = false;
  bool suspends = false;      // the last instruction may block the warp
  bool meets = false;         // jump, indirect: a call after which its lanes reconverge
  bool exchanges = false;     // lanes may wait for each other inside (engine/warp/rendezvous.hpp)
  std::uint32_t guard = 0;    // predicate row; for indirect, the row of the index
  int taken = -1, next = -1;  // block indices
  int post_dominator = -1;    // where divergent lanes reconverge; -1: only at exit
  std::uint32_t instructions = 0;  // number of PTX instructions, including the end
  std::uint32_t end_site = 0;      // site of the branch or exit; Kernel::no_site if none
  std::vector<int> targets;        // for `indirect`
};

/// The provenance of a pointer (program/provenance.hpp): accesses must stay inside the object.
struct Origin {
  enum class Kind : std::uint8_t { unknown, shared, local, parameter };
  Kind kind = Kind::unknown;
  std::uint32_t index = 0;  // in Kernel::shared_arrays, or byte offset of the parameter
};

/// The operation that an atomic performs on the word.
struct AtomicAction {
  enum class Operation : std::uint8_t {
    add,
    min,
    max,
    bit_and,
    bit_or,
    bit_xor,
    exch,
    cas,
    inc,
    dec
  };
  Operation operation = Operation::add;
  ptx::Type type = ptx::Type::u32;
};

/// Accesses up to this size in bytes are aligned to it, so two of them have the same address or no
/// common byte.
inline constexpr std::uint32_t widest_aligned = 16;

/// An access to memory. Instr::imm points at it.
struct MemoryOp {
  ptx::Space space = ptx::Space::generic;
  std::uint8_t bytes = 4;          // per element
  std::uint8_t count = 1;          // elements per lane
  std::uint8_t address_bytes = 0;  // per lane of the address row: 4, 8, or 0 for no row
  bool starts_shape = false;       // first access by this register since it was written
  bool relaxed = false;            // volatile, relaxed or stronger: two such accesses do not race
  bool block_scope = false;        // .cta: orders nothing with other blocks (PTX ISA, 8.5)
  bool read_only = false;   // .nc: never ordered with writes of the launch (PTX ISA, 9.7.9.9)
  bool releases = false;    // .release, .acq_rel
  bool acquires = false;    // if relaxed: the read needs no fence after it
  bool reads_flag = false;  // an atomic whose old value the kernel uses
  std::uint8_t slot = 0;    // index of the address shape (model/shape.hpp)
  std::uint32_t address_row = 0;
  bool deferred = false;        // observed where its value is used (program/speculation.hpp)
  bool joins_previous = false;  // shared: served by the request of the previous access
  bool in_cluster = false;      // may access the shared memory of another block of the cluster
  bool counted_apart = false;   // shared side of a cp.async; the site counts the global side
  std::uint8_t element_alignment =
      0;                          // Metal: less than this is a fault, alignment() or less a report
  std::uint8_t issued_bytes = 0;  // shared: of the merged access led by this one; 0: of another
  std::int64_t offset = 0;
  Origin origin;
  // Shared: bounds of the array that the access must stay in. Empty for the dynamic array, whose
  // size is known only at launch.
  std::uint32_t shared_begin = 1, shared_end = 0;
  AtomicAction atomic;
  // Shared: the accesses that ptxas issues in place of this one and those merged with it
  // (program/merge.hpp). bytes == 0: served by another access.
  struct Issued {
    std::uint8_t bytes = 0;
    std::int16_t shift = 0;  // added to this access's address
  };
  std::array<Issued, 2> issued;
  std::uint32_t cache = 0;  // index among the kernel's global accesses
  std::uint32_t site = 0;

  /// True if address and offset are added modulo 2^32, as in a window with 32-bit addresses.
  /// Compilers emit negative registers with offsets that lead back into the window. Shapes
  /// sign-extend such a register, so the sum has 64 bits.
  bool wraps() const {
    return address_bytes == 4 && (space == ptx::Space::shared || space == ptx::Space::local ||
                                  space == ptx::Space::param);
  }
  std::uint32_t access_bytes() const { return std::uint32_t{bytes} * count; }
  /// The required alignment of addresses.
  std::uint32_t alignment() const {
    return access_bytes() < widest_aligned ? access_bytes() : widest_aligned;
  }
};

/// Loads from shared memory through one address register that a superinstruction checks together:
/// they have the same size and alignment, and access the same array.
struct ReadBatch {
  std::vector<const MemoryOp*> reads;  // in textual order
  const MemoryOp* first = nullptr;     // reads.front()
  const MemoryOp* lowest = nullptr;    // by offset
  const MemoryOp* highest = nullptr;
  /// Offsets from the shape's addresses: of the first byte of `lowest`, and one past the last byte
  /// of `highest`.
  std::int64_t begin = 0, end = 0;
  std::uint32_t sizes = 0;  // bit log2(bytes) is set if accesses of that size are counted
  std::uint32_t index = 0;  // among the kernel's batches
};

/// The pattern of the addresses of a batch of loads, for which code is generated.
struct LoadPattern {
  enum class Kind : std::uint8_t {
    uniform,
    halves,    // one address for each half of the lanes, `stride` bytes apart
    strided,   // neighbouring lanes are `stride` bytes apart
    repeated,  // strided within each half, with the same addresses in both halves
    repeated_scattered,
    scattered,
  };
  Kind kind = Kind::uniform;
  std::int32_t stride = 0;

  /// halves: offset of a half's address from the lower one of the two.
  std::int32_t offset_of_half(int half) const {
    const std::int32_t second = stride < 0 ? 0 : stride;
    return half == 0 ? second - stride : second;
  }
  bool operator==(const LoadPattern&) const = default;
};

/// The addresses of a batch of loads, in this process.
struct LoadSource {
  const std::byte* low;          // the lowest address
  const std::int32_t* distance;  // by lane, from `low`
};

/// The machine code for the steps of a superinstruction (native/steps.hpp).
class NativeSteps {
 public:
  using Function = void (*)(std::byte* frame, const LoadSource* sources);
  virtual ~NativeSteps() = default;
  /// Code for several consecutive runs. `lows`: the batches' lowest addresses, for each run.
  struct Repeated {
    using Function = void (*)(std::byte* frame, const std::byte* const* lows, std::size_t runs,
                              std::byte* scratch);
    Function function = nullptr;
    std::size_t max_runs = 0;  // maximum for max_scratch bytes
    bool faster_once = false;  // faster than `find()`'s code, even for one run
  };
  static constexpr std::size_t max_scratch = 1 << 15;
  static constexpr std::size_t max_runs = 16;
  /// The code for batches with these patterns, generated at the first call. Null if there are too
  /// many patterns, or if the steps cannot be translated. Thread-safe.
  virtual Function find(std::span<const LoadPattern> patterns) = 0;
  virtual Repeated find_repeated(std::span<const LoadPattern> patterns) = 0;
  /// Superinstruction::parts, with consecutive operations combined to one instruction in machine
  /// code.
  virtual std::span<const Instr> parts() const = 0;
};

/// Consecutive instructions run by one handler (lowering/superinstructions.cpp). Instr::imm points
/// at it.
struct Superinstruction {
  static constexpr std::size_t max_batches = 8;
  static constexpr std::uint8_t in_frame = max_batches;  // value of `batch` for a row of the frame

  /// A load of `count` words per lane, from batches[batch[0]] at offset[0] to rows row[0], row[1],
  /// …; or an f32 FMA, with destination, a, b and c in `row`. If operands are loaded, a and b are
  /// words at offset[0] of batch[0] and offset[1] of batch[1]. Any other operation that can be
  /// translated is parts[offset[0]].
  struct Step {
    enum class Kind : std::uint8_t { load, multiply_add, multiply_add_loaded, operation };
    Kind kind = Kind::load;
    bool continues = false;  // FMA: c is the result of the previous one
    std::uint8_t count = 1;
    std::array<std::uint8_t, 2> batch{};
    std::array<std::int32_t, 2> offset{};  // bytes; for a row of the frame, its offset
    std::array<std::uint32_t, 4> row{};
    std::uint32_t last_use = Instr::used_later;  // see Instr::last_use
  };

  std::vector<Step> steps;
  std::vector<const ReadBatch*> batches;
  std::vector<Instr> parts;             // as separate instructions
  std::shared_ptr<NativeSteps> native;  // null if they are not translated
  std::uint32_t index = 0;              // among the kernel's superinstructions
  /// True if its basic block loops and the steps of an iteration may run after the other
  /// instructions of later iterations.
  bool deferrable = false;
};

/// A basic block that branches to itself and has a deferrable superinstruction: the steps of
/// several iterations run together. Instr::imm points at it.
struct Loop {
  std::optional<Instr> before, behind;  // translated code before and after the superinstruction
  Instr super;
  std::uint32_t block = 0;
};

/// cp.async. Instr::imm points at it.
struct AsyncCopyOp {
  MemoryOp to, from;
  std::uint32_t bytes = 0;
  std::uint32_t source_bytes_row = 0;  // row: bytes to read, the rest is zero-filled; 0: read all
};

/// The computation of addresses for wmma.load and .store. Instr::imm points at it.
struct WmmaAddresses {
  std::uint32_t base_row = 0, stride_row = 0;
  std::uint8_t base_bytes = 0;  // see MemoryOp::address_bytes
  bool stores = false;
  std::int64_t offset = 0;         // added to the base
  std::uint32_t alignment = 1;     // of each row of the matrix, in bytes
  std::uint32_t element_bits = 0;  // the stride is in elements
  struct Place {
    std::uint16_t line, along;  // row and column of a row-major matrix
  };
  std::vector<std::array<Place, 32>> places;  // by access, by lane
};

/// A call of a device runtime function: offsets of its parameters in local memory.
struct ExternalCall {
  std::vector<std::uint32_t> arguments;
  std::uint32_t result = 0;
  bool has_result = false;
  std::uint32_t site = 0;
};

/// The registers that a store reads, for observers that compare values.
struct StoredRegisters {
  std::vector<std::uint32_t> rows;  // by element
  std::uint8_t row_bytes = 0;       // per lane
  std::uint8_t element_bytes = 0;   // in memory: the low bytes of a register
};

/// A load with elements that are only copied, or not read at all (program/copied_loads.hpp).
struct CopiedElements {
  // by element: some instruction computes with it; empty for the old value of an atomic
  std::vector<bool> used;
  std::uint32_t element_bytes = 0;
  bool follows_undefined = false;  // from shared memory (lowering/undefined.cpp)

  std::uint32_t bytes() const { return static_cast<std::uint32_t>(used.size()) * element_bytes; }
};

struct SharedArray {
  std::string name;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;  // static size; for the dynamic array, set at launch
  bool dynamic = false;
};

/// A row with the same contents in every warp and launch.
struct ConstantRow {
  std::uint32_t offset;
  std::uint8_t bytes;  // per lane: 2, 4, 8, or 0 for a predicate
  std::uint64_t bits;
};

enum class Special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemask_eq,
  lanemask_lt,
  lanemask_le,
  lanemask_gt,
  lanemask_ge,
  dynamic_smem_size,
  total_smem_size,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  cluster_ctarank,
  cluster_nctarank,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  is_explicit_cluster,
  threads_in_group_x,  // these six are not PTX: Metal's threads_per_threadgroup,
  threads_in_group_y,
  threads_in_group_z,
  threads_in_grid_x,  // and threads_per_grid
  threads_in_grid_y,
  threads_in_grid_z,
};

struct SpecialRow {
  Special special;
  std::uint32_t offset;
  std::uint8_t bytes = 4;

  bool changes_with_block() const {
    return (special >= Special::ctaid_x && special <= Special::ctaid_z) ||
           special == Special::smid ||
           // ranks do not change
           (special >= Special::clusterid_x && special <= Special::clusterid_z);
  }
};

/// A use of an undefined value that is reported.
struct UndefinedUse {
  std::string text;        // for the report, if the value comes from a register
  std::uint32_t load = 0;  // else the site of a load that it may come from
};

class Kernel;

/// A second version of a kernel, which tracks undefined values from shared memory (lowering/undefined.cpp). It has the
/// same sites and basic blocks, and is slower. Blocks run in it once one of them has read unwritten shared memory.
class TrackingVersion {
 public:
  std::function<std::unique_ptr<Kernel>()> make;  // empty without such loads
  mutable std::atomic<bool> wanted{false};

  /// Makes it at the first call. Thread-safe.
  const Kernel& get() const;

 private:
  mutable std::once_flag made_;
  mutable std::unique_ptr<Kernel> kernel_;
};

class Kernel {
 public:
  static constexpr std::uint32_t no_site = 0xFFFFFFFFu;

  KernelInfo info;
  std::vector<Site> sites;
  std::vector<std::string> files;  // paths, by SourceLine::file
  std::vector<BasicBlock> blocks;  // [0] is the entry
  std::vector<Instr> code;
  std::vector<Instr> native_code;  // with runs of instructions in machine code; or empty
  std::vector<std::uint32_t> block_of_site;
  std::vector<std::uint32_t> guarded_sites;  // lanes are counted one by one
  UnusedLoads unused_loads;                  // by site

  // Instr points at these, so their addresses must not change.
  std::deque<MemoryOp> memory_ops;
  std::deque<AsyncCopyOp> async_copies;
  std::deque<WmmaAddresses> wmma_addresses;
  std::deque<std::vector<std::uint32_t>> operand_lists;
  std::deque<Instr> guarded;
  std::deque<Superinstruction> superinstructions;
  std::deque<Loop> loops;
  std::deque<ReadBatch> read_batches;
  std::deque<ExternalCall> calls;
  std::unordered_map<std::uint32_t, StoredRegisters> stored;  // by site, for plain stores
  std::unordered_map<std::uint32_t, CopiedElements> copied;   // by site, for loads
  std::deque<UndefinedUse> undefined_uses;
  std::vector<std::shared_ptr<const void>> async_ops;  // model/async_ops.hpp
  std::shared_ptr<const void> machine_code;            // Chain of native_code

  std::uint32_t frame_bytes = 0;
  std::vector<ConstantRow> constants;
  std::vector<SpecialRow> specials;
  std::vector<std::uint32_t> undefined_rows;  // 64 bits per lane, all set when a block starts
  std::vector<bool> tracked_loads;            // by site: the values of these loads can be tracked
  bool tracks_loads = false;                  // this is a tracking version
  TrackingVersion tracking;
  std::vector<SharedArray> shared_arrays;
  std::uint32_t static_shared = 0;
  std::uint32_t local_bytes = 0;
  std::uint32_t shape_slots = 0;
  std::uint32_t global_caches = 0;
  int shared_granule = 4;  // bytes of the smallest shared access, for race detection
  int global_granule = 4;
  bool prints = false;                // calls printf
  bool asynchronous = false;          // has mbarriers, bulk copies, wgmma or cluster barriers
  bool reaches_other_blocks = false;  // threads access shared memory of the cluster's other blocks
  bool synchronises_blocks = false;   // has fences or release/acquire accesses
  bool writes_unknown = false;        // some store to global memory has an unknown target
  bool uses_tensor_memory = false;    // has tcgen05 instructions
  bool cancels_launches = false;      // has clusterlaunchcontrol.try_cancel
  /// Byte offsets of pointers through which the kernel stores.
  std::vector<std::uint32_t> written_parameters;

  bool tracks(std::uint32_t site) const {
    return site < tracked_loads.size() && tracked_loads[site];
  }
};

inline const Kernel& TrackingVersion::get() const {
  std::call_once(made_, [this] { kernel_ = make(); });
  return *kernel_;
}

}  // namespace rung::vgpu
