"""weft.mpi4py_fft against SciPy, and against mpi4py-fft itself where that is installed, on the ranks of MPI."""

import functools
import importlib.util
import pathlib
import sys

import numpy as np
import pytest
import scipy.fft
import scipy.signal
import weft
from mpi4py import MPI
from weft.mpi4py_fft import PFFT, DistArray, HDF5File, fftw, newDistArray
from weft.mpi4py_fft.pencil import Pencil, Subcomm

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from compare import close, random_array  # noqa: E402

WORLD = MPI.COMM_WORLD
SHAPE = (9, 7, 8)
THEIRS = importlib.util.find_spec("mpi4py_fft") is not None
dct3, idct3 = functools.partial(fftw.dctn, type=3), functools.partial(fftw.idctn, type=3)
dst1, idst1 = functools.partial(scipy.fft.dstn, type=1), functools.partial(scipy.fft.idstn, type=1)


def whole(dtype, shape=SHAPE):
    return random_array(np.random.default_rng(5), shape, dtype)


def check(fft, expected, dtype, shape=SHAPE):
    """Forward against what is expected of the whole, then back."""
    values = whole(dtype, shape)
    u = newDistArray(fft, False)
    u[:] = values[fft.local_slice(False)]
    u_hat = newDistArray(fft)
    assert fft.forward(u, u_hat) is u_hat
    reference = expected(values)
    reference = reference.astype(fft.dtype(True))
    assert fft.global_shape(True) == reference.shape and fft.global_shape() == shape == fft.global_shape(False)
    assert u_hat.shape == fft.shape() == fft.shape(True) and u.shape == fft.shape(False)
    close(u_hat.v, reference[fft.local_slice()], 8)
    back = fft.backward(u_hat, np.zeros_like(u))
    close(back.v, u.v, 16)
    fft.destroy()


@pytest.mark.parametrize("dtype", "fdFD")
def test_all_axes(dtype):
    reference = functools.partial(np.fft.rfftn if dtype in "fd" else np.fft.fftn, norm="forward")
    check(PFFT(WORLD, SHAPE, dtype=dtype), reference, dtype)
    check(PFFT(WORLD, (13, 6), dtype=dtype, collapse=True), reference, dtype, (13, 6))
    check(PFFT(WORLD, SHAPE, dtype=dtype, grid=(-1,), backend="numpy", threads=1), reference, dtype)
    check(PFFT(WORLD, (5, 4, 6, 3), dtype=dtype), reference, dtype, (5, 4, 6, 3))


@pytest.mark.parametrize("dtype", "dD")
@pytest.mark.parametrize("padding", [1.5, (1.5, 1, 2), (1, 1.5, 1.5)])
def test_padding(dtype, padding):
    """Odd lengths, and of the halved axis an odd number of modes, where theirs and ours are the same."""
    shape = (9, 7, 17)
    fft = PFFT(WORLD, shape, dtype=dtype, padding=padding)
    factors = np.broadcast_to(padding, 3)
    assert fft.global_shape(False) == tuple(int(n * f) for n, f in zip(shape, factors, strict=True))
    spectrum = np.fft.rfftn(whole("d", shape)) if dtype == "d" else np.fft.fftn(whole("D", shape))
    assert fft.global_shape(True) == spectrum.shape
    u_hat = newDistArray(fft)
    u_hat[:] = spectrum[fft.local_slice()]
    u = fft.backward(u_hat, newDistArray(fft, False))
    fine = scipy.fft.ifftn(np.fft.fftn(whole(dtype, shape)))
    for axis, n in enumerate(fft.global_shape(False)):
        fine = scipy.signal.resample(fine, n, axis=axis)
    fine = fine.real if dtype == "d" else fine
    close(u.v, (fine * np.prod(shape))[fft.local_slice(False)], 16)
    close(fft.forward(u, newDistArray(fft)).v, spectrum[fft.local_slice()], 16)
    if THEIRS:
        from mpi4py_fft import PFFT as Theirs

        theirs = Theirs(WORLD, shape, dtype=dtype, padding=factors.tolist())
        assert theirs.global_shape(False) == fft.global_shape(False) and theirs.shape(True) == fft.shape(True)
        close(theirs.backward(u_hat.v.copy()), u.v, 16)
    fft.destroy()


@pytest.mark.parametrize(
    "axes", [(-1,), 0, (0, 1, 2), (1, 2, 0), ((0,), (1, 2)), ((2, 1), (0,)), ((0, 1), (2,)), ((-2, -1),), (0, 2)]
)
def test_axes(axes):
    """Which axis is halved is told by the last group."""
    last = axes if isinstance(axes, int) else axes[-1] if isinstance(axes[-1], int) else axes[-1][-1]
    flat = [axes] if isinstance(axes, int) else [a for g in axes for a in np.atleast_1d(g)]
    others = [a for a in flat if a != last]

    def reference(a):
        return np.fft.fftn(np.fft.rfft(a, axis=last, norm="forward"), axes=others, norm="forward")

    check(PFFT(WORLD, SHAPE, axes=axes), reference, "d")
    check(PFFT(WORLD, SHAPE, axes=axes, dtype=complex), lambda a: np.fft.fftn(a, axes=flat, norm="forward"), "D")


def test_mixed_transforms():
    def reference(a):
        a = scipy.fft.dctn(a, 3, axes=(1, 2)) / (4 * 7 * 8)
        return np.fft.rfft(a, axis=0, norm="forward")

    for dtype in "fd":
        fft = PFFT(WORLD, SHAPE, ((0,), (1, 2)), dtype, transforms={(1, 2): (dct3, idct3)})
        assert fft.dtype(True).char == dtype.upper()
        check(fft, reference, dtype)
    joined = PFFT(WORLD, SHAPE, ((0,), (1, 2)), collapse=True, transforms={(1, 2): (dct3, idct3)})
    check(joined, reference, "d")
    check(PFFT(WORLD, SHAPE, collapse=True, transforms={(1, 2): (dct3, idct3)}), reference, "d")

    def real(a):
        return scipy.fft.dst(scipy.fft.dctn(a, 3, axes=(1, 2)), 1, axis=0) / (4 * 7 * 8 * 2 * 10)

    fft = PFFT(WORLD, SHAPE, ((0,), (1, 2)), transforms={(1, 2): (dct3, idct3), (0,): (dst1, idst1)})
    assert fft.dtype(True).char == "d"
    check(fft, real, "d")
    both = PFFT(WORLD, SHAPE, ((0,), (1,), (2,)), complex, transforms={(1,): (fftw.dctn, fftw.idctn)})
    check(both, lambda a: scipy.fft.dct(np.fft.fftn(a, axes=(0, 2)), axis=1) / (9 * 14 * 8), "D")
    lines = PFFT(WORLD, SHAPE, ((1,), (2,)), transforms={(2,): (fftw.dctn, fftw.idctn)})
    check(lines, lambda a: np.fft.rfft(scipy.fft.dct(a, axis=2) / 16, axis=1, norm="forward"), "d")


def test_distributions():
    reference = functools.partial(np.fft.rfftn, norm="forward")
    for slab in (True, 0, -2):
        fft = PFFT(WORLD, SHAPE, slab=slab)
        assert [c.size for c in fft.subcomm] == [
            WORLD.size if a == (0 if slab is True else slab % 3) else 1 for a in range(3)
        ]
        check(fft, reference, "d")
    grid = Subcomm(WORLD, [0, 0, 1])
    for comm in (grid, tuple(grid), list(grid)):
        check(PFFT(comm, SHAPE), reference, "d")
    check(PFFT(Subcomm(WORLD.Create_cart([1, WORLD.size, 1])), SHAPE), reference, "d")
    half = WORLD.Split(WORLD.rank % 2)
    check(PFFT(half, SHAPE), reference, "d")
    u = newDistArray(PFFT(WORLD, SHAPE), forward_output=False)
    fft = PFFT(WORLD, darray=u)
    assert fft.local_slice(False) == u.local_slice()
    check(fft, reference, "d")
    few = PFFT(WORLD, (3, 2, 4))  # ranks without points
    check(few, reference, "d", (3, 2, 4))


def test_normalization():
    for dtype in (float, complex):
        fft = PFFT(WORLD, SHAPE, dtype=dtype)
        u = whole(dtype)[fft.local_slice(False)].copy()
        n = np.prod(SHAPE)
        plain = fft.forward(u).copy()
        assert np.allclose(fft.forward(u, normalize=False), plain * n)
        assert np.allclose(fft.forward(u, normalize=True), plain)
        assert np.allclose(fft.backward(plain), u)
        assert np.allclose(fft.backward(plain, normalize=True), u / n)
        with pytest.raises(weft.Error, match="argument norm"):
            fft.forward(u, norm=None)


def test_arrays_of_the_transform():
    fft = PFFT(WORLD, SHAPE)
    assert fft.forward.input_array is fft.backward.output_array
    assert fft.forward.output_array is fft.backward.input_array
    assert fft.forward.input_array.shape == fft.forward.input_pencil.subshape == fft.backward.output_pencil.subshape
    values = whole(float)[fft.local_slice(False)]
    fft.forward.input_array[...] = values
    assert fft.forward() is fft.forward.output_array
    fft.forward.input_array[...] = 0
    fft.backward()
    assert np.allclose(fft.backward.output_array, values)
    f = fft.forward(values)  # not in C order, if it is not whole: copied
    assert f is fft.forward.output_array
    assert np.allclose(fft.backward(f), values)
    assert np.allclose(fft.forward(values.astype(np.float32)), fft.forward(values), atol=1e-6)
    wide = np.zeros((*fft.shape(), 2), complex)
    assert np.shares_memory(fft.forward(values, wide[..., 1]), wide) or not values.size
    assert np.allclose(wide[..., 1], f) and not wide[..., 0].any()
    same = PFFT(WORLD, (6, 6), axes=(1,), dtype=complex)
    x = whole(complex, (6, 6))[same.local_slice(False)].copy()
    expected = same.forward(x).copy()
    assert np.allclose(same.forward(x, x), expected) and np.allclose(x, expected)
    u, v = same.forward.input_array, same.forward.output_array
    u[...] = same.backward(expected)
    assert np.allclose(same.forward(u, u), expected)
    v[...] = same.backward(expected)
    assert np.allclose(same.forward(v, v), expected)


def test_no_copies():
    """Arrays that fit are read and written where they lie: none of the transform's own is made."""
    fft = PFFT(WORLD, SHAPE)
    u, u_hat = newDistArray(fft, False, rank=1), newDistArray(fft, rank=1)
    for k in range(3):
        fft.forward(u[k], u_hat[k])
        fft.backward(u_hat[k], u[k])
    assert not fft.forward._arrays._made


def test_dist_arrays():
    for rank in (0, 1, 2):
        lead = (2,) * rank
        for subcomm in ((0, 0, 1), (0, 1, 0), (1, 1, 0), None, Subcomm(WORLD, (0, 0, 1))):
            a = DistArray((*lead, *SHAPE), subcomm, val=1, rank=rank)
            assert a.rank == rank and a.global_shape == (*lead, *SHAPE) and a.dimensions == 3
            assert np.prod(a.commsizes) == WORLD.size and a.substart[:rank] == (0,) * rank
            assert WORLD.allreduce(a.v.sum()) == 2**rank * np.prod(SHAPE)
            if rank:
                assert isinstance(a[0], DistArray) and a[0].rank == rank - 1
                assert a[:1].rank == rank
            if rank == 2:
                assert a[0, 1].rank == 0 and a[0, 1].global_shape == SHAPE
            assert type(a[(0,) * rank + (slice(0, 1),)]) is np.ndarray
            everywhere = whole(float, a.global_shape)
            a[...] = everywhere[a.local_slice()]
            for axis in range(3):
                b = a.redistribute(axis)
                assert b.alignment == axis and np.array_equal(b, everywhere[b.local_slice()])
                c = b.redistribute(out=np.zeros_like(a)) if b is not a else a
                assert np.array_equal(c, a)
            for index in (
                (0,) * rank + (0, slice(None), 3),
                (-1,) * rank + (slice(None),) * 3,
                (1,) * rank + (8, 6, 7),
            ):
                part = a.get(index)
                assert (part is None) == (WORLD.rank > 0) or rank == 0 and a.pencil.subcomm
                assert part is None or np.array_equal(part, everywhere[index])
    line = DistArray((5,), val=2)
    assert line.shape == (5,) and line[0] == 2
    assert (a + 1).pencil is a.pencil
    fft = PFFT(WORLD, SHAPE)
    view = newDistArray(fft, rank=1, view=True)
    assert type(view) is np.ndarray and view.base.rank == 1 and view.shape == (3, *fft.shape())
    pencil, transfer = a.get_pencil_and_transfer((a.alignment + 1) % 3)
    out = np.empty(pencil.subshape)
    transfer.forward(a[0, 0], out)
    assert np.array_equal(out, everywhere[0, 0][pencil.box.slices])
    back = np.empty(a.pencil.subshape)
    transfer.backward(out, back)
    assert np.array_equal(back, a[0, 0])
    with pytest.raises(weft.Error, match="C order"):
        transfer.forward(a[0, 0], out.T)
    transfer.destroy()


@pytest.mark.parametrize("dtype", ["i4", "u8", "f4", "F", ">f8", "M8[s]", "V16"])
def test_redistribution_of_other_types(dtype):
    """All bits arrive as they are, also those that are signalling NaNs as floats. As mpi4py-fft does it."""
    bits = np.random.default_rng(3).integers(0, 2**32, (2, *SHAPE, 4), np.uint32)
    bits[:, ::2] |= 0x7F800001
    bits[:, ::3] |= 0x7FF00000
    values = bits.view(np.uint8)[..., : np.dtype(dtype).itemsize].copy().view(dtype)[..., 0]
    kinds = [DistArray]
    if THEIRS and dtype in ("i4", "u8"):
        kinds.append(importlib.import_module("mpi4py_fft").DistArray)
    for kind in kinds:
        a = kind(values.shape, dtype=dtype, rank=1)
        a[...] = values[a.local_slice()]
        for axis in (0, 1, 2):
            b = a.redistribute(axis)
            assert b.tobytes() == values[b.local_slice()].tobytes()
    with pytest.raises(weft.Error, match="1 bytes; expected 4, 8 or 16"):
        Pencil([WORLD, MPI.COMM_SELF], SHAPE[:2], 1).transfer(Pencil([MPI.COMM_SELF, WORLD], SHAPE[:2], 0), "i1")
    transfer = Pencil([WORLD, MPI.COMM_SELF], (4, 6), 1).transfer(Pencil([MPI.COMM_SELF, WORLD], (4, 6), 0), "i8")
    with pytest.raises(weft.Error, match="an array of float64; expected one of int64"):
        transfer.forward(np.zeros((4, 6)), np.zeros((4, 6)))
    source, target = Pencil([WORLD, MPI.COMM_SELF], (4, 6), 1), Pencil([MPI.COMM_SELF, WORLD], (4, 6), 0)
    out = np.zeros(target.subshape, int)
    transfer.forward(np.ones(source.subshape, int), out)
    assert np.all(out == 1)
    transfer.destroy()


def test_files(tmp_path):
    h5py = pytest.importorskip("h5py")
    name = str(WORLD.bcast(tmp_path) / "fields.h5")
    fft = PFFT(WORLD, SHAPE)
    u, w = newDistArray(fft, False), newDistArray(fft, False, rank=1)
    u[...], w[...] = whole(float)[u.local_slice()], whole(float, w.global_shape)[w.local_slice()]
    file = HDF5File(name, domain=((0, 1.0),) * 3, mode="w")
    assert file.backend() == "hdf5"
    for step in (0, 1):
        file.write(step, {"u": [u, (u, [slice(None), 4, slice(None)])], "w": [w]})
    file.write(1, {"u": [u]})  # over what is there
    w.write(name, "c", as_scalar=True)
    u.write(name, "u", 7, global_slice=(2, 3, slice(None)))
    with h5py.File(name, "r") as f:
        assert np.array_equal(f["u/3D/1"], whole(float))
        assert np.array_equal(f["u/2D/slice_4_slice/0"], whole(float)[:, 4])
        assert np.array_equal(f["u/1D/2_3_slice/7"], whole(float)[2, 3])
        assert np.array_equal(f["c2/3D/0"], whole(float, w.global_shape)[2])
        assert f["w"].attrs["rank"] == 1 and f["u/domain/x1"][1] == 1
    again, v = np.zeros_like(u), np.zeros_like(w)
    again.read(name, "u", 1)
    file.read(v, "w")
    assert np.array_equal(again, u) and np.array_equal(v, w)
    with pytest.raises(weft.Error, match="u/3D/5"):
        again.read(name, "u", 5)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (dict(padding=[1.5] * 2), "one per axis"),
        (dict(padding=0.5), "at least 1"),
        (dict(backend="cufft"), "backend"),
        (dict(axes=(0, 3)), "axes of 3"),
        (dict(axes=(0, 0)), "none twice"),
        (dict(dtype="g"), "dtype"),
        (dict(grid=(1, 1, 1, 1)), "grid"),
        (dict(grid=(-1,), slab=True), "slab"),
        (dict(grid=(WORLD.size + 1,)), "product"),
        (dict(comm="world"), "communicator"),
        (dict(comm=(MPI.COMM_SELF,)), "communicators"),
        (dict(shape=None), "shape"),
        (dict(transforms={(1, 2): (fftw.dctn, fftw.idstn)}, axes=((0,), (1, 2))), "inverse"),
        (dict(transforms={(1, 2): (dct3, fftw.idctn)}, axes=((0,), (1, 2))), "same type"),
        (dict(transforms={(1, 2): (fftw.dctn, fftw.idctn)}), "one of the groups"),
        (dict(transforms={(2,): (fftw.fftn, fftw.ifftn)}), "complex data"),
        (dict(transforms={(2,): (print, print)}), "print"),
        (dict(transforms={(2,): fftw.dctn}), "pair"),
        (dict(quick=1), "quick"),
    ],
)
def test_wrong_arguments(arguments, words):
    with pytest.raises(weft.Error, match=words):
        PFFT(**({"comm": WORLD, "shape": SHAPE} | arguments))


def test_more_wrong_arguments():
    with pytest.raises(weft.Error, match="weft.dctn"):
        fftw.dctn(np.ones(3))
    with pytest.raises(ImportError, match="HDF5File"):
        from weft.mpi4py_fft import NCFile  # noqa: F401
    with pytest.raises(weft.Error, match="Cartesian"):
        Subcomm(WORLD.Create_cart([WORLD.size]), [0])
    with pytest.raises(weft.Error, match="an axis of 2"):
        Pencil([MPI.COMM_SELF] * 2, (4, 4), 2)
    with pytest.raises(weft.Error, match="pencil\\(axis\\)"):
        Pencil([MPI.COMM_SELF] * 2, (4, 4), 1).transfer(Pencil([MPI.COMM_SELF] * 2, (4, 5), 0), float)
    with pytest.raises(weft.Error, match="\\.h5"):
        DistArray((4, 4), val=0).write("u.nc")
    a = DistArray((4, 4), val=0)
    for wrong in (dict(), dict(axis=0, out=a), dict(out=DistArray((4, 5)))):
        with pytest.raises(weft.Error):
            a.redistribute(**wrong)
    assert fftw.aligned((3, 5), dtype="F").ctypes.data % 64 == 0
    assert fftw.aligned_like(np.ones((2, 2)), 3).sum() == 12


def test_misuse_of_arrays():
    with pytest.raises(weft.Error, match="an array of one axis"):
        DistArray((5,), val=1).redistribute(0)
    a = DistArray((4, 6), val=0)
    for index in ((0,), (0, slice(1, 2)), (0, 0, 0)):
        with pytest.raises(weft.Error, match="an integer or slice\\(None\\) for each of 2 axes"):
            a.get(index)
    with pytest.raises(weft.Error, match="one number for each of 2 axes"):
        DistArray((4, 6), (0,))
    if WORLD.size > 1:
        with pytest.raises(weft.Error, match="all of 2 axes cut"):
            DistArray((4, 6), (WORLD, WORLD))
    other = DistArray((4, 6), (1, 0), val=0, alignment=0)
    with pytest.raises(weft.Error, match="axis 1 and an out whole along 0"):
        a.redistribute(1, out=other)
    a[...] = whole(float, (4, 6))[a.local_slice()]
    fortran = DistArray((4, 6), (1, 0), buffer=np.zeros(other.size), strides=(8, 32), alignment=0)
    assert np.array_equal(a.redistribute(out=fortran), whole(float, (4, 6))[other.local_slice()])
    with pytest.raises(weft.Error, match="at most one number per axis"):
        PFFT(WORLD, (4, 6), grid=(1, 1, 1))
    with pytest.raises(weft.Error, match="with a grid or slab"):
        PFFT((MPI.COMM_SELF, MPI.COMM_SELF), (4, 6), slab=True)
    assert Pencil([MPI.COMM_SELF], (4, 6), 1).box.shape == Pencil([MPI.COMM_SELF] * 2, (4, 6), 0).box.shape == (4, 6)
    with pytest.raises(weft.Error, match="one for each of 2 axes, of one rank along axis 0"):
        Pencil([MPI.COMM_SELF] * 3, (4, 6), 0)
    grid = Subcomm(WORLD, [0, 1])
    grid.destroy()
    assert all(comm == MPI.COMM_NULL for comm in grid)


def test_misuse_of_files(tmp_path):
    pytest.importorskip("h5py")
    name = str(WORLD.bcast(tmp_path) / "wrong.h5")
    a, b = DistArray((4, 6), val=1), DistArray((4, 5), val=1)
    file = HDF5File(name, mode="w")
    file.write(0, {"a": [a]})
    with pytest.raises(weft.Error, match='field "a" with shape'):
        file.write(1, {"a": [b]})
    with pytest.raises(weft.Error, match="of shape \\(4, 6\\); expected \\(4, 5\\)"):
        file.read(b, "a")
    with pytest.raises(weft.Error, match="the slice"):
        file.write(1, {"a": [(a, (slice(0, 2), 1))]})
    b.write(HDF5File(name), "b")
    b[...] = 0
    b.read(HDF5File(name), "b")
    assert np.all(b == 1)


@pytest.mark.parametrize("dtype", "fdFD")
def test_as_mpi4py_fft_has_it(dtype):
    """Parts and numbers of mpi4py-fft itself."""
    theirs = pytest.importorskip("mpi4py_fft")
    dct = {
        k: tuple(functools.partial(getattr(theirs.fftw, f), type=3) for f in ("dctn", "idctn")) for k in [(2,), (1, 2)]
    }
    cases = [
        dict(),
        dict(axes=(2, 0, 1)),
        dict(axes=((0,), (1, 2))),
        dict(grid=(-1,)),
        dict(collapse=True),
        dict(slab=1),
    ]
    cases += [dict(axes=(1,)), dict(axes=(0, 2))]
    cases += [dict(transforms=dct, axes=((0,), (1, 2)))] if dtype in "fd" else []
    for arguments in cases:
        ours, other = PFFT(WORLD, SHAPE, dtype=dtype, **arguments), theirs.PFFT(WORLD, SHAPE, dtype=dtype, **arguments)
        assert ours.axes == other.axes
        for output in (False, True):
            assert ours.local_slice(output) == other.local_slice(output)
            assert ours.shape(output) == other.shape(output) and ours.dtype(output) == other.dtype(output)
            assert ours.global_shape(output) == other.global_shape(output)
        values = whole(dtype)[ours.local_slice(False)].copy()
        for normalize in (True, False):
            forward = other.forward(values, normalize=normalize).copy()
            close(ours.forward(values, normalize=normalize), forward, 8)
            close(ours.backward(forward, normalize=normalize), other.backward(forward, normalize=normalize), 8)
        ours.destroy()
        other.destroy()
