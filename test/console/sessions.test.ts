import { expect, test } from "@jest/globals";
import { createSessions } from "../../src/console/access.ts";

test("a session expires after its lifetime", () => {
  let now = 0;
  const sessions = createSessions(() => now);
  const id = sessions.begin();
  now = sessions.lifetime * 1000 - 1;
  expect(sessions.has(id)).toBe(true);
  now += 1;
  expect(sessions.has(id)).toBe(false);
  now = 0;
  expect(sessions.has(id)).toBe(false);
});

test("session ids are random and unique", () => {
  const sessions = createSessions();
  const ids = Array.from({ length: 50 }, () => sessions.begin());
  expect(new Set(ids).size).toBe(50);
  expect(ids.every((id) => /^[\w-]{43}$/.test(id))).toBe(true);
  expect(sessions.has("")).toBe(false);
});
