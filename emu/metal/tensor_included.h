// The headers of tensors, when a kernel includes one: the second compilation sees this declaration,
// and includes tensor.h and tensor_ops.h.
#pragma once
struct rung_has_tensors;
