"""The Python SDK as a client: `python_sdk.py MODE`, with MODE auto, legacy or a
revision of the protocol."""

import asyncio
import os
import sys

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError

MODE = sys.argv[1]
URL = os.environ["KODIAK_URL"] + "/mcp"


def over_stdio(*options):
    return StdioServerParameters(
        command=os.environ["KODIAK_PROGRAM"],
        args=["mcp", *options],
        env=dict(os.environ),
    )


def over_http(token):
    headers = {"Authorization": f"Bearer {token}"} if token else None
    return streamable_http_client(URL, http_client=create_mcp_http_client(headers=headers))


def text(answer):
    return "".join(block.text for block in answer.content)


async def use(target, private):
    """Does what an agent does. `private` tells whether all sources exist."""
    async with Client(target, mode=MODE) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"search", "get", "status"} <= names, names
        assert "page_create" not in names, names

        answer = await client.call_tool("search", {"query": "ramen broth"})
        assert not answer.is_error, text(answer)
        hit = answer.structured_content["hits"][0]
        assert "ramen" in hit["path"] and hit["id"] in text(answer), answer

        answer = await client.call_tool("get", {"ids": [hit["id"]]})
        assert not answer.is_error and hit["title"] in text(answer), text(answer)

        answer = await client.call_tool("get", {"ids": ["#ffffffff"]})
        assert answer.is_error and "Next:" in text(answer), text(answer)

        answer = await client.call_tool("search", {"query": "zebrafish"})
        assert ("secret" in text(answer)) == private, text(answer)
        answer = await client.call_tool("get", {"ids": ["private/zebrafish.md"]})
        assert answer.is_error != private, text(answer)

        answer = await client.call_tool("page_create", {"title": "x", "content": "y"})
        assert answer.is_error, text(answer)
        try:
            await client.call_tool("no_such_tool", {})
            raise AssertionError("a tool that does not exist answered")
        except MCPError:
            pass


async def refused(target):
    try:
        async with Client(target, mode=MODE) as client:
            await client.list_tools()
    except AssertionError:
        raise
    except BaseException:  # noqa: BLE001 - the SDK wraps what went wrong in several ways
        return
    raise AssertionError("a client without a valid token was let in")


async def main():
    await use(over_stdio(), private=True)
    await use(over_stdio("--source", "notes"), private=False)
    await use(over_http(os.environ["KODIAK_TOKEN"]), private=True)
    await use(over_http(os.environ["KODIAK_NARROW_TOKEN"]), private=False)
    await refused(over_http(None))
    await refused(over_http("kodiak_" + "0" * 64))


asyncio.run(asyncio.wait_for(main(), 120))
