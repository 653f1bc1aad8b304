"""What an array is, whoever made it: where its memory lies, its shape, strides and dtype.

PyTorch and CuPy are asked in their own words, all others by DLPack or `__cuda_array_interface__`. Nothing is copied,
and no module is imported that the program has not imported.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from weft import _core
from weft._error import Error

_DLPACK_CPU, _DLPACK_CUDA, _DLPACK_MANAGED = (1, 3), 2, 13  # 3: pinned memory of the host
_LEGACY_STREAM = 1  # as DLPack calls the default stream


@dataclass(frozen=True)
class OtherType:
    """The dtype of an array that is none of a plan's; equal to none of NumPy's."""

    name: str
    itemsize: int

    def __str__(self) -> str:
        return self.name


def separate(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> bool:
    """Whether a plan can step through an array: by positive multiples of an element, no two elements in one place.

    `strides`: in bytes."""
    reach = itemsize
    for step, n in sorted((s, n) for s, n in zip(strides, shape, strict=True) if n > 1):
        if step < reach or step % itemsize:
            return False
        reach += step * (n - 1)
    return True


class Memory(NamedTuple):
    """An array in memory of a GPU. It can be held against a plan's side as a NumPy array can."""

    owner: Any
    device: int
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in bytes
    dtype: np.dtype | OtherType
    writable: bool = True
    ready_on: int | None = None  # the stream that its values are made on, where that is known

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def contiguous(self) -> bool:
        """Whether the elements follow each other in C order."""
        dense = _dense(self.shape, self.dtype.itemsize)
        return all(n == 1 or have == want for n, have, want in zip(self.shape, self.strides, dense, strict=True))

    def given(self) -> _core.Address:
        """What C++ takes: the address, which keeps the array alive as long as C++ holds it."""
        return _core.Address(self.address, self.size * self.dtype.itemsize, self.owner)


def module_of(array: Any) -> str:
    """The module whose functions make such arrays: "numpy", "torch", "cupy", or the name of another one."""
    if isinstance(array, np.ndarray):
        return "numpy"
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return "torch"
    cupy = sys.modules.get("cupy")
    if cupy is not None and isinstance(array, cupy.ndarray):
        return "cupy"
    return type(array).__module__.split(".")[0]


def on_device(array: Any) -> bool:
    """Whether the array lies in memory of a GPU."""
    module = module_of(array)
    if module in ("numpy", "cupy"):
        return module == "cupy"
    if module == "torch":
        return array.device.type == "cuda"
    if hasattr(array, "__cuda_array_interface__"):
        return True
    return hasattr(array, "__dlpack_device__") and array.__dlpack_device__()[0] in (_DLPACK_CUDA, _DLPACK_MANAGED)


def device_memory(name: str, array: Any, stream: int) -> Memory | None:
    """The array, if it lies in memory of a GPU. `stream`: where it is about to be used. `name` is for messages."""
    module = module_of(array)
    if module == "torch":
        check_tensor(name, array)
        return _of_torch(array) if array.device.type == "cuda" else None
    if module == "cupy":
        pointer = array.data
        return Memory(array, pointer.device_id, pointer.ptr, array.shape, array.strides, array.dtype)
    if module == "numpy" or not on_device(array):
        return None
    if hasattr(array, "__dlpack__"):
        return _of_dlpack(name, array, stream)
    return _of_interface(array)


def host_view(name: str, array: Any) -> Any:
    """The array as one of NumPy, with the same memory. What has no such memory is returned as it is, for the caller to
    refuse."""
    module = module_of(array)
    if module == "torch":
        _check_whole(name, array)
    if on_device(array):
        raise Error(
            "plan",
            f"{name} in memory of a GPU",
            "memory of the host, or a plan of device memory: weft.Plan(..., device=x), or the number of the GPU",
        )
    if module == "torch":
        check_tensor(name, array)
        return array.detach().numpy()
    if module != "numpy" and hasattr(array, "__dlpack__") and array.__dlpack_device__()[0] in _DLPACK_CPU:
        return np.from_dlpack(array)
    return array


def _check_whole(name: str, tensor: Any) -> None:
    if hasattr(tensor, "placements"):
        raise Error("plan", f"{name}, a DTensor", "its part on this rank, to_local(), or weft.torch.fftn and its like")


def check_tensor(name: str, tensor: Any) -> None:
    """Raises `weft.Error` for a tensor of PyTorch that is more than its memory, or less."""
    torch = sys.modules["torch"]
    _check_whole(name, tensor)
    if tensor.layout is not torch.strided or tensor.device.type not in ("cpu", "cuda"):
        raise Error(
            "plan", f"{name}, a tensor of {tensor.layout} on {tensor.device}", "a strided tensor on a CPU or a GPU"
        )
    if tensor.requires_grad and torch.is_grad_enabled():
        raise Error(
            "plan",
            f"{name}, a tensor that requires grad, which no plan differentiates",
            "weft.torch.fftn and its like, or x.detach()",
        )
    if tensor.is_conj() or tensor.is_neg():
        raise Error(
            "plan",
            f"{name}, a tensor that is a lazy conjugate or negative of its memory",
            "x.resolve_conj() or x.resolve_neg(), which make a copy",
        )


def dtype_of_torch(dtype: Any) -> np.dtype | OtherType:
    """NumPy's name for a dtype of PyTorch."""
    name = str(dtype).removeprefix("torch.")
    return (
        np.dtype(name) if name in ("float32", "float64", "complex64", "complex128") else OtherType(name, dtype.itemsize)
    )


def _of_torch(tensor: Any) -> Memory:
    size = tensor.element_size()
    strides = tuple(step * size for step in tensor.stride())
    device, address = tensor.device.index, tensor.data_ptr()
    return Memory(tensor, device, address, tuple(tensor.shape), strides, dtype_of_torch(tensor.dtype))


def _of_dlpack(name: str, array: Any, stream: int) -> Memory:
    try:
        capsule = array.__dlpack__(stream=stream or _LEGACY_STREAM)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise Error("plan", f"{name}, which cannot be had by DLPack: {error}", "an array that can") from error
    _, device, address, shape, steps, kind, size = _core.imported(capsule)
    dtype = OtherType(f"{8 * size} bits", size) if kind == "V" else np.dtype(f"{kind}{size}")
    writable = module_of(array) not in ("jax", "jaxlib")  # whose arrays never change
    return Memory(array, device, address, shape, tuple(s * size for s in steps), dtype, writable)


def _of_interface(array: Any) -> Memory:
    facts = array.__cuda_array_interface__
    address, read_only = facts["data"]
    dtype, shape = np.dtype(facts["typestr"]), tuple(facts["shape"])
    strides = facts.get("strides")
    if strides is None:
        strides = _dense(shape, dtype.itemsize)
    device = _core.device_of(address) if address else -1
    return Memory(array, device, address, shape, tuple(strides), dtype, not read_only, facts.get("stream"))


def _dense(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """The strides of an array in C order."""
    strides, step = [], itemsize
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return tuple(reversed(strides))
