"""rung.torch compared with torch's own results."""

import doctest
import threading

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd import forward_ad
from torch.utils.flop_counter import FlopCounterMode

import rung
import rung.torch
from rung.torch.dispatch import FUNCTION, KERNEL, OPERATOR, way

DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-13, torch.bfloat16: 2e-2, torch.float16: 2e-3}


@pytest.fixture(params=DEVICES)
def device(request):
    torch.manual_seed(1)
    return request.param


@pytest.fixture(params=DTYPES, ids=str)
def dtype(request):
    return request.param


def close(result, right):
    """Asserts equality up to the rounding of the result's type; the difference is computed in double."""
    scale = right.abs().max().clamp(min=1) if right.numel() else 1
    assert result.dtype == right.dtype and result.shape == right.shape and result.device == right.device
    assert ((result.double() - right.double()).abs() <= TOLERANCE[right.dtype] * scale).all()


@pytest.fixture
def calls(monkeypatch):
    """Records each call of the library as the number of dimensions of `a`."""
    seen = []

    def count(name):
        original = getattr(rung._core, name)

        def product(a, *others):
            result = original(a, *others)
            if result is not None:
                seen.append(a.dim())
            return result

        monkeypatch.setattr(rung._core, name, product)

    for name in ("_matmul_of_tensors", "_product_on_cpu", "_rounded_matmul"):
        count(name)
    return seen


@pytest.mark.parametrize("a, b", [
    ((5, 7), (7, 3)), ((2, 5, 7), (7, 3)), ((2, 5, 7), (2, 7, 3)), ((4, 1, 5, 7), (2, 7, 3)),
    ((0, 7), (7, 3)), ((5, 0), (0, 3)), ((0, 5, 7), (7, 3)),
])
def test_matmul(device, dtype, a, b):
    a, b = torch.randn(a, dtype=dtype, device=device), torch.randn(b, dtype=dtype, device=device)
    close(rung.torch.matmul(a, b), torch.matmul(a, b))


def test_views(device, dtype):
    a, b = torch.randn(7, 5, dtype=dtype, device=device).t(), torch.randn(7, 8, dtype=dtype, device=device)[:, ::2]
    close(rung.torch.matmul(a, b), a @ b)


def test_out_dtype(device):
    a = torch.randn(5, 7, dtype=torch.bfloat16, device=device)
    result = rung.torch.matmul(a, a.t(), out_dtype=torch.float32)
    assert result.dtype == torch.float32
    close(result, a.float() @ a.t().float())


@pytest.mark.parametrize("a, b", [((4, 3), (3, 5)), ((2, 4, 3), (3, 5)), ((2, 4, 3), (2, 3, 5)), ((2, 4, 3), (1, 3, 5))])
def test_gradients_of_matmul(device, a, b):
    a, b = (torch.randn(shape, dtype=torch.float64, device=device, requires_grad=True) for shape in (a, b))
    assert torch.autograd.gradcheck(rung.torch.matmul, (a, b))
    assert torch.autograd.gradgradcheck(rung.torch.matmul, (a, b))


@pytest.mark.parametrize("shape", [(4, 5), (5,), (4, 1), ()])
def test_addmm(device, shape):
    input, a, b = (torch.randn(each, dtype=torch.float64, device=device, requires_grad=True) for each in (shape, (4, 3), (3, 5)))
    close(rung.torch.addmm(input, a, b, beta=0.5, alpha=-2), torch.addmm(input, a, b, beta=0.5, alpha=-2))
    assert torch.autograd.gradcheck(lambda *all: rung.torch.addmm(*all, beta=0.5, alpha=-2), (input, a, b))


@pytest.mark.parametrize("shape", [(), (5,), (1,), (4, 5), (1, 5), (4, 1), (1, 1)])
def test_addmm_without_gradients(device, dtype, shape):
    input, a, b = (torch.randn(each, dtype=dtype, device=device) for each in (shape, (4, 3), (3, 5)))
    close(rung.torch.addmm(input, a, b, beta=0.5), torch.addmm(input, a, b, beta=0.5))
    spread = torch.randn(10, 8, dtype=dtype, device=device)[::2, ::2].t()  # (4, 5), neither stride 1
    close(rung.torch.addmm(spread, a, b), torch.addmm(spread, a, b))
    integers = torch.arange(5, device=device)
    close(rung.torch.addmm(integers, a, b), torch.addmm(integers.to(dtype), a, b))


@pytest.mark.parametrize("shape", [(3,), (5, 4), (2, 4, 5)])
def test_an_input_that_does_not_broadcast_is_refused(device, shape):
    with pytest.raises(RuntimeError, match="size|shape|dimension"):
        rung.torch.addmm(torch.ones(shape, device=device), torch.ones(4, 3, device=device), torch.ones(3, 5, device=device))


def test_beta_of_zero_ignores_nan(device):
    a, nan = torch.ones(2, 2, device=device), torch.full((2, 2), float("nan"), device=device)
    close(rung.torch.addmm(nan, a, a, beta=0), a @ a)


def test_operators_are_what_torch_wants(device):
    a, b = torch.randn(4, 3, device=device, requires_grad=True), torch.randn(3, 5, device=device, requires_grad=True)
    torch.library.opcheck(torch.ops.rung.matmul, (a, b))
    torch.library.opcheck(torch.ops.rung.addmm, (torch.randn(5, device=device, requires_grad=True), a, b))


def test_use_routes_and_stops(device, dtype, calls):
    a, b = torch.randn(4, 3, dtype=dtype, device=device), torch.randn(3, 5, dtype=dtype, device=device)
    bias, stack = torch.randn(5, dtype=dtype, device=device), torch.randn(2, 3, 5, dtype=dtype, device=device)
    cases = [
        lambda: torch.mm(a, b), lambda: a.mm(b), lambda: a @ b, lambda: torch.matmul(a, stack), lambda: a.matmul(b),
        lambda: torch.bmm(stack, stack.mT), lambda: torch.addmm(bias, a, b, alpha=2), lambda: bias.addmm(a, b, beta=3),
        lambda: torch.nn.functional.linear(a, b.t()), lambda: torch.nn.functional.linear(stack.mT, b.t(), bias),
        lambda: torch.nn.functional.linear(a, b.t(), bias), lambda: torch.einsum("ij,kjl->kil", a, stack),
        lambda: torch.addmm(bias[:1], a, b), lambda: torch.addmm(bias, a[:, ::2], b[::2]),
        lambda: torch.addmm(bias, a.repeat(99, 1), b.repeat(1, 99)[:, ::99]),
    ]
    for case in cases:
        right = case()
        assert not calls
        with rung.torch.use():
            close(case(), right)
        assert len(calls) == 1, case
        calls.clear()


def test_use_leaves_the_rest_to_torch(device, calls):
    a, vector = torch.randn(3, 3, device=device), torch.randn(3, device=device)
    square = a @ a
    with rung.torch.use():
        close(a @ vector, torch.mv(a, vector))
        assert torch.mm(a, a, out=torch.empty(0, device=device)).shape == (3, 3)
        torch.mm(a, a, out=torch.empty(3, 3, device=device).t())
        (a.to(torch.complex64) @ a.to(torch.complex64)).sum()
        close(torch.mm(a.to_sparse(), a), square)
        assert torch.mm(a.to("meta"), a.to("meta")).is_meta
        with FakeTensorMode():
            assert torch.mm(torch.empty(3, 4), torch.empty(4, 5)).shape == (3, 5)
        thread = threading.Thread(target=torch.mm, args=(a, a))
        thread.start()
        thread.join()
        with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
            torch.mm(a, torch.randn(4, 4, device=device))
    assert not calls


def test_a_layer_learns_the_same(device, calls):
    def train(context):
        torch.manual_seed(3)
        model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)).to(device)
        inputs = torch.randn(32, 8, device=device)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for _ in range(5):
            with context():
                loss = (model(inputs) - inputs.sum(1, keepdim=True)).square().mean()
                loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        return loss.detach()

    import contextlib

    right = train(contextlib.nullcontext)
    assert not calls
    close(train(rung.torch.use), right)
    assert len(calls) >= 5 * 5  # two layers forward, and three products backward


def test_use_says_when_it_cannot(monkeypatch):
    monkeypatch.setattr(rung.torch.routes, "_KEY", None)
    with pytest.raises(RuntimeError, match=r"rung: rung.torch.use\(\) does not know the dispatcher of PyTorch 2"):
        rung.torch.use().__enter__()


@pytest.mark.parametrize("beta", [0, 1, 0.5])
def test_use_writes_to_out(device, dtype, calls, beta):
    a, b, bias = (torch.randn(shape, dtype=dtype, device=device) for shape in ((2, 4, 3), (2, 3, 5), (5,)))
    out, stack = torch.empty(4, 5, dtype=dtype, device=device), torch.empty(2, 4, 5, dtype=dtype, device=device)
    cases = [
        lambda: torch.mm(a[0], b[0], out=out), lambda: torch.bmm(a, b, out=stack),
        lambda: torch.addmm(bias, a[0], b[0], beta=beta, alpha=2, out=out),
        lambda: torch.addmm(bias, a[0, :, ::2], b[0, ::2], beta=beta, out=out),
    ]
    for case in cases:
        right = case().clone()
        out.fill_(9), stack.fill_(9)
        with rung.torch.use():
            result = case()
        assert result is out or result is stack
        close(result, right)
    assert len(calls) == (0 if device == "cpu" and dtype in (torch.bfloat16, torch.float16) else 4)


def test_use_is_under_modes_and_transforms(device, calls):
    a = torch.randn(4, 4, device=device)
    with rung.torch.use(), rung.torch.use(), FlopCounterMode(display=False) as counter:
        result = a @ a
    assert counter.get_total_flops() == 2 * 4**3
    close(result, a @ a)
    with rung.torch.use():
        close(torch.func.vmap(torch.mm, (0, None))(a.view(2, 2, 4), a), a.view(2, 2, 4) @ a)
        close(torch.func.grad(lambda x: (x @ a).sum())(a), a.sum(1).expand(4, 4))
        negation = torch.randn(4, 4, dtype=torch.complex64, device=device).conj().imag
        close(negation @ a, negation.resolve_neg() @ a)
        calls.clear()
        rung.torch.matmul(a, a)
        assert way(a, a) == KERNEL and calls == [2]
    with pytest.raises(ZeroDivisionError), rung.torch.use():
        1 / 0
    calls.clear()
    a @ a
    assert not calls


def test_autocast(device, calls):
    layer, inputs = torch.nn.Linear(8, 4).to(device), torch.randn(3, 8, device=device)
    with torch.autocast(device, torch.bfloat16):
        right = layer(inputs)
        with rung.torch.use():
            result = layer(inputs)
    assert result.dtype == torch.bfloat16 and calls
    close(result, right)


@pytest.mark.parametrize("dtypes", [(torch.float32, torch.float32), (torch.float32, torch.bfloat16), (torch.float64, torch.float64)])
def test_autocast_of_the_operators(device, dtypes):
    a, b = (torch.randn(4, 4, dtype=dtype, device=device, requires_grad=True) for dtype in dtypes)

    def gradients(function):
        with torch.autocast(device, torch.bfloat16):
            result = function()
        return result, *torch.autograd.grad(result.float().square().sum(), (a, b))

    for ours, right in (
        (lambda: rung.torch.matmul(a, b), lambda: torch.matmul(a, b)),
        (lambda: rung.torch.addmm(a[0], a, b), lambda: torch.addmm(a[0], a, b)),
        (lambda: torch.ops.rung.matmul(a, b), lambda: torch.matmul(a, b)),
        (lambda: torch.compile(rung.torch.matmul, fullgraph=True, backend="aot_eager")(a, b), lambda: torch.matmul(a, b)),
    ):
        for mine, theirs in zip(gradients(ours), gradients(right)):
            close(mine, theirs)
    with torch.autocast(device, torch.bfloat16), torch.no_grad():
        close(rung.torch.matmul(a, b), torch.matmul(a, b))
        assert rung.torch.matmul(a, b, out_dtype=torch.float32).dtype == torch.float32
        close(torch.func.vmap(rung.torch.matmul, (0, None))(a[:, None], b), torch.matmul(a[:, None], b))
        assert rung.torch.matmul(a, a, math="split").dtype == a.dtype
        with torch.autocast(device, enabled=False):
            close(rung.torch.matmul(a, a), a @ a)


def test_compile_has_one_graph(device, calls):
    def function(a, b):
        return rung.torch.matmul(a, b).relu() + 1

    a, b = torch.randn(4, 3, device=device, requires_grad=True), torch.randn(3, 5, device=device)
    compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
    close(compiled(a, b), function(a, b))
    compiled(a, b).sum().backward()
    assert a.grad is not None and calls


def test_compile_under_use(device, calls):
    layer, inputs = torch.nn.Linear(8, 4).to(device), torch.randn(3, 8, device=device)
    compiled = torch.compile(lambda x: layer(x).relu(), fullgraph=True, backend="aot_eager")
    with rung.torch.use(), torch.no_grad():
        close(compiled(inputs), torch.relu(torch.addmm(layer.bias, inputs, layer.weight.t())))
    assert calls


def test_ordinary_calls_skip_the_dispatcher(device):
    a = torch.ones(2, 2, device=device)
    needs_grad = torch.nn.Parameter(a)
    assert way(a, a) == KERNEL
    assert way(a, needs_grad) == FUNCTION
    with torch.no_grad():
        assert way(a, needs_grad) == KERNEL
    with torch.inference_mode():
        assert way(torch.ones(2, device=device)) == KERNEL


def test_what_asks_for_more_takes_the_operator(device):
    a, b = torch.randn(3, 4, device=device), torch.randn(4, 5, device=device)
    complex = torch.randn(3, 4, dtype=torch.complex64, device=device)
    negation = complex.conj().imag
    assert negation.is_neg() and way(negation, b) == OPERATOR
    close(rung.torch.matmul(negation, b), negation @ b)

    class Logged(torch.Tensor):
        pass

    logged = a.as_subclass(Logged)
    assert way(logged, b) == OPERATOR
    close(rung.torch.matmul(logged, b).as_subclass(torch.Tensor), a @ b)
    with FakeTensorMode():
        fake = rung.torch.matmul(torch.empty(3, 4), torch.empty(4, 5))
        assert fake.shape == (3, 5) and way(fake) == OPERATOR
        with pytest.raises(TypeError, match="a is float32, b is float64; they must have the same dtype"):
            rung.torch.matmul(torch.empty(3, 4), torch.empty(4, 5, dtype=torch.float64))
    graph = torch.fx.experimental.proxy_tensor.make_fx(lambda a, b: rung.torch.matmul(a, b))(a, b)
    assert "rung.matmul" in graph.code
    close(graph(a, b), a @ b)


@pytest.mark.parametrize("in_dims", [(0, None), (None, 1), (1, 0), (-1, -1)])
@pytest.mark.parametrize("a, b", [((3, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5))])
def test_vmap(device, in_dims, a, b):
    def random(shape, dim):
        tensor = torch.randn((6, *shape) if dim is not None else shape, dtype=torch.float64, device=device)
        return tensor if dim is None else tensor.movedim(0, dim)

    a, b = (random(shape, dim) for shape, dim in zip((a, b), in_dims))
    close(torch.func.vmap(rung.torch.matmul, in_dims)(a, b), torch.func.vmap(torch.matmul, in_dims)(a, b))


@pytest.mark.parametrize("in_dims", [(0, 0, 0), (None, 0, None), (0, None, None), (1, None, 2)])
@pytest.mark.parametrize("beta", [0, 0.5])
def test_vmap_of_addmm(device, in_dims, beta):
    shapes = [(5,), (3, 4), (4, 5)]
    tensors = [torch.randn(shape if dim is None else shape[:dim] + (6,) + shape[dim:], dtype=torch.float64, device=device)
               for shape, dim in zip(shapes, in_dims)]
    ours, right = (torch.func.vmap(lambda *all: f(*all, alpha=3, beta=beta), in_dims)(*tensors)
                   for f in (rung.torch.addmm, torch.addmm))
    close(ours, right)


def test_transforms(device):
    input, a, b = (torch.randn(shape, dtype=torch.float64, device=device) for shape in ((5,), (3, 4), (4, 5)))

    def ours(input, a, b):
        return (rung.torch.addmm(input, rung.torch.matmul(a, b).T, a, alpha=2, beta=3) ** 2).sum()

    def right(input, a, b):
        return (torch.addmm(input, torch.matmul(a, b).T, a, alpha=2, beta=3) ** 2).sum()

    operands, tangents = (input[:4], a, b), (input[1:], a + 1, b - 2)
    for mine, theirs in zip(torch.func.grad(ours, (0, 1, 2))(*operands), torch.func.grad(right, (0, 1, 2))(*operands)):
        close(mine, theirs)
    close(torch.func.jvp(ours, operands, tangents)[1], torch.func.jvp(right, operands, tangents)[1])
    close(torch.func.hessian(ours, 1)(*operands), torch.func.hessian(right, 1)(*operands))


def test_forward_mode(device):
    a, b = torch.randn(3, 4, dtype=torch.float64, device=device), torch.randn(4, 5, dtype=torch.float64, device=device)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(a, a + 1)
        close(forward_ad.unpack_dual(rung.torch.matmul(dual, b)).tangent, (a + 1) @ b)
        close(forward_ad.unpack_dual(rung.torch.addmm(b[0], dual, b, alpha=2)).tangent, 2 * (a + 1) @ b)


def test_a_batch_with_one_b_is_one_product(device, calls):
    a, b = torch.randn(4, 3, 6, device=device).transpose(0, 1), torch.randn(6, 2, device=device)
    close(rung.torch.matmul(a, b), a @ b)
    assert calls == [2]


def test_lazy_negations_are_refused_without_the_dispatcher(device):
    negation = torch.randn(2, dtype=torch.complex64, device=device).conj().imag
    ones, row = torch.ones(2, 2, device=device), torch.ones(1, 2, device=device)
    for name, call in {
        "a": lambda: rung.matmul(negation[:, None], row),
        "b": lambda: rung.matmul(row, negation[:, None]),
        "out": lambda: rung.matmul(ones, ones[:, :1], out=negation[:, None]),
        "x": lambda: rung.dot(negation, row[0]),
        "row_bias": lambda: rung.matmul(ones, ones, epilogue=rung.Epilogue(row_bias=negation.as_strided((2,), (1,)))),
    }.items():
        with pytest.raises(TypeError, match=rf"{name} is a lazy negation; pass resolve_neg\(\)"):
            call()
    for negative in (negation[:, None], negation[None].mT, negation.as_strided((2, 1), (1, 1))):
        close(rung.torch.matmul(row, negative), row @ negative)
        close(rung.torch.addmm(negative, ones, ones[:, :1]), torch.addmm(negative, ones, ones[:, :1]))


def test_tensors_without_memory_of_their_own_are_refused():
    a = torch.ones(2, 2)

    class Wrapper(torch.Tensor):
        @staticmethod
        def __new__(cls, tensor):
            return torch.Tensor._make_wrapper_subclass(cls, tensor.shape, dtype=tensor.dtype)

        @classmethod
        def __torch_dispatch__(cls, function, types, arguments=(), keywords=None):
            return NotImplemented

    refused = (TypeError, RuntimeError, ValueError)
    with FakeTensorMode():
        fake = torch.empty(2, 2)
    for each in (Wrapper(a), fake, torch._efficientzerotensor((2, 2)), a.to_sparse(), a.to("meta")):
        for call in (lambda: rung.matmul(each, a), lambda: rung.matmul(a, each), lambda: rung.matmul(a, a, out=each)):
            with pytest.raises(refused):
                call()

    def inside(x):
        with pytest.raises(refused):
            rung.matmul(x, a)
        with pytest.raises(refused):
            rung.matmul(a, a, out=x)
        return x.sum()

    torch.func.vmap(inside)(torch.ones(3, 2, 2)), torch.func.grad(inside)(a), torch.func.jvp(inside, (a,), (a,))
    with forward_ad.dual_level(), pytest.raises(TypeError, match="a has a tangent; use rung.torch.matmul"):
        rung.matmul(forward_ad.make_dual(a, a), a)


@pytest.mark.parametrize("write", [
    lambda a, c: rung.matmul(a, a, out=c),
    lambda a, c: rung.matmul(a[None], a[None], out=c[None]),
    lambda a, c: rung.grouped_matmul(a, a[None], [0, 3], out=c),
    lambda a, c: rung.dot(a[0], a[0], out=c[:1, 0]),
    lambda a, c: rung.matmul(a, a, out=c, epilogue=rung.Epilogue()),
    lambda a, c: rung.matmul(a, a, epilogue=rung.Epilogue(aux=c)),
    lambda a, c: rung.matmul(a, a, epilogue=rung.Epilogue(amax=c[0, :1])),
    lambda a, c: rung.torch.matmul(a, a, out=c),
    lambda a, c: rung.torch.matmul(a[None], a[None], out=c[None]),
])
def test_autograd_notices_what_is_written(write):
    a, c, weights = torch.ones(3, 3), torch.ones(3, 3), torch.ones(3, 3, requires_grad=True)
    loss = (weights * c).sum()
    write(a, c)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
    with torch.inference_mode():  # tensors have no version counter there
        rung.matmul(a, a, out=torch.empty(3, 3))
        rung.torch.matmul(a, a, out=torch.empty(3, 3))


def test_an_out_that_requires_grad(device):
    a, out = torch.ones(2, 2, device=device), torch.zeros(2, 2, device=device, requires_grad=True)
    with pytest.raises(TypeError, match="out requires grad"):
        rung.matmul(a, a, out=out)
    with rung.torch.use():
        with torch.no_grad():
            close(torch.mm(a, a, out=out), a @ a)
        with pytest.raises(RuntimeError, match="out="):
            torch.mm(a, a, out=out)


@pytest.mark.parametrize("beta", [0, 1, 0.5])
def test_use_with_an_out_that_is_an_operand(device, beta):
    def operands():
        torch.manual_seed(2)
        return torch.randn(4, 4, device=device), torch.randn(4, 4, device=device)

    for call in (
        lambda a, b, out: torch.mm(a, b, out=out), lambda a, b, out: torch.bmm(a[None], b[None], out=out[None])[0],
        lambda a, b, out: torch.addmm(a[1], a, b, beta=beta, out=out),
    ):
        right = call(*operands(), torch.empty(4, 4, device=device))
        for i in (0, 1):
            tensors = operands()
            with rung.torch.use():
                close(call(*tensors, tensors[i]), right)


@pytest.mark.parametrize("a, b", [((0, 4), (4, 2)), ((3, 0), (0, 2)), ((3, 4), (4, 0)), ((2, 3, 0), (0, 5)), ((2, 3, 4), (4, 0)), ((2, 0, 4), (2, 4, 5)), ((2, 3, 0), (2, 0, 5)), ((0, 2, 3), (0, 3, 4))])
def test_gradients_of_empty_products(device, a, b):
    def gradients(matmul, addmm):
        tensors = [torch.ones(shape, device=device, requires_grad=True) for shape in (a, b, b[-1:])]
        products = [matmul(*tensors[:2])] + ([addmm(tensors[2], *tensors[:2])] if len(a) == 2 else [])
        first = torch.autograd.grad(sum(each.square().sum() for each in products), tensors[:2], create_graph=True)
        return *first, *torch.autograd.grad(sum(each.sum() for each in first), tensors[:2], allow_unused=True, materialize_grads=True)

    for mine, theirs in zip(gradients(rung.torch.matmul, rung.torch.addmm), gradients(torch.matmul, torch.addmm)):
        close(mine, theirs)


def test_what_requires_grad_is_refused_without_autograd(device):
    a = torch.randn(2, 2, device=device, requires_grad=True)
    with pytest.raises(TypeError, match="a requires grad; use rung.torch.matmul"):
        rung.matmul(a, a)
    assert rung.matmul(a.detach(), a.detach()).shape == (2, 2)


def test_plain_matmul_gives_tensors(device, dtype):
    a = torch.randn(3, 4, dtype=dtype, device=device)
    result = rung.matmul(a, a.t())
    assert type(result) is torch.Tensor and result.device == a.device
    close(result, (a.double() @ a.double().t()).to(result.dtype))


def test_errors_name_both(device):
    a = torch.zeros(2, 3, device=device)
    with pytest.raises(ValueError, match=r"a is \(2, 3\), b is \(2, 3\)"):
        rung.torch.matmul(a, a)
    with pytest.raises(TypeError, match="a is float32, b is float64; they must have the same dtype"):
        rung.torch.matmul(a, a.t().double())
    for b in (a, a.t().double()):  # as of torch.matmul
        with pytest.raises(RuntimeError):
            rung.torch.matmul(a, b)
        with pytest.raises(RuntimeError):
            rung.torch.addmm(a, a, b)


@pytest.mark.parametrize("a, b", [((3,), (3,)), ((3,), (3, 4)), ((2, 3), (3,)), ((3,), (5, 3, 4)), ((5, 2, 3), (3,))])
def test_vectors(device, a, b):
    a, b = (torch.randn(shape, dtype=torch.float64, device=device, requires_grad=True) for shape in (a, b))
    close(rung.torch.matmul(a, b), torch.matmul(a, b))
    assert torch.autograd.gradcheck(rung.torch.matmul, (a, b))
    with torch.no_grad():
        out = torch.empty_like(torch.matmul(a, b))
        assert rung.torch.matmul(a, b, out=out) is out
        close(out, torch.matmul(a, b))
    with pytest.raises(RuntimeError, match="at least one dimension"):
        rung.torch.matmul(a, b.new_tensor(1.0))


def test_matmul_into(device, dtype):
    a, b = torch.randn(3, 4, dtype=dtype, device=device), torch.randn(4, 5, dtype=dtype, device=device)
    out = torch.full((3, 5), torch.nan, dtype=dtype, device=device)
    assert rung.torch.matmul(a, b, out=out) is out
    close(out, (a.double() @ b.double()).to(dtype))
    with pytest.raises(RuntimeError, match=r"out is \(5, 3\)|out must be"):
        rung.torch.matmul(a, b, out=out.t())
    with pytest.raises(RuntimeError, match="out= has no derivative"):
        rung.torch.matmul(a.requires_grad_(), b, out=out)


def test_use_decorates(device, calls):
    @rung.torch.use()
    def product(a, depth):
        return a @ a if depth == 0 else product(a, depth - 1)

    a = torch.randn(3, 3, device=device)
    close(product(a, 2), a @ a)
    assert calls == [2]


def test_documentation():
    assert doctest.testmod(rung.torch).failed == 0
