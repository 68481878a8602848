"""Plays the program of the SDK's task images, which no registry of packages has: it runs one function that the SDK sends.

It is found under the name that the SDK starts, and listens on RUNPOD_TASK_PORT for who has RUNPOD_TASK_TOKEN.
"""

import base64
import json
import os
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import cloudpickle

state = {"status": "IDLE"}


def run(request):
    try:
        module = {"__name__": "task"}
        exec(request["function_code"], module)  # noqa: S102: it is what the program is for
        function = module[request["function_name"]]
        function = getattr(function, "_fn", function)
        args = [cloudpickle.loads(base64.b64decode(arg)) for arg in request["args"]]
        kwargs = {name: cloudpickle.loads(base64.b64decode(arg)) for name, arg in request["kwargs"].items()}
        result = base64.b64encode(cloudpickle.dumps(function(*args, **kwargs))).decode()
        response = {"success": True, "result": result}
    except Exception:
        response = {"success": False, "error": traceback.format_exc(limit=-1)}
    state.update(status="DONE", response=response)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def refused(self):
        if self.headers["Authorization"] == "Bearer " + os.environ["RUNPOD_TASK_TOKEN"]:
            return False
        self.answer(401, {})
        return True

    def do_GET(self):
        if self.path == "/ping":
            self.answer(200, {})
        elif not self.refused():
            self.answer(200, state)

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.refused():
            return
        if self.path == "/submit":
            state["status"] = "RUNNING"
            threading.Thread(target=run, args=[request], daemon=True).start()
        self.answer(200, {"timeout": request.get("timeout")})

    def log_message(self, *args):
        pass


ThreadingHTTPServer(("127.0.0.1", int(os.environ["RUNPOD_TASK_PORT"])), Handler).serve_forever()
