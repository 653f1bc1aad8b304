"""weft.torch on DTensors, whose ranks are those of MPI: values and gradients of sharded tensors against torch.fft of
whole ones. Skipped without PyTorch."""

import os
import socket

import pytest
import weft
from mpi4py import MPI

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
import weft.torch as wt  # noqa: E402
from torch import distributed  # noqa: E402
from torch.distributed.tensor import Replicate, Shard, distribute_tensor, init_device_mesh  # noqa: E402

WORLD = MPI.COMM_WORLD
torch.set_num_threads(1)
CUDA = weft.device_count() >= WORLD.size and torch.cuda.is_available()


@pytest.fixture(scope="module", params=["cpu", *(["cuda"] if CUDA else [])])
def device(request):
    """A process group of all ranks, by gloo or NCCL."""
    port = None
    if WORLD.rank == 0:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", str(WORLD.bcast(port))
    if request.param == "cuda":
        torch.cuda.set_device(WORLD.rank)
    backend = "nccl" if request.param == "cuda" else "gloo"
    distributed.init_process_group(backend, rank=WORLD.rank, world_size=WORLD.size)
    yield request.param
    distributed.destroy_process_group()


def meshes(device):
    """A mesh of one dimension, and if there are four ranks one of two."""
    found = [(init_device_mesh(device, (WORLD.size,)), [[Shard(0)], [Shard(1)], [Shard(2)]])]
    if WORLD.size == 4:
        mesh = init_device_mesh(device, (2, 2))
        found.append((mesh, [[Shard(0), Shard(1)], [Shard(1), Shard(0)], [Shard(2), Shard(2)]]))
    return found


def whole(device, *shape, dtype=torch.float64):
    """The same on all ranks."""
    return torch.randn(shape, dtype=dtype, generator=torch.Generator().manual_seed(5)).to(device)


# Lengths that PyTorch and Weft cut differently, some parts empty.
SHAPES = [(8, 6, 4), (5, 7, 9), (3, 2, 5)]


@pytest.mark.parametrize("shape", SHAPES)
def test_values_and_gradients(device, shape):
    for mesh, placements in meshes(device):
        for before, another in zip(placements, placements[1:] + placements[:1], strict=True):
            for after in (None, another):
                one_case(mesh, before, after, whole(device, *shape), shape)


def one_case(mesh, before, after, real, shape):
    pairs = [
        (wt.fftn, torch.fft.fftn, real.to(torch.complex128), {}),
        (wt.rfftn, torch.fft.rfftn, real, dict(norm="ortho")),
        (wt.irfftn, torch.fft.irfftn, torch.fft.rfftn(real).contiguous(), dict(s=shape)),
    ]
    for ours, theirs, a, arguments in pairs:
        x = distribute_tensor(a, mesh, before).requires_grad_()
        y = ours(x, placements=after, **arguments)
        assert list(y.placements) == list(after or before)
        a = a.clone().requires_grad_()
        expected = theirs(a, **arguments)
        torch.testing.assert_close(y.full_tensor(), expected)
        weights = torch.linspace(0, 1, expected.numel(), dtype=torch.float64, device=real.device).reshape(
            expected.shape
        )
        (y * distribute_tensor(weights, mesh, y.placements)).abs().square().sum().backward()
        (expected * weights).abs().square().sum().backward()
        assert list(x.grad.placements) == list(before)
        torch.testing.assert_close(x.grad.full_tensor(), a.grad)


def test_copies(device):
    """Where a tensor is replicated, each copy is transformed by the ranks that have its parts."""
    shape = (WORLD.size // 2 or 1, min(WORLD.size, 2))
    mesh = init_device_mesh(device, shape)
    a = whole(device, 6, 8, dtype=torch.complex128)
    for placements in ([Replicate(), Shard(0)], [Shard(1), Replicate()], [Replicate(), Replicate()]):
        y = wt.ifftn(distribute_tensor(a, mesh, placements), dim=1)
        torch.testing.assert_close(y.full_tensor(), torch.fft.ifftn(a, dim=(1,)))


def test_errors(device):
    mesh = init_device_mesh(device, (WORLD.size,))
    x = distribute_tensor(whole(device, 8, 6), mesh, [Shard(0)])
    with pytest.raises(weft.Error, match="Shard in both, or Replicate in both"):
        wt.fftn(x, placements=[Replicate()])
    with pytest.raises(weft.Error, match="one for each of the 1 dimensions of the mesh"):
        wt.fftn(x, placements=[Shard(0), Shard(1)])
    with pytest.raises(weft.Error, match="x, a DTensor; expected its part on this rank"):
        weft.Plan(None, (8, 6), "r2c").forward(x)
    with pytest.raises(weft.Error, match="a DTensor; expected weft.torch.fftn"):
        weft.fftn(x)
