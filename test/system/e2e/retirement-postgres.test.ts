/** The first months of the story of an end, with PostgreSQL: `story/tell.ts`. */
import { expect, test } from "@jest/globals";
import { openPostgresStore } from "../../../src/audit/store/postgres/store.ts";
import { makeDatabase } from "../../support/postgres-database.ts";
import { describeWith } from "../../support/services.ts";
import { daysOfStory } from "./story/clients.ts";
import type { StoryStore } from "./story/play.ts";
import { LONG_MS, RETENTION, tell } from "./story/tell.ts";

const describe = await describeWith("faketime", "postgres");

const postgres = (url: string): StoryStore => ({
  env: { DATABASE_URL: url },
  open: (_folder, clock) => openPostgresStore({ url, clock, durability: "relaxed", ...RETENTION }),
});

describe("with PostgreSQL", () => {
  test(
    "the figures are the same in the first seven months",
    async () => {
      const { url } = await makeDatabase();
      const days = daysOfStory().filter(({ week }) => week < 30);
      expect(await tell(days, postgres(url))).toBeGreaterThan(5000);
    },
    LONG_MS,
  );
});
