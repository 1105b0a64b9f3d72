// Where things are. `tests/page/run` sets the variables.
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../..", import.meta.url));
export const program = resolve(process.env.KODIAK_PROGRAM ?? `${root}/target/debug/kodiak`);
export const failures = resolve(root, "target/page/failures");
export const chromium = process.env.KODIAK_CHROMIUM ?? "/usr/bin/chromium";

/** Loads a package that `tests/page/install` brought. */
export const load = createRequire(`${root}/target/page/npm/package.json`);
