# cmake -D INPUT=… -D OUTPUT=… -D NAME=… -P MetalSource.cmake: a .metal file as clang reads it.
#
# The headers of src/vgpu/frontends/metal make macros of Metal's words. One word needs more:
# `threadgroup` is a qualifier where a pointer or reference is declared, and the storage where a
# variable is; and [[threadgroup(n)]] is an attribute. Lines stay where they are; NAME is what
# messages and counters call the file.

file(READ "${INPUT}" text)
string(REGEX REPLACE
  "(^|[;{}\n])([ \t\n]*)threadgroup +([A-Za-z_][A-Za-z0-9_:<>, ]*[ >])([A-Za-z_][A-Za-z0-9_]*)(\\[|;)"
  "\\1\\2RUNG_METAL_THREADGROUP \\3\\4\\5" text "${text}")
string(REGEX REPLACE "\\[\\[ *threadgroup *\\(" "[[RUNG_METAL_THREADGROUP_ARGUMENT(" text "${text}")
file(WRITE "${OUTPUT}" "#line 1 \"${NAME}\"\n${text}")
