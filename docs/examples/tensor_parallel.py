"""A layer of a model on several GPUs: y = (x W1) W2, of which each rank has some columns of W1, some rows of
W2, and some rows of x and y.

    pip install . && cmake --preset release && cmake --build build --target rung_nccl && \\
    RUNG_NCCL_LIBRARY=build/library/dist/librung_nccl.so \\
      torchrun --nproc-per-node 2 docs/examples/tensor_parallel.py
"""

import os

import torch
import torch.distributed as dist
from rung.torch.tensor_parallel import TensorParallel

TOKENS, WIDTH, HIDDEN = 4096, 2048, 8192

rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", rank)))
dist.init_process_group("nccl", device_id=torch.device("cuda", torch.cuda.current_device()))


def ones(rows, cols, value=1.0):
    return torch.full((rows, cols), value, device="cuda", dtype=torch.bfloat16)


x = ones(TOKENS // ranks, WIDTH)
w1, w2 = ones(WIDTH, HIDDEN // ranks, 1 / WIDTH), ones(HIDDEN // ranks, WIDTH, 1 / HIDDEN)

parallel = TensorParallel()
y = parallel.matmul_reduce_scatter(parallel.all_gather_matmul(x, w1), w2)
parallel.synchronize()
print(f"rank {rank} of {ranks}, by {parallel.transport}: y[0, 0] is {y[0, 0].item():g}")
parallel.close()
dist.destroy_process_group()
