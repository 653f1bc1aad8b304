"""Plans on this process alone and on thread ranks; plans as Python objects."""

import copy
import gc
import pickle
import subprocess
import sys
import threading
import weakref

import numpy as np
import plan_cases
import pytest
import weft


@pytest.mark.parametrize("case", plan_cases.CASES, ids=lambda case: case.__name__)
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_case(case, ranks):
    if ranks == 1:
        case(weft.Comm.self())
    else:
        weft.ThreadTeam(ranks).run(case)


@pytest.mark.parametrize("ranks", [1, 3])
def test_operators_that_raise(ranks):
    """What an operator raises on one rank ends the execution on all."""

    def case(comm):
        plan = weft.Plan(comm, (12, 10), between="modes")

        def op(u, at):
            if comm.rank == comm.size - 1:
                raise ValueError("this operator's own")

        own = comm.rank == comm.size - 1
        with pytest.raises(ValueError if own else weft.Error, match="this operator's own"):
            plan.apply(op, np.ones(plan.input_shape, complex))
        raise KeyError("as a team ends with what its ranks raise")

    with pytest.raises((KeyError, weft.Error)):
        weft.ThreadTeam(ranks).run(case)


def test_mistakes_with_gradients():
    with pytest.raises(weft.Error, match="dct2 along axis 1"):
        weft.Gradient(None, (8, 8), ["r2c", "dct2"])
    with pytest.raises(weft.Error, match="one positive number for each of 2 axes"):
        weft.Gradient(None, (8, 8), "r2c", lengths=(1, -1))
    with pytest.raises(weft.Error, match="transforms"):
        weft.Gradient(None, (8, 8), "fast")
    with pytest.raises(weft.Error, match="option workspace=user"):
        weft.Gradient(None, (8, 8), workspace="user")
    gradient = weft.Gradient(None, (8, 8), "r2c")
    with pytest.raises(weft.Error, match="x of shape"):
        gradient(np.ones((8, 8), complex))
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(gradient)
    assert repr(gradient) == "<weft.Gradient 8x8 float64 (c2c, r2c)>"
    gradient.free()
    with pytest.raises(weft.Error, match="a gradient that was freed"):
        gradient(np.ones((8, 8)))


def test_mistakes_with_operators():
    plan = weft.Plan(None, (12, 10), between="modes")
    x = np.ones((12, 10), complex)
    with pytest.raises(weft.Error, match='"forward" or "backward"'):
        plan.apply(lambda u, at: None, x, direction="up")
    with pytest.raises(weft.Error, match="none, modes, points"):
        weft.Plan(None, (12, 10), between="mode")
    with pytest.raises(weft.Error, match="one for each of 2 axes"):
        weft.operators.filter(plan, lambda k: 1, (1,))
    with pytest.raises(weft.Error, match="an array of shape"):
        weft.operators.product(plan, x[1:])
    with pytest.raises(weft.Error, match="an axis from 0 to 1"):
        weft.operators.derivative(plan, 2)
    with pytest.raises(weft.Error, match="2 results for each field"):
        plan.apply(weft.operators.gradient(plan), x)
    with pytest.raises(weft.Error, match="a transform"):
        _ = weft.Plan(None, (12, 10)).between_box


def test_team():
    team = weft.ThreadTeam(3)
    assert team.size == 3
    assert team.run(lambda comm: (comm.rank, comm.size, comm.medium)) == [(r, 3, "threads") for r in range(3)]
    assert team.run(lambda comm: comm.split(comm.rank // 2).size) == [2, 2, 1]
    with pytest.raises(weft.Error, match="not from inside a body"):
        team.run(lambda comm: team.run(lambda comm: 0))
    with pytest.raises(weft.Error, match="0 ranks"):
        weft.ThreadTeam(0)


def test_exceptions_of_a_rank():
    """The first rank's own exception is raised, also where others wait for it, and the team lives on."""
    team = weft.ThreadTeam(3)

    def body(comm):
        if comm.rank == 1:
            raise KeyError("lost")
        plan = weft.Plan(comm, (6, 6))
        return plan.forward(plan.empty_input())

    with pytest.raises(KeyError, match="lost"):
        team.run(body)
    assert team.run(lambda comm: comm.rank) == [0, 1, 2]


def test_axis_orders_in_messages():
    plan = weft.Plan(None, (4, 6, 2))
    with pytest.raises(weft.Error, match=r"axes \[0, 2, 1\] from slowest to fastest"):
        plan.forward(np.ones((4, 2, 6), complex).transpose(0, 2, 1))


def test_arrays_as_they_lie():
    """No copies: results are in the arrays that were given, and arrays of the plan have the plan's strides."""
    plan = weft.Plan(None, (4, 6))
    x, out = plan.empty_input(), plan.empty_output()
    x[...] = 1
    address = out.__array_interface__["data"][0]
    assert plan.forward(x, out) is out
    assert out.__array_interface__["data"][0] == address
    assert out[0, 0] == 24
    one_column = weft.Plan(None, (4, 1))
    wide = np.ones((4, 5), complex)
    row = weft.Plan(None, (1, 5))
    assert row.forward(wide[2:3])[0, 0] == row.forward(wide[::2][1:])[0, 0] == 5, "no step is made along axis 0"
    with pytest.raises(weft.Error, match="strides"):
        one_column.forward(wide[:, :1])


def test_boxes():
    whole, part = weft.Box.whole((8, 6)), weft.Box((2, 3), (5, 9))
    assert whole == ((0, 0), (8, 6)) and whole.intersect(part) == weft.Box((2, 3), (5, 6))
    assert not whole.contains(part) and whole.contains(whole.intersect(part))
    nothing = part.intersect(weft.Box((6, 0), (8, 2)))
    assert nothing.size == 0 and part.contains(nothing)
    with pytest.raises(ValueError, match="zip"):
        whole.intersect(weft.Box((0,), (1,)))


def test_subclasses_and_alignment():
    plan = weft.Plan(None, (4, 6))
    raw = np.zeros(4 * 6 * 16 + 8, np.uint8)[8:].view(complex).reshape(4, 6)
    raw[...] = 1
    assert plan.forward(raw)[0, 0] == 24


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: np.ones((4, 5), complex), ["x of shape (4, 5)", "expected shape (4, 6)"]),
        (lambda: np.ones((4, 6)), ["dtype float64", "expected", "dtype complex128"]),
        (lambda: np.ones((4, 6), complex, order="F"), ["Fortran order", "C order", "with_strides"]),
        (lambda: np.ones((4, 12), complex)[:, ::2], ["strides (192, 32) bytes", "with_strides"]),
        (lambda: np.ones((4, 6), complex)[::-1], ["not positive"]),
        (lambda: np.ones((4, 6), ">c16"), ["dtype >c16"]),
        (lambda: [[1j] * 6] * 4, ["x of type list", "NumPy array"]),
        (lambda: None, ["x of type NoneType"]),
    ],
)
def test_wrong_arrays(make, words):
    plan = weft.Plan(None, (4, 6))
    with pytest.raises(weft.Error) as caught:
        plan.forward(make())
    for word in words:
        assert word in str(caught.value)
    assert caught.value.operation == "plan"


def test_wrong_outputs():
    plan = weft.Plan(None, (4, 6), "r2c")
    x = np.ones((4, 6))
    with pytest.raises(weft.Error, match=r"out of shape \(4, 6\).*empty_output"):
        plan.forward(x, np.ones((4, 6)))
    frozen = plan.empty_output()
    frozen.flags.writeable = False
    with pytest.raises(weft.Error, match="out, which is read-only"):
        plan.forward(x, frozen)
    square = weft.Plan(None, (4, 6))
    y = np.ones((4, 6), complex)
    with pytest.raises(weft.Error, match="overlap"):
        square.forward(y, y)
    y.flags.writeable = False
    assert square.forward(y)[0, 0] == 24  # an input may be read-only


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (dict(transforms=["c2c"]), "1 transforms; expected one per axis, 2"),
        (dict(transforms="fft"), '"fft"; expected one of none, c2c'),
        (dict(dtype=np.longdouble), "dtype"),
        (dict(dtype=">c16"), "byte order"),
        (dict(dtype=int), "float32, float64"),
        (dict(norm="unitary"), "norm"),
        (dict(input="slab"), '"slab0"'),
        (dict(input=3), "weft.Distribution"),
        (dict(input="slab5"), "input distribution: axis 5"),
        (dict(pipeline="fast"), "pipeline"),
        (dict(quick=1), "quick"),
        (dict(workspace="mine"), "workspace"),
        (dict(tolerance=-1), "tolerance"),
        (dict(batch=0), "batch"),
        (dict(shape=(0, 4)), "shape"),
        (dict(shape=(2,) * 9), "9 axes"),
        (dict(comm="world"), "mpi4py communicator"),
    ],
)
def test_wrong_plans(arguments, words):
    with pytest.raises(weft.Error) as caught:
        weft.Plan(**({"comm": None, "shape": (4, 6)} | arguments))
    assert words in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_errors_carry_their_parts():
    with pytest.raises(weft.Error) as caught:
        weft.Plan(None, (4, 4), pipeline="fast")
    error = caught.value
    assert (error.operation, error.got, error.rank) == ("options: pipeline", '"fast"', -1)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and again.expected == error.expected


def test_freed_plans():
    plan = weft.Plan(None, (4, 6))
    x = plan.empty_input()
    plan.free()
    plan.free()
    for use in (
        lambda: plan.forward(x),
        lambda: plan.start_forward(x),
        lambda: plan.measured_error(x),
        lambda: plan.buffer_bytes,
        plan.wait,
        plan.test,
        plan.explain,
        plan.program,
        plan.record_times,
        plan.operation_times,
        plan.empty_workspace,
    ):
        with pytest.raises(weft.Error, match="freed"):
            use()
    with weft.Plan(None, (4, 6)) as inside:
        inside.forward(x)
    with pytest.raises(weft.Error, match="freed"):
        str(inside)


def test_pickling():
    plan, team = weft.Plan(None, (4, 6)), weft.ThreadTeam(1)
    for thing in (plan, team, weft.Comm.self()):
        with pytest.raises(TypeError, match="pickle"):
            pickle.dumps(thing)
    with pytest.raises(TypeError, match="copied"):
        copy.deepcopy(plan)


def test_arrays_under_way_are_kept():
    plan = weft.Plan(None, (4, 6))
    x = np.ones((4, 6), complex)
    alive = weakref.ref(x)
    plan.start_forward(x)
    del x
    gc.collect()
    assert alive() is not None
    with pytest.raises(weft.Error, match="under way"):
        plan.start_forward(np.ones((4, 6), complex))
    assert plan.wait()[0, 0] == 24
    gc.collect()
    assert alive() is None


def test_the_gil_is_released():
    """Another thread runs while a plan works: on two cores its counter would stand still with the GIL held."""
    plan = weft.Plan(None, (256, 256, 64))
    x, out = plan.empty_input(), plan.empty_output()
    x[...] = 0
    inside, seen = threading.Event(), []

    def other():
        inside.wait()
        seen.append(len(done))

    done = []
    thread = threading.Thread(target=other)
    thread.start()
    for _ in range(50):
        inside.set()
        plan.forward(x, out)
        done.append(1)
    thread.join()
    assert seen[0] < 50


def test_two_threads_in_one_plan():
    plan = weft.Plan(None, (256, 256, 32))
    x = plan.empty_input()
    x[...] = 1
    outcomes = []

    def use():
        for _ in range(5):
            try:
                outcomes.append(plan.forward(x)[0, 0, 0])
            except weft.Error as error:
                outcomes.append(str(error))

    threads = [threading.Thread(target=use) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(o == x.size or "two threads" in o for o in outcomes)


def test_options_and_wisdom(tmp_path):
    assert weft.options()["pipeline"] == "auto"
    plan = weft.Plan(None, (16, 16), effort="measure", threads=1, trials=2, budget="2s")
    assert "measure" in str(plan)
    file = str(tmp_path / "wisdom.json")
    assert weft.export_wisdom(file)
    weft.forget_wisdom()
    assert weft.import_wisdom(file)


@pytest.mark.parametrize("reads", ["weft.import_wisdom(file)", "plan()"])
def test_wisdom_of_another_process(reads, tmp_path):
    """A process that has planned nothing yet reads what another one has written, FFTW's wisdom included."""
    begin = f"import weft; file = {str(tmp_path / 'wisdom.json')!r}; "
    begin += "plan = lambda: weft.Plan(None, (15, 22), effort='measure', fft='fftw', trials=2, wisdom=file); "
    for program in ["plan()", reads]:
        done = subprocess.run([sys.executable, "-c", begin + program], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
    assert '"local_ffts": {}' not in (tmp_path / "wisdom.json").read_text()


def test_facts():
    plan = weft.Plan(None, (8, 6, 4), ["dct2", "r2c", None], np.float32, output="slab0", fft="fftw")
    assert (plan.shape, plan.input_shape, plan.output_shape) == ((8, 6, 4), (8, 6, 4), (8, 4, 4))
    assert (plan.input_dtype, plan.output_dtype) == (np.float32, np.complex64)
    assert plan.output_order == (0, 1, 2)
    assert plan.scale_factor == 16 * 6
    assert plan.workspace_bytes == int(plan.workspace_bytes) >= 0
    assert repr(plan) == "<weft.Plan 8x6x4 float32 (dct2, r2c, none)>"
    assert [plan.logical_length(a) for a in range(3)] == [16, 6, 1]
    assert plan.wavenumbers(-2).ravel().tolist() == [0, 1, 2, 3]
    assert plan.wavenumbers(2).ravel().tolist() == [0, 0, 0, 0]
    assert plan.wavenumbers(1, nyquist="zero").ravel().tolist() == [0, 1, 2, 0]
    with pytest.raises(weft.Error, match='nyquist \'none\'; expected "kept" or "zero"'):
        plan.wavenumbers(1, nyquist="none")
    with pytest.raises(weft.Error, match="axis 3"):
        plan.wavenumbers(3)


@pytest.mark.parametrize("kind", [f"{f}{t}" for f in ("dct", "dst") for t in range(1, 5)])
def test_wavenumbers_of_cosines_and_sines(kind):
    """A wave of wavenumber k in the logical length has the k-th mode and no other."""
    n = 12
    plan = weft.Plan(None, (n,), kind)
    k, length = plan.wavenumbers(0), plan.logical_length(0)
    first = {"dct1": 0, "dst1": 1}.get(kind, 0.5 if kind[-1] in "24" else 0 if kind[1] == "c" else 1)
    places = np.arange(n) + first  # of the points, for this kind's symmetry
    mode = 4
    wave = (np.cos if kind.startswith("dct") else np.sin)(2 * np.pi * k[mode] * places / length)
    spectrum = plan.forward(wave)
    assert np.argmax(np.abs(spectrum)) == mode
    spectrum[mode] = 0
    assert np.allclose(spectrum, 0, atol=1e-12)


def test_arrays_of_gpus_are_not_there():
    class OnGpu:
        __cuda_array_interface__ = {}

    with pytest.raises(weft.Error, match="GPU"):
        weft.Plan(None, (4, 4)).forward(OnGpu())


def test_mkl_of_pip_is_announced(monkeypatch, tmp_path):
    from weft import _mkl

    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/libmkl_rt.so.2").touch()
    monkeypatch.setattr(_mkl.sys, "prefix", str(tmp_path))
    monkeypatch.delenv("WEFT_MKL_LIBRARY", raising=False)
    _mkl.announce()
    assert _mkl.os.environ["WEFT_MKL_LIBRARY"] == str(tmp_path / "lib")
    (tmp_path / "lib/libmkl_rt.so.2").unlink()
    monkeypatch.delenv("WEFT_MKL_LIBRARY")
    monkeypatch.setattr(_mkl.site, "getuserbase", lambda: str(tmp_path))
    _mkl.announce()
    assert "WEFT_MKL_LIBRARY" not in _mkl.os.environ
    monkeypatch.setenv("WEFT_MKL_LIBRARY", "/elsewhere")
    _mkl.announce()
    assert _mkl.os.environ["WEFT_MKL_LIBRARY"] == "/elsewhere"
