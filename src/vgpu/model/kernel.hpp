#pragma once
// A kernel in the form that the engine runs: basic blocks of decoded instructions.

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "vgpu/model/instr.hpp"
#include "vgpu/model/launch.hpp"

namespace rung::vgpu {

/// A basic block. The engine's loop runs block after block; the end of a block selects the next.
/// All that it reads each time is in one cache line.
struct alignas(64) BasicBlock {
  enum class End : std::uint8_t {
    next,      // falls through to `next`
    branch,    // lanes whose guard holds go to `taken`, the others to `next`
    jump,      // all go to `taken`
    indirect,  // each lane to targets[its index]
    exit,      // all lanes are done
    exit_if,   // lanes whose guard holds are done, the others go to `next`
  };
  std::uint32_t first = 0, count = 0;                // in Kernel::code, without the end
  std::uint32_t native_first = 0, native_count = 0;  // likewise, in Kernel::native_code
  End end = End::next;
  bool guard_negated = false;
  bool suspends = false;      // its last instruction may block the warp
  bool meets = false;         // jump, indirect: a call whose lanes wait for each other behind it
  bool exchanges = false;     // lanes may wait for each other in it (engine/warp/rendezvous.hpp)
  std::uint32_t guard = 0;    // predicate row; for indirect, the row of the index
  int taken = -1, next = -1;  // block indices
  int post_dominator = -1;    // where divergent lanes reconverge; -1: only at their exit
  std::uint32_t instructions = 0;  // of the PTX text, the end included
  std::uint32_t end_site = 0;      // of the branch or exit; Kernel::no_site for none
  std::vector<int> targets;        // indirect
};

/// The provenance of a pointer (program/provenance.hpp): the access must stay inside it.
struct Origin {
  enum class Kind : std::uint8_t { unknown, shared, local, parameter };
  Kind kind = Kind::unknown;
  std::uint32_t index = 0;  // of Kernel::shared_arrays, or byte offset of the parameter
};

/// What an atomic does to the word.
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

/// Accesses are aligned to their size up to this one, so that two of them have the same address or
/// no common byte.
inline constexpr std::uint32_t widest_aligned = 16;

/// What a memory instruction accesses; Instr::imm points at one.
struct MemoryOp {
  ptx::Space space = ptx::Space::generic;
  std::uint8_t bytes = 4;          // of an element
  std::uint8_t count = 1;          // elements per lane
  std::uint8_t address_bytes = 0;  // of the address register's row: 4, 8, or 0 for no register
  bool starts_shape = false;       // first access by this register since it was written
  bool relaxed = false;            // volatile, relaxed or stronger: two such accesses do not race
  bool releases = false;           // .release, .acq_rel
  bool acquires = false;           // if relaxed: a read needs no fence after it
  std::uint8_t slot = 0;           // of the address shape (model/shape.hpp)
  std::uint32_t address_row = 0;
  bool deferred = false;        // observed where its value is used (program/speculation.hpp)
  bool joins_previous = false;  // shared: served by the request of the access before it
  bool in_cluster = false;      // may be in the shared memory of another block of the cluster
  bool counted_apart = false;   // shared side of a cp.async, whose site counts the global side
  std::uint8_t issued_bytes =
      0;  // shared: of the merged access that this one leads; 0: part of another
  std::int64_t offset = 0;
  Origin origin;
  // For a shared access, the bounds of the array that it must stay in. Empty for the dynamic array,
  // whose size only the launch knows.
  std::uint32_t shared_begin = 1, shared_end = 0;
  AtomicAction atomic;
  // For a shared access, what ptxas issues in place of it and of those merged with it
  // (program/merge.hpp). bytes == 0: another access serves it.
  struct Issued {
    std::uint8_t bytes = 0;
    std::int16_t shift = 0;  // from this access's address
  };
  std::array<Issued, 2> issued;
  std::uint32_t cache = 0;  // index of this op among the kernel's global accesses
  std::uint32_t site = 0;

  /// Whether address and offset are added modulo 2^32, as in a window with 32-bit addresses.
  /// Compilers emit negative registers with offsets that lead back into the window. Shapes
  /// sign-extend such a register, so that the sum has 64 bits.
  bool wraps() const {
    return address_bytes == 4 && (space == ptx::Space::shared || space == ptx::Space::local ||
                                  space == ptx::Space::param);
  }
  std::uint32_t access_bytes() const { return std::uint32_t{bytes} * count; }
  /// The alignment that addresses must have.
  std::uint32_t alignment() const {
    return access_bytes() < widest_aligned ? access_bytes() : widest_aligned;
  }
};

/// Loads from shared memory through one address register that a superinstruction checks together:
/// they have the same size and alignment, and access the same array.
struct ReadBatch {
  std::vector<const MemoryOp*> reads;  // in the order of the text
  const MemoryOp* first = nullptr;     // reads.front()
  const MemoryOp* lowest = nullptr;    // by offset
  const MemoryOp* highest = nullptr;
  /// From the shape's addresses to the first byte of `lowest`, and behind the last of `highest`.
  std::int64_t begin = 0, end = 0;
  std::uint32_t sizes = 0;  // of accesses whose wavefronts are counted: one bit per log2(bytes)
  std::uint32_t index = 0;  // among the kernel's batches
};

/// The addresses of a batch of loads, for which code is made.
struct LoadPattern {
  enum class Kind : std::uint8_t {
    uniform,
    halves,    // one address for each half of the lanes, the second `stride` bytes from the first
    strided,   // `stride` bytes between neighbours
    repeated,  // likewise within each half, and both halves have the same addresses
    repeated_scattered,
    scattered,
  };
  Kind kind = Kind::uniform;
  std::int32_t stride = 0;

  /// halves: from the lower address to that of a half.
  std::int32_t offset_of_half(int half) const {
    const std::int32_t second = stride < 0 ? 0 : stride;
    return half == 0 ? second - stride : second;
  }
  bool operator==(const LoadPattern&) const = default;
};

/// The addresses themselves, in this process.
struct LoadSource {
  const std::byte* low;          // of the lane with the lowest address
  const std::int32_t* distance;  // of each lane, from `low`
};

/// Code for the steps of a superinstruction (native/steps.hpp).
class NativeSteps {
 public:
  using Function = void (*)(std::byte* frame, const LoadSource* sources);
  virtual ~NativeSteps() = default;
  /// Code for several runs one after the other. `lows`: the batches' lowest addresses, run by run.
  struct Repeated {
    using Function = void (*)(std::byte* frame, const std::byte* const* lows, std::size_t runs,
                              std::byte* scratch);
    Function function = nullptr;
    std::size_t most_runs = 0;  // for which most_scratch bytes suffice
    bool faster_once = false;   // than the other code, for one run alone
  };
  static constexpr std::size_t most_scratch = 1 << 15;
  static constexpr std::size_t most_runs = 16;
  /// The code for batches with these patterns, which is made at the first call. Null if there are
  /// too many, or there is none. Thread-safe.
  virtual Function find(std::span<const LoadPattern> patterns) = 0;
  virtual Repeated find_repeated(std::span<const LoadPattern> patterns) = 0;
  /// Superinstruction::parts, with consecutive operations as one instruction in machine code.
  virtual std::span<const Instr> parts() const = 0;
};

/// Consecutive instructions that one handler runs (lowering/superinstructions.cpp); Instr::imm
/// points at one.
struct Superinstruction {
  static constexpr std::size_t most_batches = 8;
  static constexpr std::uint8_t in_frame = most_batches;  // for a batch: a row of the frame

  /// A load of `count` words per lane, from batches[batch[0]] at offset[0] into rows row[0],
  /// row[1], …; or an f32 FMA with destination, a, b and c in `row`. With loaded operands, a and b
  /// are words at offset[0] of batch[0] and offset[1] of batch[1]. Any other operation that can be
  /// translated is parts[offset[0]].
  struct Step {
    enum class Kind : std::uint8_t { load, multiply_add, multiply_add_loaded, operation };
    Kind kind = Kind::load;
    bool continues = false;  // FMA: c is the result of the previous one
    std::uint8_t count = 1;
    std::array<std::uint8_t, 2> batch{};
    std::array<std::int32_t, 2> offset{};  // bytes; for a row of the frame, its offset
    std::array<std::uint32_t, 4> row{};
    std::uint32_t last_use = Instr::used_later;  // as Instr::last_use
  };

  std::vector<Step> steps;
  std::vector<const ReadBatch*> batches;
  std::vector<Instr> parts;             // the same as separate instructions
  std::shared_ptr<NativeSteps> native;  // null if they are not translated
  std::uint32_t index = 0;              // among the kernel's superinstructions
  /// If its basic block repeats itself: the steps of an iteration may as well come after the other
  /// instructions of the next ones.
  bool deferrable = false;
};

/// A basic block that branches to itself and has a deferrable superinstruction: the steps of several
/// iterations run together. Instr::imm points at one.
struct Loop {
  std::optional<Instr> before, behind;  // translated code on either side of the superinstruction
  Instr super;
  std::uint32_t block = 0;
};

/// cp.async: Instr::imm points at one of these.
struct AsyncCopyOp {
  MemoryOp to, from;
  std::uint32_t bytes = 0;
  std::uint32_t source_bytes_row = 0;  // bytes to read, the rest is zero-filled; 0: all
};

/// The computation of addresses for wmma.load and .store; Instr::imm points at one of these.
struct WmmaAddresses {
  std::uint32_t base_row = 0, stride_row = 0;
  std::uint8_t base_bytes = 0;  // as MemoryOp::address_bytes
  bool stores = false;
  std::int64_t offset = 0;         // of the base
  std::uint32_t alignment = 1;     // of each row of the matrix, in bytes
  std::uint32_t element_bits = 0;  // the stride is in elements
  struct Place {
    std::uint16_t line, along;  // row and column of a row-major matrix
  };
  std::vector<std::array<Place, 32>> places;  // by access, by lane
};

/// A call of a function of the device runtime: offsets of its parameters in local memory.
struct ExternalCall {
  std::vector<std::uint32_t> arguments;
  std::uint32_t result = 0;
  bool has_result = false;
  std::uint32_t site = 0;
};

/// The registers that a store writes from, for observers that compare values.
struct StoredRegisters {
  std::vector<std::uint32_t> rows;  // by element
  std::uint8_t row_bytes = 0;       // per lane
  std::uint8_t element_bytes = 0;   // in memory: the low bytes of the register
};

/// A load of which some elements are only copied, or not read (program/copied_loads.hpp).
struct CopiedElements {
  std::vector<bool> used;  // by element: something computes with it; none: an atomic's old value
  std::uint32_t element_bytes = 0;
  bool follows_undefined = false;  // of shared memory (lowering/undefined.cpp)

  std::uint32_t bytes() const { return static_cast<std::uint32_t>(used.size()) * element_bytes; }
};

struct SharedArray {
  std::string name;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;  // static size; of the dynamic array, known at launch
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
};

struct SpecialRow {
  Special special;
  std::uint32_t offset;
  std::uint8_t bytes = 4;

  bool changes_with_block() const {
    return (special >= Special::ctaid_x && special <= Special::ctaid_z) ||
           special == Special::smid ||
           (special >= Special::clusterid_x && special <= Special::clusterid_z);  // ranks stay
  }
};

class Kernel {
 public:
  static constexpr std::uint32_t no_site = 0xFFFFFFFFu;

  KernelInfo info;
  std::vector<Site> sites;
  std::vector<std::string> files;  // paths, by SourceLine::file
  std::vector<BasicBlock> blocks;  // [0] is the entry
  std::vector<Instr> code;
  std::vector<Instr> native_code;  // the same, with runs of instructions in machine code; or empty
  std::vector<std::uint32_t> block_of_site;
  std::vector<std::uint32_t> guarded_sites;  // sites whose lanes are counted one by one

  // Referred to by Instr: their addresses must not change.
  std::deque<MemoryOp> memory_ops;
  std::deque<AsyncCopyOp> async_copies;
  std::deque<WmmaAddresses> wmma_addresses;
  std::deque<std::vector<std::uint32_t>> operand_lists;
  std::deque<Instr> guarded;
  std::deque<Superinstruction> superinstructions;
  std::deque<Loop> loops;
  std::deque<ReadBatch> read_batches;
  std::deque<ExternalCall> calls;
  std::unordered_map<std::uint32_t, StoredRegisters> stored;  // by site, of plain stores
  std::unordered_map<std::uint32_t, CopiedElements> copied;   // by site, of loads
  std::deque<std::string> undefined_uses;                     // texts for reports
  std::vector<std::shared_ptr<const void>> async_ops;         // model/async_ops.hpp
  std::shared_ptr<const void> machine_code;                   // the Chain of native_code

  std::uint32_t frame_bytes = 0;
  std::vector<ConstantRow> constants;
  std::vector<SpecialRow> specials;
  std::vector<std::uint32_t> undefined_rows;  // of 64 bits per lane, all set when a block starts
  std::vector<SharedArray> shared_arrays;
  std::uint32_t static_shared = 0;
  std::uint32_t local_bytes = 0;
  std::uint32_t shape_slots = 0;
  std::uint32_t global_caches = 0;
  int shared_granule = 4;  // bytes: the smallest access to shared memory, for race detection
  int global_granule = 4;
  bool prints = false;                // calls printf
  bool asynchronous = false;          // has mbarriers, bulk copies, wgmma or cluster barriers
  bool reaches_other_blocks = false;  // threads access shared memory of the cluster's other blocks
  bool synchronises_blocks = false;   // has fences or release/acquire accesses
  bool writes_unknown = false;        // some store to global memory has an unknown target
  std::vector<std::uint32_t>
      written_parameters;  // byte offsets of pointers that are stored through
};

}  // namespace rung::vgpu
