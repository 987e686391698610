"""The products as autograd functions, each in two forms: one for calls that bypass the dispatcher, and one for the
transforms of torch.func, which require a separate setup_context and take 25 us longer."""

import torch
from torch.autograd import forward_ad

from . import operators


def _with_batch_in_front(tensor, dim, rank):
    """Moves vmap's batch dimension to the front and pads the tensor to rank + 1 dimensions. Returns `tensor` if it is
    not batched (dim is None)."""
    if dim is None:
        return tensor
    tensor = tensor.movedim(dim, 0)
    return tensor[(slice(None),) + (None,) * (rank + 1 - tensor.dim())]


def _batches_in_front(tensors, dims):
    rank = max(tensor.dim() - (dim is not None) for tensor, dim in zip(tensors, dims))
    return [_with_batch_in_front(tensor, dim, rank) for tensor, dim in zip(tensors, dims)]


def _sum(*terms):
    """The sum of the terms that are not None."""
    present = [term for term in terms if term is not None]
    return sum(present[1:], present[0])


def _keep_factors(ctx, a, b):
    ctx.save_for_backward(a, b)
    if forward_ad._current_level >= 0:
        ctx.save_for_forward(a, b)


class _PastTheDispatcher(torch.autograd.Function):
    """Base class of functions of ordinary tensors. Subclasses define kernel() and keep(), which saves the tensors
    needed for derivatives."""

    @classmethod
    def forward(cls, ctx, *inputs):
        output = cls.kernel(*inputs)
        cls.keep(ctx, inputs, output)
        return output


class Matmul(_PastTheDispatcher):
    @staticmethod
    def kernel(a, b, math, out_dtype):
        return operators.multiply(a, b, math=math, out_dtype=out_dtype)

    @staticmethod
    def keep(ctx, inputs, output):
        a, b, ctx.math, _ = inputs
        ctx.dtype = output.dtype
        _keep_factors(ctx, a, b)

    @staticmethod
    def backward(ctx, gradient):
        return *operators.matmul_backward(ctx, gradient), None, None

    @staticmethod
    def jvp(ctx, of_a, of_b, *others):
        from . import matmul

        a, b = ctx.saved_tensors
        return _sum(None if of_a is None else matmul(of_a, b, math=ctx.math),
                    None if of_b is None else matmul(a, of_b, math=ctx.math)).to(ctx.dtype)


class TransformedMatmul(Matmul):
    @staticmethod
    def forward(a, b, math, out_dtype):
        from . import matmul

        return matmul(a, b, math=math, out_dtype=out_dtype)  # grad is disabled here: calls the kernel or the operator

    setup_context = Matmul.keep

    @staticmethod
    def vmap(info, in_dims, a, b, math, out_dtype):
        from . import matmul

        a, b = _batches_in_front((a, b), in_dims)
        return matmul(a, b, math=math, out_dtype=out_dtype), 0


class Addmm(_PastTheDispatcher):
    @staticmethod
    def kernel(input, a, b, beta, alpha, math):
        return operators.multiply_and_add(input, a, b, beta=beta, alpha=alpha, math=math)

    @staticmethod
    def keep(ctx, inputs, output):
        input, a, b, ctx.beta, ctx.alpha, ctx.math = inputs
        ctx.shape, ctx.output_shape = input.shape, output.shape
        _keep_factors(ctx, a, b)

    @staticmethod
    def backward(ctx, gradient):
        return *operators.addmm_backward(ctx, gradient), None, None, None

    @staticmethod
    def jvp(ctx, of_input, of_a, of_b, *others):
        from . import matmul

        a, b = ctx.saved_tensors
        return _sum(None if of_a is None else ctx.alpha * matmul(of_a, b, math=ctx.math),
                    None if of_b is None else ctx.alpha * matmul(a, of_b, math=ctx.math),
                    None if of_input is None else (ctx.beta * of_input).expand(ctx.output_shape))


class TransformedAddmm(Addmm):
    @staticmethod
    def forward(input, a, b, beta, alpha, math):
        from . import addmm

        return addmm(input, a, b, beta=beta, alpha=alpha, math=math)

    setup_context = Addmm.keep

    @staticmethod
    def vmap(info, in_dims, input, a, b, beta, alpha, math):
        from . import matmul

        input, a, b = _batches_in_front((input, a, b), in_dims[:3])
        product = alpha * matmul(a, b, math=math)
        if beta != 0:
            product = beta * input + product  # also if only `input` is batched
        elif in_dims[1] is None and in_dims[2] is None:
            product = product.expand(info.batch_size, *product.shape)
        return product, 0
