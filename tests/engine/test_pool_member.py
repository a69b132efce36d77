"""What the driver knows of one actor."""

from __future__ import annotations

from raydata_ext.engine.heartbeat import Beat
from raydata_ext.engine.pool_member import Member


def test_rows_of_an_earlier_task_are_not_taken_for_those_of_the_present_one():
    member = Member(handle=None, tasks={"first": 0, "second": 1})
    assert member.rows_read is None
    member.see(Beat(1, 500))
    assert member.rows_read == 500
    assert member.finish("first") == 0
    assert member.rows_read is None
    member.see(Beat(2, 7))
    assert member.rows_read == 7
