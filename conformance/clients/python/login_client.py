"""The login in a browser of an unmodified client: its command prints the address of a page, somebody who is signed in there approves, and the
command keeps the key that it gets.

usage: login_client.py URL KEY COMMAND...
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

url, key, *command = sys.argv[1:]
home = tempfile.mkdtemp()
environment = {name: value for name, value in os.environ.items() if not name.startswith("RUNPOD_")} | {
    "HOME": home, "COLUMNS": "200", "PYTHONUNBUFFERED": "1", "RUNPOD_URL_MIXED_OK": "1", "RUNPOD_API_BASE_URL": url, "RUNPOD_CONSOLE_URL": url + "/console",
}


def ask(token, query, **variables):
    """What GraphQL answers, with a key or without one."""
    headers = {"Content-Type": "application/json"} | ({"Authorization": "Bearer " + token} if token else {})
    request = urllib.request.Request(url + "/graphql", json.dumps({"query": query, "variables": variables}).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def login(verb):
    """Runs the command until it ends, and gives how it ended and the id of its request."""
    with subprocess.Popen([*command, "login", "--no-open"], env=environment, cwd=home, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as client:
        printed, request = "", None
        for line in client.stdout:
            printed += line
            found = re.search(r"(http\S+/flash/login\?request=([a-z0-9]+))", line)
            if not found or request:
                continue
            page, request = found.groups()
            with urllib.request.urlopen(page) as answer:
                assert answer.headers["Content-Type"].startswith("text/html"), answer.headers
            shown = ask(key, "query ($id: String!) { flashAuthRequestStatus(flashAuthRequestId: $id) { status clientAddress userAgent } }", id=request)
            shown = shown["data"]["flashAuthRequestStatus"]
            assert shown["status"] == "PENDING" and shown["clientAddress"] and shown["userAgent"], shown
            decided = ask(key, "mutation ($id: String!) { %sFlashAuthRequest(flashAuthRequestId: $id) { status } }" % verb, id=request)
            assert "errors" not in decided, decided
        status = client.wait()
    assert request, printed
    return status, request, printed


status, _, printed = login("deny")
assert status != 0 and "denied" in printed, printed

status, request, printed = login("approve")
assert status == 0, printed
with open(os.path.join(home, ".runpod", "config.toml")) as kept:
    new = re.search(r'api_key = "([^"]+)"', kept.read())[1]
assert new != key
assert ask(new, "{ myself { id } }")["data"]["myself"]["id"] == ask(key, "{ myself { id } }")["data"]["myself"]["id"]
again = ask(None, "query ($id: String!) { flashAuthRequestStatus(flashAuthRequestId: $id) { status apiKey } }", id=request)
assert again["data"]["flashAuthRequestStatus"] == {"status": "CONSUMED", "apiKey": None}, again
print("ok:", os.path.basename(command[0]), "login: denied, and approved on the page that it names")
