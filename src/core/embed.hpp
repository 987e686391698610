#pragma once
// A file's bytes as part of the program, by the assembler: the fastest way to compile them.

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

/// At file scope: embeds the file, and a NUL after it, which the driver wants at the end of PTX.
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

/// What RUNG_EMBED put there, less the NUL.
#define RUNG_EMBEDDED(symbol) \
  std::string_view(symbol, static_cast<std::size_t>(symbol##_end - symbol))
