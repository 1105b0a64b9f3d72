import assert from "node:assert/strict";
import test from "node:test";

import { dayOf, spans } from "../../../crates/kodiak-server/page/periods.js";

const NOW = Date.parse("2026-03-31T22:30:00-05:00");

test("a period is the day that it begins on, in UTC", () => {
  const cases = {
    "7d": "2026-03-25", "2w": "2026-03-18", "1m": "2026-03-01", "1y": "2025-04-01", "3M": "2026-01-01",
    "today": "2026-04-01", "yesterday": "2026-03-31", "2025-11-02": "2025-11-02", "2025-11": "2025-11-01",
  };
  for (const [text, day] of Object.entries(cases)) assert.equal(dayOf(text, NOW), day, text);
  assert.equal(dayOf("1m", Date.parse("2026-03-31T12:00:00Z")), "2026-02-28");
  assert.equal(dayOf("12m", Date.parse("2024-02-29T12:00:00Z")), "2023-02-28");
  for (const text of ["", "soon", "7", "7x"]) assert.equal(typeof (dayOf(text, NOW) ?? ""), "string");
  assert.equal(dayOf("soon", NOW), null);
});

test("counts of months are those of years where there are several", () => {
  const month = (value, count) => ({ value, count });
  assert.deepEqual(spans([month("2024-12", 2), month("2025-01", 3), month("2025-11", 4)]), [
    { name: "2025", count: 7, after: "2025-01-01", before: "2026-01-01" },
    { name: "2024", count: 2, after: "2024-01-01", before: "2025-01-01" },
  ]);
  assert.deepEqual(spans([month("2025-11", 4), month("2025-12", 1)]), [
    { name: "2025-12", count: 1, after: "2025-12-01", before: "2026-01-01" },
    { name: "2025-11", count: 4, after: "2025-11-01", before: "2025-12-01" },
  ]);
  assert.deepEqual(spans([]), []);
});
