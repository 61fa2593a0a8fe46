"""A plain aiohttp client that times a stream as well as aiohttp lets it. URL STREAMS SECONDS TOKENS"""

import asyncio
import time

import aiohttp
from common import Arguments, Reading, closed_loop


async def main() -> None:
    arguments = Arguments()
    body = arguments.body()
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def ask(reading: Reading) -> None:
            headers = {"x-request-id": reading.id}
            async with session.post(f"{arguments.url}/v1/chat/completions", json=body, headers=headers) as response:
                async for line in response.content:
                    reading.line(line, time.monotonic_ns())

        await closed_loop(arguments, ask)


asyncio.run(main())
