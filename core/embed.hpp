#pragma once
// Embeds a file in the program through the assembler, which compiles fastest.

#include <string_view>

#ifdef __APPLE__
#define RUNG_EMBED_SECTION ".section __TEXT,__const\n"
#define RUNG_EMBED_NAME(symbol) "_" #symbol
#define RUNG_EMBED_END ".text\n"
#else
#define RUNG_EMBED_SECTION ".pushsection .rodata\n"
#define RUNG_EMBED_NAME(symbol) #symbol
#define RUNG_EMBED_END ".popsection\n"
#endif

/// Embeds a file, followed by a NUL, which the driver requires at the end of PTX. Use at file
/// scope.
#define RUNG_EMBED(symbol, path)                                            \
  asm(RUNG_EMBED_SECTION                                                  \
      ".balign 16\n"                                                      \
      ".globl " RUNG_EMBED_NAME(symbol) "\n"                              \
      ".globl " RUNG_EMBED_NAME(symbol##_end) "\n"                        \
      RUNG_EMBED_NAME(symbol) ":\n"                                       \
      ".incbin \"" path "\"\n"                                            \
      RUNG_EMBED_NAME(symbol##_end) ":\n"                                 \
      ".byte 0\n" RUNG_EMBED_END); \
  extern "C" __attribute__((visibility("hidden"))) const char symbol[];     \
  extern "C" __attribute__((visibility("hidden"))) const char symbol##_end[];

/// The bytes of a file embedded with RUNG_EMBED, without the NUL.
#define RUNG_EMBEDDED(symbol) \
  std::string_view(symbol, static_cast<std::size_t>(symbol##_end - symbol))
