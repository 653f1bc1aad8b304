"""What plans have to do on any ranks: threads of this process, or those of MPI. Each case is called by every rank."""

import numpy as np
import scipy.fft
import scipy.signal
import weft
from compare import close, random_array

SHAPE = (12, 10, 8)


def everywhere(dtype, shape=SHAPE, seed=1):
    """The same global array on every rank."""
    return random_array(np.random.default_rng(seed), shape, dtype)


def check(comm, reference, transforms, dtype, factor=1, shape=SHAPE, **arguments):
    """Forward against the reference's, then back."""
    plan = weft.Plan(comm, shape, transforms, dtype, **arguments)
    whole = everywhere(dtype, shape)
    x = plan.empty_input()
    x[...] = whole[plan.input_box.slices]
    kept = x.copy()
    y = plan.forward(x)
    assert np.array_equal(x, kept), "forward changed its input"
    expected = reference(whole)
    close(y, expected[plan.output_box.slices], factor * 4)
    out = plan.empty_input()
    assert plan.backward(y, out) is out
    close(out, x, 8)
    return plan


def complex_transform(comm):
    for dtype in (np.complex64, np.complex128):
        check(comm, scipy.fft.fftn, "c2c", dtype)
        check(comm, scipy.fft.fftn, "c2c", dtype, input="brick", output="pencil1")


def real_transform(comm):
    for dtype in (np.float32, np.float64):
        plan = check(comm, scipy.fft.rfftn, "r2c", dtype, output="slab1")
        assert plan.output_dtype == np.result_type(dtype, np.complex64)


def cosines(comm):
    def reference(a):
        return scipy.fft.dst(scipy.fft.dct(a, 2, axis=0), 1, axis=2)

    check(comm, reference, ["dct2", None, "dst1"], np.float64)


def norms(comm):
    for norm in ("backward", "ortho", "forward"):
        check(comm, lambda a, norm=norm: scipy.fft.fftn(a, norm=norm), "c2c", np.complex128, norm=norm)
    plan = weft.Plan(comm, SHAPE, norm="none")
    x = np.ones(plan.input_shape, complex)
    assert np.allclose(plan.backward(plan.forward(x)), x * plan.scale_factor)
    assert plan.scale_factor == np.prod(SHAPE)


def own_boxes(comm):
    """Boxes that are given by each rank, or all of them."""
    cuts = np.linspace(0, SHAPE[2], comm.size + 1).astype(int)
    boxes = [weft.Box((0, 0, int(a)), (*SHAPE[:2], int(b))) for a, b in zip(cuts[:-1], cuts[1:], strict=True)]
    check(comm, scipy.fft.fftn, "c2c", np.complex128, input=boxes[comm.rank], output=boxes)


def orders_and_strides(comm):
    fortran = weft.Distribution.slab(0).with_order([2, 1, 0])
    plan = check(comm, scipy.fft.fftn, "c2c", np.complex128, input=fortran, output="slab1")
    assert plan.input_order == (2, 1, 0)
    # A part of a larger array: every second point along the last axis.
    box = plan.input_box
    around = np.full((*box.shape[:2], 2 * box.shape[2]), 7j)
    view = around[:, :, ::2]
    strides = [s // view.itemsize for s in view.strides]
    plan = weft.Plan(comm, SHAPE, input=weft.Distribution.slab(0).with_strides(strides), output="slab0")
    view[...] = everywhere(np.complex128)[box.slices]
    close(plan.forward(view), scipy.fft.fftn(everywhere(np.complex128))[plan.output_box.slices], 4)
    result = np.full_like(around, 7j)
    plan.backward(plan.forward(view), result[:, :, ::2])
    assert np.allclose(result[:, :, ::2], view)
    assert np.all(result[:, :, 1::2] == 7j), "points between those of the view were touched"


def halos(comm):
    where = weft.Distribution.slab(0).with_halo([1, 0, 2], [1, 0, 1])
    plan = weft.Plan(comm, SHAPE, input=where, output="slab0")
    box = plan.input_box
    if box.size:
        assert plan.input_shape == (box.shape[0] + 2, box.shape[1], box.shape[2] + 3)
    x = plan.empty_input()
    x[...] = 5
    if box.size:
        x[1:-1, :, 2:-1] = everywhere(np.complex128)[box.slices]
    close(plan.forward(x), scipy.fft.fftn(everywhere(np.complex128))[plan.output_box.slices], 4)


def batches(comm):
    plan = weft.Plan(comm, SHAPE, batch=3, output="slab1")
    items = [everywhere(np.complex128, seed=s) for s in range(3)]
    x = plan.empty_input()
    for item, whole in zip(x, items, strict=True):
        item[...] = whole[plan.input_box.slices]
    for item, whole in zip(plan.forward(x), items, strict=True):
        close(item, scipy.fft.fftn(whole)[plan.output_box.slices], 4)


def handles(comm):
    """Two plans under way together."""
    plans = [weft.Plan(comm, SHAPE, output="slab1") for _ in range(2)]
    whole = everywhere(np.complex128)
    for k, plan in enumerate(plans):
        plan.start_forward((k + 1) * whole[plan.input_box.slices])  # an array that nobody else holds
    expected = scipy.fft.fftn(whole)
    for k, plan in enumerate(plans):
        result = plan.wait()
        close(result, ((k + 1) * expected)[plan.output_box.slices], 4)
        assert plan.wait() is None
    plan = plans[0]
    out = plan.empty_input()
    plan.start_backward(result, out)
    while not plan.test():
        pass
    assert plan.wait() is out
    close(out, 2 * whole[plan.input_box.slices], 8)


def wavenumbers(comm):
    """The spectral derivative of a product of waves."""
    shape = (12, 8, 10)
    grid = np.meshgrid(*(2 * np.pi * np.arange(n) / n for n in shape), indexing="ij")
    field = np.sin(3 * grid[0]) * np.cos(2 * grid[1]) * np.sin(grid[2])
    slope = -2 * np.sin(3 * grid[0]) * np.sin(2 * grid[1]) * np.sin(grid[2])
    plan = weft.Plan(comm, shape, "r2c")
    modes = plan.forward(np.ascontiguousarray(field[plan.input_box.slices]))
    modes *= 1j * plan.wavenumbers(1)
    assert np.allclose(plan.backward(modes), slope[plan.input_box.slices], atol=1e-12)


def shell_spectra(comm):
    """Sums by shell of a field, halved or not, are those of the whole spectrum."""
    shape, units = (6, 9, 8), (1, 0.5, 2)
    whole = np.random.default_rng(4).normal(size=(2, *shape))
    modes = np.fft.fftn(whole, axes=(1, 2, 3))
    k = np.meshgrid(*(u * np.fft.fftfreq(n, 1 / n) for u, n in zip(units, shape, strict=True)), indexing="ij")
    shells = np.floor(np.sqrt(sum(x**2 for x in k)) + 0.5).astype(int)
    for kind, output in (("r2c", "fastest"), ("c2c", "slab1")):
        plan = weft.Plan(comm, shape, kind, batch=2, output=output)
        x = plan.empty_input()
        x[...] = whole[(slice(None), *plan.input_box.slices)]
        y = plan.forward(x)
        found = plan.shell_spectrum(y, units)
        expected = np.bincount(shells.ravel(), (abs(modes) ** 2).sum(0).ravel(), len(found))
        assert np.allclose(found, expected)
        kept = plan.dealiasing_mask()
        low = [3 * abs(np.fft.fftfreq(n, 1 / n)) < n for n in shape]
        mine = [side[part] for side, part in zip(low, plan.output_box.slices, strict=True)]
        expected_mask = np.logical_and.reduce(np.meshgrid(*mine, indexing="ij"))
        assert kept.shape == y.shape[1:] and (kept == expected_mask).all()
        bad = (1, 2) if comm.rank == 0 else None
        try:
            plan.shell_spectrum(y, bad)
        except weft.Error as error:
            assert ("2 units" in str(error)) == (bad is not None), error
        else:
            raise AssertionError("no error")
        assert np.allclose(plan.shell_spectrum(y, units), found)


def one_line(comm):
    """Two axes as one long transform, in natural order on both sides, and of float32, in place, in a batch."""
    shape = weft.line_shape(180)
    assert shape == (12, 15)
    whole = np.random.default_rng(7).normal(size=(180, 2)).view(complex).ravel()
    spectrum = np.fft.fft(whole)
    natural = weft.Distribution.slab(1).with_order([1, 0])
    for options in ({}, {"dtype": np.complex64}, {"in_place": True}, {"batch": 2}):
        plan = weft.Plan(comm, shape, line=(0, 1), output=natural, norm="none", **options)
        tolerance = 1e-4 if options.get("dtype") else 1e-12
        x = plan.empty_input()
        x[...] = whole.reshape(shape)[plan.input_box.slices]
        y = plan.forward(x)
        expected = spectrum.reshape(shape[::-1]).T[plan.output_box.slices]
        assert np.allclose(y, expected, atol=180 * tolerance)
        back = plan.backward(y) / 180
        assert np.allclose(back, whole.reshape(shape)[plan.input_box.slices], atol=tolerance)
    for options in ({}, {"dtype": np.float32}, {"in_place": True}, {"batch": 2}):
        plan = weft.Plan(comm, shape, "r2c", line=(0, 1), output=natural, norm="none", **options)
        tolerance = 1e-4 if options.get("dtype") else 1e-12
        x = plan.empty_input()
        x[...] = whole.real.reshape(shape)[plan.input_box.slices]
        y = plan.forward(x)
        expected = np.fft.fft(whole.real)[:96].reshape(8, 12).T[plan.output_box.slices]
        assert np.allclose(y, expected, atol=180 * tolerance)
        back = plan.backward(y) / 180
        assert np.allclose(back, whole.real.reshape(shape)[plan.input_box.slices], atol=tolerance)
    try:
        weft.Plan(comm, shape, "dct2", line=(0, 1))
    except weft.Error as error:
        assert "c2c along both axes of a line, or r2c along one of them" in str(error)
    else:
        raise AssertionError("no error")


def kept_modes(comm):
    """The 3/2 rule: backward to more points than there are modes, and forward again; against SciPy's resampling."""
    shape, modes = (12, 9, 18), (8, None, 7)
    plan = weft.Plan(comm, shape, "r2c", modes=modes, output="slab1", norm="forward")
    assert plan.input_shape[1:] == (9, 18) and plan.output_shape[0] == 8 and plan.output_shape[2] == 7
    rough = np.random.default_rng(3).normal(size=(8, 9, 12))  # on a grid of 12 points the last mode is real
    fine = scipy.signal.resample(scipy.signal.resample(rough, 12, axis=0), 18, axis=2)
    spectrum = np.fft.rfftn(rough, norm="forward")
    points, kept = plan.input_box.slices, plan.output_box.slices
    y = plan.forward(np.ascontiguousarray(fine[points]))
    assert np.allclose(y, spectrum[kept], atol=1e-14)
    assert np.allclose(plan.backward(y), fine[points], atol=1e-13)
    assert np.array_equal(plan.wavenumbers(0).ravel(), [0, 1, 2, 3, -4, -3, -2, -1])
    one = weft.Plan(comm, (12, 8), modes=(8, 8), modes_nyquist="single", norm="forward", output="slab1")
    x = np.exp(2j * np.pi * np.arange(12) * 4 / 12)[:, None] * np.ones(8)  # 4 periods, of which -4 are kept
    assert np.allclose(one.forward(np.ascontiguousarray(x[one.input_box.slices])), 0, atol=1e-14)
    y = one.forward(np.ascontiguousarray(x.conj()[one.input_box.slices]))
    assert one.output_box.lo[1] > 0 or y.size == 0 or np.isclose(y[4, 0], 1)
    few = weft.Plan(comm, (12, 8), "r2c", points=(5, None), output="slab1")
    x = np.random.default_rng(4).normal(size=(5, 8))[few.input_box.slices]
    y = few.forward(np.ascontiguousarray(x))
    whole = np.random.default_rng(4).normal(size=(5, 8))
    assert np.allclose(y, np.fft.rfft2(whole, (12, 8))[few.output_box.slices], atol=1e-13)
    assert np.allclose(few.backward(y), x, atol=1e-14)
    for bad, words in (((13, None), "1 to 12"), ((4,), "one per axis, 2"), ((4.5, 4), "integer")):
        try:
            weft.Plan(comm, (12, 8), modes=bad)
        except (weft.Error, TypeError) as error:
            assert words in str(error), error
        else:
            raise AssertionError("no error")


def gradients(comm):
    """Derivatives along each axis against NumPy's transforms along it, which leave out the mode n/2 as well."""

    def slope(whole, axis, length):
        n = whole.shape[axis]
        k = np.fft.fftfreq(n, 1 / n) * 2 * np.pi / length
        if n % 2 == 0:
            k[n // 2] = 0
        shape = [-1 if a == axis else 1 for a in range(whole.ndim)]
        derived = np.fft.ifft(1j * k.reshape(shape) * np.fft.fft(whole, axis=axis), axis=axis)
        return derived if np.iscomplexobj(whole) else derived.real

    lengths = (1, 2, 5)
    for transforms, dtype in (("r2c", np.float64), ("c2c", np.complex128), ("r2c", np.float32), ("c2c", np.complex64)):
        whole = everywhere(dtype)
        gradient = weft.Gradient(comm, SHAPE, transforms, dtype, input="slab1", output="pencil2", lengths=lengths)
        x = np.ascontiguousarray(whole[gradient.input_box.slices])
        kept = x.copy()
        found = gradient(x)
        assert np.array_equal(x, kept)
        assert found.dtype == dtype
        assert found.shape == gradient.output_shape == (3, *gradient.output_box.shape)
        for a in range(3):
            expected = slope(whole.astype(np.result_type(dtype, np.float64)), a, lengths[a])
            close(found[a], expected[gradient.output_box.slices].astype(dtype), 8)
    # Two fields, and derivatives along two of three axes.
    fields = [everywhere(np.float64, seed=s) for s in (1, 2)]
    with weft.Gradient(comm, SHAPE, ["r2c", None, "c2c"], batch=2, lengths=lengths) as gradient:
        assert gradient.axes == (0, 2)
        x = gradient.empty_input()
        for i, whole in enumerate(fields):
            x[i] = whole[gradient.input_box.slices]
        out = gradient.empty_output()
        assert gradient(x, out=out) is out
        for i, (whole, a) in enumerate((whole, a) for whole in fields for a in (0, 2)):
            close(out[i], slope(whole, a, lengths[a])[gradient.output_box.slices], 8)
        assert "axis 0" in str(gradient)
        assert gradient.workspace_bytes > 0


def operators_between(comm):
    """Functions of Python and ready-made operators, on modes and on points, against NumPy."""
    plan = weft.Plan(comm, SHAPE, between="modes", input="slab1", output="pencil0")
    whole = everywhere(np.complex128)
    factor = np.random.default_rng(5).normal(size=SHAPE)
    seen = []

    def op(u, at):
        seen.append(at)
        u *= factor[at]

    expected = np.fft.ifftn(np.fft.fftn(whole) * factor)
    y = plan.apply(op, np.ascontiguousarray(whole[plan.input_box.slices]))
    assert np.allclose(y, expected[plan.output_box.slices])
    box = plan.between_box
    assert sum(np.prod([s.stop - s.start for s in at]) for at in seen) == box.size
    back = plan.apply(op, np.ascontiguousarray(whole[plan.output_box.slices]), direction="backward")
    assert np.allclose(back, expected[plan.input_box.slices])
    # A gradient of real data, one field to three.
    n = 12
    slope = weft.Plan(comm, (n, n, n), "r2c", between="modes", results=3)
    x, y, z = np.meshgrid(*[2 * np.pi * np.arange(n) / n] * 3, indexing="ij")
    mine = slope.input_box.slices
    found = slope.apply(weft.operators.gradient(slope), np.ascontiguousarray(np.sin(x + 2 * y + 3 * z)[mine]))
    assert found.shape == (3, *slope.input_shape)
    assert np.allclose(found, np.multiply.outer([1, 2, 3], np.cos(x + 2 * y + 3 * z)[mine]), atol=1e-12)
    # The product of two fields of points, from modes to modes.
    both = weft.Plan(comm, (n, n), "r2c", between="points", batch=2, results=1, norm="forward", dtype="float32")

    def multiply(u, at):
        u[0] *= u[1]

    f = np.random.default_rng(6).normal(size=(2, n, n))
    modes = np.fft.rfftn(f, axes=(1, 2), norm="forward").astype(np.complex64)[(slice(None), *both.input_box.slices)]
    product = both.apply(multiply, np.ascontiguousarray(modes))
    assert product.dtype == np.complex64
    expected = np.fft.rfftn(f[0] * f[1], norm="forward")[both.output_box.slices]
    assert np.allclose(product, expected, atol=1e-5)
    # A linear convolution with a kernel whose modes are kept.
    smooth = weft.Plan(comm, (16, 12), "r2c", points=(9, 8), between="modes", norm="none")
    kernel = weft.Plan(comm, (16, 12), "r2c", points=(5, 4), output=smooth.between_box, norm="forward")
    a, b = np.random.default_rng(7).normal(size=(9, 8)), np.random.default_rng(8).normal(size=(5, 4))
    kept = kernel.forward(np.ascontiguousarray(b[kernel.input_box.slices]))
    got = smooth.apply(weft.operators.product(smooth, kept), np.ascontiguousarray(a[smooth.input_box.slices]))
    assert np.allclose(got, scipy.signal.fftconvolve(a, b)[smooth.output_box.slices], atol=1e-12)


def phase_shifts(comm):
    """A product without aliases by phase shifts, as docs/solvers.md has it, beside one on twice as many points."""
    for n in (12, 16):
        plan = weft.Plan(comm, (n, n, n), "r2c", between="points", batch=2, results=1, norm="forward")
        k = [plan.wavenumbers(axis) for axis in range(3)]
        kept = 9 * sum(k_a**2 for k_a in k) < 2 * n**2
        half = np.exp(1j * np.pi / n * sum(k))

        def product(u, at):
            u[0] *= u[1]

        full = np.ix_(*[np.fft.fftfreq(n, 1 / n).astype(int)] * 2, range(n // 2 + 1))
        whole = np.fft.rfftn(np.random.default_rng(11).normal(size=(2, n, n, n)), axes=(1, 2, 3), norm="forward")
        whole *= 9 * sum(k_a**2 for k_a in full) < 2 * n**2
        both = np.ascontiguousarray(whole[(slice(None), *plan.input_box.slices)])
        got = kept * (plan.apply(product, both) + plan.apply(product, both * half) / half) / 2
        finer = np.zeros((2, 2 * n, 2 * n, n + 1), complex)
        finer[(slice(None), *full)] = whole
        u, v = np.fft.irfftn(finer, s=(2 * n,) * 3, axes=(1, 2, 3), norm="forward")
        exact = kept * np.fft.rfftn(u * v, norm="forward")[full][plan.output_box.slices]
        assert np.allclose(got, exact, atol=1e-15)
        assert exact.size == 0 or not np.allclose(kept * plan.apply(product, both), exact, atol=1e-4)


def spheres(comm):
    """Modes of a sphere, of columns of one's own, and a potential between, against NumPy."""
    n = 12
    plan = weft.Plan(comm, (n, n, n), output=weft.Distribution.sphere(4.5), norm="forward")
    k = [plan.wavenumbers(a).astype(int) for a in range(3)]
    assert plan.output_shape == k[0].shape and (k[0] ** 2 + k[1] ** 2 + k[2] ** 2 <= 20).all()
    whole = np.random.default_rng(9).normal(size=(n, n, n)) + 0j
    modes = np.fft.fftn(whole, norm="forward")
    y = plan.forward(np.ascontiguousarray(whole[plan.input_box.slices]))
    assert np.allclose(y, modes[tuple(k)], atol=1e-14)
    kept = sum(i**2 for i in np.meshgrid(*[np.fft.fftfreq(n, 1 / n)] * 3, indexing="ij")) <= 20
    filtered = np.fft.ifftn(np.where(kept, modes, 0), norm="forward")
    assert np.allclose(plan.backward(y), filtered[plan.input_box.slices], atol=1e-13)
    assert np.isclose(plan.shell_spectrum(y).sum(), np.sum(abs(modes[kept]) ** 2))
    # The same modes as columns of one's own, where rank 0 has those of all others.
    every = weft.Plan(None, (n, n, n), output=weft.Distribution.sphere(4.5)).columns
    mine = every if comm.rank == 0 else (np.zeros((0, 3), int), np.zeros(0, int))
    own = weft.Plan(comm, (n, n, n), output=weft.Distribution.columns(*mine), norm="forward")
    assert own.output_shape == ((int(kept.sum()),) if comm.rank == 0 else (0,))
    assert all(map(np.array_equal, own.columns, mine))
    z = own.forward(np.ascontiguousarray(whole[own.input_box.slices]))
    at = tuple(own.wavenumbers(a).astype(int) for a in range(3))
    assert np.allclose(z, modes[at], atol=1e-14)
    spread = own.forward(weft.DistArray.input_of(own, fill=1))
    assert spread.shape == (int(kept.sum()),)
    # A potential applied to two waves.
    sphere = weft.Distribution.sphere(3)
    both = weft.Plan(comm, (n, n, n), input=sphere, output=sphere, between="points", batch=2, norm="forward")
    potential = np.random.default_rng(10).normal(size=(n, n, n))

    def multiply(u, at):
        u *= potential[at]

    waves = np.zeros((2, n, n, n), complex)
    k = tuple(both.wavenumbers(a).astype(int) for a in range(3))
    x = both.empty_input()
    alone = weft.Plan(None, (n, n, n), output=sphere)
    everywhere_in = tuple(alone.wavenumbers(a).astype(int) for a in range(3))
    for i in range(2):
        waves[(i, *everywhere_in)] = np.cos(everywhere_in[0] + i) + 1j * everywhere_in[1]
        x[i] = np.cos(k[0] + i) + 1j * k[1]
    points = np.fft.ifftn(waves, axes=(1, 2, 3), norm="forward") * potential
    expected = np.fft.fftn(points, axes=(1, 2, 3), norm="forward")
    assert np.allclose(both.apply(multiply, x), expected[(slice(None), *k)], atol=1e-12)
    for bad, words in (((np.zeros((2, 3), int), [1]), "one for each column"), (([[0, 0]], [1]), "one per axis, 3")):
        try:
            weft.Plan(comm, (n, n, n), output=weft.Distribution.columns(*bad))
        except weft.Error as error:
            assert words in str(error), error
        else:
            raise AssertionError("no error")


def tolerance(comm):
    plan = weft.Plan(comm, SHAPE, tolerance=1e-5, exchange="copy" if isinstance(comm, weft.Comm) else "p2p")
    whole = everywhere(np.complex128)
    y = plan.forward(np.ascontiguousarray(whole[plan.input_box.slices]))
    expected = scipy.fft.fftn(whole)[plan.output_box.slices]
    assert np.linalg.norm(y - expected) <= 1e-5 * np.linalg.norm(scipy.fft.fftn(whole))
    assert ("codec fp32 (tolerance" in str(plan)) == (comm.size > 1), str(plan)


def explanations(comm):
    plan = weft.Plan(comm, SHAPE)
    assert "weft plan: 12x10x8" in str(plan)
    explanation = plan.explain()
    assert explanation.chosen and explanation.chosen in str(explanation)
    assert isinstance(explanation.candidates, list)


def failures_reach_all(comm):
    """What one rank does wrong while planning is an error on all."""
    import pytest

    if comm.size == 1:
        return
    boxes = [weft.Box((0,) * 3, SHAPE)] * comm.size  # they overlap
    with pytest.raises(weft.Error, match="plan"):
        weft.Plan(comm, SHAPE, input=boxes)


CASES = [
    complex_transform,
    real_transform,
    cosines,
    norms,
    own_boxes,
    orders_and_strides,
    halos,
    batches,
    handles,
    wavenumbers,
    shell_spectra,
    one_line,
    kept_modes,
    gradients,
    operators_between,
    phase_shifts,
    spheres,
    tolerance,
    explanations,
    failures_reach_all,
]
