/** The story of an end, with SQLite: `story/tell.ts`. */
import { expect, test } from "@jest/globals";
import { openSqliteStore } from "../../../src/audit/store/sqlite/store.ts";
import { describeWith } from "../../support/services.ts";
import { createClients, daysOfStory } from "./story/clients.ts";
import type { StoryStore } from "./story/play.ts";
import { LONG_MS, RETENTION, tell } from "./story/tell.ts";

const describe = await describeWith("faketime");

/** Each record is stored before its response ends, so that no moment of the story waits for a commit. */
const SQLITE: StoryStore = {
  env: { AUDIT_DURABILITY: "strict" },
  open: (directory, clock) => openSqliteStore({ directory, clock, durability: "relaxed", ...RETENTION }),
};

describe("with SQLite", () => {
  test(
    "report, console, commands and API agree with what 64 clients did in 14 months, until 410",
    async () => {
      // The scanner and the reader without a token are the others.
      expect(createClients()).toHaveLength(62);
      expect(await tell(daysOfStory(), SQLITE)).toBeGreaterThan(10_000);
    },
    LONG_MS,
  );
});
