"""Frameworks whose pins disagree with ours: a program for the Python that has them, one check an argument.

`BASE_URL` and `PLANTED` (JSON: TEXT, NAME, EMAIL) are in the environment; an assertion that fails ends it. The tests
in tests/test_clients_others.py run it, and look at what the provider received.
"""

from __future__ import annotations

import json
import os
import sys

import instructor
import openai
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai import OpenAI as LlamaOpenAI
from pydantic import BaseModel

BASE_URL = os.environ["BASE_URL"]
TEXT = json.loads(os.environ["PLANTED"])["TEXT"]
KEY = "sk-test-0123456789"
MODEL = "gpt-4o"
"""LlamaIndex wants to know its models by name."""


class Note(BaseModel):
    """What structured output asks for."""

    text: str
    items: list[str]


class Save(BaseModel):
    """A note to be saved."""

    text: str
    count: int


def llama(**more: object) -> LlamaOpenAI:
    return LlamaOpenAI(model=MODEL, api_base=BASE_URL, api_key=KEY, max_retries=0, **more)


def llama_chat() -> None:
    message = ChatMessage(role="user", content=TEXT)
    assert llama().chat([message]).message.content == TEXT
    assert "".join(chunk.delta or "" for chunk in llama().stream_chat([message])) == TEXT
    assert llama().complete(TEXT).text == TEXT


def llama_tools() -> None:
    def save(text: str, count: int) -> str:
        """Saves a note."""
        return f"{count}: {text}"

    tool = FunctionTool.from_defaults(save)
    (call,) = llama().get_tool_calls_from_response(llama().chat_with_tools([tool], user_msg=TEXT))
    assert call.tool_kwargs == {"text": TEXT, "count": 1}


def llama_structured() -> None:
    found = llama().as_structured_llm(Note).chat([ChatMessage(role="user", content=TEXT)]).raw
    assert found == Note(text=TEXT, items=[TEXT, "x"]), found


def asked(mode: instructor.Mode) -> instructor.Instructor:
    return instructor.from_openai(openai.OpenAI(base_url=BASE_URL, api_key=KEY, max_retries=0), mode=mode)


def instructor_tools() -> None:
    found = asked(instructor.Mode.TOOLS).chat.completions.create(
        model="echo", messages=[{"role": "user", "content": TEXT}], response_model=Save, max_retries=0
    )
    assert found.model_dump() == {"text": TEXT, "count": 1}  # of a class that instructor made


def instructor_schema() -> None:
    found = asked(instructor.Mode.JSON_SCHEMA).chat.completions.create(
        model="echo", messages=[{"role": "user", "content": TEXT}], response_model=Note, max_retries=0
    )
    assert found.model_dump() == {"text": TEXT, "items": [TEXT, "x"]}


def instructor_partial() -> None:
    *_, last = asked(instructor.Mode.TOOLS).chat.completions.create_partial(
        model="echo;chunk=3", messages=[{"role": "user", "content": TEXT}], response_model=Save, max_retries=0
    )
    assert (last.text, last.count) == (TEXT, 1)


CHECKS = (llama_chat, llama_tools, llama_structured, instructor_tools, instructor_schema, instructor_partial)

if __name__ == "__main__":
    {check.__name__: check for check in CHECKS}[sys.argv[1]]()
