"""How close results have to be: one bound for all tests."""

import math

import numpy as np


def close(result: np.ndarray, reference: np.ndarray, factor: float = 1) -> None:
    """Asserts equality but for rounding: 2-norm of the difference over that of the reference, by precision and size."""
    assert result.shape == reference.shape
    assert result.dtype == reference.dtype, f"{result.dtype} instead of {reference.dtype}"
    if reference.size == 0:
        return
    norm = np.linalg.norm(reference.ravel().astype(complex))
    error = np.linalg.norm((result.astype(complex) - reference.astype(complex)).ravel())
    allowed = 4 * factor * np.finfo(reference.dtype).eps * math.sqrt(1 + math.log2(reference.size)) * norm
    assert error <= allowed, f"error {error:.3g} of {norm:.3g}, allowed {allowed:.3g}"


def random_array(rng: np.random.Generator, shape: tuple, dtype) -> np.ndarray:
    dtype = np.dtype(dtype)
    if dtype.kind in "iub":
        return rng.integers(0, 2 if dtype.kind == "b" else 100, shape).astype(dtype)
    a = rng.standard_normal(shape)
    if dtype.kind == "c":
        a = a + 1j * rng.standard_normal(shape)
    return np.asarray(a, dtype)
