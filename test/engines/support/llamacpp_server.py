"""Runs llama.cpp's own HTTP server in the foreground. Usage: llamacpp_server.py MODEL PORT PARALLEL CONTEXT"""

import signal
import sys

import xllamacpp


def main() -> None:
    model, port, parallel, context = sys.argv[1:5]
    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.model_alias = {"gemma3-270m"}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = int(port)
    parameters.n_parallel = int(parallel)
    parameters.n_ctx = int(context)
    # One thread: with two, the workers spin for each other whenever something else wants a core.
    parameters.cpuparams.n_threads = 1
    parameters.endpoint_metrics = True
    parameters.endpoint_slots = True
    server = xllamacpp.Server(parameters)
    print("listening on", server.listening_address, flush=True)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})


if __name__ == "__main__":
    main()
