"""What happens to objects of Weft in a forked child, at the end of the interpreter, and with Ctrl-C."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
import weft


def run(program: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60
    )


PARENT = """
    import os, numpy as np, weft
    a = np.ones((64, 64, 32))
    weft.fftn(a, workers=2)
    plan, team = weft.Plan(None, (4, 4)), weft.ThreadTeam(2)
    x = plan.empty_input()
"""


def in_child(lines: str) -> subprocess.CompletedProcess:
    """The lines in a child of fork; its exit status is that of the whole."""
    parts = [textwrap.dedent(PARENT), "child = os.fork()\nif child == 0:\n"]
    parts += [textwrap.indent(textwrap.dedent(lines), "    ")]
    parts += ["\nelse:\n    raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"]
    return run("".join(parts))


def test_a_forked_child_transforms_whole_arrays():
    result = in_child("assert weft.fftn(a, workers=2)[0, 0, 0] == a.size")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("use", ["plan.forward(x)", "plan.measured_error(x)", "team.run(lambda comm: 0)", "str(plan)"])
def test_objects_of_the_parent_are_errors_in_the_child(use):
    result = in_child(
        f"""
        try:
            {use}
        except weft.Error as error:
            assert "forked" in str(error)
        else:
            raise SystemExit("no error")
        """
    )
    assert result.returncode == 0, result.stderr


def test_real_arrays_while_the_interpreter_exits():
    result = run(
        "import atexit, numpy as np, weft; a = np.ones((8, 1 << 16))\n"
        "atexit.register(lambda: print(np.allclose(weft.fft(a, workers=2), np.fft.fft(a))))"
    )
    assert result.stdout == "True\n", result.stderr


def test_a_child_may_free_what_is_its_parents():
    result = in_child("plan.free()\ndel team, plan\nassert weft.Plan(None, (4, 4)).forward(x).shape == (4, 4)")
    assert result.returncode == 0, result.stderr


def test_objects_may_be_left_at_the_end():
    result = run(textwrap.dedent(PARENT) + "keep = [plan, team, weft.Comm.self()]\nprint('done')")
    assert (result.returncode, result.stdout, result.stderr) == (0, "done\n", "")


def test_ctrl_c():
    """A long search ends between two trials, and Weft can be used as before."""
    program = """
        import weft
        print("ready", flush=True)
        try:
            weft.Plan(None, (128, 128, 128), effort="patient", budget="100s", trials=100000, fft="fftw")
            print("not interrupted")
        except KeyboardInterrupt:
            print("interrupted", weft.fftn([1.0])[0])
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    time.sleep(1)
    os.kill(child.pid, signal.SIGINT)
    assert child.communicate(timeout=40)[0] == "interrupted (1+0j)\n"
    assert child.returncode == 0


def test_backend_of_the_whole_program():
    """As docs/from-scipy.md has it: SciPy does what Weft lacks."""
    result = run(
        """
        import numpy as np, scipy.fft, weft
        scipy.fft.set_global_backend(weft)
        scipy.fft.register_backend("scipy")
        large = np.ones((128, 128, 8))
        assert isinstance(scipy.fft.fftn(large).base, weft._core.ResultMemory)
        assert scipy.fft.fft(np.ones(4, np.longdouble)).dtype == np.clongdouble
        assert scipy.fft.fht(np.ones(8), 0.1, 0.5).shape == (8,)
        """
    )
    assert result.returncode == 0, result.stderr


def test_tracers_see_the_threads_of_a_team():
    """As those of `threading`: debuggers and coverage give their functions to that module."""
    seen = {"trace": set(), "profile": set()}

    def traced(comm):
        return comm.rank

    def note(kind):
        return lambda frame, event, argument: seen[kind].add((frame.f_code.co_name, threading.get_native_id()))

    before = threading.gettrace(), threading.getprofile()
    try:
        threading.settrace(note("trace"))
        threading.setprofile(note("profile"))
        assert weft.ThreadTeam(3).run(traced) == [0, 1, 2]
    finally:
        threading.settrace(before[0])
        threading.setprofile(before[1])
    for threads in seen.values():
        assert len({thread for name, thread in threads if name == "traced"}) == 3
    assert weft.ThreadTeam(2).run(traced) == [0, 1]
