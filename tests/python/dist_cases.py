"""What distributed arrays have to do on any ranks: threads of this process, or MPI's. Every rank calls each case."""

import numpy as np
import pytest
import weft
from compare import close, random_array

SHAPE = (7, 5, 6)  # nothing divides
WHERE = ("slab0", "slab2", "pencil1", "brick")


def whole(dtype=float, shape=SHAPE, seed=1):
    """The same global array on every rank."""
    return random_array(np.random.default_rng(seed), shape, dtype)


def spread(comm, values, where="slab0"):
    a = weft.DistArray(values.shape, values.dtype, where, comm)
    a.local[...] = values[a.box.slices]
    return a


def is_spread(a, values):
    """Whether the array has these global values, in memory that its layout tells of."""
    assert isinstance(a, weft.DistArray)
    assert (a.shape, a.dtype) == (values.shape, values.dtype)
    assert a._layout.fits(a.local), (a.local.strides, a._layout.mine)
    return a.local.size == 0 or np.array_equal(a.local, values[a.box.slices])


def constructors(comm):
    for where in WHERE:
        a = weft.DistArray(SHAPE, np.float32, where, comm, fill=3)
        assert a.local.shape == a.box.shape and a.local.dtype == a.dtype == np.float32
        assert sum(box.size for box in a.boxes) == a.size == np.prod(SHAPE)
        assert a.boxes[a._layout.ranks.rank] == a.box
        assert (a.ndim, len(a)) == (3, 7)
        assert float(a.sum()) == 3 * a.size
    cut = [weft.Box((0, 0, 6 * r // comm.size), (7, 5, 6 * (r + 1) // comm.size)) for r in range(comm.size)]
    assert weft.DistArray(SHAPE, distribution=cut, comm=comm).box == cut[comm.rank]
    fortran = weft.DistArray(SHAPE, distribution=weft.Distribution.slab(0).with_order([2, 1, 0]), comm=comm)
    assert fortran.local.size == 0 or fortran.order == (2, 1, 0)
    line = weft.DistArray(9, int, comm=comm)
    assert sum(box.size for box in line.boxes) == 9


def own_memory(comm):
    box = weft.DistArray(SHAPE, comm=comm).box
    around = np.zeros((*box.shape[:2], 2 * box.shape[2]))
    a = weft.DistArray(SHAPE, distribution="slab0", comm=comm, local=around[:, :, ::2])
    a.fill(2)
    assert np.all(around[:, :, ::2] == 2) and not around[:, :, 1::2].any()
    assert np.shares_memory(a.local, around) or box.size == 0
    assert is_spread(a.redistribute("slab2"), np.full(SHAPE, 2.0))
    assert is_spread(a + 1, np.full(SHAPE, 3.0))
    wrong = (1, 2, 3) if comm.rank == 0 else box.shape
    with pytest.raises(weft.Error, match=r"local: shape \(1, 2, 3\)|local.*shape"):
        weft.DistArray(SHAPE, comm=comm, local=np.zeros(wrong))


def redistributions(comm):
    for dtype in (np.float32, np.complex64, np.float64, np.complex128, np.int64):
        values = whole(dtype)
        a = spread(comm, values)
        for where in (*WHERE, 0, -1):
            b = a.redistribute(where)
            assert is_spread(b, values)
            if isinstance(where, int):
                assert all(box.size == 0 or box.shape[where] == SHAPE[where] for box in b.boxes)
        assert a.redistribute(b, out=b) is b
        assert a.redistribute(b).boxes == b.boxes
    bits = np.random.default_rng(2).integers(0, 2**63, SHAPE)  # as floats there are NaNs among them
    bits[0] |= 0x7FF << 52
    assert is_spread(spread(comm, bits).redistribute("brick"), bits)
    flat = whole(shape=(5, 3))
    assert is_spread(spread(comm, flat).redistribute(0), flat)
    with pytest.raises(weft.Error, match="astype"):
        spread(comm, values > 0).redistribute("brick")
    with pytest.raises(weft.Error, match="axis 3"):
        a.redistribute(3)
    with pytest.raises(weft.Error, match="out of shape"):
        a.redistribute("brick", out=weft.DistArray((2, 2), comm=comm))


def plans_of_exchanges_are_kept(comm):
    a = spread(comm, whole())
    kept = a._layout.ranks.plans._values
    for _ in range(3):
        a = a.redistribute("pencil1").redistribute("slab0")
    before = len(kept)
    a.redistribute("pencil1").redistribute("slab0")
    assert len(kept) == before


def gather_and_scatter(comm):
    last = comm.size - 1
    for dtype, shape in ((float, SHAPE), (np.complex64, (9, 4)), (np.float32, (11,))):
        values = whole(dtype, shape)
        for root in {0, last}:
            mine = values if comm.rank == root else None
            a = weft.DistArray.scatter(mine, "slab0", comm, root=root)
            assert is_spread(a, values)
            back = a.gather(root)
            assert (back is None) == (comm.rank != root)
            assert back is None or np.array_equal(back, values)
    turned = whole().T if comm.rank == 0 else None
    assert is_spread(weft.DistArray.scatter(turned, "brick", comm), whole().T)
    backwards = whole()[::-1] if comm.rank == 0 else None
    assert is_spread(weft.DistArray.scatter(backwards, "slab0", comm), whole()[::-1])
    windows = np.lib.stride_tricks.sliding_window_view(np.arange(9.0), 4)  # read-only, elements in several places
    assert is_spread(weft.DistArray.scatter(windows if comm.rank == 0 else None, "slab0", comm), windows)
    with pytest.raises(weft.Error, match="root"):
        a.gather(comm.size)


def indices(comm):
    values = whole()
    a = spread(comm, values, "brick")
    lo, hi = a.box
    for place in np.ndindex(SHAPE):
        if all(low <= p < high for p, low, high in zip(place, lo, hi, strict=True)):
            assert a[place] == values[place]
        else:
            with pytest.raises(IndexError, match="held by rank"):
                a[place]
    assert np.array_equal(a[...], a.local)
    sums = a._layout.ranks.allgather(float(a[1:6, :, 2].sum()))
    assert np.isclose(sum(sums), values[1:6, :, 2].sum())
    for index in ((slice(1, 6), 2), (Ellipsis, slice(0, 3)), (-1,), (slice(2, 4), slice(None), slice(1, 5))):
        a[index] = values[index] + 1
        values[index] += 1
        assert is_spread(a, values)
        a[index] *= 2
        values[index] *= 2
        assert is_spread(a, values)
    a[2:4, 1] = 7
    values[2:4, 1] = 7
    assert is_spread(a, values)
    a[...] = a + 1
    assert is_spread(a, values + 1)
    for wrong in ((0, 0, 0, 0), (7,), (slice(None, None, 2),), ([1, 2],), (Ellipsis, Ellipsis)):
        with pytest.raises(IndexError):
            a[wrong]


def arithmetic(comm):
    u, v = whole(), whole(seed=2)
    a, b = spread(comm, u, "brick"), spread(comm, v, "brick")
    assert is_spread(a + b, u + v)
    assert is_spread(2 * a - b / 3, 2 * u - v / 3)
    assert is_spread(-a, -u)
    assert is_spread(np.exp(1j * a), np.exp(1j * u))
    assert is_spread(a > b, u > v)
    assert is_spread(np.where(a > b, a, 0), np.where(u > v, u, 0))
    assert is_spread(np.clip(a, -1, 1), np.clip(u, -1, 1))
    kept = a.local
    a += b
    assert a.local is kept and is_spread(a, u + v)
    result = np.multiply(a, b, out=b)
    assert result is b and is_spread(b, (u + v) * v)
    np.add(a, 1, out=a, where=a > 0)
    assert is_spread(a, np.where(u + v > 0, u + v + 1, u + v))
    np.subtract(a, 1, out=a, where=a > 1)
    assert np.allclose(a.local, (u + v)[a.box.slices])
    a.local[...] = (u + v)[a.box.slices]
    low, high = np.modf(a)
    assert is_spread(low, np.modf(u + v)[0]) and is_spread(high, np.modf(u + v)[1])
    single = a.astype(np.float32)
    assert (single * 2).dtype == np.float32
    mine = np.arange(a.box.lo[1], a.box.hi[1]).reshape(1, -1, 1)
    assert is_spread(a * mine, (u + v) * np.arange(5).reshape(1, -1, 1))
    vector = weft.DistArray((3, *SHAPE), distribution=weft.Distribution.grid([1, comm.size, 1, 1]), comm=comm, fill=2)
    assert is_spread(vector * spread(comm, u), 2 * np.stack([u] * 3))
    assert is_spread(spread(comm, u) * vector, 2 * np.stack([u] * 3))
    rows = [[float(k)] for k in range(a.box.shape[1])]  # a list stands for this rank's part too
    assert np.array_equal((spread(comm, u, "brick") * 0 + rows).local, np.broadcast_to(rows, a.box.shape))


def memory_orders(comm):
    """Results have the memory order of the first array, and nothing is copied for that."""
    fortran = weft.Distribution.slab(1).with_order([2, 0, 1])
    u = whole(complex)
    a, b = spread(comm, u, fortran), spread(comm, u, "slab1")
    for result in (a + b, np.abs(a), a * 2, np.where(b.real > 0, a, 0), a.copy(), np.zeros_like(a)):
        assert result._layout.fits(result.local)
    assert (a + b).order == a.order and (b + a).order == b.order
    assert is_spread(a + b, 2 * u)
    a.real[...] = 0
    assert is_spread(a, 1j * u.imag)
    assert is_spread(b.imag, u.imag) and is_spread(b.conj(), u.conj())
    assert is_spread(b.real.imag, np.zeros(SHAPE))
    assert np.shares_memory(b.imag.local, b.local) or b.local.size == 0
    assert is_spread(b.real.redistribute("pencil0"), u.real)


def reductions(comm):
    for dtype in (np.float32, float, np.complex64, complex, int):
        u = whole(dtype)
        a = spread(comm, u, "brick")
        factor = dict(rtol=1e-5) if np.dtype(dtype).char in "fF" else {}
        assert np.isclose(a.sum(), u.sum(), atol=1e-4) and a.sum().dtype == u.sum().dtype
        assert np.isclose(np.sum(a), u.sum(), atol=1e-4) and np.isclose(a.mean(), u.mean(), atol=1e-6)
        assert np.isclose(a.norm(), np.linalg.norm(u.ravel()), **factor)
        assert np.isclose(a.norm(1), np.abs(u).sum(), **factor)
        assert np.isclose(a.norm(np.inf), np.abs(u).max(), **factor)
        assert np.isclose(np.vdot(a, a), np.vdot(u, u), **factor)
        assert np.isclose(np.std(a), np.std(u), **factor)
    u = whole()
    a = spread(comm, u)
    assert (a.min(), np.max(a)) == (u.min(), u.max())
    assert (a > 0).any() and not (a > 0).all() and np.all(a == a)
    assert len(set(a._layout.ranks.allgather(float(a.sum())))) == 1, "ranks differ"
    lines = a.sum(axis=2)
    assert lines.shape == SHAPE[:2]
    close(lines.local, u.sum(axis=2)[lines.box.slices])
    assert is_spread(np.max(a, axis=(1, 2)), u.max(axis=(1, 2)))
    assert is_spread(np.add.reduce(np.ones_like(a), axis=1), np.full((7, 6), 5.0))
    if comm.size > 1:
        with pytest.raises(weft.Error, match="cut"):
            a.sum(axis=0)
    assert np.allclose(a, a + 1e-12) and np.array_equal(a, a.copy()) and not np.allclose(a, a + 1)
    with pytest.raises(np.exceptions.AxisError):
        a.sum(axis=3)
    with pytest.raises(weft.Error, match="ord 'nuc'"):
        a.norm("nuc")
    with pytest.raises(weft.Error, match="the same"):
        a.vdot(whole())


def with_plans(comm):
    for real, dtype in ((True, np.float32), (True, float), (False, complex)):
        plan = weft.Plan(comm, SHAPE, "r2c" if real else "c2c", dtype, output="pencil1")
        u = whole(dtype)
        a = spread(comm, u)
        modes = plan.forward(a)
        expected = (np.fft.rfftn if real else np.fft.fftn)(u).astype(plan.output_dtype)
        assert modes.shape == expected.shape
        close(modes.local, expected[modes.box.slices], 4)
        modes *= np.exp(-(plan.wavenumbers(0) ** 2)).astype(u.real.dtype)
        out = weft.DistArray.input_of(plan)
        assert plan.backward(modes, out=out) is out
        filtered = plan.backward(plan.forward(a.local) * np.exp(-(plan.wavenumbers(0) ** 2)).astype(u.real.dtype))
        close(out.local, filtered, 4)
    whole_norm = np.linalg.norm(u.ravel())
    assert np.isclose(plan.forward(a).norm(), whole_norm * np.sqrt(u.size))
    plan.start_forward(a)
    assert isinstance(plan.wait(), weft.DistArray)
    fastest = weft.Plan(comm, SHAPE)  # boxes and memory order of its choice
    modes = fastest.forward(a)
    close((modes * 1).redistribute("slab0").local, np.fft.fftn(u)[a.box.slices], 4)
    batch = weft.Plan(comm, SHAPE, batch=2)
    both = weft.DistArray.input_of(batch, fill=1)
    assert weft.DistArray.output_of(batch, fill=2).sum() == 4 * np.prod(SHAPE)
    assert both.shape == (2, *SHAPE) and batch.forward(both).shape == (2, *SHAPE)
    with pytest.raises(weft.Error, match="of other boxes"):
        plan.forward(weft.DistArray((7, 5, 4), complex, comm=comm))
    if comm.size > 1:
        with pytest.raises(weft.Error, match="redistribute"):
            plan.forward(a.redistribute("slab1"))
    halo = weft.Plan(comm, SHAPE, input=weft.Distribution.slab(0).with_halo([1, 0, 0], [1, 0, 0]))
    with pytest.raises(weft.Error, match="halo"):
        weft.DistArray.input_of(halo)


def misuse(comm):
    a, b = spread(comm, whole()), spread(comm, whole(), "slab2")
    if comm.size > 1:
        with pytest.raises(weft.Error, match="redistribute"):
            a + b
        with pytest.raises(weft.Error, match="other boxes"):
            a[...] = b
        with pytest.raises(weft.Error, match=r"shape .* on rank|while rank 0"):
            weft.DistArray((4, 4 + (comm.rank == 1)), comm=comm)
        for wrong, words in (("slab9", "slab\\(9\\)"), ("slabs", '"slabs"')):
            with pytest.raises(weft.Error, match=words):
                weft.DistArray((4, 4), distribution=wrong if comm.rank == 1 else "slab0", comm=comm)
    with pytest.raises(weft.Error, match="whole\\[a.box.slices\\]"):
        a + np.ones((20, 20, 20))
    for function, words in ((np.sort, "np.*sort|local"), (np.cumsum, "cumsum"), (np.add.accumulate, "accumulate")):
        with pytest.raises(TypeError, match=words):
            function(a)
    with pytest.raises(ValueError, match="different communicators" if comm.size > 1 else "broadcast"):
        a + weft.DistArray((3, 5, 6), fill=1)
    with pytest.raises(weft.Error, match="for a part"):
        a[2:4] = a
    for values in (np.ones((2, 7, 5, 6)), np.ones((7, 5, 4))):
        with pytest.raises(ValueError, match="values of"):
            a[...] = values
    with pytest.raises(weft.Error, match="one axis"):
        weft.DistArray(9, distribution="brick", comm=comm)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(a == a)
    with pytest.raises(TypeError, match="pickle"):
        a.__reduce__()
    with pytest.raises(weft.Error, match="fastest"):
        weft.DistArray((4, 4), distribution="fastest", comm=comm)
    with pytest.raises(weft.Error, match="halo"):
        weft.DistArray((4, 4), distribution=weft.Distribution.slab(0).with_halo([1, 0], [0, 0]), comm=comm)


def faults_of_one_rank(comm):
    """What is wrong on the last rank alone is an error on all, and they go on together."""
    last = comm.size - 1
    here = comm.rank == last
    a = spread(comm, whole())

    def new(**wrong):
        given = dict(shape=SHAPE, dtype=float, distribution="slab0") | (wrong if here else {})
        return lambda: weft.DistArray(comm=comm, **given)

    def scatter(wrong, right=None):
        return lambda: weft.DistArray.scatter(wrong if here else right, "slab0", comm, root=last)

    box = weft.DistArray(SHAPE, comm=comm).box.shape
    calls = {
        '"slabs"': new(distribution="slabs"),
        "they cover|one box of each rank": new(distribution=weft.Box((0, 0, 0), (1, 1, 1))),
        "no_such": new(dtype="no_such"),
        "objects of Python": new(dtype=object),
        "'five'|integer": new(shape=(7, "five", 6)),
        "'one'": new(fill="one"),
        "sequence": new(fill=[1, 2]),
        "list": new(local=[1, 2]),
        "no two elements in one place": new(local=np.lib.stride_tricks.as_strided(np.zeros(99), box, (8, 8, 8))),
        "not aligned": new(local=np.frombuffer(bytearray(8 * np.prod(box) + 1), offset=1).reshape(box)),
        "inhomogeneous": scatter([[1, 2], [3]]),
        "object": scatter(np.array([[None, 1]])),
        "int8": scatter(np.ones((3, 3), np.int8)),
        "a rank from 0": lambda: weft.DistArray.scatter(whole(), "slab0", comm, root=comm.size if here else 0),
        "axis 5": lambda: a.redistribute(5 if here else 0),
        "None": lambda: a.redistribute(None if here else 0),
        "out of type int": lambda: a.redistribute(0, out=3 if here else a),
        "out of shape": lambda: a.redistribute(0, out=weft.DistArray((2, 2), fill=0) if here else a),
        "interpreted as an integer": lambda: a.gather("one" if here else 0),
        "PathLike": lambda: a.write(None if here else "nowhere.h5"),
        "mode 'x'": lambda: a.write("nowhere.h5", mode="x" if here else "w"),
    }
    if comm.size > 1:
        calls["dataset and mode"] = lambda: a.write("nowhere.h5", "b" if here else "a")
        calls["ranks \\[0, "] = lambda: a.gather(last if here else 0)
        calls["different arrays"] = lambda: a.redistribute(a if here else "slab1")
    for words, call in calls.items():
        with pytest.raises((weft.Error, TypeError, ValueError), match=words) as caught:
            call()
        found = caught.value
        if isinstance(found, weft.Error) and comm.size > 1 and words != "ranks \\[0, ":
            assert found.rank in (last, -1), found
        assert a.sum() == a.copy().sum(), "ranks are in step"


class Unsendable(Exception):
    """An exception that cannot be pickled."""

    def __reduce__(self):
        raise TypeError("not to be sent")


def failures_that_cannot_be_sent(comm):
    ranks = weft.DistArray((4, 4), comm=comm)._layout.ranks

    def fail():
        if comm.rank == comm.size - 1:
            raise Unsendable("lost")
        return comm.rank

    with pytest.raises((weft.Error, Unsendable), match="lost"):
        ranks.agreed(fail)
    assert ranks.agreed(lambda: comm.rank) == list(range(comm.size))


CASES = [
    constructors,
    own_memory,
    redistributions,
    plans_of_exchanges_are_kept,
    gather_and_scatter,
    indices,
    arithmetic,
    memory_orders,
    reductions,
    with_plans,
    misuse,
    faults_of_one_rank,
    failures_that_cannot_be_sent,
]
