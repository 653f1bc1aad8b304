"""Operators between transforms, kept modes and points, lines and spheres in memory of GPUs, beside the same plans on
the host."""

import numpy as np
import on_gpus
import pytest
import weft
from compare import close, random_array
from on_gpus import device_of, here, made_by, on_device, stream_and_context, there
from weft._modules import default_of_devices, handle_of, stream_of

pytestmark = on_gpus.need(1)
SHAPE, MODES = (24, 20, 36), (24, 20, 19)  # of real arrays
KEPT, POINTS = (16, 13, 12), (17, 20, 25)
REAL, COMPLEX = [np.float32, np.float64], [np.complex64, np.complex128]


@pytest.fixture(params=on_gpus.MODULES)
def xp(request):
    on_gpus.module(request.param)
    return request.param


def some(shape=SHAPE, dtype=np.complex128, seed=3):
    return random_array(np.random.default_rng(seed), shape, dtype)


def on_both(*arguments, **keywords):
    """The same plan of arrays on the host and of a GPU."""
    keywords = dict(input="slab0", output="slab0") | keywords
    return [weft.Plan(None, *arguments, **keywords, device=device) for device in (None, 0)]


def same(result, name, expected):
    """Asserts that what a plan on a GPU gives is of that module, and what a plan on the host gives."""
    assert made_by(result, name)
    close(here(result), expected, 8)


def times(values):
    def op(u, at):
        u *= values[at]

    return op


def multiplied(u, at):
    u[0] *= u[1]


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("dtype", REAL)
def test_a_function_on_modes(xp, dtype, direction):
    """Two fields and three. Parts are in memory of the GPU, and together they are all modes."""
    host, plan = on_both(SHAPE, "r2c", dtype, between="modes", batch=2, results=3)
    seen = []

    def by(values):
        def op(u, at):
            assert tuple(u.shape) == (3, *[s.stop - s.start for s in at])
            seen.append((made_by(u, xp) and device_of(u) == 0, at))
            u[2] = u[0] * values[at]
            u[0] += u[1]

        return op

    factor, a = some(MODES, dtype), some((2 if direction == "forward" else 3, *SHAPE), dtype)
    expected = host.apply(by(factor), a, direction=direction)
    seen.clear()
    x = there(a, xp)
    same(plan.apply(by(there(factor, xp)), x, direction=direction), xp, expected)
    assert (here(x) == a).all()
    assert all(fits for fits, _ in seen)
    assert sum(np.prod([s.stop - s.start for s in at]) for _, at in seen) == plan.between_box.size == np.prod(MODES)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_a_function_on_complex_modes(xp, dtype):
    """One field, with other distributions before and after."""
    host, plan = on_both(SHAPE, dtype=dtype, between="modes", input="slab1", output="slab2")
    factor, a = some(dtype=dtype), some(dtype=dtype, seed=4)
    same(plan.apply(times(there(factor, xp)), there(a, xp)), xp, host.apply(times(factor), a))


@pytest.mark.parametrize("dtype", REAL)
def test_a_function_on_points(xp, dtype):
    """The product of two fields, from kept modes to kept modes."""
    keywords = dict(modes=KEPT, batch=2, norm="forward", output="slab0")
    modes = weft.Plan(None, SHAPE, "r2c", dtype, **keywords).forward(some((2, *SHAPE), dtype))
    host, plan = on_both(SHAPE, "r2c", dtype, between="points", results=1, **keywords)
    same(plan.apply(multiplied, there(modes, xp)), xp, host.apply(multiplied, modes))


def test_out_and_streams(xp):
    """A function is called on the stream of the execution, the current one or the one that is named."""
    host, plan = on_both(SHAPE, between="modes")
    factor, a = some(), some(seed=4)
    expected = host.apply(times(factor), a)
    x, values = there(a, xp), there(factor, xp)
    handles = []

    def op(u, at):
        handles.append(stream_of(xp, 0))
        u *= values[at]

    stream, context, synchronize = stream_and_context(xp)
    on_gpus.wait(xp)  # for x and values
    handle = handle_of(stream)
    y = plan.apply(op, x, stream=stream)
    assert stream_of(xp, 0) != handle
    synchronize()
    same(y, xp, expected)
    out = plan.empty_output(xp)
    with context:
        assert plan.apply(op, x, out) is out
    synchronize()
    same(out, xp, expected)
    assert set(handles) == {handle}


def test_an_array_that_is_neither(xp):
    """x is of another module: the function gets arrays of the module that makes the plan's."""
    factor, a = some(), some(seed=4)
    host, plan = on_both(SHAPE, between="modes")
    x, out = there(a, xp), plan.empty_output()
    module = default_of_devices()
    values, seen = there(factor, module), []

    class Wrapped:
        __cuda_array_interface__ = x.__cuda_array_interface__

    def op(u, at):
        seen.append(made_by(u, module))
        u *= values[at]

    assert plan.apply(op, Wrapped(), out) is out
    plan.wait()
    same(out, module, host.apply(times(factor), a))
    assert seen and all(seen)


def test_functions_that_raise(xp):
    plan = weft.Plan(None, SHAPE, between="modes", device=0)

    def op(u, at):
        raise ValueError("this operator's own")

    with pytest.raises(ValueError, match="this operator's own"):
        plan.apply(op, there(some(), xp))


@pytest.mark.parametrize("dtype", [np.complex64, np.float64])
def test_filter(xp, dtype):
    """On two streams, one after the other. Two fields at once."""
    kind = "r2c" if np.dtype(dtype).kind == "f" else "c2c"
    host, plan = on_both(SHAPE, kind, dtype, between="modes", batch=2)
    seen = []

    def factor(k):
        seen.append(k)
        return (k < 9) / (1 + k * k)

    a, lengths = some((2, *SHAPE), dtype), (1, 6, 5)
    expected = host.apply(weft.operators.filter(host, factor, lengths), a)
    seen.clear()
    op = weft.operators.filter(plan, factor, lengths)
    x = there(a, xp)
    same(plan.apply(op, x), xp, expected)
    on_gpus.wait(xp)
    _, context, synchronize = stream_and_context(xp)
    with context:
        y = plan.apply(op, x)
    synchronize()
    same(y, xp, expected)
    assert all(made_by(k, xp) and device_of(k) == 0 and k.ndim == 3 for k in seen)


@pytest.mark.parametrize("conjugated", [False, True])
@pytest.mark.parametrize("dtype", REAL)
def test_product(xp, dtype, conjugated):
    """A linear convolution, with modes that live as long as the operator."""
    a, b = some(POINTS, dtype), some((5, 4, 3), dtype, 4)
    results = []
    for device in (None, 0):
        keywords = dict(dtype=dtype, device=device, input="slab0")
        plan = weft.Plan(None, SHAPE, "r2c", points=POINTS, output="slab0", between="modes", norm="none", **keywords)
        kernel = weft.Plan(None, SHAPE, "r2c", points=b.shape, output=plan.between_box, norm="forward", **keywords)
        x, y = (a, b) if device is None else (there(a, xp), there(b, xp))
        op = weft.operators.product(plan, kernel.forward(y), conjugated)
        zeros = [kernel.empty_output(xp if device == 0 else None) for _ in range(8)]
        for z in zeros:  # would be written to modes that are freed
            z[...] = 0
        results.append(plan.apply(op, x))
    same(results[1], xp, results[0])


def test_mistakes_with_product(xp):
    plan = weft.Plan(None, SHAPE, "r2c", between="modes", device=0)
    modes = there(some(plan.between_box.shape), xp)
    weft.operators.product(plan, modes)
    with pytest.raises(weft.Error, match="modes in memory of the host; expected an array in memory of GPU 0"):
        weft.operators.product(plan, here(modes))
    with pytest.raises(
        weft.Error, match=r"modes of shape \(23, 20, 19\), dtype complex128; expected an array of shape"
    ):
        weft.operators.product(plan, modes[1:])
    with pytest.raises(weft.Error, match="modes of .*dtype complex64"):
        weft.operators.product(plan, there(some(plan.between_box.shape, np.complex64), xp))
    with pytest.raises(weft.Error, match="do not lie in C order"):
        weft.operators.product(plan, there(some((24, 20, 38)), xp)[:, :, ::2])
    with pytest.raises(weft.Error, match="modes in memory of a GPU"):
        weft.operators.product(weft.Plan(None, SHAPE, "r2c", between="modes"), modes)


READY = [
    ("gradient", 1, 3, ()),
    ("divergence", 3, 1, ()),
    ("curl", 3, None, ()),
    ("solenoidal_part", 3, None, ()),
    ("laplacian", 2, None, ()),
    ("inverse_helmholtz", 1, None, (0.5,)),
    ("derivative", 1, None, (1, 3)),
    ("shift", 1, None, ((0.25, -1, 2.5),)),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize(("name", "batch", "results", "more"), READY, ids=[case[0] for case in READY])
def test_ready_made_operators(xp, dtype, name, batch, results, more):
    kind = "r2c" if np.dtype(dtype).kind == "f" else "c2c"
    host, plan = on_both(SHAPE, kind, dtype, between="modes", batch=batch, results=results)
    a = some(SHAPE if batch == 1 else (batch, *SHAPE), dtype)
    make = getattr(weft.operators, name)
    same(plan.apply(make(plan, *more), there(a, xp)), xp, host.apply(make(host, *more), a))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize(
    "some_of_them",
    [dict(modes=KEPT), dict(modes=KEPT, modes_nyquist="single"), dict(points=POINTS), dict(modes=KEPT, points=POINTS)],
)
def test_kept_modes_and_points(xp, dtype, some_of_them):
    kind = "r2c" if np.dtype(dtype).kind == "f" else "c2c"
    host, plan = on_both(SHAPE, kind, dtype, output="slab1", **some_of_them)
    assert plan.input_shape == host.input_shape and plan.output_shape == host.output_shape
    assert all((plan.wavenumbers(axis) == host.wavenumbers(axis)).all() for axis in range(3))
    a = some(host.input_shape, dtype)
    modes = host.forward(a)
    same(plan.forward(there(a, xp)), xp, modes)
    same(plan.backward(there(modes, xp)), xp, host.backward(modes))


@pytest.mark.parametrize("keywords", [{}, dict(in_place=True), dict(batch=2)])
@pytest.mark.parametrize("dtype", COMPLEX)
def test_a_line(xp, dtype, keywords):
    shape = weft.line_shape(2310)
    natural = weft.Distribution.slab(1).with_order([1, 0])
    host, plan = on_both(shape, dtype=dtype, line=(0, 1), output=natural, **keywords)
    a = some(host.input_shape, dtype)
    x, y = host.empty_input(), plan.empty_input(xp)
    x[...] = a
    y[...] = there(a, xp)
    modes, result = host.forward(x), plan.forward(y)
    if not keywords:
        close(modes.T.ravel(), np.fft.fft(a.ravel()).astype(dtype), 8)
    same(result, xp, modes.copy())
    same(plan.backward(result), xp, a)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.complex128])
def test_a_sphere(xp, dtype):
    """Forward and backward of the same columns as on the host; then a potential between, of two waves."""
    n, sphere = 18, weft.Distribution.sphere(5.5)
    kind = "r2c" if np.dtype(dtype).kind == "f" else "c2c"
    host, plan = on_both((n, n, n), kind, dtype, output=sphere, norm="forward")
    assert "18x18x18" in repr(plan) and plan.output_shape == host.output_shape
    assert all(map(np.array_equal, plan.columns, host.columns))
    a = some((n, n, n), dtype)
    modes = host.forward(a)
    same(plan.forward(there(a, xp)), xp, modes)
    same(plan.backward(there(modes, xp)), xp, host.backward(modes))
    keywords = dict(input=sphere, output=sphere, between="points", batch=2, norm="forward")
    host, plan = on_both((n, n, n), kind, dtype, **keywords)
    potential, waves = some((n, n, n), np.empty(0, dtype).real.dtype), np.stack([modes, 2 * modes])
    result = plan.apply(times(there(potential, xp)), there(waves, xp))
    same(result, xp, host.apply(times(potential), waves))


@pytest.mark.parametrize("devices", [[0, 0], pytest.param([0, 1], marks=on_gpus.need(2))])
def test_thread_ranks(xp, devices):
    """A function, a gradient, kept modes and a sphere on two ranks, against NumPy."""
    a, factor, odd, sphere = some(), some(seed=4), (15, 13, 11), weft.Distribution.sphere(7)

    def body(comm):
        device = devices[comm.rank]
        with on_device(xp, device):
            _, context, synchronize = stream_and_context(xp)
            with context:
                found = []
                for operator in (None, "gradient"):
                    results = None if operator is None else 3
                    plan = weft.Plan(comm, SHAPE, between="modes", results=results, device=device)
                    op = times(there(factor, xp, device)) if operator is None else weft.operators.gradient(plan)
                    y = plan.apply(op, there(a[plan.input_box.slices], xp, device))
                    found.append((plan.output_box.slices, y))
                for some_of_them in (dict(modes=odd), dict(output=sphere)):
                    plan = weft.Plan(comm, SHAPE, device=device, **some_of_them)
                    y = plan.forward(there(a[plan.input_box.slices], xp, device))
                    found.append((tuple(plan.wavenumbers(axis).astype(int) for axis in range(3)), y))
            synchronize()
            return [(where, here(y)) for where, y in found]

    modes = np.fft.fftn(a)
    k = np.ix_(*[np.fft.fftfreq(n, 1 / n) * (2 * abs(np.fft.fftfreq(n, 1 / n)) < n) for n in SHAPE])
    slopes = np.stack([np.fft.ifftn(1j * k_a * modes) for k_a in k])
    for product, slope, kept, inside in weft.ThreadTeam(2).run(body):
        close(product[1], np.fft.ifftn(modes * factor)[product[0]], 8)
        close(slope[1], slopes[(slice(None), *slope[0])], 8)
        for where, got in (kept, inside):
            close(got, modes[where], 8)
