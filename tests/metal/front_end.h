// Threadgroup memory in an included file.
template <int N>
inline void reverse(device float* a, uint i) {
  threadgroup float t[N];
  t[i] = a[i];
  threadgroup_barrier(metal::mem_flags::mem_threadgroup);
  a[i] = t[N - 1 - i];
}
