"""Tensors of PyTorch in memory of the host, and weft.torch: plain tensors, their gradients. Skipped without PyTorch."""

import faulthandler
import os
import threading

import numpy as np
import pytest
import weft

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
import weft.torch as wt  # noqa: E402

DEVICES = ["cpu", *(["cuda"] if weft.device_count() and torch.cuda.is_available() else [])]


@pytest.fixture(params=DEVICES, autouse=True)
def device(request):
    """Whole functions and gradients run on GPUs too, where there are some."""
    with torch.device(request.param):
        torch.manual_seed(3)
        yield request.param


def real(*shape, dtype=torch.float64):
    return torch.randn(shape, dtype=dtype)


def complex_(*shape, dtype=torch.complex128):
    return torch.randn(shape, dtype=dtype)


def test_plans_read_tensors_where_they_lie(device):
    if device != "cpu":
        pytest.skip("tests/python/gpu has that")
    plan = weft.Plan(None, (6, 8), "r2c", output="slab1")
    x, out = real(6, 8), torch.empty(6, 5, dtype=torch.complex128)
    assert plan.forward(x, out) is out
    torch.testing.assert_close(out, torch.fft.rfftn(x))
    y = plan.forward(x)
    assert isinstance(y, torch.Tensor) and torch.equal(y, out)
    assert isinstance(plan.forward(x.numpy()), np.ndarray)
    assert plan.empty_input("torch").shape == (6, 8)
    view = torch.empty(6, 16, dtype=torch.float64)[:, ::2]
    view.copy_(x)
    where = weft.Distribution.slab(0).with_strides(view.stride())
    torch.testing.assert_close(weft.Plan(None, (6, 8), "r2c", input=where, output="slab1").forward(view), y)
    with pytest.raises(weft.Error, match="requires grad"):
        plan.forward(x.clone().requires_grad_())
    with pytest.raises(weft.Error, match="lazy conjugate"):
        plan.backward(y.conj())
    with pytest.raises(weft.Error, match="x of .*dtype float32"):
        plan.forward(x.float())


def test_in_place_and_workspace(device):
    """Both in memory of PyTorch, of the host or of a GPU: a result in place is a tensor on the storage of x."""
    where = "cuda" if device == "cuda" else None
    plan = weft.Plan(None, (6, 8), "r2c", output="slab1", in_place=True, workspace="user", device=where)
    x, workspace = plan.empty_input("torch"), plan.empty_workspace("torch")
    values = real(6, 8)
    x.copy_(values)
    y = plan.forward(x, workspace=workspace)
    assert y.data_ptr() == x.data_ptr() and y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    torch.testing.assert_close(y, torch.fft.rfftn(values))
    assert plan.backward(y, x, workspace) is x
    torch.testing.assert_close(x, values)
    with pytest.raises(weft.Error, match="x in memory of 384 bytes from its first element on; expected 480"):
        plan.forward(values, workspace=workspace)
    if device == "cpu":
        with pytest.raises(weft.Error, match="x, a tensor that begins 8 bytes into its memory; .* multiple of 16"):
            plan.forward(torch.zeros(62, dtype=torch.float64)[1:49].view(6, 8), workspace=workspace)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64, torch.complex64])
def test_whole_tensors(dtype, device):
    x = (torch.randn(5, 6, dtype=torch.complex64) if dtype.is_complex else 9 * torch.randn(5, 6)).to(dtype)
    y = weft.fftn(x)
    wide = x.to(torch.complex64 if dtype is not torch.int64 else torch.complex128)
    torch.testing.assert_close(y, torch.fft.fftn(wide))
    assert y.device.type == device
    torch.testing.assert_close(weft.ifftn(y.mH, norm="ortho"), torch.fft.ifftn(y.mH, norm="ortho"))
    torch.testing.assert_close(weft.fft2(y, s=(7, 3)), torch.fft.fft2(y, s=(7, 3)))
    with pytest.raises(weft.Error, match="requires grad"):
        weft.fftn(wide.requires_grad_())


NORMS = [None, "ortho", "forward"]


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("dim", [None, (0, 2), (1,), (2, 0), (-1, 1)])
def test_values(norm, dim):
    z, x = complex_(4, 5, 6), real(4, 5, 6)
    for name, a in (("fftn", z), ("ifftn", z), ("fftn", x), ("rfftn", x), ("irfftn", hermitian(x, dim))):
        expected = getattr(torch.fft, name)(a, dim=dim, norm=norm)
        torch.testing.assert_close(getattr(wt, name)(a, dim=dim, norm=norm), expected)
    odd = real(4, 3, 7)
    modes = wt.rfftn(odd)
    torch.testing.assert_close(wt.irfftn(modes, s=odd.shape), odd)
    for s, d in ((-1,), (-1,)), ((-1, 7), None), ((4, -1), (0, 2)), ((7,), -1), (7, -1), ((3, 4, 7), (1, 0, 2)):
        single = (s,) if isinstance(s, int) else s
        expected = torch.fft.irfftn(modes, s=single, dim=(d,) if isinstance(d, int) else d, norm=norm)
        torch.testing.assert_close(wt.irfftn(modes, s=s, dim=d, norm=norm), expected)


def hermitian(x, dim):
    """What irfftn makes real: for others PyTorch and Weft need not agree."""
    return torch.fft.rfftn(x, dim=dim)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("n", [4, 5])
def test_gradients(norm, n, device):
    """Of first and second order, against differences."""
    x, z = real(3, 2, n).requires_grad_(), complex_(3, 2, n).requires_grad_()
    half = torch.fft.rfftn(real(3, 2, n)).requires_grad_()
    cases = [
        (lambda a: wt.fftn(a, norm=norm), z),
        (lambda a: wt.ifftn(a, dim=(0, 2), norm=norm), z),
        (lambda a: wt.fftn(a, norm=norm), x),
        (lambda a: wt.rfftn(a, norm=norm), x),
        (lambda a: wt.rfftn(a, dim=(2, 0), norm=norm), x),
    ]
    if device == "cpu":  # cuFFT need not ignore what no spectrum of real data has
        cases.append((lambda a: wt.irfftn(a, s=(3, 2, n), norm=norm), half))
    for function, a in cases:
        assert torch.autograd.gradcheck(function, a)
        assert torch.autograd.gradgradcheck(function, a)


@pytest.mark.parametrize("shape", [(6, 5, 8), (4, 6, 7), (3, 4, 74)])
def test_gradients_are_those_of_pytorch(shape):
    x = real(*shape).requires_grad_()
    y = complex_(*shape[:-1], shape[-1] // 2 + 1)
    theirs = torch.autograd.grad(torch.fft.rfftn(x), x, y)[0]
    torch.testing.assert_close(torch.autograd.grad(wt.rfftn(x), x, y)[0], theirs)
    half = hermitian(x.detach(), None).requires_grad_()
    theirs = torch.autograd.grad(torch.fft.irfftn(half, s=shape), half, x.detach())[0]
    torch.testing.assert_close(torch.autograd.grad(wt.irfftn(half, s=shape), half, x.detach())[0], theirs)


def test_other_types():
    for dtype, wide in ((torch.float16, torch.float32), (torch.int64, torch.get_default_dtype())):
        x = (9 * real(4, 6)).to(dtype)
        torch.testing.assert_close(wt.rfftn(x), torch.fft.rfftn(x.to(wide)))


def test_gradients_that_are_views():
    """An expanded gradient, and a lazily conjugated one."""
    z = complex_(4, 6).requires_grad_()
    wt.fftn(z).sum().abs().backward()
    theirs = z.detach().clone().requires_grad_()
    torch.fft.fftn(theirs).sum().abs().backward()
    torch.testing.assert_close(z.grad, theirs.grad)
    a = complex_(4, 6)
    torch.testing.assert_close(wt.fftn(a.conj().T), torch.fft.fftn(a.conj().T))


def test_threads_and_fork(device):
    """Threads use the same plans and make new ones; a child that is born while plans are in use makes its own."""
    if device != "cpu":
        pytest.skip("CUDA does not go on in a child of fork")
    xs = [real(5, 6, k) for k in (7, 7, 8, 9)]
    expected = [torch.fft.rfftn(x) for x in xs]
    wrong: list[str] = []
    done = threading.Event()

    def work(k):
        while not done.is_set():
            if not torch.allclose(wt.rfftn(xs[k]), expected[k]):
                wrong.append(f"values of {k}")

    def guarded(k):
        try:
            work(k)
        except Exception as error:
            wrong.append(repr(error))

    threads = [threading.Thread(target=guarded, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                faulthandler.dump_traceback_later(20, exit=True)  # not to wait for ever
                os._exit(0 if all(torch.allclose(wt.rfftn(x), y) for x, y in zip(xs, expected, strict=True)) else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert not wrong


def test_nothing_is_kept_without_grad():
    assert wt.fftn(complex_(4, 4)).grad_fn is None
    with torch.no_grad():
        assert wt.fftn(complex_(4, 4).requires_grad_()).grad_fn is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wt.rfftn(complex_(4, 4)), "rfftn: a tensor of torch.complex128; expected a real tensor"),
        (
            lambda: wt.fftn(real(4, 4), dim=(0, 2)),
            r"dim: \(0, 2\); expected different dimensions of a tensor that has 2",
        ),
        (lambda: wt.fftn(real(4, 4), dim=(0, -2)), "expected different dimensions"),
        (lambda: wt.fftn(real(4, 4), norm="best"), 'norm: \'best\'; expected one of "backward", "ortho", "forward"'),
        (
            lambda: wt.irfftn(complex_(4, 3), s=(4, 8)),
            r"\(4, 8\); expected lengths that need no padding: \[4, 4\] or \[4, 5\]",
        ),
        (lambda: wt.fftn(real(4, 4), placements=[1]), "placements for a plain tensor"),
        (lambda: wt.irfftn(complex_(4, 1)), "0 points along dimension 1; expected at least 1; s= says how many"),
        (lambda: wt.fftn(torch.zeros(4, 4, dtype=torch.complex32)), "torch.complex32; expected complex64 or"),
    ],
)
def test_errors(call, message):
    with pytest.raises(weft.Error, match=message):
        call()
