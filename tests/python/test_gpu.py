"""Tests that need a GPU, on PyTorch tensors. test_torch.py contains the others."""

import pytest
import torch

import rung

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU for PyTorch here")


def numbers(shape, dtype, seed):
    """A tensor of small integers, whose sums are exact in every type."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-3, 4, shape, generator=generator).to("cuda", dtype)


def by_rows(a, b, offsets):
    parts = [a[start:end].double() @ b[i].double() for i, (start, end) in enumerate(zip(offsets, offsets[1:]))]
    return torch.cat(parts).float()


CUTS = [0, 5, 5, 70, 96]


@pytest.mark.parametrize("place", ["cpu", "cuda", "list"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_groups(dtype, place):
    a, b = numbers((96, 40), dtype, 1), numbers((4, 40, 72), dtype, 2)
    offsets = CUTS if place == "list" else torch.tensor(CUTS, device=place)
    assert torch.equal(rung.grouped_matmul(a, b, offsets).float(), by_rows(a, b, CUTS))
    assert torch.equal(rung.grouped_matmul(a, b.transpose(1, 2).contiguous().transpose(1, 2), offsets).float(),
                       by_rows(a, b, CUTS))
    of_sum = rung.grouped_matmul(a.t(), numbers((96, 72), dtype, 3), offsets)
    for i in range(4):
        part = slice(CUTS[i], CUTS[i + 1])
        right = a[part].double().t() @ numbers((96, 72), dtype, 3)[part].double()
        assert torch.equal(of_sum[i].double(), right)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_block_scales(dtype):
    if torch.cuda.get_device_capability() != (9, 0):
        pytest.skip("no kernel for this GPU")
    a, b = numbers((96, 256), torch.float8_e4m3fn, 1), numbers((4, 128, 256), torch.float8_e4m3fn, 2).mT
    a_scales, b_scales = numbers((96, 2), torch.float32, 3), numbers((4, 1, 2), torch.float32, 4).mT
    scaled_a = a.double() * a_scales.double().repeat_interleave(128, 1)
    scaled_b = b.double() * b_scales.double().repeat_interleave(128, 1)
    out = torch.empty((96, 128), dtype=dtype, device="cuda")
    rung.block_scaled_matmul(a, a_scales, b[0], b_scales[0], out=out)
    assert torch.equal(out, (scaled_a @ scaled_b[0]).to(dtype))
    for offsets in (CUTS, torch.tensor(CUTS, device="cuda")):
        rung.block_scaled_matmul(a, a_scales, b, b_scales, offsets=offsets, out=out.zero_())
        assert torch.equal(out, by_rows(scaled_a, scaled_b, CUTS).to(dtype))


def test_groups_are_captured_with_offsets_on_the_gpu():
    """Captures the call in a graph, so that the host cannot wait for the offsets."""
    a, b = numbers((96, 64), torch.bfloat16, 1), numbers((4, 64, 72), torch.bfloat16, 2)
    offsets = torch.tensor(CUTS, dtype=torch.int32, device="cuda")
    out = torch.zeros((96, 72), dtype=torch.bfloat16, device="cuda")
    rung.grouped_matmul(a, b, offsets, out=out)  # loads the kernel before the capture
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        rung.grouped_matmul(a, b, offsets, out=out)
    others = [0, 90, 91, 92, 96]
    offsets.copy_(torch.tensor(others))
    graph.replay()
    assert torch.equal(out, by_rows(a, b, others).bfloat16())


@pytest.mark.parametrize("side", [False, True])
def test_copies_are_made_in_the_stream(side):
    """Operands that must be copied because no kernel reads their layout, while the current stream is busy."""
    a, b = numbers((64, 128), torch.float32, 1)[:, ::2], numbers((64, 32), torch.float32, 2)
    right = (a.double() @ b.double()).float()
    torch.cuda.synchronize()
    stream = torch.cuda.Stream() if side else torch.cuda.current_stream()
    torch.cuda._sleep(20_000_000)
    out = rung.matmul(a, b, out=torch.empty((64, 32), device="cuda"), stream=stream)
    stream.synchronize()
    assert torch.equal(out, right)


def test_a_result_that_no_kernel_writes():
    a, out = numbers((8, 8), torch.float32, 1), torch.zeros((8, 16), device="cuda")[:, ::2]
    with pytest.raises(ValueError, match="out has strides that a GPU kernel cannot write"):
        rung.matmul(a, a, out=out)
    with pytest.raises(ValueError, match="out has strides that a GPU kernel cannot write"):
        rung.grouped_matmul(a, a[None], [0, 8], out=out)


def test_the_cpu_and_the_gpu_do_not_mix():
    a = numbers((8, 8), torch.float32, 1)
    with pytest.raises(ValueError, match="a is on GPU 0, b is on the CPU; they must be on the same device"):
        rung.matmul(a, a.cpu())


def test_many_calls_do_not_grow():
    a = numbers((64, 64), torch.bfloat16, 1)
    rung.matmul(a, a)
    torch.cuda.synchronize()
    before = torch.cuda.mem_get_info()[0]
    for _ in range(100_000):
        rung.matmul(a, a)
    torch.cuda.synchronize()
    assert before - torch.cuda.mem_get_info()[0] <= 4 << 20
