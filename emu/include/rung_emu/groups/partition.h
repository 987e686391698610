#pragma once
// Groups taken from groups.

namespace cooperative_groups {

#define RUNG_EMU_CG __device__ __forceinline__

template <unsigned int Size, class Parent>
RUNG_EMU_CG thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) {
  return thread_block_tile<Size, Parent>(parent.thread_rank() / Size,
                                         (parent.size() + Size - 1) / Size);
}
template <unsigned int Size, unsigned int ParentSize, class Parent>
RUNG_EMU_CG thread_block_tile<Size, thread_block_tile<ParentSize, Parent>> tiled_partition(
    const thread_block_tile<ParentSize, Parent>& parent) {
  static_assert(Size <= ParentSize, "a tile is a part of what it is taken from");
  return thread_block_tile<Size, thread_block_tile<ParentSize, Parent>>(parent.thread_rank() / Size,
                                                                        ParentSize / Size);
}
/// The same with the old name, of the time of larger tiles' trial.
namespace experimental {
using cooperative_groups::block_tile_memory;
using cooperative_groups::this_thread_block;
using cooperative_groups::tiled_partition;
}  // namespace experimental

namespace rung_emu {
/// The lanes of this mask, `size` by `size`: those of this thread.
__device__ __forceinline__ coalesced_group part_of(unsigned int mask, unsigned int size) {
  const unsigned int rank = __popc(mask & __nvvm_read_ptx_sreg_lanemask_lt());
  const unsigned int count = __popc(mask), part = rank / size;
  unsigned int own = 0;
  for (unsigned int i = part * size; i < (part + 1) * size && i < count; ++i) {
    own |= 1u << lane_of(mask, i);
  }
  return coalesced_group(own, part, (count + size - 1) / size);
}
}  // namespace rung_emu

RUNG_EMU_CG thread_group tiled_partition(const thread_block& block, unsigned int size) {
  const unsigned int first = rung_emu::lane() & ~(size - 1);
  const unsigned int mask = static_cast<unsigned int>(((1ull << size) - 1) << first);
  return coalesced_group(mask, block.thread_rank() / size, (block.size() + size - 1) / size);
}
RUNG_EMU_CG thread_group tiled_partition(const thread_group& group, unsigned int size) {
  const unsigned int mask = group.rung_emu_mask();
  if (mask == 0) return tiled_partition(this_thread_block(), size);
  return rung_emu::part_of(mask, size);
}
RUNG_EMU_CG coalesced_group tiled_partition(const coalesced_group& group, unsigned int size) {
  return rung_emu::part_of(group.rung_emu_mask(), size);
}
template <unsigned int Size>
RUNG_EMU_CG coalesced_group tiled_partition(const coalesced_group& group) {
  return rung_emu::part_of(group.rung_emu_mask(), Size);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700  // older ones have no match.sync
/// The lanes of the group with the same label. Its number counts the labels of lower lanes.
template <class Group>
RUNG_EMU_CG coalesced_group labeled_partition(const Group& group, int label) {
  const unsigned int mask = group.rung_emu_mask();
  const unsigned int same = __match_any_sync(mask, label);
  const bool is_first = (same & __nvvm_read_ptx_sreg_lanemask_lt()) == 0;
  const unsigned int firsts = __ballot_sync(mask, is_first);
  const unsigned int lowest = __ffs(static_cast<int>(same)) - 1;
  return coalesced_group(same, __popc(firsts & ((1u << lowest) - 1)), __popc(firsts));
}
#endif
template <class Group>
RUNG_EMU_CG coalesced_group binary_partition(const Group& group, bool label) {
  const unsigned int mask = group.rung_emu_mask();
  const unsigned int set = __ballot_sync(mask, label) & mask;
  return coalesced_group(label ? set : mask & ~set, label, 2);
}

/// One thread of the group calls the function; with _broadcast, all get its result.
template <class Group, class Function, class... Arguments>
RUNG_EMU_CG void invoke_one(const Group& group, Function&& function, Arguments&&... arguments) {
  if (group.thread_rank() == 0) function(static_cast<Arguments&&>(arguments)...);
}
template <class Group, class Function, class... Arguments>
RUNG_EMU_CG auto invoke_one_broadcast(const Group& group, Function&& function,
                                      Arguments&&... arguments) {
  decltype(function(static_cast<Arguments&&>(arguments)...)) result{};
  if (group.thread_rank() == 0) result = function(static_cast<Arguments&&>(arguments)...);
  return group.shfl(result, 0);
}

template <class Group>
RUNG_EMU_CG void sync(const Group& group) {
  group.sync();
}
template <class Group>
RUNG_EMU_CG unsigned int thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
RUNG_EMU_CG unsigned int group_size(const Group& group) {
  return group.size();
}

#undef RUNG_EMU_CG

}  // namespace cooperative_groups
