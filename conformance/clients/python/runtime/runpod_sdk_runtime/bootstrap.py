"""Plays the program of the SDK's images for apis and functions, which no registry of packages has: it runs what the SDK sends.

It is found under the name that the SDK starts, with RUNPOD_RUNTIME_KIND.
"""

import json
import os
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import runpod
from runpod.apps.markers import is_init, route_of


def module_of(source):
    module = {"__name__": "app"}
    exec(source, module)  # noqa: S102: it is what the program is for
    return module


class Api(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    routes = {}

    def answer(self):
        given = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, body = self.result(json.loads(given) if given else None)
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = answer

    def result(self, given):
        if self.path == "/ping":
            return 200, {}
        if self.path == "/_runpod/sync":
            handle = next(h for h in module_of(given["source"]).values() if getattr(getattr(h, "spec", None), "name", "") == given["resource"])
            served = handle.__wrapped__()
            members = [getattr(served, name) for name in dir(served) if callable(getattr(served, name))]
            for prepare in filter(is_init, members):
                prepare()
            Api.routes = {route_of(member): member for member in members if route_of(member)}
            return 200, {"success": True}
        route = self.routes.get((self.command, self.path))
        if route is None:
            return 404, {"detail": "Not Found"}
        return 200, route(given) if self.command == "POST" else route()


def run(job):
    request = job["input"]
    try:
        function = module_of(request["function_code"])[request["function_name"]]
        yield {"success": True, "json_result": getattr(function, "_fn", function)(*request["args"], **request["kwargs"])}
    except Exception:
        yield {"success": False, "error": traceback.format_exc(limit=-1)}


if os.environ["RUNPOD_RUNTIME_KIND"] == "api":
    ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Api).serve_forever()
else:
    runpod.serverless.start({"handler": run, "return_aggregate_stream": True})
