"""The unmodified OpenAI client before an endpoint that balances load, whose workers speak that interface themselves: chat, stream,
embeddings, models, errors, many at once, from no worker on.

usage: openai_balanced.py URL KEY: of a server whose endpoints may have the image openai.
"""

import asyncio
import json
import sys
import urllib.request

import openai

url, key = sys.argv[1:]


def send(method, path, body=None):
    request = urllib.request.Request(url + path, method=method, data=body and json.dumps(body).encode())
    request.add_header("Authorization", f"Bearer {key}")
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=60) as answer:
        text = answer.read()
        return text and json.loads(text)


def ask(text, **more):
    return {"model": "echo", "messages": [{"role": "user", "content": text}], **more}


def raised(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def check(base):
    client = openai.OpenAI(base_url=base, api_key=key, timeout=60, max_retries=0)
    assert client.chat.completions.create(**ask("hello there")).choices[0].message.content == "hello there"  # held until there is a worker
    chunks = list(client.chat.completions.create(**ask("one two three", stream=True)))
    assert [c.choices[0].delta.content for c in chunks] == ["one", "two", "three"], chunks
    models = client.models.with_raw_response.list()
    assert models.parse().data[0].owned_by == models.headers["x-runpod-worker-id"], models.headers
    assert client.embeddings.create(model="echo", input="x", encoding_format="float").data[0].embedding == [0.5, 1.0]

    error = raised(openai.NotFoundError, lambda: client.chat.completions.create(**ask("x", model="none")))
    assert error.body["message"] == "The model `none` does not exist.", error.body
    stranger = openai.OpenAI(base_url=base, api_key="brt_wrong", max_retries=0)
    raised(openai.AuthenticationError, stranger.models.list)
    long = openai.OpenAI(base_url=base, api_key=key, max_retries=0)
    assert raised(openai.APIStatusError, lambda: long.chat.completions.create(**ask("x" * (31 << 20)))).status_code == 413


async def check_async(base):
    async with openai.AsyncOpenAI(base_url=base, api_key=key, timeout=60, max_retries=0) as client:
        answers = await asyncio.gather(*(client.chat.completions.create(**ask(f"call {n}")) for n in range(50)))
        assert [a.choices[0].message.content for a in answers] == [f"call {n}" for n in range(50)], answers
        stream = await client.chat.completions.create(**ask("one two", stream=True))
        assert [c.choices[0].delta.content async for c in stream] == ["one", "two"]


endpoint = send("POST", "/v2/serverless", {
    "name": "models", "type": "LOAD_BALANCER", "image": "openai", "cpu": [{"id": "cpu3g", "vcpuCount": 2}],
    "scaling": {"type": "REQUEST_COUNT", "requestCount": 8}, "workers": {"min": 0, "max": 3},
})
base = endpoint["requestUrls"]["base"] + "/v1"
check(base)
asyncio.run(check_async(base))
send("DELETE", f"/v2/serverless/{endpoint['id']}")
print("ok: openai client", openai.__version__, "before an endpoint that balances load")
