"""A plain httpx client that times a stream as well as httpx lets it. URL STREAMS SECONDS TOKENS"""

import asyncio
import time

import httpx
from common import Arguments, Reading, closed_loop


async def main() -> None:
    arguments = Arguments()
    body = arguments.body()
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(limits=limits, timeout=30) as client:

        async def ask(reading: Reading) -> None:
            headers = {"x-request-id": reading.id}
            url = f"{arguments.url}/v1/chat/completions"
            async with client.stream("POST", url, json=body, headers=headers) as response:
                async for line in response.aiter_lines():
                    reading.line(line.encode(), time.monotonic_ns())

        await closed_loop(arguments, ask)


asyncio.run(main())
