#pragma once
// A kernel's entry: a function of PTX whose parameters are the kernel's buffers, in order. What
// [[buffer(n)]] gives by reference is a parameter by value, as setBytes passes it.

#define RUNG_METAL_VIRTUAL

#define RUNG_METAL_ENTRY(name) extern "C" __attribute__((nvptx_kernel)) void name

#define RUNG_METAL_CONSTANT(Type, parameter) ((constant Type&)parameter)
