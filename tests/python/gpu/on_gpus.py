"""What tests on GPUs share: which GPUs and modules there are, and arrays of these modules."""

import importlib
import os
import pathlib
import sys

import numpy as np
import pytest
import weft
from weft import _core

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # or JAX leaves the others no memory
GPUS = _core.device_count()
MODULES = ("cupy", "torch")


def need(count):
    """Skips the tests of a file unless there are so many GPUs."""
    found = f"finds {GPUS}" if weft.built_with()["cuda"] else "was built without CUDA"
    return pytest.mark.skipif(count > GPUS, reason=f"needs {count} GPUs; Weft {found}")


def module(name):
    """The module, or a skipped test."""
    found = pytest.importorskip(name)
    if name == "torch" and not found.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    return found


def there(a, name, device=0):
    """A copy of a NumPy array on a GPU."""
    if name == "cupy":
        with module("cupy").cuda.Device(device):
            return module("cupy").asarray(a)
    return module("torch").from_numpy(np.ascontiguousarray(a)).to(f"cuda:{device}")


def here(x):
    """A copy on the host, after all that was enqueued on the current stream."""
    return x.get() if type(x).__module__.startswith("cupy") else x.cpu().numpy()


def address(x):
    return x.data.ptr if type(x).__module__.startswith("cupy") else x.data_ptr()


def device_of(x):
    return x.device.id if type(x).__module__.startswith("cupy") else x.device.index


def made_by(x, name):
    return isinstance(x, module(name).ndarray if name == "cupy" else importlib.import_module(name).Tensor)


def on_device(name, device):
    """What `with` makes that GPU the current one of the module."""
    return module("cupy").cuda.Device(device) if name == "cupy" else module("torch").cuda.device(device)


def wait(name):
    """For all that was enqueued on the current GPU."""
    (module("cupy").cuda.Device() if name == "cupy" else module("torch").cuda).synchronize()


def stream_and_context(name):
    """A stream of the current GPU, what `with` makes it the current one, and a function that waits for it."""
    if name == "cupy":
        cupy = module("cupy")
        stream = cupy.cuda.Stream(non_blocking=True)
        return stream, stream, stream.synchronize
    torch = module("torch")
    stream = torch.cuda.Stream()
    return stream, torch.cuda.stream(stream), stream.synchronize
