"""Whole arrays: what `scipy.fft` does is what Weft does."""

import inspect
import threading
import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.fft
import weft
from compare import close, random_array

FOURIER = ["fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn"]
COSINE = ["dctn", "dstn", "idctn", "idstn"]
DTYPES = [np.float16, np.float32, np.float64, np.complex64, np.complex128, np.int16, np.uint8, bool, ">f8", ">c8"]


def random_view(rng, dtype):
    """An array of 1 to 4 axes, now and then large enough for several ranks, and with steps of all kinds."""
    ndim = int(rng.integers(1, 5))
    points = rng.choice([30, 300, 60000], p=[0.4, 0.4, 0.2])
    shape = [int(n) for n in rng.integers(1, max(2, int(points ** (1 / ndim) * 1.5)), ndim)]
    kind = rng.choice(["C", "F", "steps", "reversed", "broadcast", "permuted"])
    if kind == "steps":
        around = random_array(rng, [2 * n + 1 for n in shape], dtype)
        return around[tuple(slice(int(rng.integers(0, 2)), 2 * n, 2) for n in shape)]
    a = random_array(rng, shape, dtype)
    if kind == "F":
        return np.asfortranarray(a)
    if kind == "reversed":
        return a[::-1]
    if kind == "broadcast":
        return np.broadcast_to(a[:1], a.shape)
    if kind == "permuted":
        return a.transpose(rng.permutation(ndim))
    return a


def random_arguments(rng, a):
    arguments = {"norm": rng.choice([None, "backward", "ortho", "forward"]), "workers": int(rng.integers(1, 4))}
    count = int(rng.integers(1, a.ndim + 1))
    if rng.random() < 0.7:
        axes = rng.choice(a.ndim, count, replace=False)
        arguments["axes"] = [int(axis - a.ndim * rng.integers(0, 2)) for axis in axes]
    else:
        axes = range(a.ndim)
    if rng.random() < 0.4:
        chosen = axes if "axes" in arguments else range(a.ndim - count, a.ndim)
        arguments["s"] = [max(2, int(a.shape[axis] * rng.uniform(0.5, 1.6))) for axis in chosen]
    return arguments


def outcome(function, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return function(*args, **kwargs)
        except (ValueError, TypeError, RuntimeError) as error:
            return type(error)


def scipys(name, a, arguments):
    """What SciPy returns, or the type of what it raises, but for two slips of it (1.17): of complex data it forgets
    `orthogonalize`, and a real result without points, which one point along the last axis stands for, is no error."""
    function = getattr(scipy.fft, name)
    last = arguments.get("axes", [-1])[-1]
    if name in ("irfftn", "hfftn") and "s" not in arguments and a.shape[last] == 1:
        return ValueError
    if name in COSINE and a.dtype.kind == "c":
        parts = [outcome(function, part, **arguments) for part in (a.real, a.imag)]
        return parts[0] if isinstance(parts[0], type) else parts[0] + parts[0].dtype.type(1) * 1j * parts[1]
    return outcome(function, a, **arguments)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", FOURIER + COSINE)
def test_random(name, seed):
    rng = np.random.default_rng([seed, *name.encode()])
    for _ in range(8):
        a = random_view(rng, DTYPES[rng.integers(len(DTYPES))])
        arguments = random_arguments(rng, a)
        if name in COSINE:
            arguments["type"] = int(rng.integers(1, 5))
            arguments["orthogonalize"] = rng.choice([None, True, False])
        kept = a.copy()
        theirs = scipys(name, a, arguments)
        ours = outcome(getattr(weft, name), a, **arguments)
        label = f"{name} of {a.dtype} {a.shape} strides {a.strides}, {arguments}"
        if isinstance(theirs, type):
            assert isinstance(ours, type), f"{label}: scipy raises {theirs}"
            continue
        assert not isinstance(ours, type), f"{label}: raises {ours}"
        assert ours.flags.c_contiguous or name == "ihfftn", label
        try:
            close(ours, np.asarray(theirs), 4)
        except AssertionError as error:
            raise AssertionError(f"{label}: {error}") from None
        assert np.array_equal(a, kept), f"{label}: the input was changed"


@pytest.mark.parametrize("name", [n[:-1] + d for n in FOURIER for d in ("", "2")] + [n[:-1] for n in COSINE])
def test_one_and_two_axes(name):
    rng = np.random.default_rng(3)
    a = rng.standard_normal((6, 7, 8))
    ours, theirs = getattr(weft, name), getattr(scipy.fft, name)
    close(ours(a), theirs(a), 4)
    if name.endswith("2"):
        close(ours(a, (5, 9), (0, 1), "ortho"), theirs(a, (5, 9), (0, 1), "ortho"), 4)
    elif "ct" in name or "st" in name:
        close(ours(a, 3, 5, 1, "ortho"), theirs(a, 3, 5, 1, "ortho"), 4)
    else:
        close(ours(a, 5, 1, "ortho"), theirs(a, 5, 1, "ortho"), 4)


@pytest.mark.parametrize("name", [n[:-1] + d for n in FOURIER for d in ("", "2", "n")] + COSINE + ["dct", "idst"])
def test_signatures(name):
    """A call that SciPy takes, Weft takes. Weft has GPUs beside that."""
    ours = dict(inspect.signature(getattr(weft, name)).parameters)
    assert ours.pop("devices").kind is inspect.Parameter.KEYWORD_ONLY
    theirs = inspect.signature(getattr(scipy.fft, name)).parameters
    assert [(p.name, p.default, p.kind) for p in ours.values()] == [
        (p.name, p.default, p.kind) for p in theirs.values()
    ]


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        ("fftn", ([[1.0, 2], [3, 4]],), dict(norm="best")),
        ("fftn", (np.ones((2, 2)),), dict(axes=(0, 0))),
        ("fftn", (np.ones((2, 2)),), dict(axes=(2,))),
        ("fftn", (np.ones((2, 2)),), dict(axes=(0,), s=(2, 2))),
        ("fftn", (np.ones((2, 2)),), dict(s=(2, 2, 2))),
        ("fftn", (np.ones((2, 2)),), dict(s=(0, 2))),
        ("fftn", (np.ones((2, 2)),), dict(s=("a", 2))),
        ("fftn", (np.ones((2, 0)),), {}),
        ("fftn", (np.ones((2, 2)),), dict(workers=0)),
        ("fftn", (np.ones((2, 2)),), dict(workers=-1000)),
        ("fftn", (np.ones((2, 2)),), dict(plan=3)),
        ("fft", (np.ones(4),), dict(n=0)),
        ("fft", (5.0,), {}),
        ("fft", (["a"],), {}),
        ("rfft", (np.ones(4, complex),), {}),
        ("rfftn", (np.ones((2, 2)),), dict(axes=())),
        ("irfft", (np.ones(1),), {}),
        ("irfftn", (np.ones((2, 2)),), dict(axes=())),
        ("dct", (np.ones(4),), dict(type=5)),
        ("dct", (np.ones(1),), dict(type=1)),
    ],
)
def test_what_scipy_refuses(name, args, kwargs):
    refusals = (ValueError, TypeError, NotImplementedError, RuntimeError, IndexError)
    with pytest.raises(refusals):
        getattr(scipy.fft, name)(*args, **kwargs)
    with pytest.raises(refusals):
        getattr(weft, name)(*args, **kwargs)


def test_special_sizes():
    for shape, axes in [((3, 0), (0,)), ((1, 1, 1), None), ((1,), None), ((5, 1), (1,)), ((1, 5), (0, 1))]:
        a = np.ones(shape)
        close(weft.fftn(a, axes=axes), scipy.fft.fftn(a, axes=axes))
        close(weft.rfftn(a, axes=axes), scipy.fft.rfftn(a, axes=axes))
    one = np.ones((2, 3))
    assert np.array_equal(weft.fftn(one, axes=()), one) and np.array_equal(weft.dctn(one, axes=()), one)
    unaligned = np.zeros(8 * 5 + 1, np.uint8)[1:].view(float)
    unaligned[...] = range(5)
    close(weft.fft(unaligned), scipy.fft.fft(unaligned + 0))
    close(weft.rfft(unaligned), scipy.fft.rfft(unaligned + 0))
    many = np.random.default_rng(0).standard_normal((2,) * 12)
    close(weft.fftn(many, axes=(0, 11)), scipy.fft.fftn(many, axes=(0, 11)))
    with pytest.raises(weft.Error, match="12 axes"):
        weft.fftn(many)
    with pytest.raises(TypeError, match="longdouble|float128"):
        weft.fftn(np.ones(4, np.longdouble))


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("order", ["C", "F", "every second"])
def test_nothing_is_copied(order, workers):
    """Nothing is allocated but the result, of which NumPy knows nothing, because it has memory of Weft's."""
    a = np.ones((64, 64, 64), complex, order="F" if order == "F" else "C")
    if order == "every second":
        a = np.ones((64, 128, 128), complex)[:, ::2, ::2]
    weft.fftn(a, workers=workers)
    tracemalloc.start()
    result = weft.fftn(a, workers=workers)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(result.base, weft._core.ResultMemory)
    assert peak < 0.05 * result.nbytes


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [15, 16, 17, 31, 32, 200, 251, 4096, 4097])
def test_lengths_of_dcts(n, dtype):
    """Those that are made of an r2c, in blocks of lines and of what is left of them, and those beside."""
    for shape, axis in (((n,), 0), ((n, 19), 0), ((3, n), 1), ((2, n, 17), 1)):
        a = np.random.default_rng(n).standard_normal(shape).astype(dtype)
        for name in ("dct", "dst", "idct", "idst"):
            for kind, norm in ((2, None), (3, "ortho")):
                arguments = dict(type=kind, axis=axis, norm=norm)
                close(getattr(weft, name)(a, **arguments), getattr(scipy.fft, name)(a, **arguments))


def test_real_arrays():
    """The complex transform of a real array allocates its result only, and half of it is conjugates of the other."""
    a = np.random.default_rng(2).standard_normal((64, 128, 250))
    for axes in ((0,), (1,), (0, 2), (2, 1, 0)):
        expected = scipy.fft.fftn(a, axes=axes, norm="ortho")
        tracemalloc.start()
        result = weft.fftn(a, axes=axes, norm="ortho", workers=2)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        close(result, expected)
        assert peak < 0.1 * result.nbytes and result.flags.c_contiguous
    for n in (1, 2, 3, 4, 5):
        short = a[:3, :n, :n].astype(np.float32)
        close(weft.fftn(short, workers=1), scipy.fft.fftn(short))
        close(weft.fft(short[0, 0]), scipy.fft.fft(short[0, 0]))
    close(weft.fft2(a[:, ::-2], s=(20, 70)), scipy.fft.fft2(a[:, ::-2], s=(20, 70)))
    close(weft.ifftn(a, workers=2), scipy.fft.ifftn(a))
    assert weft.fft(np.zeros((0, 4)), axis=1).shape == (0, 4)


def test_threads_at_once():
    """Callers on several threads get their own results."""
    arrays = [random_array(np.random.default_rng(k), (40, 40, 40), complex) for k in range(4)]
    wrong = []

    def work(k):
        for workers in (1, 2, 2, 1):
            if not np.allclose(weft.fftn(arrays[k], workers=workers), expected[k]):
                wrong.append((k, workers))

    expected = [scipy.fft.fftn(a) for a in arrays]
    weft.clear_cache()
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_plans_are_kept_and_bounded():
    from weft import _whole

    weft.clear_cache()
    for n in range(_whole._MOST_PLANS + 8):
        weft.fft(np.ones((4, 2 + n)), axis=0)
    assert len(_whole._store.plans) == _whole._MOST_PLANS
    a = np.ones((32, 64, 64))
    weft.fftn(a, workers=2)
    (kept,) = [k for r, k in _whole._store.plans.items() if r.workers == 2 and len(r.shape) == 3]
    weft.fftn(a + 1, workers=2)
    assert kept is list(_whole._store.plans.values())[-1]
    weft.clear_cache()
    assert not _whole._store.plans


def test_threads_are_kept(monkeypatch):
    """Plans of one number of workers share a team, which is started once."""
    from weft import _core

    weft.clear_cache()
    started = []
    team = _core.ThreadTeam
    monkeypatch.setattr(_core, "ThreadTeam", lambda size: started.append(size) or team(size))
    for n in (40, 41, 42):
        weft.fftn(np.ones((n, 32, 32)), workers=2)
    assert started == [2]


def test_ranks_share_the_work():
    from weft import _whole

    for shape, transforms, cuts in [
        ((64, 64, 64), ("c2c",) * 3, (0, 1)),
        ((64, 64, 64), ("none", "c2c", "c2c"), (0, 0)),
        ((64, 64, 64), ("c2c", "none", "c2c"), (1, 1)),
        ((4096, 16), ("c2c", "r2c"), (0, 1)),
        ((8, 8), ("c2c", "c2c"), None),
        ((1 << 20,), ("c2c",), None),
    ]:
        strides = tuple(np.ones(shape, np.int8).strides)
        request = _whole.Request(
            shape, transforms, np.dtype(complex), np.dtype(complex), strides, strides, "backward", 2
        )
        assert request.cuts() == cuts


def test_scipys_default_of_workers():
    from weft._scipy_arguments import workers_of

    with scipy.fft.set_workers(3):
        assert workers_of(None) == 3
    assert workers_of(None) == 1
    assert workers_of(-1) >= 1


class TestBackend:
    @pytest.mark.parametrize("name", FOURIER + COSINE + ["fft", "irfft2", "dct"])
    def test_functions(self, name, monkeypatch):
        calls = []
        original = getattr(weft, name)
        monkeypatch.setattr(weft, name, lambda *a, **k: calls.append(name) or original(*a, **k))
        a = np.random.default_rng(1).standard_normal((6, 8))
        expected = getattr(scipy.fft, name)(a)
        with scipy.fft.set_backend(weft, only=True):
            close(getattr(scipy.fft, name)(a, workers=2), np.asarray(expected), 4)
        assert calls == [name]

    def test_what_weft_lacks_is_left_to_scipy(self):
        a = np.ones((4, 4), np.longdouble)
        with scipy.fft.set_backend(weft):
            assert scipy.fft.fftn(a).dtype == np.clongdouble
            assert scipy.fft.fht(np.ones(8), 0.1, 0.5).shape == (8,)


LARGE = {  # larger than caches: such arrays are transformed in passes
    "fft2": ((24, 256, 256), dict(axes=(1, 2)), complex),
    "fft": ((1500, 1024), dict(axis=0), complex),
    "rfft2": ((24, 256, 250), dict(axes=(1, 2)), float),
    "irfft2": ((24, 256, 129), dict(axes=(1, 2)), complex),
    "irfftn": ((160, 128, 81), dict(), complex),
    "ifftn": ((128, 120, 128), dict(), complex),
    "dctn": ((24, 256, 256), dict(axes=(0, 1)), float),
}


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("name", LARGE)
def test_large_arrays(name, workers):
    shape, arguments, kind = LARGE[name]
    random = np.random.default_rng(7)
    a = random.standard_normal(shape) + (1j * random.standard_normal(shape) if kind is complex else 0)
    kept = a.copy()
    expected = getattr(scipy.fft, name)(a, **arguments)
    ours = getattr(weft, name)(a, workers=workers, **arguments)
    assert np.linalg.norm(ours - expected) < 1e-13 * np.linalg.norm(expected)
    assert (a == kept).all()
    single = getattr(weft, name)(
        a.astype(np.complex64 if kind is complex else np.float32), workers=workers, **arguments
    )
    assert np.linalg.norm(single - expected) < 1e-5 * np.linalg.norm(expected)
