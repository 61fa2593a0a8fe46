"""What the comparison clients share: arguments, the closed loop, and the result that the bench reads."""

import asyncio
import json
import resource
import sys
import time


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


async def closed_loop(arguments: Arguments, ask) -> None:
    """Keeps the wanted number of streams going; prints the result as one line of JSON."""
    readings: list[Reading] = []
    failed = 0

    # One round of each before the clock starts: connections, caches.
    await asyncio.gather(*(ask(Reading("")) for _ in range(arguments.streams)))
    deadline = time.monotonic() + arguments.seconds

    async def worker(number: int) -> None:
        nonlocal failed
        round_number = 0
        while time.monotonic() < deadline:
            reading = Reading(f"{number}-{round_number}")
            round_number += 1
            await ask(reading)
            if reading.done:
                readings.append(reading)
            else:
                failed += 1

    before = resource.getrusage(resource.RUSAGE_SELF)
    started = time.monotonic()
    await asyncio.gather(*(worker(number) for number in range(arguments.streams)))
    wall = time.monotonic() - started
    after = resource.getrusage(resource.RUSAGE_SELF)
    print(
        json.dumps(
            {
                "cpuSeconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
                "wallSeconds": wall,
                "failed": failed,
                "streams": [{"id": r.id, "arrivals": [str(at) for at in r.arrivals]} for r in readings],
            }
        )
    )
