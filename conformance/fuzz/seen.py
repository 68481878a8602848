"""seen.py SEEN UNSEEN DOCUMENT_URL...: fails if a documented answer was never seen, or if one was seen that is not documented
by its own status (a default response would let it pass) or that UNSEEN lists."""

import json
import sys
import urllib.request
from collections import Counter

METHODS = {"get", "put", "post", "delete", "patch"}


def lines(path):
    with open(path) as file:
        return [words for line in file if (words := line.split("#")[0].split())]


documented = set()
for url in sys.argv[3:]:
    with urllib.request.urlopen(url) as answer:
        for item in json.load(answer)["paths"].values():
            for method in METHODS & item.keys():
                operation = item[method]
                documented |= {f"{operation['operationId']} {s}" for s in operation["responses"] if s != "default"}
seen = Counter()
for operation, status, times in lines(sys.argv[1]):
    seen[f"{operation} {status}"] += int(times)
excused = {" ".join(words) for words in lines(sys.argv[2])}
faults = [f"never seen: {p}" for p in documented - seen.keys() - excused]
faults += [f"seen, but not documented: {p}" for p in seen.keys() - documented]
faults += [f"seen, but listed as never seen: {p}" for p in excused & seen.keys()]
faults += [f"listed as never seen, but not documented: {p}" for p in excused - documented]
print("\n".join(sorted(faults)) or f"ok: {len(documented - excused)} of {len(documented)} documented answers seen in {seen.total()} requests")
sys.exit(bool(faults))
