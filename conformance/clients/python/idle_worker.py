"""Counts what an idle SDK worker asks, in the log of a verbose server that serves it, once its pings were seen over so many seconds: of
job-take, and of job-stop, at most one request in any 20 seconds. Pings, each 10 seconds by the environment, are counted apart.

usage: idle_worker.py LOG SECONDS
"""

import re
import sys
import time
from collections import Counter
from datetime import datetime

log, least = sys.argv[1], float(sys.argv[2])


def requests():
    """When which requests were answered, by their kind."""
    times = {}
    for line in open(log):
        if found := re.search(r"time=(\S+) .*route=/v2/\S+?/(job-take-batch|job-take|job-stop|job-done|ping)/", line):
            times.setdefault(found[2], []).append(datetime.fromisoformat(found[1].replace("Z", "+00:00")).timestamp())
    return times


# How long the worker takes until its first ping, and from there to the end of its first take, is the machine's affair; who runs this says when it
# has taken too long.
while True:
    times = requests()
    pings = times.get("ping", [0])
    watched = pings[-1] - pings[0]
    if watched >= least and times.get("job-take"):
        break
    time.sleep(1)
for kind in ("job-take", "job-take-batch", "job-stop"):
    ends = times.get(kind, [])
    for before, after in zip(ends, ends[1:]):
        assert after - before >= 20, f"{kind}: two within {after - before:.1f} s"
counts = Counter({kind: len(ends) for kind, ends in times.items()})
print(f"ok: an idle worker, over {watched:.0f} s:", ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items())))
