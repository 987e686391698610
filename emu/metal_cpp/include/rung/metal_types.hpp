#pragma once
// The structures and enumerations of Metal, by metal-cpp's names and with Apple's values.

#include "Foundation/Foundation.hpp"

namespace MTL {

using NS::Integer;
using NS::UInteger;
using GPUAddress = std::uint64_t;
using Timestamp = std::uint64_t;

struct Size {
  static Size Make(UInteger width, UInteger height, UInteger depth) {
    return {width, height, depth};
  }
  Size() = default;
  Size(UInteger w, UInteger h, UInteger d) : width(w), height(h), depth(d) {}
  UInteger width = 0, height = 0, depth = 0;
};
struct Origin {
  static Origin Make(UInteger x, UInteger y, UInteger z) { return {x, y, z}; }
  Origin() = default;
  Origin(UInteger x0, UInteger y0, UInteger z0) : x(x0), y(y0), z(z0) {}
  UInteger x = 0, y = 0, z = 0;
};
struct Region {
  static Region Make1D(UInteger x, UInteger width) { return {x, width}; }
  static Region Make2D(UInteger x, UInteger y, UInteger width, UInteger height) {
    return {x, y, width, height};
  }
  static Region Make3D(UInteger x, UInteger y, UInteger z, UInteger width, UInteger height,
                       UInteger depth) {
    return {x, y, z, width, height, depth};
  }
  Region() = default;
  Region(UInteger x, UInteger width) : origin(x, 0, 0), size(width, 1, 1) {}
  Region(UInteger x, UInteger y, UInteger width, UInteger height)
      : origin(x, y, 0), size(width, height, 1) {}
  Region(UInteger x, UInteger y, UInteger z, UInteger width, UInteger height, UInteger depth)
      : origin(x, y, z), size(width, height, depth) {}
  Origin origin;
  Size size;
};
struct SizeAndAlign {
  UInteger size = 0, align = 0;
};
struct ResourceID {
  std::uint64_t _impl = 0;
};
struct DispatchThreadgroupsIndirectArguments {
  std::uint32_t threadgroupsPerGrid[3];
};

enum CPUCacheMode : UInteger { CPUCacheModeDefaultCache = 0, CPUCacheModeWriteCombined = 1 };
enum StorageMode : UInteger {
  StorageModeShared = 0,
  StorageModeManaged = 1,
  StorageModePrivate = 2,
  StorageModeMemoryless = 3,
};
enum HazardTrackingMode : UInteger {
  HazardTrackingModeDefault = 0,
  HazardTrackingModeUntracked = 1,
  HazardTrackingModeTracked = 2,
};
using ResourceOptions = UInteger;
enum : ResourceOptions {
  ResourceCPUCacheModeDefaultCache = 0,
  ResourceCPUCacheModeWriteCombined = 1,
  ResourceStorageModeShared = 0,
  ResourceStorageModeManaged = 16,
  ResourceStorageModePrivate = 32,
  ResourceStorageModeMemoryless = 48,
  ResourceHazardTrackingModeDefault = 0,
  ResourceHazardTrackingModeUntracked = 256,
  ResourceHazardTrackingModeTracked = 512,
  ResourceOptionCPUCacheModeDefault = 0,
  ResourceOptionCPUCacheModeWriteCombined = 1,
};
using ResourceUsage = UInteger;
enum : ResourceUsage { ResourceUsageRead = 1, ResourceUsageWrite = 2, ResourceUsageSample = 4 };
using BarrierScope = UInteger;
enum : BarrierScope {
  BarrierScopeBuffers = 1,
  BarrierScopeTextures = 2,
  BarrierScopeRenderTargets = 4
};
enum DispatchType : UInteger { DispatchTypeSerial = 0, DispatchTypeConcurrent = 1 };
enum CommandBufferStatus : UInteger {
  CommandBufferStatusNotEnqueued = 0,
  CommandBufferStatusEnqueued = 1,
  CommandBufferStatusCommitted = 2,
  CommandBufferStatusScheduled = 3,
  CommandBufferStatusCompleted = 4,
  CommandBufferStatusError = 5,
};
enum CommandBufferError : UInteger {
  CommandBufferErrorNone = 0,
  CommandBufferErrorInternal = 1,
  CommandBufferErrorTimeout = 2,
  CommandBufferErrorPageFault = 3,
  CommandBufferErrorNotPermitted = 7,
  CommandBufferErrorOutOfMemory = 8,
  CommandBufferErrorInvalidResource = 9,
};
using CommandBufferErrorOption = UInteger;
enum : CommandBufferErrorOption {
  CommandBufferErrorOptionNone = 0,
  CommandBufferErrorOptionEncoderExecutionStatus = 1,
};
enum LanguageVersion : UInteger {
  LanguageVersion1_0 = 0x10000,
  LanguageVersion1_1 = 0x10001,
  LanguageVersion1_2 = 0x10002,
  LanguageVersion2_0 = 0x20000,
  LanguageVersion2_1 = 0x20001,
  LanguageVersion2_2 = 0x20002,
  LanguageVersion2_3 = 0x20003,
  LanguageVersion2_4 = 0x20004,
  LanguageVersion3_0 = 0x30000,
  LanguageVersion3_1 = 0x30001,
  LanguageVersion3_2 = 0x30002,
  LanguageVersion4_0 = 0x40000,
};
enum LibraryType : Integer { LibraryTypeExecutable = 0, LibraryTypeDynamic = 1 };
enum LibraryOptimizationLevel : Integer {
  LibraryOptimizationLevelDefault = 0,
  LibraryOptimizationLevelSize = 1,
};
enum LibraryError : UInteger {
  LibraryErrorUnsupported = 1,
  LibraryErrorInternal = 2,
  LibraryErrorCompileFailure = 3,
  LibraryErrorCompileWarning = 4,
  LibraryErrorFunctionNotFound = 5,
  LibraryErrorFileNotFound = 6,
};
enum MathMode : Integer { MathModeSafe = 0, MathModeRelaxed = 1, MathModeFast = 2 };
enum MathFloatingPointFunctions : Integer {
  MathFloatingPointFunctionsFast = 0,
  MathFloatingPointFunctionsPrecise = 1,
};
enum FunctionType : UInteger {
  FunctionTypeVertex = 1,
  FunctionTypeFragment = 2,
  FunctionTypeKernel = 3,
  FunctionTypeVisible = 5,
};
enum GPUFamily : Integer {
  GPUFamilyApple1 = 1001,
  GPUFamilyApple2 = 1002,
  GPUFamilyApple3 = 1003,
  GPUFamilyApple4 = 1004,
  GPUFamilyApple5 = 1005,
  GPUFamilyApple6 = 1006,
  GPUFamilyApple7 = 1007,
  GPUFamilyApple8 = 1008,
  GPUFamilyApple9 = 1009,
  GPUFamilyApple10 = 1010,
  GPUFamilyMac1 = 2001,
  GPUFamilyMac2 = 2002,
  GPUFamilyCommon1 = 3001,
  GPUFamilyCommon2 = 3002,
  GPUFamilyCommon3 = 3003,
  GPUFamilyMacCatalyst1 = 4001,
  GPUFamilyMacCatalyst2 = 4002,
  GPUFamilyMetal3 = 5001,
  GPUFamilyMetal4 = 5002,
};
enum FeatureSet : UInteger {
  FeatureSet_macOS_GPUFamily1_v1 = 10000,
  FeatureSet_macOS_GPUFamily1_v2 = 10001,
  FeatureSet_macOS_GPUFamily1_v3 = 10003,
  FeatureSet_macOS_GPUFamily1_v4 = 10004,
  FeatureSet_macOS_GPUFamily2_v1 = 10005,
};
enum CounterSamplingPoint : UInteger {
  CounterSamplingPointAtStageBoundary,
  CounterSamplingPointAtDrawBoundary,
  CounterSamplingPointAtDispatchBoundary,
  CounterSamplingPointAtTileDispatchBoundary,
  CounterSamplingPointAtBlitBoundary,
};
enum DeviceLocation : UInteger {
  DeviceLocationBuiltIn = 0,
  DeviceLocationSlot = 1,
  DeviceLocationExternal = 2,
  DeviceLocationUnspecified = NS::UIntegerMax,
};
enum ArgumentBuffersTier : UInteger { ArgumentBuffersTier1 = 0, ArgumentBuffersTier2 = 1 };
enum ReadWriteTextureTier : UInteger {
  ReadWriteTextureTierNone = 0,
  ReadWriteTextureTier1 = 1,
  ReadWriteTextureTier2 = 2,
};
using PipelineOption = UInteger;
enum : PipelineOption {
  PipelineOptionNone = 0,
  PipelineOptionArgumentInfo = 1,
  PipelineOptionBindingInfo = 1,
  PipelineOptionBufferTypeInfo = 2,
  PipelineOptionFailOnBinaryArchiveMiss = 4,
};
enum HeapType : Integer { HeapTypeAutomatic = 0, HeapTypePlacement = 1, HeapTypeSparse = 2 };
enum PurgeableState : UInteger {
  PurgeableStateKeepCurrent = 1,
  PurgeableStateNonVolatile = 2,
  PurgeableStateVolatile = 3,
  PurgeableStateEmpty = 4,
};
using BlitOption = UInteger;
enum : BlitOption { BlitOptionNone = 0 };
enum TextureType : UInteger {
  TextureType1D = 0,
  TextureType1DArray = 1,
  TextureType2D = 2,
  TextureType2DArray = 3,
  TextureTypeCube = 5,
  TextureType3D = 7,
  TextureTypeTextureBuffer = 9,
};
using TextureUsage = UInteger;
enum : TextureUsage {
  TextureUsageUnknown = 0,
  TextureUsageShaderRead = 1,
  TextureUsageShaderWrite = 2,
  TextureUsageRenderTarget = 4,
  TextureUsageShaderAtomic = 32,
};
enum PixelFormat : UInteger {
  PixelFormatInvalid = 0,
  PixelFormatA8Unorm = 1,
  PixelFormatR8Unorm = 10,
  PixelFormatR8Snorm = 12,
  PixelFormatR8Uint = 13,
  PixelFormatR8Sint = 14,
  PixelFormatR16Unorm = 20,
  PixelFormatR16Snorm = 22,
  PixelFormatR16Uint = 23,
  PixelFormatR16Sint = 24,
  PixelFormatR16Float = 25,
  PixelFormatRG8Unorm = 30,
  PixelFormatRG8Uint = 33,
  PixelFormatRG8Sint = 34,
  PixelFormatR32Uint = 53,
  PixelFormatR32Sint = 54,
  PixelFormatR32Float = 55,
  PixelFormatRG16Unorm = 60,
  PixelFormatRG16Uint = 63,
  PixelFormatRG16Sint = 64,
  PixelFormatRG16Float = 65,
  PixelFormatRGBA8Unorm = 70,
  PixelFormatRGBA8Unorm_sRGB = 71,
  PixelFormatRGBA8Snorm = 72,
  PixelFormatRGBA8Uint = 73,
  PixelFormatRGBA8Sint = 74,
  PixelFormatBGRA8Unorm = 80,
  PixelFormatBGRA8Unorm_sRGB = 81,
  PixelFormatRG32Uint = 103,
  PixelFormatRG32Sint = 104,
  PixelFormatRG32Float = 105,
  PixelFormatRGBA16Unorm = 110,
  PixelFormatRGBA16Uint = 113,
  PixelFormatRGBA16Sint = 114,
  PixelFormatRGBA16Float = 115,
  PixelFormatRGBA32Uint = 123,
  PixelFormatRGBA32Sint = 124,
  PixelFormatRGBA32Float = 125,
};
enum SamplerMinMagFilter : UInteger {
  SamplerMinMagFilterNearest = 0,
  SamplerMinMagFilterLinear = 1
};
enum SamplerMipFilter : UInteger {
  SamplerMipFilterNotMipmapped = 0,
  SamplerMipFilterNearest = 1,
  SamplerMipFilterLinear = 2,
};
enum SamplerAddressMode : UInteger {
  SamplerAddressModeClampToEdge = 0,
  SamplerAddressModeMirrorClampToEdge = 1,
  SamplerAddressModeRepeat = 2,
  SamplerAddressModeMirrorRepeat = 3,
  SamplerAddressModeClampToZero = 4,
  SamplerAddressModeClampToBorderColor = 5,
};
enum DataType : UInteger {
  DataTypeNone = 0,
  DataTypeStruct = 1,
  DataTypeArray = 2,
  DataTypeFloat = 3,
  DataTypeFloat2 = 4,
  DataTypeFloat3 = 5,
  DataTypeFloat4 = 6,
  DataTypeHalf = 16,
  DataTypeHalf2 = 17,
  DataTypeHalf3 = 18,
  DataTypeHalf4 = 19,
  DataTypeInt = 29,
  DataTypeInt2 = 30,
  DataTypeInt3 = 31,
  DataTypeInt4 = 32,
  DataTypeUInt = 33,
  DataTypeUInt2 = 34,
  DataTypeUInt3 = 35,
  DataTypeUInt4 = 36,
  DataTypeShort = 37,
  DataTypeShort2 = 38,
  DataTypeShort3 = 39,
  DataTypeShort4 = 40,
  DataTypeUShort = 41,
  DataTypeUShort2 = 42,
  DataTypeUShort3 = 43,
  DataTypeUShort4 = 44,
  DataTypeChar = 45,
  DataTypeUChar = 49,
  DataTypeBool = 53,
  DataTypePointer = 60,
  DataTypeLong = 81,
  DataTypeULong = 85,
  DataTypeBFloat = 121,
};
enum BindingAccess : UInteger {
  BindingAccessReadOnly = 0,
  BindingAccessReadWrite = 1,
  BindingAccessWriteOnly = 2,
};
using ArgumentAccess = BindingAccess;
enum BindingType : Integer {
  BindingTypeBuffer = 0,
  BindingTypeThreadgroupMemory = 1,
  BindingTypeTexture = 2,
  BindingTypeSampler = 3,
};
enum ArgumentType : UInteger {
  ArgumentTypeBuffer = 0,
  ArgumentTypeThreadgroupMemory = 1,
  ArgumentTypeTexture = 2,
  ArgumentTypeSampler = 3,
};

}  // namespace MTL
