"""seen.py SEEN DOCUMENT_URL...: fails if a documented answer was never seen, or if one was seen that is not documented by its
own status (a default response would let it pass)."""

import json
import os
import sys
import urllib.request
from collections import Counter

METHODS = {"get", "put", "post", "delete", "patch"}

# What servers that share a database never answer.
SHARED = {"loadState 204"}

documented = set()
for url in sys.argv[2:]:
    with urllib.request.urlopen(url) as answer:
        for item in json.load(answer)["paths"].values():
            for method in METHODS & item.keys():
                operation = item[method]
                documented |= {f"{operation['operationId']} {s}" for s in operation["responses"] if s != "default"}
if os.environ.get("BERTH_REPLICAS"):
    documented -= SHARED
seen = Counter()
with open(sys.argv[1]) as file:
    for line in file:
        answer, _, times = line.rpartition(" ")
        seen[answer] += int(times)
faults = [f"never seen: {answer}" for answer in documented - seen.keys()]
faults += [f"seen, but not documented: {answer}" for answer in seen.keys() - documented]
print("\n".join(sorted(faults)) or f"ok: all {len(documented)} documented answers seen, in {seen.total()} requests")
sys.exit(bool(faults))
