#include "vgpu/memory/device_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <utility>

#include "vgpu/memory/device_addresses.hpp"
#include "vgpu/memory/written_bytes.hpp"

namespace rung::vgpu {
namespace {

std::atomic<bool> host_accesses_all = false;

constexpr std::size_t granularity = 512;             // of addresses and of accounting
constexpr std::size_t page = 4096;                   // at least the CPU's page size
constexpr std::size_t guard = std::size_t{1} << 16;  // bytes before and after the data
// maximum address space after an allocation
constexpr std::size_t max_beyond = std::size_t{1} << 32;
constexpr std::size_t stamp_bytes = 42;  // per byte of data
constexpr std::size_t huge_page = std::size_t{1} << 21;
constexpr std::size_t worth_huge_pages = std::size_t{64} << 20;  // minimum address space
constexpr std::size_t worth_huge_page = std::size_t{1} << 19;    // minimum data
// number of blocks, over all launches
constexpr std::uint64_t max_numbered = std::uint64_t{1} << 32;
constexpr std::size_t max_freed = 256;  // number of freed allocations to remember
constexpr std::size_t max_freed_bytes = std::size_t{1} << 42;  // maximum address space of these
// Larger allocations, with their shadows, would not fit into 47 bits of addresses.
constexpr std::size_t max_bytes = std::size_t{1} << 41;

std::size_t rounded(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// The capacity that an allocation uses.
std::size_t charged(std::size_t bytes, bool host) {
  return host ? 0 : std::max(granularity, rounded(bytes, granularity));
}

/// Reserved address space. It uses memory only where it is touched. Fresh pages are zero.
class Mapping {
 public:
  /// `data`: number of bytes at the start that will certainly be touched.
  Mapping(std::size_t bytes, std::size_t data) : bytes_(bytes) {
    const bool all = bytes >= worth_huge_pages, some = data >= worth_huge_page;
    begin_ = reserved(!all && some ? bytes + huge_page : bytes);
    if (all) {
      madvise(begin_, bytes, MADV_HUGEPAGE);
    } else if (some) {
      keep_from_huge_page();
      madvise(begin_, std::min(bytes, rounded(data, huge_page)), MADV_HUGEPAGE);
    }
  }
  ~Mapping() { munmap(begin_, bytes_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::uint8_t* at(std::size_t offset) const { return static_cast<std::uint8_t*>(begin_) + offset; }
  std::size_t bytes() const { return bytes_; }
  /// Frees the memory but keeps the addresses.
  void clear(std::size_t begin, std::size_t end) const {
    madvise(at(begin), end - begin, MADV_DONTNEED);
  }

 private:
  static void* reserved(std::size_t bytes) {
    void* const begin = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (begin == MAP_FAILED) throw std::bad_alloc();
    return begin;
  }
  /// Trims a reservation that is one huge page too large, so that it starts at a huge page.
  void keep_from_huge_page() {
    const auto address = reinterpret_cast<std::uintptr_t>(begin_);
    const std::size_t before = (huge_page - address % huge_page) % huge_page;
    std::uint8_t* const kept = at(before);
    if (before != 0) munmap(begin_, before);
    if (before != huge_page) munmap(kept + bytes_, huge_page - before);
    begin_ = kept;
  }

  void* begin_;
  std::size_t bytes_;
};

}  // namespace

void let_host_access_device_memory() { host_accesses_all = true; }

/// An allocation and its address space: guard, data, guard, lines (written_bytes.hpp),
/// `initialised`, `stamps`. For adopted memory, only the stamps.
struct DeviceMemory::Block {
  enum class Data { of_device, of_host, callers };

  Block(std::size_t bytes, Data where)
      : adopted(where == Data::callers),
        data(adopted ? 0 : guard),
        initialised(adopted ? 0
                            : data + rounded(bytes, page) + guard +
                                  rounded(bytes / bytes_of_line + 1, page)),
        stamps(adopted ? 0 : initialised + rounded(bytes, page)),
        mapping(stamps + std::max(page, rounded(bytes * stamp_bytes, page)),
                adopted ? 0 : data + bytes) {
    allocation.bytes = bytes;
    allocation.stamps = reinterpret_cast<std::uint64_t*>(mapping.at(stamps));
    if (adopted) return;
    const auto begin = reinterpret_cast<std::uint64_t>(mapping.at(data));
    allocation.address = begin;
    allocation.initialised = mapping.at(initialised);
    if (where == Data::of_host || host_accesses_all) return;
    // Reserve as much space after the data as the shadow takes, so that index errors stay within
    // the allocation's addresses.
    addresses.emplace(std::min(mapping.bytes(), data + bytes + max_beyond));
    allocation.address = addresses->begin() + data;
    allocation.to_data = begin - allocation.address;
  }

  bool holds(std::uint64_t address) const {
    return address >= allocation.address && address - allocation.address < allocation.bytes;
  }
  bool holds(std::uint64_t address, std::size_t bytes) const {
    return address >= allocation.address && bytes <= allocation.bytes &&
           address - allocation.address <= allocation.bytes - bytes;
  }

  bool reserves(std::uint64_t address) const {
    const auto begin =
        addresses ? addresses->begin() : reinterpret_cast<std::uint64_t>(mapping.at(0));
    return address >= begin && address - begin < space();
  }
  /// Size of the address space in bytes, starting at the guard before the data.
  std::size_t space() const { return addresses ? addresses->bytes() : mapping.bytes(); }

  void mark_initialised(std::uint64_t address, std::size_t bytes) {
    if (allocation.host || allocation.all_initialised) return;
    if (bytes == allocation.bytes) {
      allocation.all_initialised = true;  // the shadow then uses no memory
    } else {
      note_written(allocation, address, bytes);
    }
  }

  /// Called after a copy from `source`: copies the initialisation state of the bytes, too.
  void inherit_initialised(std::uint64_t address, const Block& source, std::uint64_t from,
                           std::size_t bytes) {
    const Allocation& other = source.allocation;
    if (other.host || other.all_initialised || find_unwritten(other, from, bytes) == bytes) {
      return mark_initialised(address, bytes);
    }
    if (allocation.host) return;
    if (allocation.all_initialised) {
      note_written(allocation, allocation.address, allocation.bytes);
      allocation.all_initialised = false;
    }
    std::memmove(allocation.shadow(address), other.shadow(from), bytes);
    forget_lines(allocation, address, bytes);
  }

  std::string label() const {
    if (!allocation.name.empty()) return allocation.name;
    return fmt::format("{}allocation {} of {} bytes", allocation.host ? "host " : "",
                       allocation.serial, allocation.bytes);
  }

  bool adopted;  // the data belong to the caller
  // Offsets within the mapping.
  std::size_t data, initialised, stamps;
  Mapping mapping;
  std::optional<DeviceAddresses> addresses;  // of memory that the host cannot access
  Allocation allocation;
};

DeviceMemory::DeviceMemory(std::size_t capacity) : capacity_(capacity) {}
DeviceMemory::~DeviceMemory() = default;

std::uint64_t DeviceMemory::allocate(std::size_t bytes, std::string name, bool host) {
  const std::unique_lock lock(mutex_);
  if (bytes > max_bytes) throw std::bad_alloc();
  const std::size_t charge = charged(bytes, host);
  if (charge > capacity_ - used_) throw std::bad_alloc();
  auto block = std::make_unique<Block>(bytes, host ? Block::Data::of_host : Block::Data::of_device);
  Allocation& allocation = block->allocation;
  allocation.serial = name.empty() ? next_serial_++ : 0;
  allocation.name = std::move(name);
  allocation.host = host;
  used_ += charge;
  const std::uint64_t address = allocation.address;
  blocks_.emplace(address, std::move(block));
  return address;
}

void DeviceMemory::adopt(void* memory, std::size_t bytes, bool is_io) {
  const std::unique_lock lock(mutex_);
  if (bytes > max_bytes) throw std::bad_alloc();
  auto block = std::make_unique<Block>(bytes, Block::Data::callers);
  block->allocation.address = reinterpret_cast<std::uint64_t>(memory);
  block->allocation.host = true;
  block->allocation.is_io = is_io;
  block->allocation.serial = next_serial_++;
  blocks_.insert_or_assign(block->allocation.address, std::move(block));
}

void DeviceMemory::release_adopted(void* memory) {
  const std::unique_lock lock(mutex_);
  const auto found = blocks_.find(reinterpret_cast<std::uint64_t>(memory));
  if (found != blocks_.end() && found->second->adopted) blocks_.erase(found);
}

bool DeviceMemory::free(std::uint64_t address) {
  const std::unique_lock lock(mutex_);
  const auto found = blocks_.find(address);
  if (found == blocks_.end() || found->second->adopted) return false;
  std::unique_ptr<Block> block = std::move(found->second);
  blocks_.erase(found);
  used_ -= charged(block->allocation.bytes, block->allocation.host);
  block->mapping.clear(0, block->mapping.bytes());
  freed_bytes_ += block->mapping.bytes();
  freed_.push_back(std::move(block));
  while (freed_.size() > max_freed || freed_bytes_ > max_freed_bytes) {
    freed_bytes_ -= freed_.front()->mapping.bytes();
    freed_.pop_front();
  }
  return true;
}

DeviceMemory::Block* DeviceMemory::block_at_or_before(std::uint64_t address) const {
  const auto after = blocks_.upper_bound(address);
  return after == blocks_.begin() ? nullptr : std::prev(after)->second.get();
}

DeviceMemory::Block* DeviceMemory::block_of(std::uint64_t address, std::size_t bytes) const {
  Block* block = block_at_or_before(address);
  return block != nullptr && block->holds(address, bytes) ? block : nullptr;
}

const Allocation* DeviceMemory::find(std::uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const Block* block = block_of(address, 1);
  return block == nullptr ? nullptr : &block->allocation;
}

Allocation* DeviceMemory::find(std::uint64_t address) {
  return const_cast<Allocation*>(std::as_const(*this).find(address));
}

bool DeviceMemory::reserves(std::uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const auto after = blocks_.upper_bound(address);
  if (after != blocks_.end() && after->second->reserves(address)) return true;
  const Block* before = block_at_or_before(address);
  if (before != nullptr && before->reserves(address)) return true;
  return std::any_of(freed_.begin(), freed_.end(),
                     [&](const auto& block) { return block->reserves(address); });
}

std::string DeviceMemory::describe(std::uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const auto beyond = [&](const Block& block) {
    const std::uint64_t offset = address - block.allocation.address;
    return offset == 0 ? block.label() : fmt::format("{} + {}", block.label(), offset);
  };
  const Block* before = block_at_or_before(address);
  if (before != nullptr && before->holds(address)) return beyond(*before);
  for (auto block = freed_.rbegin(); block != freed_.rend(); ++block) {
    if ((*block)->holds(address)) return "freed " + beyond(**block);
  }
  const auto after = blocks_.upper_bound(address);
  if (after != blocks_.end() && after->first - address <= guard) {
    return fmt::format("{} - {}", after->second->label(), after->first - address);
  }
  // An address within the address space of an allocation is most likely an index error.
  if (before != nullptr && address - before->allocation.address <= before->space()) {
    return beyond(*before);
  }
  return address == 0 ? "null pointer" : fmt::format("address {:#x}, in no allocation", address);
}

bool DeviceMemory::write(std::uint64_t to, const void* from, std::size_t bytes) {
  const std::unique_lock lock(mutex_);
  Block* block = block_of(to, bytes);
  if (block == nullptr) return false;
  // memmove: the caller's memory may be managed memory, even this very allocation.
  if (bytes != 0) std::memmove(block->allocation.data(to), from, bytes);
  block->mark_initialised(to, bytes);
  return true;
}

bool DeviceMemory::read(void* to, std::uint64_t from, std::size_t bytes) const {
  const std::shared_lock lock(mutex_);
  const Block* block = block_of(from, bytes);
  if (block == nullptr) return false;
  if (bytes != 0) std::memmove(to, block->allocation.data(from), bytes);
  return true;
}

bool DeviceMemory::copy(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
  const std::unique_lock lock(mutex_);
  Block* target = block_of(to, bytes);
  const Block* source = block_of(from, bytes);
  if (target == nullptr || source == nullptr) return false;
  if (bytes == 0) return true;
  std::memmove(target->allocation.data(to), source->allocation.data(from), bytes);
  target->inherit_initialised(to, *source, from, bytes);
  return true;
}

bool DeviceMemory::fill(std::uint64_t to, std::uint64_t pattern, int pattern_bytes,
                        std::size_t count) {
  const std::unique_lock lock(mutex_);
  const auto unit = static_cast<std::size_t>(pattern_bytes);
  if (count > max_bytes / unit) return false;
  const std::size_t bytes = count * unit;
  Block* block = block_of(to, bytes);
  if (block == nullptr) return false;
  std::byte* const at = block->allocation.data(to);
  if (unit == 1) {
    std::memset(at, static_cast<int>(pattern & 0xFF), bytes);
  } else {
    for (std::size_t i = 0; i < bytes; i += unit) std::memcpy(at + i, &pattern, unit);
  }
  block->mark_initialised(to, bytes);
  return true;
}

std::uint64_t DeviceMemory::number_blocks(std::uint64_t count) {
  const std::unique_lock lock(mutex_);
  if (count > max_numbered - next_block_) {
    for (const auto& [address, block] : blocks_) {
      block->mapping.clear(block->stamps, block->mapping.bytes());
      block->allocation.read_in_launch = block->allocation.reread_in_launch = 0;
      block->allocation.copied_in_launch = 0;
      block->allocation.rows = {};
    }
    next_block_ = 1;
  }
  return std::exchange(next_block_, std::min(next_block_ + count, max_numbered));
}

void DeviceMemory::assume_initialised() {
  const std::unique_lock lock(mutex_);
  for (const auto& [address, block] : blocks_) block->allocation.all_initialised = true;
}

std::size_t DeviceMemory::used() const {
  const std::shared_lock lock(mutex_);
  return used_;
}

std::vector<Allocation> DeviceMemory::live() const {
  std::vector<Allocation> allocations;
  {
    const std::shared_lock lock(mutex_);
    for (const auto& [address, block] : blocks_) {
      if (block->allocation.name.empty() && !block->adopted) {
        allocations.push_back(block->allocation);
      }
    }
  }
  std::sort(allocations.begin(), allocations.end(),
            [](const Allocation& a, const Allocation& b) { return a.serial < b.serial; });
  return allocations;
}

void DeviceMemory::clear() {
  const std::unique_lock lock(mutex_);
  blocks_.clear();
  freed_.clear();
  freed_bytes_ = 0;
  used_ = 0;
}

}  // namespace rung::vgpu
