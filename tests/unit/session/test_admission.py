"""How writes come in while queued ones are replayed."""

from __future__ import annotations

import asyncio

from services.session.admission import Admission


async def test_spec_1_6_one_write_is_let_in_for_every_two_that_are_replayed() -> None:
    admission = Admission()
    await admission.wait()  # nothing is replayed
    with admission.replaying():
        waiting = [asyncio.create_task(admission.wait()) for _ in range(3)]
        let_in = []
        for _ in range(4):
            admission.replayed()
            for _ in range(3):
                await asyncio.sleep(0)
            let_in.append([task.done() for task in waiting])
    assert let_in == [[False] * 3, [True, False, False], [True, False, False], [True, True, False]]
    await waiting[2]  # the end lets in all
    await admission.wait()


async def test_spec_1_6_a_write_that_gives_up_waiting_takes_no_place() -> None:
    admission = Admission()
    with admission.replaying():
        first, second = (asyncio.create_task(admission.wait()) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.sleep(0)
        for _ in range(2):
            admission.replayed()
        await asyncio.wait_for(second, 5)
