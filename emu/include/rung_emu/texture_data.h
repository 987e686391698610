#pragma once
// The data of a texture or surface object: written by the runtime library, read by kernels.

namespace rung_emu {

struct TextureData {
  unsigned long long data;            // address of the first texel
  unsigned int width, height, depth;  // texels; height and depth are at least 1
  unsigned int layers;                // 0: not layered
  unsigned long long pitch;           // bytes from row to row
  unsigned long long slice;           // bytes from layer to layer
  int channels;                       // 1, 2 or 4
  int channel_bits;                   // 8, 16 or 32
  int kind;                           // cudaChannelFormatKind
  int address_mode[3];                // cudaTextureAddressMode
  int filter_mode;                    // cudaTextureFilterMode
  int read_mode;                      // cudaTextureReadMode
  int normalized;                     // coordinates are in [0, 1)
  float border[4];
};

}  // namespace rung_emu
