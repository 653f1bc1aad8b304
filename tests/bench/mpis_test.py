"""Tests of what bench/mpis.py decides without any MPI: arguments, settings, rounds and tables."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import mpi_libraries  # noqa: E402
import mpi_settings  # noqa: E402
import mpi_tables  # noqa: E402
import mpis  # noqa: E402
import runs  # noqa: E402

KINDS = mpi_settings.KINDS
PLAIN = mpi_settings.AS_INSTALLED


def mpi(name: str, kind: str = "openmpi") -> mpi_libraries.Mpi:
    return mpi_libraries.Mpi(name, "bench", "mpirun", KINDS[kind], "1.0", {})


def row(exchange: str, seconds: list[float], setting: str = PLAIN, name: str = "a", **more) -> dict:
    place = {"shape": "8,8,8", "transform": "c2c", "ranks": 2}
    of = {**place, "mpi": name, "setting": setting, "exchange": exchange, "seconds": seconds, **more}
    return {**of, "median_s": sorted(seconds)[len(seconds) // 2]} if seconds else of


class Arguments(unittest.TestCase):
    def test_an_mpi_has_a_name_a_program_and_a_launcher(self):
        self.assertEqual(mpi_libraries.split_mpi("a=b/c:d"), ("a", "b/c", "d"))
        self.assertEqual(mpi_libraries.split_mpi("a=b:c:/d/e"), ("a", "b:c", "/d/e"))

    def test_what_is_missing_is_an_error_that_shows_what_is_wanted(self):
        for text in ("a", "a=b", "=b:c", "a=:c", "a=b:"):
            with self.subTest(text), self.assertRaisesRegex(ValueError, "NAME=BENCH:LAUNCHER"):
                mpi_libraries.split_mpi(text)


class Settings(unittest.TestCase):
    def test_launchers_and_libraries_are_told_apart(self):
        said = {
            "openmpi": "mpirun.openmpi (OpenRTE) 4.1.4",
            "mpich": "HYDRA build details:\n    Version:  4.0.2",
            "intel": "Intel(R) MPI Library for Linux* OS, Version 2021.18.1 Build 20260626",
        }
        for kind, text in said.items():
            self.assertEqual(mpi_settings.kind_of_launcher(text), kind)
        self.assertIsNone(mpi_settings.kind_of_launcher("ls (GNU coreutils) 9.1"))
        self.assertEqual(mpi_settings.kind_of_library(b"..MPIR_CVAR_ASYNC_PROGRESS..I_MPI_FABRICS.."), "intel")
        self.assertEqual(mpi_settings.kind_of_library(b"..MPIR_CVAR_ASYNC_PROGRESS.."), "mpich")
        self.assertIsNone(mpi_settings.kind_of_library(b"zlib"))

    def test_every_setting_is_whole_and_concerns_exchanges_that_there_are(self):
        for kind in KINDS.values():
            for setting in kind.settings:
                self.assertTrue(setting.parameters and setting.meaning, setting)
                self.assertLessEqual(set(setting.exchanges), set(mpis.EXCHANGES), setting)
                self.assertNotEqual(setting.name, PLAIN)

    def test_the_launcher_is_given_parameters_and_what_is_beside_them(self):
        setting = mpi_settings.Setting("s", "m", {"A": "1"}, beside={"B": "x,y"})
        self.assertEqual(mpi_settings.arguments_of(KINDS["mpich"], setting), ["-genv", "A", "1", "-genv", "B", "x,y"])
        self.assertEqual(mpi_settings.arguments_of(KINDS["openmpi"], setting)[:3], ["--mca", "A", "1"])

    def test_lists_are_read_with_the_values_that_they_name(self):
        said = (
            "mca:coll:tuned:param:coll_tuned_alltoall_algorithm:value:ignore\n"
            "mca:coll:tuned:param:coll_tuned_alltoall_algorithm:enumerator:value:1:linear\n"
            "mca:btl:tcp:param:btl_tcp_eager_limit:value:65536\n"
        )
        self.assertEqual(
            mpi_settings.read_list(KINDS["openmpi"], said),
            {"coll_tuned_alltoall_algorithm": {"linear"}, "btl_tcp_eager_limit": set()},
        )
        self.assertEqual(
            mpi_settings.read_list(KINDS["intel"], "I_MPI_SHM \n    about I_MPI_SHM\nI_MPI_PIN\n"),
            {"I_MPI_SHM": set(), "I_MPI_PIN": set()},
        )
        self.assertEqual(
            mpi_settings.read_list(KINDS["mpich"], "\tMPIR_CVAR_NOLOCAL       =0\tSCOPE\n"),
            {"MPIR_CVAR_NOLOCAL": set()},
        )

    def test_what_an_mpi_does_not_know_is_left_out_and_named(self):
        settings = (
            mpi_settings.Setting("eager", "", {"old": "1"}),
            mpi_settings.Setting("eager", "", {"new": "1"}),
            mpi_settings.Setting("word", "", {"choice": "third"}),
            mpi_settings.Setting("gone", "", {"x": "1", "old": "2"}),
        )
        known, missing = mpi_settings.known_settings(settings, {"old": set(), "choice": {"first", "second"}})
        self.assertEqual(known, [settings[0]])
        self.assertEqual(missing, {"word": "choice third", "gone": "x"})
        self.assertEqual(mpi_settings.known_settings(settings, None), (list(settings), {}))


class Cases(unittest.TestCase):
    settings = [
        mpi_settings.Setting(PLAIN, "", {}, tuple(mpis.EXCHANGES)),
        mpi_settings.Setting("s", "", {"A": "1"}, ("alltoallv",)),
    ]

    def pairs(self, problem: mpis.Problem, exchanges: list[str], every: bool) -> list[tuple[str, str]]:
        cases = mpis.cases_of(problem, 2, mpi("a"), self.settings, exchanges, every)
        return [(case.setting.name, case.exchange) for case in cases]

    def test_settings_run_with_the_exchanges_that_they_concern(self):
        exchanges = ["direct", "p2p", "alltoallv", "auto"]
        plain = [(PLAIN, e) for e in exchanges]
        self.assertEqual(self.pairs(mpis.Problem("8,8,8"), exchanges, False), [*plain, ("s", "alltoallv")])
        self.assertEqual(self.pairs(mpis.Problem("8,8,8"), exchanges, True), [*plain, ("s", "p2p"), ("s", "alltoallv")])
        self.assertEqual(self.pairs(mpis.Problem("8,8,8", brief=True), exchanges, True), plain)

    def test_commands_set_the_pipeline_but_for_auto(self):
        case = mpis.Case(mpis.Problem("8,8,8", "r2c"), 2, mpi("a"), self.settings[1], "alltoallv")
        command = mpis.command_of(case)
        self.assertEqual(command[2:7], ["mpirun", "2", "--mca", "A", "1"])
        self.assertIn("sequential", command)
        self.assertEqual(command[command.index("--transform") + 1], "r2c")
        self.assertNotIn("--pipeline", mpis.command_of(case._replace(exchange="auto")))

    def test_mpis_take_turns(self):
        self.assertEqual(mpis.in_turn([[1, 2, 3], [4], [5, 6]]), [1, 4, 5, 2, 6, 3])

    def test_what_may_still_win_runs_again(self):
        rows = [
            row("p2p", [2.0]),
            row("p2pw", [2.5]),
            row("ring", [2.7]),
            row("p2p", [1.0], "s"),
            row("p2pw", [1.4], "s"),
            row("p2p", [], failed="no"),
            row("p2p", [9.0], name="b"),
            row("p2pw", [5.0], failed="later"),
        ]
        self.assertEqual(mpis.run_again(rows, 1.3), [True, True, False, True, False, False, True, False])
        self.assertEqual(mpis.run_again(rows, 1.5), [True, True, True, True, True, False, True, False])


class Reasons(unittest.TestCase):
    def test_the_line_that_tells_most_is_chosen(self):
        self.assertEqual(runs.reason("-----\nno btl x\nweft: no room\n", 1), "weft: no room")
        self.assertEqual(runs.reason("-----\nno btl x\nmore\n", 1), "no btl x")
        self.assertEqual(
            runs.reason("[a:1] ORTE_ERROR_LOG: no space\nFatal, stack:\nin f\nno device\n", 1),
            "Fatal, stack: no device",
        )
        self.assertEqual(runs.reason("---\n", 9), "exit status 9")


class Tables(unittest.TestCase):
    rows = [
        row("direct", [0.5e-3]),
        row("p2p", [2e-3]),
        row("alltoallw", [1e-3]),
        row("p2pw", [1.04e-3]),
        row("auto", [0.4e-3]),
        row("p2p", [0.8e-3], "s"),
        row("p2pw", [], "s", failed="refused"),
    ]

    def test_problems_have_short_names(self):
        self.assertEqual(mpi_tables.problem_name("64,64,64", "r2c"), "64³ r2c")
        self.assertEqual(mpi_tables.problem_name("64,32,64", "c2c"), "64 x 32 x 64 c2c")

    def test_the_fastest_messages_win_and_what_is_as_fast_is_named_beside_them(self):
        (line,) = mpi_tables.summary(self.rows)
        self.assertEqual(line["winners"], ["alltoallw", "p2pw"])
        self.assertEqual((line["best_exchange"], line["best_setting"]), ("p2p", "s"))
        self.assertAlmostEqual(line["direct_ms"], 0.5)
        self.assertIn("| `alltoallw`, `p2pw` | 1 | `p2p`, s | 0.8 | 0.5 | 0.4 |", mpi_tables.summary_table(self.rows))

    def test_a_setting_that_gains_nothing_is_not_in_the_summary(self):
        rows = [row("p2p", [1e-3]), row("p2p", [0.99e-3], "s")]
        self.assertIn("| `p2p` | 1 |  |  |", mpi_tables.summary_table(rows))

    def test_settings_are_compared_with_the_same_exchange_as_installed(self):
        (line,) = mpi_tables.changes(self.rows)
        self.assertEqual((line["setting"], line["exchange"]), ("s", "p2p"))
        self.assertAlmostEqual(line["ratios"][("8,8,8", "c2c", 2)], 0.4)
        self.assertIn("0.40", mpi_tables.changes_table(self.rows, 1.1))
        self.assertNotIn("0.40", mpi_tables.changes_table(self.rows, 3))

    def test_failures_say_where_and_why(self):
        self.assertEqual(mpi_tables.failures_text(self.rows, "- "), "- a, s (8³ c2c on 2 p2pw): refused\n")


if __name__ == "__main__":
    unittest.main()
