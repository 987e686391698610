#pragma once
// A stand-in for the parts of Metal that the Metal backend uses, with the names of Apple's
// metal-cpp. It runs on the virtual GPU (virtual_metal.cpp). Aborts with a message on a misuse that
// Metal's validation would report.

#include <Foundation/Foundation.hpp>

namespace MTL {

struct Size {
  static Size Make(NS::UInteger width, NS::UInteger height, NS::UInteger depth) {
    return {width, height, depth};
  }
  NS::UInteger width, height, depth;
};

enum ResourceOptions : NS::UInteger { ResourceStorageModeShared = 0 };
enum LanguageVersion : NS::UInteger { LanguageVersion3_0 = 0x30000, LanguageVersion3_1 = 0x30001 };
enum GPUFamily : NS::Integer { GPUFamilyApple7 = 1007 };
enum CommandBufferStatus : NS::UInteger {
  CommandBufferStatusNotEnqueued = 0,
  CommandBufferStatusCommitted = 2,
  CommandBufferStatusCompleted = 4,
  CommandBufferStatusError = 5,
};

class Buffer : public NS::Referencing<Buffer> {
 public:
  virtual void* contents() = 0;
};

class CompileOptions final : public NS::Referencing<CompileOptions> {
 public:
  static CompileOptions* alloc() { return new CompileOptions; }
  CompileOptions* init() { return this; }
  LanguageVersion languageVersion() const { return version_; }
  void setLanguageVersion(LanguageVersion version) { version_ = version; }
  bool fastMathEnabled() const { return fast_math_; }
  void setFastMathEnabled(bool enabled) { fast_math_ = enabled; }

 private:
  LanguageVersion version_ = LanguageVersion3_0;
  bool fast_math_ = true;
};

class Function : public NS::Referencing<Function> {};

class Library : public NS::Referencing<Library> {
 public:
  virtual Function* newFunction(const NS::String* name) = 0;
};

class ComputePipelineState : public NS::Referencing<ComputePipelineState> {
 public:
  virtual NS::UInteger maxTotalThreadsPerThreadgroup() const = 0;
  virtual NS::UInteger staticThreadgroupMemoryLength() const = 0;
};

class ComputeCommandEncoder : public NS::Referencing<ComputeCommandEncoder> {
 public:
  virtual void setComputePipelineState(const ComputePipelineState* state) = 0;
  virtual void setBytes(const void* bytes, NS::UInteger length, NS::UInteger index) = 0;
  virtual void setBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger index) = 0;
  virtual void setThreadgroupMemoryLength(NS::UInteger length, NS::UInteger index) = 0;
  virtual void dispatchThreadgroups(Size threadgroups, Size threads_per_threadgroup) = 0;
  virtual void endEncoding() = 0;
};

class BlitCommandEncoder : public NS::Referencing<BlitCommandEncoder> {
 public:
  virtual void fillBuffer(const Buffer* buffer, NS::Range range, std::uint8_t value) = 0;
  virtual void endEncoding() = 0;
};

class CommandBuffer : public NS::Referencing<CommandBuffer> {
 public:
  virtual ComputeCommandEncoder* computeCommandEncoder() = 0;
  virtual BlitCommandEncoder* blitCommandEncoder() = 0;
  virtual void commit() = 0;
  virtual void waitUntilCompleted() = 0;
  virtual CommandBufferStatus status() const = 0;
  virtual NS::Error* error() const = 0;
  virtual double GPUStartTime() const = 0;
  virtual double GPUEndTime() const = 0;
};

class CommandQueue : public NS::Referencing<CommandQueue> {
 public:
  virtual CommandBuffer* commandBuffer() = 0;
};

class Device : public NS::Referencing<Device> {
 public:
  virtual NS::String* name() const = 0;
  virtual bool supportsFamily(GPUFamily family) = 0;
  virtual NS::UInteger maxThreadgroupMemoryLength() const = 0;
  virtual CommandQueue* newCommandQueue() = 0;
  virtual Buffer* newBuffer(NS::UInteger length, ResourceOptions options) = 0;
  virtual Library* newLibrary(const NS::String* source, const CompileOptions* options,
                              NS::Error** error) = 0;
  /// Loads a metallib; in this stand-in, a file with the text of a rung.
  virtual Library* newLibrary(const NS::URL* url, NS::Error** error) = 0;
  virtual ComputePipelineState* newComputePipelineState(const Function* function,
                                                        NS::Error** error) = 0;
};

Device* CreateSystemDefaultDevice();

}  // namespace MTL
