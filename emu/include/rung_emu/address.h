#pragma once
// Address, which `rung emu` inserts between a cast to a pointer to a vector and its operand
// (emu/compile/source/vector_casts.cpp).

#ifdef __CUDA__

namespace rung_emu {

/// Any address. A compiler does not look through it for the object that the address is of.
class Address {
 public:
  template <class T>
  __host__ __device__ __forceinline__ Address(T* to)
      : to_(const_cast<void*>((const volatile void*)to)) {}
  __host__ __device__ __forceinline__ Address(decltype(nullptr)) : to_(nullptr) {}
  __host__ __device__ __forceinline__ Address(unsigned long long bits) : to_((void*)bits) {}
  __host__ __device__ __forceinline__ Address(unsigned long bits) : to_((void*)bits) {}
  __host__ __device__ __forceinline__ Address(long long bits) : to_((void*)bits) {}
  __host__ __device__ __forceinline__ Address(long bits) : to_((void*)bits) {}
  __host__ __device__ __forceinline__ Address(unsigned int bits)
      : to_((void*)(unsigned long)bits) {}
  __host__ __device__ __forceinline__ Address(int bits) : to_((void*)(long)bits) {}

  template <class T>
  __host__ __device__ __forceinline__ operator T*() const {
    return static_cast<T*>(to_);
  }

 private:
  void* to_;
};

}  // namespace rung_emu

#endif
