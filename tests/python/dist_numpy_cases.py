"""What NumPy's functions give for distributed arrays is what they give for whole ones, or a TypeError that says why.
On any ranks; every rank calls each case."""

import numpy as np
import pytest
import weft
from compare import random_array

SHAPE = (5, 3, 4)
DTYPES = (np.float64, np.float32, np.float16, np.complex64, np.complex128, np.int64, np.uint8, bool)


def whole(dtype, seed, shape=SHAPE):
    if np.dtype(dtype).kind in "fc":
        return random_array(np.random.default_rng(seed), shape, np.result_type(dtype, np.float32)).astype(dtype)
    return np.random.default_rng(seed).integers(0, 3, shape).astype(dtype)


def spread(comm, values, where="slab0"):
    a = weft.DistArray(values.shape, values.dtype, where, comm)
    a.local[...] = values[a.box.slices]
    return a


def is_like(got, want):
    """Whether what Weft gave, or left in an array, is what NumPy did."""
    tolerance = dict(rtol=1e-2, atol=1e-2) if getattr(want, "dtype", None) == np.float16 else dict(rtol=1e-4, atol=1e-5)
    if isinstance(want, tuple) and isinstance(got, tuple):
        return len(got) == len(want) and all(is_like(g, w) for g, w in zip(got, want, strict=True))
    if isinstance(got, weft.DistArray):
        if (got.shape, got.dtype) != (want.shape, want.dtype) or not got._layout.fits(got.local):
            return False
        if sum(box.size for box in got.boxes) != want.size:  # each element once
            return False
        got, want = (got.local, want[got.box.slices]) if got.local.size else (want, want)
    elif isinstance(want, np.ndarray | np.generic):
        if np.shape(got) != want.shape or got.dtype != want.dtype:
            return False
    else:
        return type(got) is type(want) and got == want
    return np.allclose(got, want, **tolerance)


SAME = dict(
    where=lambda a, b: np.where(a > 0, a, b),
    clip=lambda a, b: (np.clip(a, 0, 1), np.clip(a, a_min=None, a_max=b), np.clip(a, 0, max=b)),
    clip_out=lambda a, b: (np.clip(a, 0, 1, out=b), b),
    clip_out_by_position=lambda a, b: (np.clip(a, 0, 1, b), b),
    clip_where=lambda a, b: (np.clip(a, 0, 1, out=b, where=a > 0), b),
    round=lambda a, b: (np.round(a), np.round(a, 1), np.around(a, decimals=1)),
    round_out=lambda a, b: (np.round(a, out=b), b),
    nan_to_num=lambda a, b: (np.nan_to_num(a / 1, nan=1.0), np.nan_to_num(a, copy=False)),
    angle=lambda a, b: (np.angle(a, deg=True), np.angle(a, True), np.isreal(a), np.iscomplex(a)),
    close=lambda a, b: (np.isclose(a, b=b, rtol=1), np.allclose(a, a + 0), np.allclose(a, b, 1e3, atol=1e3)),
    equal=lambda a, b: (np.array_equal(a, a.copy()), np.array_equal(a, b), np.array_equal(a, 3)),
    equal_nan=lambda a, b: [
        np.array_equal(x, x, equal_nan=nan) for x in [np.where(a > 0, np.nan, a)] for nan in (0, 1)
    ],
    full_like=lambda a, b: (np.full_like(a, fill_value=2), np.full_like(a, 2, dtype=int), np.full_like(a, 1, "f4")),
    zeros_like=lambda a, b: (np.zeros_like(a, float), np.zeros_like(a, dtype="i1"), np.ones_like(a)),
    copies=lambda a, b: (
        np.copy(a),
        a.astype(np.complex128, copy=False),
        a.astype(a.dtype, copy=False),
        np.astype(a, "F"),
    ),
    facts=lambda a, b: (np.size(a), np.size(a, 1), np.shape(a), np.ndim(a), np.isrealobj(a), np.iscomplexobj(a)),
    types=lambda a, b: np.result_type(a, np.float32) == np.result_type(a.dtype, np.float32),
    count_nonzero=lambda a, b: (np.count_nonzero(a, axis=1), np.count_nonzero(a > 0, axis=2, keepdims=True)),
    norms=lambda a, b: (np.linalg.norm(a), *[np.linalg.norm(a, p, axis=1) for p in (None, 1, 3, 0, np.inf, -np.inf)]),
    frobenius=lambda a, b: (np.linalg.norm(a, axis=(1, 2)), np.linalg.norm(a, "fro", (1, 2)), a.real.max()),
    norms_kept=lambda a, b: (np.linalg.norm(a, axis=1, keepdims=True), np.linalg.norm(a, keepdims=True)),
    centred=lambda a, b: (a - a.mean(axis=2, keepdims=True), a - np.mean(a, keepdims=True)),
    axes=lambda a, b: (a.sum(axis=-1), a.sum(axis=(1, 2)), a.max(1), np.any(a, 2, keepdims=True), a.sum(axis=())),
    dtypes=lambda a, b: (
        np.sum(a, dtype=np.complex64),
        np.mean(a, axis=1, dtype=np.complex128),
        np.sum(a > 0, dtype="i1"),
    ),
    degrees=lambda a, b: (np.var(a, ddof=1), np.std(a, axis=1, ddof=2), np.var(a, None, None, None, 1)),
    other_order=lambda a, b: (np.fmax.reduce(a, axis=None), np.logical_xor.reduce(a, axis=None)),
    parts=lambda a, b: (np.real(a), np.imag(a), np.vdot(a, b), np.divmod(abs(a), abs(b) + 1)),
    powers=lambda a, b: (np.square(a, out=b), b, np.add(a, 1, out=b, where=a > 0)),
)
for function in (np.sum, np.prod, np.min, np.max, np.any, np.all, np.mean, np.var, np.std):
    SAME[function.__name__] = lambda a, b, f=function: (
        f(a),
        f(a, axis=1),
        f(a, axis=(1, 2), keepdims=True),
        f(a, keepdims=True),
        getattr(a, f.__name__)(2),
    )

REFUSED = {
    "three arguments": lambda a: np.where(a > 0),
    "takes a dtype only": lambda a: np.zeros_like(a, shape=(2, 2)),
    "axis, dtype and keepdims only": lambda a: np.max(a, initial=3),
    "sum|add": lambda a: np.sum(a, out=a.local),
    "add.reduce": lambda a: np.add.reduce(a.local, out=a),
    "order of elements": lambda a: np.subtract.reduce(a, axis=None),
    "all elements for one vector": lambda a: np.linalg.norm(a, 2, (1, 2)),
    "norm with ord 1 along 3 axes": lambda a: np.linalg.norm(a, 1),
    "iterable": list,
    "not iterable|iterable": lambda a: 5 in a,
    "of type bool": lambda a: a[True],
    "of type DistArray": lambda a: a[a > 0],
    "matmul": lambda a: a @ a,
    "duplicate": lambda a: a.sum(axis=(1, -2)),
    "unexpected keyword|multiple values|missing": lambda a: np.clip(a, 0, 1, low=3),
}


def same_as_numpy(comm):
    wrong = []
    for dtype in DTYPES if comm.size < 3 else DTYPES[::3]:
        for name, call in SAME.items():
            both = [whole(dtype, seed) for seed in (1, 2)]
            arrays = [spread(comm, values) for values in both]
            try:
                want = call(*both)
            except TypeError:  # NumPy has no such thing for this dtype
                with pytest.raises(TypeError):
                    call(*arrays)
                continue
            if not is_like(call(*arrays), want) or not all(map(is_like, arrays, both)):
                wrong.append((name, np.dtype(dtype).name))
    assert not wrong


def refused(comm):
    a = spread(comm, whole(float, 1))
    for words, call in REFUSED.items():
        with pytest.raises((TypeError, IndexError, ValueError), match=words):
            call(a)


def half_precision(comm):
    """The mean of many numbers that float16 could not add up."""
    a = weft.DistArray((300, 300), np.float16, comm=comm, fill=100)
    assert (
        a.mean() == 100 and a.mean().dtype == np.float16 and np.mean(a, axis=1).local.tolist() == [100] * a.box.shape[0]
    )
    assert a.var() == 0 and a.norm() == np.float16(30000)


def norms_with_nan(comm):
    values = np.ones((8, 2))
    values[0], values[-1] = np.inf, np.nan
    assert np.isnan(spread(comm, values).norm())
    values[-1] = 1
    assert spread(comm, values).norm() == np.inf


def variance_of_no_float(comm):
    a = spread(comm, whole(float, 1))
    for dtype in (int, complex, bool):
        for function in (np.var, np.std):
            with pytest.raises(TypeError, match="take a float type"):
                function(a, dtype=dtype)
    assert np.isclose(np.var(a, dtype="f4"), np.var(whole(float, 1)))


def ranks_without_points(comm):
    """Boxes without points are equal, wherever they are said to lie."""
    for where in ("slab0", "slab1"):
        values = whole(float, 3, (2, 1))
        a = spread(comm, values, where)
        b = spread(comm, values, "slab0" if comm.size == 1 else weft.Distribution.grid([1, comm.size]))
        if where == "slab1" or comm.size == 1:
            assert is_like(a + b, 2 * values) and np.array_equal(a, b)
            b[...] = a
            assert is_like(a.sum(axis=1), values.sum(axis=1)) and is_like(
                a.sum(axis=1) + a.sum(axis=1), 2 * values[:, 0]
            )
            assert is_like(a - a.mean(axis=1, keepdims=True), 0 * values)
            assert is_like(a * np.ones(a.box.shape), values)
        elif comm.size > 2:
            with pytest.raises(weft.Error, match="equal boxes on all ranks"):
                a + b
    if comm.size > 1:
        with pytest.raises(weft.Error, match="different boxes"):
            np.array_equal(spread(comm, whole(float, 1)), spread(comm, whole(float, 1), "slab1"))
    assert not np.array_equal(a, spread(comm, whole(float, 1, (2, 2))))
    mask = spread(comm, whole(bool, 1, (2, 4)))
    assert is_like(mask & [True, False, True, False], whole(bool, 1, (2, 4)) & [True, False, True, False])
    batch = weft.Plan(comm, (2, 3), batch=2, output="slab0")
    a = weft.DistArray.input_of(batch, fill=1)
    boxes = [box if box.size else weft.Box((0, 0, 0), (0, 0, 0)) for box in a.boxes]
    b = weft.DistArray(a.shape, a.dtype, boxes, comm, fill=1)
    assert np.array_equal(a, b) and not np.array_equal(a, b * 2)


CASES = [same_as_numpy, refused, half_precision, norms_with_nan, variance_of_no_float, ranks_without_points]
