"""Runs a command and says what it and everything it started took: measure.py RESULT_FILE COMMAND...

User and system time of all descendants that ended, also of those whose parents did not wait for them.
"""

import ctypes
import json
import os
import resource
import subprocess
import sys
import time

PR_SET_CHILD_SUBREAPER = 36

ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
started = time.monotonic()
child = subprocess.Popen(sys.argv[2:])
code = child.wait()
wall = time.monotonic() - started
try:
    while True:
        os.waitpid(-1, 0)
except ChildProcessError:
    pass
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as result:
    json.dump({"code": code, "wallSeconds": wall, "cpuSeconds": used.ru_utime + used.ru_stime}, result)
