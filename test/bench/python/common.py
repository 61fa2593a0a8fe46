"""What the comparison clients share: arguments, the closed loop, and the result that the bench reads."""

import asyncio
import json
import resource
import sys
import time


# As in ../probe-client.ts, for the reasons given there.
WARM_UP_SECONDS = 10
SPREAD_SECONDS = 1


class Arguments:
    def __init__(self) -> None:
        self.url, streams, seconds, tokens = sys.argv[1:5]
        self.streams, self.seconds, self.tokens = int(streams), float(seconds), int(tokens)

    def body(self) -> dict:
        return {
            "model": "bench",
            "messages": [{"role": "user", "content": "word " * 64}],
            "max_tokens": self.tokens,
            "temperature": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
        }


class Reading:
    """One answer: the arrival of each token, and the count that the server gives."""

    def __init__(self, request_id: str) -> None:
        self.id = request_id
        self.sent = time.monotonic_ns()
        self.arrivals: list[int] = []
        self.tokens = None
        self.done = False

    def line(self, line: bytes, arrived_ns: int) -> None:
        if not line.startswith(b"data:"):
            return
        payload = line[5:].strip()
        if payload == b"[DONE]":
            self.done = True
            return
        event = json.loads(payload)
        if event.get("usage"):
            self.tokens = event["usage"]["completion_tokens"]
        for choice in event.get("choices") or []:
            if (choice.get("delta") or {}).get("content"):
                self.arrivals.append(arrived_ns)

    def told(self) -> dict:
        return {"id": self.id, "sent": str(self.sent), "arrivals": [str(at) for at in self.arrivals]}


async def closed_loop(arguments: Arguments, ask) -> None:
    """Keeps the wanted number of streams going; prints the result as one line of JSON."""
    readings: list[Reading] = []
    before_clock: list[Reading] = []
    failed = 0

    started = time.monotonic() + WARM_UP_SECONDS
    deadline = started + arguments.seconds

    async def worker(number: int) -> None:
        nonlocal failed
        round_number = 0
        await asyncio.sleep(number / arguments.streams * SPREAD_SECONDS)
        while time.monotonic() < deadline:
            counted = time.monotonic() >= started
            reading = Reading(f"{number}-{round_number}")
            round_number += 1
            await ask(reading)
            if reading.done:
                (readings if counted else before_clock).append(reading)
            elif counted:
                failed += 1

    working = asyncio.gather(*(worker(number) for number in range(arguments.streams)))
    await asyncio.sleep(WARM_UP_SECONDS)
    before = resource.getrusage(resource.RUSAGE_SELF)
    await working
    wall = time.monotonic() - started
    after = resource.getrusage(resource.RUSAGE_SELF)
    print(
        json.dumps(
            {
                "cpuSeconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
                "wallSeconds": wall,
                "failed": failed,
                "streams": [reading.told() for reading in readings],
                "warmUp": [reading.told() for reading in before_clock],
            }
        )
    )
