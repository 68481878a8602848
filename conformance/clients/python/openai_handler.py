"""A handler as public OpenAI workers have it: a generator that aggregates, and yields ready-made events when asked to stream."""

import json

import runpod


def handler(job):
    given = job["input"]
    asked = given.get("openai_input", {})
    if given["openai_route"] == "/v1/models":
        yield {"object": "list", "data": [{"id": "echo", "object": "model", "created": 1, "owned_by": "berth"}]}
        return
    if asked["model"] != "echo":
        yield {"error": {"message": f"The model `{asked['model']}` does not exist.", "type": "NotFoundError", "code": 404}}
        return
    if given["openai_route"] == "/v1/embeddings":
        yield {"object": "list", "model": "echo", "data": [{"object": "embedding", "index": 0, "embedding": [0.5, 1.0]}],
               "usage": {"prompt_tokens": 1, "total_tokens": 1}}
        return
    words = asked["messages"][-1]["content"].split()
    reply = {"id": "chatcmpl-1", "created": 1, "model": "echo"}
    if not asked.get("stream"):
        message = {"role": "assistant", "content": " ".join(words)}
        yield reply | {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        return
    for word in words:
        if word == "fail":
            raise ValueError("asked to fail")
        delta = {"index": 0, "delta": {"content": word}, "finish_reason": None}
        yield f"data: {json.dumps(reply | {'object': 'chat.completion.chunk', 'choices': [delta]})}\n\n"
    yield "data: [DONE]\n\n"


runpod.serverless.start({"handler": handler, "return_aggregate_stream": True})
