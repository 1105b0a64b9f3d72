// What there is to find: the example notes, a terrace with pictures, memories with a
// correction, session records and a transcript. Everything is made up.
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { deflateSync } from "node:zlib";

import { root } from "./places.mjs";

/** Writes a file and the folders above it. */
export async function write(folder, name, content) {
  const file = join(folder, name);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
  return file;
}

/** Returns a PNG of one colour. */
export function png(width, height, [red, green, blue]) {
  const row = Buffer.from([0, ...Array(width).fill([red, green, blue]).flat()]);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8);
  const parts = [
    ["IHDR", header],
    ["IDAT", deflateSync(Buffer.concat(Array(height).fill(row)))],
    ["IEND", Buffer.alloc(0)],
  ];
  const chunk = ([name, data]) => {
    const body = Buffer.concat([Buffer.from(name), data]);
    const length = Buffer.alloc(4);
    const sum = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc(body));
    return Buffer.concat([length, body, sum]);
  };
  return Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), ...parts.map(chunk)]);
}

function crc(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return (sum ^ 0xffffffff) >>> 0;
}

const TERRACE = `---
title: A terrace in May
tags: [garden, plans]
kind: note
created: 2025-05-11
light: half shade
area: 6 m²
---

What fits on six square metres, drawn before buying anything this time.

![The terrace, seen from the kitchen](pictures/terrace.svg)

## Along the rail

- [x] Four boxes with herbs, the thyme at the sunny end
- [x] Nasturtiums, because they forgive everything
- [ ] A hook for the watering can

## In the corner

| pot | plant | litres |
|---|---|---:|
| blue | fig | 40 |
| clay | rosemary | 12 |
| clay | strawberries | 8 |

The colour of the blue pot: ![the blue of the pot](pictures/blue.png)

Compare with [the balcony in Berlin](balkongarten.md), which had no rail at all, and with
[[Kyoto in November]] for the moss. Watering is on the [[Weekly review checklist]].
There is a [list of plants](https://plants.example/half-shade) for half shade.
`;

const DRAWING = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 300">
<defs><linearGradient id="sky" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#bcd9e8"/>
<stop offset="1" stop-color="#f6ead7"/></linearGradient></defs>
<rect width="640" height="300" fill="url(#sky)"/><circle cx="510" cy="82" r="34" fill="#f2c46d"/>
<path d="M0 190 Q160 130 320 185 T640 170 V300 H0Z" fill="#a9c29b"/>
<path d="M0 225 Q180 180 360 222 T640 210 V300 H0Z" fill="#7fa27c"/>
<g fill="#8a6a4f"><rect y="232" width="640" height="9"/><rect x="40" y="232" width="7" height="68"/>
<rect x="200" y="232" width="7" height="68"/><rect x="360" y="232" width="7" height="68"/>
<rect x="520" y="232" width="7" height="68"/></g>
<g fill="#b5653f"><path d="M90 262h70l-8 38h-54z"/><path d="M420 262h70l-8 38h-54z"/></g>
<path d="M262 250h76l-9 50h-58z" fill="#3f6f9f"/>
<g fill="#4f7d4b"><circle cx="112" cy="248" r="18"/><circle cx="138" cy="246" r="21"/>
<circle cx="440" cy="248" r="17"/><circle cx="466" cy="244" r="22"/>
<path d="M300 252C262 222 268 166 298 142 334 168 338 224 300 252Z"/></g>
<g fill="#d9774c"><circle cx="104" cy="240" r="4"/><circle cx="146" cy="236" r="5"/>
<circle cx="470" cy="232" r="5"/></g></svg>`;

const SCRIPTS = `---
title: مذكرات السفر
tags: [travel, languages]
created: 2025-04-02
---

وصلنا إلى مراكش قبل الغروب. السوق مزدحم، ورائحة النعناع في كل مكان.

لשלום, 你好, こんにちは: three greetings that were written on the door of the guest house.
`;

const record = (id, at, summary, decisions, lessons, tags) => ({
  id,
  version: 1,
  classification: { type: "coding", project: "/work/atlas" },
  content: {
    summary,
    outcome: "success",
    keyDecisions: decisions.map(([what, why]) => ({ what, why })),
  },
  lessons: {
    project: [],
    task: lessons.map((text) => ({ summary: text, confidence: "high" })),
    user: [],
    model: [],
    tool: [],
  },
  metadata: { timestamp: at },
  semantic: { tags, topics: tags },
});

const RECORDS = [
  record(
    "9f2c4e1ab0d37756",
    "2025-11-20T10:00:00Z",
    "Limited the requests to the tile server with a token bucket",
    [
      ["Used a token bucket", "bursts of a map that is moved are fine, a crawler is not"],
      ["Kept the buckets in Redis", "three instances share them"],
    ],
    ["Increment and expiry need one transaction, or a bucket lives for ever"],
    ["rate-limiting", "redis"],
  ),
  record(
    "1b7d90c2e4f5a683",
    "2026-01-09T16:30:00Z",
    "Dropped the tile cache in memory in favour of the page cache of the system",
    [["Removed the cache of our own", "the system caches the same file already"]],
    ["Measure the memory of the whole machine, not of one process"],
    ["caching", "sqlite"],
  ),
];

const line = (kind, number, at, message) =>
  JSON.stringify({
    type: kind,
    uuid: `${kind}-${number}`,
    sessionId: "5e1d3a52-7c1f-4be0-9a35-2f6a0e9d1c44",
    timestamp: at,
    cwd: "/work/atlas",
    gitBranch: "main",
    message,
  });

function transcript() {
  const talk = [
    ["user", "The tile server is slow after lunch. Can you find out why?"],
    ["tool", "Bash", { command: "curl -s localhost:7090/metrics | grep queue" }, "tile_queue_length 412"],
    ["assistant", "The queue of tiles grows to **412** between 13:00 and 14:00. Something asks for every zoom level at once."],
    ["user", "That is the nightly export, I moved it to noon. Could the server say no to it instead?"],
    ["assistant", "Yes. A token bucket for each client lets a moving map burst and stops the export:\n\n```rust\nlet bucket = Bucket::new(rate, burst);\nif !bucket.take(1) {\n    return Status::TOO_MANY_REQUESTS;\n}\n```\n\nThe export retries after the time that the answer names."],
    ["tool", "Edit", { file_path: "/work/atlas/src/limit.rs" }, "The file has been updated."],
    ["tool", "Bash", { command: "cargo test limit" }, "test result: ok. 14 passed; 0 failed"],
    ["assistant", "Fourteen tests pass. The export takes eleven minutes longer, and the map stays fast."],
    ["user", "Perfect. Remember the numbers for the hand-over, please: burst 40, rate 10 a second."],
  ];
  const lines = [];
  let minute = 0;
  for (const [kind, ...rest] of talk) {
    minute += 1;
    const at = `2025-11-20T09:${String(minute).padStart(2, "0")}:00Z`;
    if (kind === "user") lines.push(line("user", minute, at, { content: rest[0] }));
    else if (kind === "assistant") {
      const content = [{ type: "text", text: rest[0] }];
      lines.push(line("assistant", minute, at, { id: `m${minute}`, model: "opus", content }));
    } else {
      const [name, input, output] = rest;
      const use = [{ type: "tool_use", id: `t${minute}`, name, input }];
      lines.push(line("assistant", minute, at, { id: `m${minute}`, model: "opus", content: use }));
      const result = [{ type: "tool_result", tool_use_id: `t${minute}`, content: output }];
      lines.push(line("user", `${minute}r`, at, { content: result }));
    }
  }
  return `${lines.join("\n")}\n`;
}

const MEMORIES = [
  ["The tile API allows 100 requests a minute.", "--id", "tile-limit", "--kind", "decision", "--tag", "api", "--at", "2025-10-02"],
  ["The tile API allows 600 requests a minute, with bursts of 40.", "--supersedes", "tile-limit", "--kind", "decision", "--tag", "api", "--at", "2025-11-21"],
  ["Never run the export between noon and two: it fills the queue of the tile server.", "--kind", "rule", "--tag", "export", "--at", "2025-11-22"],
  ["Jonas prefers reviews before ten in the morning.", "--kind", "preference", "--tag", "people", "--at", "2025-12-01"],
  ["`VACUUM INTO` copies a database that is in use without losing the log.", "--kind", "code", "--tag", "sqlite", "--at", "2026-01-12"],
];

/** Fills the home of a program. `notes` alone is enough for tests that need no more. */
export async function fill(program, { memories = true, sessions = true, extra = {} } = {}) {
  const { home } = program;
  await cp(join(root, "examples/notes"), join(home, "notes"), { recursive: true });
  await write(home, "notes/garden/terrace.md", TERRACE);
  await write(home, "notes/garden/pictures/terrace.svg", DRAWING);
  await write(home, "notes/garden/pictures/blue.png", png(48, 48, [63, 111, 159]));
  await write(home, "notes/travel/marrakesh.md", SCRIPTS);
  await write(home, "secret.png", png(8, 8, [255, 0, 0]));
  for (const [name, content] of Object.entries(extra)) await write(home, name, content);
  await program.run("add", join(home, "notes"), "--writable");
  if (memories) {
    for (const memory of MEMORIES) {
      await program.run("remember", ...memory, "--project", "/work/atlas");
    }
  }
  if (sessions) {
    for (const one of RECORDS) {
      await write(home, `records/${one.id}-v1.json`, JSON.stringify(one));
    }
    const name = "claude/projects/-work-atlas/5e1d3a52-7c1f-4be0-9a35-2f6a0e9d1c44.jsonl";
    await write(home, name, transcript());
    await program.run("add", "--sessions", join(home, "records"), "--name", "sessions");
    await program.run("add", "--transcripts=claude-code", join(home, "claude"));
  }
  await program.run("index");
}

/** Returns the text of a note. */
export const read = (program, name) => readFile(join(program.home, name), "utf8");
