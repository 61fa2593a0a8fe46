"""Runs a load generator that asks by `one_request(client, url, ...)` as it is, each request under an id of its own.

with_ids.py SCRIPT RESULT_FILE ARGUMENTS...: the id goes into the query of the address, where the server of the bench
reads it; what each request returned is written beside its id, so that it can be held against the server's stamps.
"""

import importlib.util
import itertools
import json
import sys

script, result_file = sys.argv[1:3]
spec = importlib.util.spec_from_file_location("peer", script)
peer = importlib.util.module_from_spec(spec)
sys.modules["peer"] = peer
spec.loader.exec_module(peer)

ids = itertools.count()
results = []
original = peer.one_request


async def with_id(client, url, *rest, **named):
    request_id = f"peer-{next(ids)}"
    result = await original(client, f"{url}?id={request_id}", *rest, **named)
    if result.ok:
        tpot = result.tpot if result.out_tokens > 1 else None
        timed = {"ttftSeconds": result.ttft, "tpotSeconds": tpot, "outputTokens": result.out_tokens}
        results.append({"id": request_id, **timed})
    return result


peer.one_request = with_id
sys.argv = [script, *sys.argv[3:]]
peer.main()
with open(result_file, "w") as file:
    json.dump(results, file)
