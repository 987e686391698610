// Structures with addresses, for tests/any_kernel/commands_test.cpp.
#include <metal_stdlib>
using namespace metal;

struct Operands {
  device const float* x;
  uint count;
  array<device int*, 2> sums;
  texture2d<float, access::write> image [[id(7)]];
};

kernel void added(constant Operands& args [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  if (i >= args.count) return;
  args.sums[0][i] = int(args.x[i]) + 1;
  args.sums[1][i] = 10 * int(args.x[i]);
  args.image.write(float4(args.x[i]), uint2(i, 0));
}

struct Node {
  device Node* next;
  device float* values;
};

kernel void first(constant Node* nodes [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  nodes[0].values[i] = nodes[0].next == nullptr ? 5 : 0;
}
