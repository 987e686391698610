#pragma once
// PTX for tests of the virtual driver: the text after .address_size.

#include <string>

namespace rung::vgpu {

/// store(p, v): *p = v.
inline const std::string store_kernel = R"(
.visible .entry store(.param .u64 p, .param .u32 v) {
  .reg .u64 %rd<2>;
  .reg .u32 %r<2>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [v];
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

/// Kernels that do little, or fail, and a variable.
inline const std::string kernels = store_kernel + R"(
.global .align 4 .u32 counter = 5;
.visible .entry empty() { ret; }
.visible .entry bounded() .maxntid 128, 1, 1 { ret; }
.visible .entry shared() {
  .shared .align 4 .b8 tile[16384];
  .reg .u32 %r<2>;
  mov.u32 %r1, 1;
  st.shared.u32 [tile], %r1;
  ret;
}
.visible .entry trapper() { trap; }
.visible .entry forever() {
$again:
  bra.uni $again;
}
.visible .entry peek(.param .u64 p) {
  .reg .u64 %rd<2>;
  .reg .u32 %r<2>;
  ld.param.u64 %rd1, [p];
  ld.global.u32 %r1, [%rd1];
  st.global.u32 [%rd1 + 4], %r1;
  ret;
}
)";

/// say() prints hello, insist() fails an assertion.
inline const std::string talker = R"(
.extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 arguments);
.extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d,
                            .param .b64 e);
.global .align 1 .b8 hello[7] = {104, 101, 108, 108, 111, 10, 0};
.visible .entry say() {
  .reg .u64 %rd<3>;
  .reg .u32 %r<2>;
  mov.u64 %rd1, hello;
  cvta.global.u64 %rd2, %rd1;
  {
    .param .b64 format;
    st.param.b64 [format], %rd2;
    .param .b64 arguments;
    st.param.b64 [arguments], 0;
    .param .b32 result;
    call.uni (result), vprintf, (format, arguments);
    ld.param.b32 %r1, [result];
  }
  ret;
}
.visible .entry insist() {
  .reg .u64 %rd<3>;
  mov.u64 %rd1, hello;
  cvta.global.u64 %rd2, %rd1;
  {
    .param .b64 a;
    st.param.b64 [a], %rd2;
    .param .b64 b;
    st.param.b64 [b], %rd2;
    .param .b32 c;
    st.param.b32 [c], 7;
    .param .b64 d;
    st.param.b64 [d], %rd2;
    .param .b64 e;
    st.param.b64 [e], 1;
    call.uni __assertfail, (a, b, c, d, e);
  }
  ret;
}
)";

}  // namespace rung::vgpu
