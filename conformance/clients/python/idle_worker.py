"""Counts what an idle SDK worker asks, in the log of a verbose server that served it: of job-take, and of job-stop, at most one
request in any 20 seconds. Pings, each 10 seconds by the environment, are counted apart.

usage: idle_worker.py LOG SECONDS
"""

import re
import sys
from collections import Counter
from datetime import datetime

log, least = sys.argv[1], float(sys.argv[2])
times = {}
for line in open(log):
    if found := re.search(r"time=(\S+) .*route=/v2/\S+?/(job-take-batch|job-take|job-stop|job-done|ping)/", line):
        times.setdefault(found[2], []).append(datetime.fromisoformat(found[1].replace("Z", "+00:00")).timestamp())
watched = times["ping"][-1] - times["ping"][0]
assert watched >= least - 10, f"pings were seen over {watched:.0f} s only"
for kind in ("job-take", "job-take-batch", "job-stop"):
    ends = times.get(kind, [])
    for before, after in zip(ends, ends[1:]):
        assert after - before >= 20, f"{kind}: two within {after - before:.1f} s"
assert times.get("job-take"), "no take ended: this is no worker"
counts = Counter({kind: len(ends) for kind, ends in times.items()})
print(f"ok: an idle worker, over {watched:.0f} s:", ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items())))
