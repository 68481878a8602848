"""A small web server that speaks the OpenAI interface, as servers of models do. It listens on PORT, and answers with what it was sent."""

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def refuse(self, message):
        self.answer(404, {"error": {"message": message, "type": "NotFoundError", "code": 404}})

    def do_GET(self):
        if self.path == "/ping":
            self.answer(200, {})
        elif self.path == "/v1/models":
            self.answer(200, {"object": "list", "data": [{"id": "echo", "object": "model", "created": 1, "owned_by": os.environ["RUNPOD_POD_ID"]}]})
        else:
            self.refuse("no such path")

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if asked["model"] != "echo":
            return self.refuse(f"The model `{asked['model']}` does not exist.")
        if self.path == "/v1/embeddings":
            usage = {"prompt_tokens": 1, "total_tokens": 1}
            return self.answer(200, {"object": "list", "model": "echo", "data": [{"object": "embedding", "index": 0, "embedding": [0.5, 1.0]}], "usage": usage})
        words = asked["messages"][-1]["content"].split()
        reply = {"id": "chatcmpl-1", "created": 1, "model": "echo"}
        if not asked.get("stream"):
            message = {"role": "assistant", "content": " ".join(words)}
            return self.answer(200, reply | {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})

        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for word in words:
            choice = {"index": 0, "delta": {"content": word}, "finish_reason": None}
            self.event(json.dumps(reply | {"object": "chat.completion.chunk", "choices": [choice]}))
        self.event("[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def event(self, data):
        line = f"data: {data}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
        self.wfile.flush()

    def log_message(self, *_):
        pass


ThreadingHTTPServer.request_queue_size = 128  # of 5, the default, some systems cut off connections that nobody has accepted yet
ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Server).serve_forever()
