"""Where the arrays of a plan lie, in memory of the host or of one GPU, and what follows for those that it is given."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from weft import _core, _modules
from weft._arrays import Side
from weft._error import Error
from weft._in_place import other_view
from weft._memory import empty
from weft._views import Memory, device_memory, host_view, module_of, on_device

_BYTE = np.dtype(np.uint8)


class Given(NamedTuple):
    """What the user gives an execution."""

    x: Any
    out: Any = None
    workspace: Any = None
    stream: Any = None


class Part(NamedTuple):
    """What an operator gets of a block: the form of the array of its fields, strides in bytes, and where it is."""

    shape: list[int]
    strides: list[int]
    dtype: np.dtype
    at: tuple[slice, ...]


class Place(Protocol):
    """What a plan asks of the memory that it works in."""

    device: int

    def empty(self, side: Side, xp: Any) -> Any:
        """A new array for that side, of module `xp`."""

    def empty_bytes(self, count: int, xp: Any) -> Any:
        """A new array of bytes, of module `xp`."""

    def arrays(self, core: Any, sides: tuple[Side, Side], given: Given, in_place: bool = False) -> tuple[tuple, Any]:
        """What C++ takes for x, out and workspace, and out itself, which is new if it was None. Raises `weft.Error`
        unless all can be used where they lie."""

    def seen(self, name: str, array: Any) -> Any:
        """An array that a plan keeps, as one of NumPy or a `Memory`; what is none is returned as it is."""

    def caller(self, op: Callable, x: Any) -> Callable[[Any, Part], None]:
        """What calls `op` with an array on the memory of a part, as C++ gives it, in an execution with `x`."""


class Host:
    """Memory of the host: arrays of NumPy, and others that NumPy can see as they are."""

    device = -1

    def empty(self, side: Side, xp: Any = None) -> Any:
        module = _modules.named(xp, "numpy")
        if module == "numpy":
            return side.empty()
        return _modules.empty(module, side.shape, side.strides, side.dtype, side.count, -1)

    def empty_bytes(self, count: int, xp: Any = None) -> Any:
        module = _modules.named(xp, "numpy")
        return empty((count,), _BYTE) if module == "numpy" else _modules.empty(module, (count,), (1,), _BYTE, count, -1)

    def arrays(self, core: Any, sides: tuple[Side, Side], given: Given, in_place: bool = False) -> tuple[tuple, Any]:
        x, out, workspace, stream = given
        if stream is not None:
            raise Error("plan: stream", "a stream for arrays in memory of the host", "none, or a plan with device=")
        source, target = sides
        seen = x if type(x) is np.ndarray else host_view("x", x)
        source.check("x", seen, write=in_place)
        tensor = seen is not x and module_of(x) == "torch"
        if in_place and source.box.size and target.box.size:
            view = other_view("x", x if tensor else seen, target)
            out = view if out is None else out
        elif out is None:
            out = self.empty(target, "torch" if tensor else None)
        written = out if type(out) is np.ndarray else host_view("out", out)
        target.check("out", written, write=True)
        if workspace is not None:
            workspace = _workspace_of_host(workspace)
        return (seen, written, workspace), out

    def seen(self, name: str, array: Any) -> Any:
        return host_view(name, array)

    def caller(self, op: Callable, x: Any) -> Callable[[Any, Part], None]:
        def call(memory: Any, part: Part) -> None:
            op(np.ndarray(part.shape, part.dtype, memory, 0, part.strides), part.at)

        return call


class Device:
    """Memory of one GPU. Executions are enqueued on the stream that the caller is on in the module of x."""

    def __init__(self, device: int, module: str | None) -> None:
        self.device, self.module = device, module

    def empty(self, side: Side, xp: Any = None) -> Any:
        return _modules.empty(self._module(xp), side.shape, side.strides, side.dtype, side.count, self.device)

    def empty_bytes(self, count: int, xp: Any = None) -> Any:
        return _modules.empty(self._module(xp), (count,), (1,), _BYTE, count, self.device)

    def _module(self, xp: Any) -> str:
        return _modules.named(xp, self.module or "") if xp or self.module else _modules.default_of_devices()

    def arrays(self, core: Any, sides: tuple[Side, Side], given: Given, in_place: bool = False) -> tuple[tuple, Any]:
        x, out, workspace, stream = given
        module = module_of(x)
        handle = _modules.stream_of(module, self.device) if stream is None else _modules.handle_of(stream)
        used = [self._fitting(sides[0], "x", x, handle, write=in_place)]
        if in_place and sides[0].box.size and sides[1].box.size:
            view = other_view("x", x, sides[1])
            out = view if out is None else out
        elif out is None:
            with _modules.working_on(module, self.device, handle):
                out = self.empty(sides[1], module)
        used.append(self._fitting(sides[1], "out", out, handle, write=True))
        if workspace is not None:
            used.append(self._workspace(workspace, handle))
        core.use_stream(handle)
        for memory in used:
            if memory.ready_on is not None and memory.ready_on != handle:
                _core.order_streams(self.device, memory.ready_on, handle)
        source, target, *more = [memory.given() for memory in used]
        return (source, target, more[0] if more else None), out

    def seen(self, name: str, array: Any) -> Memory:
        memory = self._seen(name, array, 0)
        self._check(name, memory, write=False)
        return memory

    def caller(self, op: Callable, x: Any) -> Callable[[Any, Part], None]:
        module = module_of(x)
        if module not in ("cupy", "torch"):
            module = self._module(None)

        def call(memory: tuple[int, int, int], part: Part) -> None:
            address, size, stream = memory
            with _modules.working_on(module, self.device, stream):
                where = (address, size, self.device)
                op(_modules.on_memory(module, where, part.shape, part.strides, part.dtype), part.at)

        return call

    def _fitting(self, side: Side, name: str, array: Any, stream: int, write: bool) -> Memory:
        memory = self._seen(name, array, stream)
        side.check(name, memory)
        self._check(name, memory, write)
        return memory

    def _workspace(self, workspace: Any, stream: int) -> Memory:
        memory = self._seen("workspace", workspace, stream)
        self._check("workspace", memory, write=True)
        if not memory.contiguous:
            raise _no_workspace("an array that is not contiguous", "array in C order")
        return memory

    def _seen(self, name: str, array: Any, stream: int) -> Memory:
        memory = device_memory(name, array, stream)
        if memory is None:
            hint = "cupy.asarray and torch.Tensor.cuda copy arrays to it"
            place = "in memory of the host" if _is_array(array) else f"of type {type(array).__name__}"
            raise Error("plan", f"{name} {place}", f"an array in memory of GPU {self.device} ({hint})")
        return memory

    def _check(self, name: str, memory: Memory, write: bool) -> None:
        if memory.size and memory.device not in (self.device, -1):
            raise Error("plan", f"{name} in memory of GPU {memory.device}", f"memory of GPU {self.device}")
        if write and not memory.writable:
            raise Error("plan", f"{name}, which is read-only", "a writable array")


def of_blocks(call: Callable[[Any, Part], None], dtype: np.dtype, several: bool) -> Callable:
    """What C++ calls for each block of an execution. `dtype`: one of the plan's precision; `several`: there may be more
    than one field, and arrays have an axis for them."""
    single = dtype.char.lower() == "f"

    def block(memory: Any, real: bool, lo: Any, hi: Any, strides: Any, field_stride: int, fields: int) -> None:
        dtype = np.dtype(("f" if real else "F") if single else ("d" if real else "D"))
        shape = [h - low for low, h in zip(lo, hi, strict=True)]
        steps = [s * dtype.itemsize for s in strides]
        if several:
            shape, steps = [fields, *shape], [field_stride * dtype.itemsize, *steps]
        call(memory, Part(shape, steps, dtype, tuple(slice(*ends) for ends in zip(lo, hi, strict=True))))

    return block


def _workspace_of_host(workspace: Any) -> np.ndarray:
    seen = host_view("workspace", workspace)
    wanted = "NumPy array in C order"
    if not isinstance(seen, np.ndarray):
        raise _no_workspace(f"an object of type {type(workspace).__name__}", wanted)
    if not (seen.flags.c_contiguous and seen.flags.writeable):
        state = "read-only" if not seen.flags.writeable else "not contiguous"
        raise _no_workspace(f"an array that is {state}", wanted)
    return seen


def _no_workspace(got: str, wanted: str) -> Error:
    return Error("plan: workspace", got, f"a writable {wanted}, as plan.empty_workspace() makes it")


def _is_array(thing: Any) -> bool:
    return isinstance(thing, np.ndarray) or hasattr(thing, "__dlpack__")


def place_of(device: Any) -> Place:
    """What a plan's argument `device` stands for: None, "cpu"; "cuda", "cuda:1", 1, a device of CuPy or PyTorch, or an
    array in memory of a GPU."""
    if device is None:
        return Host()
    if isinstance(device, int) and not isinstance(device, bool):
        return _on(device, None)
    if isinstance(device, str):
        return _by_name(device)
    if on_device(device):
        memory = device_memory("device", device, 0)
        assert memory is not None  # as it is on a device
        module = module_of(device)
        return _on(memory.device, module if module in _modules.KNOWN else None)
    module = type(device).__module__.split(".")[0]
    kind, number = getattr(device, "type", None), getattr(device, "index", None)
    if isinstance(kind, str) and kind in ("cuda", "cpu"):  # torch.device
        return Host() if kind == "cpu" else _on(_core.current_device() if number is None else number, "torch")
    if isinstance(getattr(device, "id", None), int):  # cupy.cuda.Device
        return _on(device.id, module if module in _modules.KNOWN else None)
    raise _unknown(f"an object of type {type(device).__name__}")


def _on(device: int, module: str | None) -> Device:
    if device < 0:
        raise _unknown(str(device))
    return Device(device, module)


def _by_name(name: str) -> Place:
    if name == "cpu":
        return Host()
    parts = re.fullmatch(r"cuda(?::(\d+))?", name)
    if parts is None:
        raise _unknown(f'"{name}"')
    return _on(_core.current_device() if parts[1] is None else int(parts[1]), None)


def _unknown(got: str) -> Error:
    return Error(
        "plan: device",
        got,
        'None or "cpu" (memory of the host); "cuda", "cuda:1", the number of a GPU, a torch.device, a '
        "cupy.cuda.Device, or an array in memory of a GPU",
    )
