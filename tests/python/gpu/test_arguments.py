"""What plans say of device arrays that do not fit, and of devices and streams that are none. Needs no GPU: the arrays
are objects that only look like device arrays."""

import contextlib
import pathlib
import subprocess
import sys
import types

import numpy as np
import pytest
import weft
from weft import _core, _modules
from weft._places import Device, Given, Host, Part, place_of
from weft._views import on_device


class Interface:
    """An array of a module that nobody knows, in memory of a GPU."""

    def __init__(self, shape=(4, 6), typestr="<c16", strides=None, read_only=False, stream=None):
        self.__cuda_array_interface__ = dict(
            shape=shape, typestr=typestr, data=(4096, read_only), strides=strides, stream=stream, version=3
        )


class FakeCupy(types.ModuleType):
    """As much of CuPy as Weft asks: arrays, memory, and what is current of devices and streams."""

    class ndarray:  # noqa: N801
        def __init__(self, shape=(4, 6), dtype=complex, data=None, strides=None, device=0, room=0, first=0):
            like = np.empty(shape, dtype)
            self.shape, self.dtype, self.strides = shape, like.dtype, strides or like.strides
            memory = types.SimpleNamespace(ptr=4096, size=room)
            self.data = data or types.SimpleNamespace(device_id=device, ptr=4096 + first, mem=memory)

    def __init__(self):
        super().__init__("cupy")
        self.entered = []
        self.cuda = types.SimpleNamespace(
            get_current_stream=lambda device: types.SimpleNamespace(ptr=70 + device),
            Device=lambda device: self.inside(f"device {device}"),
            ExternalStream=lambda stream, device: self.inside(f"stream {stream} of {device}"),
            Stream=types.SimpleNamespace(
                null=self.inside("the default stream"),
                from_external=lambda stream: self.inside(f"stream {stream.__cuda_stream__()}"),
            ),
            UnownedMemory=lambda at, size, owner, device: types.SimpleNamespace(ptr=at, size=size, device_id=device),
            MemoryPointer=lambda memory, offset: types.SimpleNamespace(
                device_id=memory.device_id, ptr=memory.ptr + offset, mem=memory
            ),
        )

    @contextlib.contextmanager
    def inside(self, what):
        self.entered.append(what)
        yield
        self.entered.remove(what)


@pytest.fixture
def cupy(monkeypatch):
    fake = FakeCupy()
    monkeypatch.setitem(sys.modules, "cupy", fake)
    return fake


class Executions:
    """Stands for a plan in C++: remembers the streams."""

    def __init__(self):
        self.streams = []

    def use_stream(self, handle):
        self.streams.append(handle)


SIDES = (weft.Plan(None, (4, 6))._input, weft.Plan(None, (4, 6), output="slab1")._output)


def arrays(x, out, stream=None, device=0, workspace=None, in_place=False):
    core = Executions()
    Device(device, None).arrays(core, SIDES, Given(x, out, workspace, stream), in_place)
    return core.streams


@pytest.mark.parametrize("which", ["x", "out"])
def test_host_plan_refuses_device_arrays(which):
    plan = weft.Plan(None, (4, 6))
    given = dict(x=np.ones((4, 6), complex), out=np.ones((4, 6), complex)) | {which: Interface()}
    with pytest.raises(weft.Error, match=rf"{which} in memory of a GPU; expected memory of the host, or .*device=x"):
        plan.forward(**given)


def test_host_plan_takes_no_stream():
    with pytest.raises(weft.Error, match="stream for arrays in memory of the host"):
        weft.Plan(None, (4, 6)).forward(np.ones((4, 6), complex), stream=0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (dict(shape=(4, 5)), r"x of shape \(4, 5\).*; expected shape \(4, 6\), dtype complex128"),
        (dict(typestr="<c8"), "x of .*dtype complex64.*expected .*dtype complex128"),
        (dict(strides=(16, 64)), r"x of .*strides \(16, 64\) bytes \(Fortran order\).*with_strides"),
    ],
)
def test_what_does_not_fit(wrong, message):
    with pytest.raises(weft.Error, match=message):
        arrays(Interface(**wrong), Interface())


def test_read_only():
    arrays(Interface(read_only=True), Interface())
    with pytest.raises(weft.Error, match="out, which is read-only; expected a writable array"):
        arrays(Interface(), Interface(read_only=True))


def test_device_plan_refuses_arrays_of_the_host():
    for which in ("x", "out"):
        given = dict(x=Interface(), out=Interface()) | {which: np.ones((4, 6), complex)}
        with pytest.raises(weft.Error, match=f"{which} in memory of the host; expected an array in memory of GPU 0"):
            arrays(**given)
    with pytest.raises(weft.Error, match="x of type list; expected an array in memory of GPU 0"):
        arrays([1, 2], Interface())


def test_in_place(cupy):
    """The result is a view of the memory of x, if that has room, and there is a module to make it."""
    plan = weft.Plan(None, (4, 6), "r2c", in_place=True)
    sides = plan._input, plan._output
    x = cupy.ndarray(dtype=float, room=256)
    _, y = Device(0, None).arrays(Executions(), sides, Given(x), in_place=True)
    assert (y.data, y.shape, y.dtype, y.strides) == (x.data, (4, 4), np.complex128, sides[1].strides)
    behind = cupy.ndarray(dtype=float, room=256, first=64)
    with pytest.raises(weft.Error, match="x in memory of 192 bytes from its first element on; expected 256"):
        Device(0, None).arrays(Executions(), sides, Given(behind), in_place=True)
    with pytest.raises(weft.Error, match="in place: x, an array of test_arguments; expected one of NumPy, CuPy"):
        Device(0, None).arrays(Executions(), sides, Given(Interface(typestr="<f8")), in_place=True)
    with pytest.raises(weft.Error, match="x, which is read-only"):
        arrays(Interface(read_only=True), Interface(), in_place=True)


def test_workspace():
    core, x, work = Executions(), Interface(), Interface((96,), "|u1")
    (_, _, given), _ = Device(0, None).arrays(core, SIDES, Given(x, Interface(), work))
    assert isinstance(given, _core.Address)
    for wrong, words in [
        (np.empty(96, np.uint8), "workspace in memory of the host; expected an array in memory of GPU 0"),
        (Interface((96,), "|u1", read_only=True), "workspace, which is read-only"),
        (Interface((48,), "|u1", strides=(2,)), "workspace: an array that is not contiguous; .*empty_workspace"),
    ]:
        with pytest.raises(weft.Error, match=words):
            arrays(x, Interface(), workspace=wrong)
    host = weft.Plan(None, (4, 6), workspace="user")
    with pytest.raises(weft.Error, match="workspace in memory of a GPU; expected memory of the host"):
        host.forward(np.ones((4, 6), complex), workspace=work)


def test_what_is_for_arrays_on_the_host():
    plan = weft.Plan(None, (4, 6))
    plan._place = Device(0, None)
    with pytest.raises(weft.Error, match="a plan of device memory; expected a plan of arrays on the host"):
        plan.measured_error(Interface())
    with pytest.raises(weft.Error, match="a plan of device memory; .* or plain device arrays"):
        weft.DistArray.input_of(plan)
    with pytest.raises(weft.Error, match="a plan of device memory; .* or plain device arrays"):
        plan.forward(weft.DistArray((4, 6), complex))
    with pytest.raises(weft.Error, match="x in memory of a GPU"):
        weft.Plan(None, (4, 6)).measured_error(Interface())


@pytest.mark.parametrize(("stream", "entered"), [(7, ["stream (0, 7)"]), (71, []), (0, ["the default stream"])])
@pytest.mark.parametrize("known", [True, False])
def test_what_operators_get(cupy, known, stream, entered):
    """An array of the module of x, or else of the one that is imported, on the stream of the part."""
    seen = []

    def op(u, at):
        seen.append((u, at, list(cupy.entered)))

    part = Part([2, 3, 4], [4096, 640, 16], np.dtype(complex), (slice(1, 4), slice(2, 6)))
    Device(1, None).caller(op, cupy.ndarray() if known else Interface())((8192, 5424, stream), part)
    ((u, at, inside),) = seen
    assert (u.shape, u.strides, u.dtype, at) == ((2, 3, 4), (4096, 640, 16), np.complex128, part.at)
    assert (u.data.ptr, u.data.device_id, u.data.mem.size) == (8192, 1, 5424)
    assert inside == ["device 1", *entered] and cupy.entered == []


def test_streams_of_cupy_13(cupy):
    del cupy.cuda.Stream.from_external
    with _modules.working_on("cupy", 1, 7):
        assert cupy.entered == ["device 1", "stream 7 of 1"]


def test_tensors_that_operators_get(monkeypatch):
    """PyTorch takes the memory as it is, by what it asks of others."""
    fake = types.ModuleType("torch")
    fake.as_tensor = lambda x, device: (x.__cuda_array_interface__, device)
    monkeypatch.setitem(sys.modules, "torch", fake)
    facts, device = _modules.on_memory("torch", (8192, 640, 2), [3, 4], [8, 24], np.dtype(np.complex64))
    assert device == "cuda:2"
    assert facts == dict(shape=(3, 4), strides=(8, 24), typestr="<c8", data=(8192, False), version=2)


def test_no_module_for_operators(monkeypatch):
    """An error before anything is executed: the plan is none the worse."""
    for name in ("cupy", "torch"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    plan = weft.Plan(None, (4, 6), between="modes")
    host, plan._place = plan._place, Device(0, None)
    with pytest.raises(weft.Error, match="import cupy or import torch first"):
        plan.apply(lambda u, at: None, Interface(), Interface())
    plan._place = host
    assert np.allclose(plan.apply(lambda u, at: None, np.ones((4, 6), complex)), 1)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (np.ones((4, 6), complex), "modes in memory of the host; expected an array in memory of GPU 0"),
        ([1, 2], "modes of type list; expected an array in memory of GPU 0"),
        (Interface((4, 5)), r"modes of shape \(4, 5\), dtype complex128; expected an array of shape \(4, 6\)"),
        (Interface(typestr="<c8"), "modes of .*dtype complex64; expected .*dtype complex128"),
        (Interface(strides=(16, 64)), "do not lie in C order"),
    ],
)
def test_modes_of_products(wrong, message):
    plan = weft.Plan(None, (4, 6), between="modes")
    plan._place = Device(0, None)
    with pytest.raises(weft.Error, match=message):
        weft.operators.product(plan, wrong)


def test_modes_of_products_on_the_host():
    plan = weft.Plan(None, (4, 6), between="modes")
    with pytest.raises(weft.Error, match="modes in memory of a GPU; expected memory of the host"):
        weft.operators.product(plan, Interface())
    with pytest.raises(weft.Error, match="stream for arrays in memory of the host"):
        plan.apply(weft.operators.laplacian(plan), np.ones((4, 6), complex), stream=0)
    modes = np.arange(24).reshape(4, 6) + 1j
    product = plan.apply(weft.operators.product(plan, Elsewhere(modes)), np.fft.ifftn(np.ones((4, 6))))
    assert np.allclose(product, np.fft.ifftn(modes))


def test_no_result_of_an_unknown_module():
    with pytest.raises(weft.Error, match="a new array of test_arguments in memory of GPU 0|arrays of test_arguments"):
        arrays(Interface(), None)


def test_wrong_device(cupy):
    with pytest.raises(weft.Error, match="x in memory of GPU 1; expected memory of GPU 0"):
        arrays(cupy.ndarray(device=1), cupy.ndarray())
    with pytest.raises(weft.Error, match="out in memory of GPU 0; expected memory of GPU 1"):
        arrays(cupy.ndarray(device=1), cupy.ndarray(), device=1)


def test_the_current_stream_of_the_module_of_x(cupy):
    assert arrays(cupy.ndarray(), cupy.ndarray()) == [70]
    assert arrays(cupy.ndarray(device=2), cupy.ndarray(device=2), device=2) == [72]
    assert arrays(Interface(), cupy.ndarray()) == [0]
    assert arrays(cupy.ndarray(), cupy.ndarray(), stream=types.SimpleNamespace(ptr=11)) == [11]


def test_streams():
    assert _modules.handle_of(5) == 5
    assert _modules.handle_of(types.SimpleNamespace(cuda_stream=6)) == 6
    assert _modules.handle_of(types.SimpleNamespace(__cuda_stream__=lambda: (0, 7))) == 7
    for wrong in ("main", -1, True, object()):
        with pytest.raises(weft.Error, match="expected a stream of CuPy or PyTorch"):
            _modules.handle_of(wrong)


def test_devices(cupy):
    assert isinstance(place_of(None), Host) and isinstance(place_of("cpu"), Host)
    assert [place_of(d).device for d in (0, "cuda:3", types.SimpleNamespace(type="cuda", index=2))] == [0, 3, 2]
    assert isinstance(place_of(types.SimpleNamespace(type="cpu", index=None)), Host)
    assert place_of("cuda").device == _core.current_device()
    like = place_of(cupy.ndarray(device=1))
    assert (like.device, like.module) == (1, "cupy")
    for wrong in (-1, True, "gpu", "cuda:x", 1.5, object()):
        with pytest.raises(weft.Error, match='plan: device: .*expected None or "cpu"'):
            place_of(wrong)


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_gpu_that_is_not_there(ranks):
    """All ranks fail, also where one of them alone asks for it."""
    told = {}

    def body(comm):
        with pytest.raises(weft.Error) as raised:
            weft.Plan(comm, (8, 8), device=9999 if comm.rank == 0 else None)
        told[comm.rank] = str(raised.value)

    weft.ThreadTeam(ranks).run(body)
    assert sorted(told) == list(range(ranks))
    assert "plan: device: GPU 9999" in told[0]


def test_modules_of_new_arrays(monkeypatch):
    plan = weft.Plan(None, (4, 6))
    assert plan.device is None
    assert isinstance(plan.empty_input("numpy"), np.ndarray) and isinstance(plan.empty_output(np), np.ndarray)
    with pytest.raises(weft.Error, match='arrays of jax; expected those of "numpy", "cupy" or "torch"'):
        plan.empty_input("jax")
    with pytest.raises(weft.Error, match="a new array of cupy in memory of the host"):
        plan.empty_input("cupy")
    for name in ("cupy", "torch"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(weft.Error, match="import cupy or import torch first"):
        Device(0, None).empty(SIDES[0])


def test_dlpack():
    a = np.arange(24, dtype=np.float32).reshape(4, 6)[:, ::2]
    kind, device, address, shape, strides, letter, size = _core.imported(a.__dlpack__())
    assert (kind, device, shape, letter, size) == (1, 0, (4, 3), "f", 4)
    assert (address, strides) == (a.ctypes.data, (6, 2))
    with pytest.raises(weft.Error, match="DLPack capsule"):
        _core.imported(object())


class Elsewhere:
    """An array of the host that only DLPack knows."""

    def __init__(self, a):
        self.a = a

    def __dlpack__(self, **keywords):
        return self.a.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.a.__dlpack_device__()


def test_dlpack_of_the_host_is_read_where_it_lies():
    plan = weft.Plan(None, (4, 6), output="slab1")
    x, out = np.random.default_rng(1).standard_normal((4, 6)) + 0j, np.empty((4, 6), complex)
    assert not on_device(Elsewhere(x))
    plan.forward(Elsewhere(x), Elsewhere(out))
    assert np.allclose(out, np.fft.fftn(x))


def test_whole_arrays():
    with pytest.raises(weft.Error, match="both workers and devices"):
        weft.fftn(np.ones((4, 4)), workers=2, devices=[0])
    for wrong in ([], [-1]):
        with pytest.raises(weft.Error, match="the numbers of one GPU or more"):
            weft.fftn(np.ones((4, 4)), devices=wrong)
    with pytest.raises(weft.Error, match="plan: device: GPU 9999"):
        weft.rfftn(np.ones((4, 4)), devices=[9999])
    with pytest.raises(weft.Error, match="test_arguments in memory of a GPU; expected one of CuPy or PyTorch"):
        weft.fftn(Interface())


@pytest.mark.skipif(weft.device_count() > 1, reason="there are two GPUs")
def test_the_example_says_what_it_needs():
    example = pathlib.Path(__file__).resolve().parents[3] / "examples/two_gpus.py"
    run = subprocess.run([sys.executable, "-B", example], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr.strip() == f"This example needs two GPUs, and CUDA finds {weft.device_count()}."
