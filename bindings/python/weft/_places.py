"""Where the arrays of a plan lie, in memory of the host or of one GPU, and what follows for those that it is given."""

from __future__ import annotations

import re
from typing import Any, Protocol

import numpy as np

from weft import _core, _modules
from weft._arrays import Side
from weft._error import Error
from weft._views import Memory, device_memory, host_view, module_of, on_device


class Place(Protocol):
    """What a plan asks of the memory that it works in."""

    device: int

    def empty(self, side: Side, xp: Any) -> Any:
        """A new array for that side, of module `xp`."""

    def arrays(self, core: Any, sides: tuple[Side, Side], x: Any, out: Any, stream: Any) -> tuple[Any, Any, Any]:
        """What C++ takes for x and out, and out itself, which is new if it was None. Raises `weft.Error` unless both
        can be used where they lie."""


class Host:
    """Memory of the host: arrays of NumPy, and others that NumPy can see as they are."""

    device = -1

    def empty(self, side: Side, xp: Any = None) -> Any:
        if xp is None:
            return side.empty()
        return _modules.empty(_modules.named(xp, "numpy"), side.shape, side.strides, side.dtype, side.count, -1)

    def arrays(self, core: Any, sides: tuple[Side, Side], x: Any, out: Any, stream: Any) -> tuple[Any, Any, Any]:
        if stream is not None:
            raise Error("plan: stream", "a stream for arrays in memory of the host", "none, or a plan with device=")
        source, target = sides
        seen = x if type(x) is np.ndarray else host_view("x", x)
        source.check("x", seen)
        if out is None:
            out = target.empty() if seen is x else self.empty(target, "torch" if module_of(x) == "torch" else None)
        written = out if type(out) is np.ndarray else host_view("out", out)
        target.check("out", written, write=True)
        return seen, written, out


class Device:
    """Memory of one GPU. Executions are enqueued on the stream that the caller is on in the module of x."""

    def __init__(self, device: int, module: str | None) -> None:
        self.device, self.module = device, module

    def empty(self, side: Side, xp: Any = None) -> Any:
        module = _modules.named(xp, self.module or "") if xp or self.module else _modules.default_of_devices()
        return _modules.empty(module, side.shape, side.strides, side.dtype, side.count, self.device)

    def arrays(self, core: Any, sides: tuple[Side, Side], x: Any, out: Any, stream: Any) -> tuple[Any, Any, Any]:
        module = module_of(x)
        handle = _modules.stream_of(module, self.device) if stream is None else _modules.handle_of(stream)
        source = self._seen(sides[0], "x", x, handle)
        if out is None:
            with _modules.allocating_on(module, self.device, handle):
                out = self.empty(sides[1], module)
        target = self._seen(sides[1], "out", out, handle, write=True)
        core.use_stream(handle)
        for memory in (source, target):
            if memory.ready_on is not None and memory.ready_on != handle:
                _core.order_streams(self.device, memory.ready_on, handle)
        return source.given(), target.given(), out

    def _seen(self, side: Side, name: str, array: Any, stream: int, write: bool = False) -> Memory:
        memory = device_memory(name, array, stream)
        if memory is None:
            hint = "cupy.asarray and torch.Tensor.cuda copy arrays to it"
            place = "in memory of the host" if _is_array(array) else f"of type {type(array).__name__}"
            raise Error("plan", f"{name} {place}", f"an array in memory of GPU {self.device} ({hint})")
        side.check(name, memory)
        if memory.size and memory.device not in (self.device, -1):
            raise Error("plan", f"{name} in memory of GPU {memory.device}", f"memory of GPU {self.device}")
        if write and not memory.writable:
            raise Error("plan", f"{name}, which is read-only", "a writable array")
        return memory


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
