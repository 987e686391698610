// Arrays, textures and surfaces: filtering with weights of 8 bits of fraction, address modes,
// layers, and copies of boxes.
#include <cstdio>

__global__ void fetch(cudaTextureObject_t linear, cudaTextureObject_t wrapped,
                      cudaTextureObject_t bytes, cudaTextureObject_t flat, float* out) {
  out[0] = tex2D<float>(linear, 1.5f, 0.5f);               // the centre of a texel
  out[1] = tex2D<float>(linear, 2.0f, 1.0f);               // between four
  out[2] = tex2D<float>(linear, 1.5f + 1.0f / 512, 0.5f);  // rounds to a weight of 0 or 1/256
  out[3] = tex2D<float>(linear, -5.0f, 0.5f);              // clamped
  out[4] = tex2D<float>(wrapped, 1.25f + 0.125f, 0.125f);  // once around, in units of the width
  out[5] = tex2D<float4>(bytes, 1.0f, 0.0f).z;             // 51 of 255
  out[6] = tex1Dfetch<int>(flat, 3);
  out[7] = tex1Dfetch<int>(flat, 99);  // outside: 0
}

__global__ void layers(cudaSurfaceObject_t surface, cudaTextureObject_t texture, float* out) {
  surf2DLayeredwrite(5.0f, surface, 1 * sizeof(float), 2, 1);
  out[8] = surf2DLayeredread<float>(surface, 1 * sizeof(float), 2, 1);
  out[9] = tex2DLayered<float>(texture, 1.5f, 2.5f, 1);
  out[10] = surf2DLayeredread<float>(surface, 400, 0, 0, cudaBoundaryModeZero);
}

cudaTextureObject_t make_texture(const cudaResourceDesc& resource, cudaTextureFilterMode filter,
                                 cudaTextureReadMode read, cudaTextureAddressMode mode,
                                 bool normalized) {
  cudaTextureDesc description = {};
  description.addressMode[0] = description.addressMode[1] = mode;
  description.filterMode = filter;
  description.readMode = read;
  description.normalizedCoords = normalized;
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  return texture;
}

cudaResourceDesc of_array(cudaArray_t array) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

int main() {
  float host[3][4];
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 4; ++x) host[y][x] = 256.0f * x + 10.0f * y;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  cudaMallocArray(&array, &format, 4, 3);
  cudaMemcpy2DToArray(array, 0, 0, host, sizeof(host[0]), sizeof(host[0]), 3,
                      cudaMemcpyHostToDevice);
  const auto linear = make_texture(of_array(array), cudaFilterModeLinear, cudaReadModeElementType,
                                   cudaAddressModeClamp, false);
  const auto wrapped = make_texture(of_array(array), cudaFilterModePoint, cudaReadModeElementType,
                                    cudaAddressModeWrap, true);

  uchar4* pixels = nullptr;
  std::size_t pitch = 0;
  cudaMallocPitch(&pixels, &pitch, 2 * sizeof(uchar4), 1);
  const uchar4 colours[2] = {{1, 2, 3, 4}, {0, 0, 51, 255}};
  cudaMemcpy(pixels, colours, sizeof(colours), cudaMemcpyHostToDevice);
  cudaResourceDesc rows = {};
  rows.resType = cudaResourceTypePitch2D;
  rows.res.pitch2D = {pixels, cudaCreateChannelDesc<uchar4>(), 2, 1, pitch};
  const auto bytes = make_texture(rows, cudaFilterModePoint, cudaReadModeNormalizedFloat,
                                  cudaAddressModeClamp, false);

  int* line = nullptr;
  cudaMalloc(&line, 4 * sizeof(int));
  const int values[4] = {1, 2, 3, 44};
  cudaMemcpy(line, values, sizeof(values), cudaMemcpyHostToDevice);
  cudaResourceDesc memory = {};
  memory.resType = cudaResourceTypeLinear;
  memory.res.linear = {line, cudaCreateChannelDesc<int>(), sizeof(values)};
  const auto flat = make_texture(memory, cudaFilterModePoint, cudaReadModeElementType,
                                 cudaAddressModeClamp, false);

  cudaArray_t stack = nullptr;
  cudaMalloc3DArray(&stack, &format, make_cudaExtent(4, 3, 2),
                    cudaArrayLayered | cudaArraySurfaceLoadStore);
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(host, sizeof(host[0]), 4, 3);
  copy.dstArray = stack;
  copy.extent = make_cudaExtent(4, 3, 1);
  copy.kind = cudaMemcpyHostToDevice;
  cudaMemcpy3D(&copy);
  const cudaResourceDesc of_stack = of_array(stack);
  cudaSurfaceObject_t surface = 0;
  cudaCreateSurfaceObject(&surface, &of_stack);
  const auto layered = make_texture(of_stack, cudaFilterModePoint, cudaReadModeElementType,
                                    cudaAddressModeClamp, false);

  float* out = nullptr;
  cudaMallocManaged(&out, 11 * sizeof(float));
  fetch<<<1, 1>>>(linear, wrapped, bytes, flat, out);
  layers<<<1, 1>>>(surface, layered, out);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  for (int i = 0; i < 11; ++i) std::printf("%g ", out[i]);
  float back[3] = {};
  cudaMemcpy2DFromArray(back, sizeof(back), array, 4, 1, sizeof(back), 1, cudaMemcpyDeviceToHost);
  cudaArray_t corner = nullptr;
  cudaMallocArray(&corner, &format, 2, 2);
  cudaMemcpy2DArrayToArray(corner, 0, 0, array, 2 * sizeof(float), 1, 2 * sizeof(float), 2);
  float last = 0;
  cudaMemcpy2DFromArrayAsync(&last, sizeof(last), corner, sizeof(float), 1, sizeof(last), 1,
                             cudaMemcpyDeviceToHost);
  cudaDeviceSynchronize();
  std::printf("%g %g\n", back[0], last);
  for (const auto texture : {linear, wrapped, bytes, flat, layered})
    cudaDestroyTextureObject(texture);
  cudaDestroySurfaceObject(surface);
  cudaFreeArray(array);
  cudaFreeArray(corner);
  cudaFreeArray(stack);
  cudaFree(pixels);
  cudaFree(line);
  cudaFree(out);
}
