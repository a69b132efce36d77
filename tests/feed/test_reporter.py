"""Reports never hold up the training loop beyond the credit, and errors of theirs are raised in it."""

from __future__ import annotations

import threading

import pytest

from raydata_ext.feed.reporter import Reporter


def test_a_slow_coordinator_is_told_the_latest_only():
    gate, sent = threading.Semaphore(0), []

    def send(report):
        gate.acquire()
        sent.append(report[1])

    reporter = Reporter(send, credit=10)
    for step in range(8):
        reporter.report((0, step, {}))
    for _ in range(2):
        gate.release()
    reporter.flush()
    assert sent[-1] == 7
    assert len(sent) <= 2
    reporter.close()


def test_the_loop_waits_when_the_credit_is_used_up():
    gate, passed = threading.Event(), []
    reporter = Reporter(lambda _: gate.wait(), credit=2)

    def loop():
        for step in range(6):
            reporter.report((0, step, {}))
            passed.append(step)

    thread = threading.Thread(target=loop)
    thread.start()
    thread.join(0.3)
    assert passed == [0, 1]
    gate.set()
    thread.join()
    assert passed == list(range(6))
    reporter.close()


def test_what_goes_wrong_with_a_report_is_raised_in_the_loop():
    def send(report):
        raise ConnectionError("gone")

    reporter = Reporter(send, credit=1)
    reporter.report((0, 1, {}))
    with pytest.raises(ConnectionError, match="gone"):
        reporter.flush()
    reporter.close()
