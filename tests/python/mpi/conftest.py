"""Ranks agree on the outcome of each test; if it failed anywhere, it fails everywhere, and the job goes on together."""

import pytest
from mpi4py import MPI


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.when == "call":
        failed = MPI.COMM_WORLD.allreduce(int(report.failed))
        if failed and not report.failed:
            report.outcome, report.longrepr = "failed", f"failed on {failed} other ranks"
    return report
