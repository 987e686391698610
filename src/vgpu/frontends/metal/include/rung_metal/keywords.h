#pragma once
// Metal's words: address spaces as PTX numbers them, and attributes of a kernel's parameters.
//
// Buffers are parameters of the entry that rung_metal/entry.h makes, in order. What a kernel reads
// of small constants lies in the space of those parameters (101), and is never written.

#define device __attribute__((address_space(1)))
#define threadgroup __attribute__((address_space(3)))
#define constant const __attribute__((address_space(101)))
#define thread

// Each kernel becomes a part of its entry.
#define kernel __attribute__((always_inline))

// [[buffer(n)]] becomes [[]].
#define buffer(index)

// cmake/MetalSource.cmake writes these for `threadgroup T name[…];`, which is storage and not a
// qualifier, and for [[threadgroup(n)]].
#define RUNG_METAL_THREADGROUP static __attribute__((loader_uninitialized)) threadgroup
#define RUNG_METAL_THREADGROUP_ARGUMENT(index) \
  ]] = metal::detail::ThreadgroupArgument<index>{}[metal::detail::zero[0
