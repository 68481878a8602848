"""The unmodified OpenAI client, synchronous and asyncio, before an unmodified worker: chat, stream, embeddings, models, errors.

usage: openai_client.py BERTH DATA: the program to serve with, and a directory that it may make.
"""

import asyncio
import json
import os
import subprocess
import sys

import openai

berth, data = sys.argv[1:3]
handler = os.path.join(os.path.dirname(os.path.abspath(__file__)), "openai_handler.py")


def ask(text, **more):
    return {"model": "echo", "messages": [{"role": "user", "content": text}], **more}


def raised(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def check(base, key):
    client = openai.OpenAI(base_url=base, api_key=key, timeout=240, max_retries=0)
    assert client.chat.completions.create(**ask("hello there")).choices[0].message.content == "hello there"
    chunks = list(client.chat.completions.create(**ask("one two three", stream=True)))
    assert [c.choices[0].delta.content for c in chunks] == ["one", "two", "three"], chunks
    assert [m.id for m in client.models.list()] == ["echo"]
    assert client.embeddings.create(model="echo", input="x", encoding_format="float").data[0].embedding == [0.5, 1.0]

    error = raised(openai.NotFoundError, lambda: client.chat.completions.create(**ask("x", model="none")))
    assert error.body["message"] == "The model `none` does not exist.", error.body
    stream = client.chat.completions.create(**ask("one fail", stream=True))
    error = raised(openai.APIError, lambda: list(stream))
    assert "asked to fail" in error.message, error.message
    assert error.code == "job_failed", error.code

    error = raised(openai.UnprocessableEntityError, lambda: client.chat.completions.create(**ask("x", stream="yes")))
    assert error.type == "invalid_request_error" and "/stream:" in error.body["message"], error.body
    stranger = openai.OpenAI(base_url=base, api_key="brt_wrong", max_retries=0)
    assert raised(openai.AuthenticationError, stranger.models.list).code == "unauthorized"
    lost = openai.OpenAI(base_url=base.replace("/openai/", "x/openai/"), api_key=key, max_retries=0)
    assert raised(openai.NotFoundError, lost.models.list).code == "not_found"


async def check_async(base, key):
    async with openai.AsyncOpenAI(base_url=base, api_key=key, timeout=240, max_retries=0) as client:
        stream = await client.chat.completions.create(**ask("one two", stream=True))
        assert [c.choices[0].delta.content async for c in stream] == ["one", "two"]
        answers = await asyncio.gather(*(client.chat.completions.create(**ask(f"call {n}")) for n in range(5)))
        assert [a.choices[0].message.content for a in answers] == [f"call {n}" for n in range(5)], answers


server = subprocess.Popen(
    [berth, "dev", "--json", "--listen", "127.0.0.1:0", "--data", data, handler], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
)
try:
    ready = json.loads(server.stdout.readline())
    base = f"{ready['url']}/v2/{ready['endpoints']['dev']}/openai/v1"
    check(base, ready["key"])
    asyncio.run(check_async(base, ready["key"]))
finally:
    server.terminate()
    server.wait()
print("ok: openai client", openai.__version__)
