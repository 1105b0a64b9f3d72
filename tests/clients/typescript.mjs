// The TypeScript SDKs as clients: `typescript.mjs MODULES sdk` for the one of the
// handshake, `typescript.mjs MODULES client MODE` for the newer one.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const [modules, which, mode] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(`${modules}/${path}`));

let Client, StdioClientTransport, StreamableHTTPClientTransport;
if (which === "sdk") {
  ({ Client } = await load("@modelcontextprotocol/sdk/dist/esm/client/index.js"));
  ({ StdioClientTransport } = await load("@modelcontextprotocol/sdk/dist/esm/client/stdio.js"));
  ({ StreamableHTTPClientTransport } = await load(
    "@modelcontextprotocol/sdk/dist/esm/client/streamableHttp.js",
  ));
} else {
  ({ Client, StreamableHTTPClientTransport } = await load(
    "@modelcontextprotocol/client/dist/index.mjs",
  ));
  ({ StdioClientTransport } = await load("@modelcontextprotocol/client/dist/stdio.mjs"));
}

const { KODIAK_NOTES, KODIAK_PROGRAM, KODIAK_URL, KODIAK_TOKEN, KODIAK_NARROW_TOKEN } = process.env;

const overStdio = (...options) =>
  new StdioClientTransport({
    command: KODIAK_PROGRAM,
    args: ["mcp", ...options],
    env: { ...process.env },
  });

const overHttp = (token) =>
  new StreamableHTTPClientTransport(new URL(`${KODIAK_URL}/mcp`), {
    requestInit: token ? { headers: { Authorization: `Bearer ${token}` } } : {},
  });

const negotiation = () => {
  if (which === "sdk") return {};
  const versions = mode === "legacy" || mode === "auto" ? mode : { pin: mode };
  return { versionNegotiation: { mode: versions } };
};

async function connected(transport) {
  const client = new Client({ name: "tests", version: "1" }, negotiation());
  await client.connect(transport);
  return client;
}

const text = (answer) => answer.content.map((block) => block.text).join("");

// Does what an agent does. `all` tells whether all sources exist.
async function use(transport, all) {
  const client = await connected(transport);
  const call = (name, args) => client.callTool({ name, arguments: args });
  const names = (await client.listTools()).tools.map((tool) => tool.name);
  for (const name of ["search", "get", "status"]) assert(names.includes(name), names);
  assert(!names.includes("page_create"));

  let answer = await call("search", { query: "ramen broth" });
  assert(!answer.isError, text(answer));
  const hit = answer.structuredContent.hits[0];
  assert(hit.path.includes("ramen") && text(answer).includes(hit.id), text(answer));

  answer = await call("get", { ids: [hit.id] });
  assert(!answer.isError && text(answer).includes(hit.title), text(answer));

  answer = await call("get", { ids: ["#ffffffff"] });
  assert(answer.isError && text(answer).includes("Next:"), text(answer));

  answer = await call("search", { query: "zebrafish" });
  assert.equal(text(answer).includes("secret"), all, text(answer));
  answer = await call("get", { ids: ["private/zebrafish.md"] });
  assert.equal(answer.isError ?? false, !all, text(answer));

  answer = await call("page_create", { title: "x", content: "y" });
  assert(answer.isError, text(answer));
  await assert.rejects(call("no_such_tool", {}));
  await client.close();
}

// Hears that a document changes, as the server says it does.
async function hear(transport) {
  const { ResourceUpdatedNotificationSchema } = await load(
    "@modelcontextprotocol/sdk/dist/esm/types.js",
  );
  const client = await connected(transport);
  const [uri, file] = ["kodiak://notes/heard.md", `${KODIAK_NOTES}/heard.md`];
  await writeFile(file, `# Heard\n\n${Math.random()}\n`);
  await client.readResource({ uri });
  const heard = new Promise((resolve) => {
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, resolve);
  });
  await client.setLoggingLevel("info");
  await client.subscribeResource({ uri });
  await writeFile(file, `# Heard\n\n${Math.random()}, and a knock at the door\n`);
  assert.equal((await heard).params.uri, uri);
  await client.unsubscribeResource({ uri });
  await client.close();
}

if (which === "sdk") {
  await hear(overStdio());
  await hear(overHttp(KODIAK_TOKEN));
}
await use(overStdio(), true);
await use(overStdio("--source", "notes"), false);
await use(overHttp(KODIAK_TOKEN), true);
await use(overHttp(KODIAK_NARROW_TOKEN), false);
for (const token of [undefined, `kodiak_${"0".repeat(64)}`]) {
  await assert.rejects(async () => {
    const client = await connected(overHttp(token));
    await client.listTools();
  });
}
process.exit(0);
