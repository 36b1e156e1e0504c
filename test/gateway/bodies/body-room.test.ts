/** The memory for bodies: which slow bodies end while others wait for it. */
import { beforeEach, describe, expect, test } from "@jest/globals";
import { BodyRoom, type HeldBody } from "../../../src/gateway/bodies/body-room.ts";

/** Above the size of bodies that count as small. */
const LIMIT = 100_000;

let room: BodyRoom;
let ended: string[];
beforeEach(() => {
  room = new BodyRoom(LIMIT);
  ended = [];
});

function createBody(token: string, address: string, recentBytes = 0): HeldBody {
  const body: HeldBody = {
    owner: { token, networks: [address], isKnown: true },
    isDeclaredLarge: true,
    held: 0,
    recentBytes: () => recentBytes,
    fail() {
      ended.push(token);
      room.coming.delete(body);
      room.resize(body, 0);
    },
  };
  room.coming.add(body);
  return body;
}

/** Takes memory for so many of the largest bodies. */
function hold(count: number, token: string, address: string, recentBytes?: number): void {
  for (let index = 0; index < count; index += 1)
    expect(room.resize(createBody(token, address, recentBytes), LIMIT)).toBe(true);
}

/** A body that needs memory. The result says whether it has it. */
function ask(token: string, address: string): boolean {
  const body = createBody(token, address);
  if (room.resize(body, LIMIT)) return true;
  const leave = room.waitFor(
    body,
    LIMIT,
    () => {},
    () => {},
  );
  room.makeRoom();
  leave();
  return body.held > 0;
}

const FAST = 1_000_000;

describe("slow bodies of others", () => {
  test("end for a client within its share, as many as are needed", () => {
    for (let network = 0; network < 32; network += 1) hold(1, `slow-${network}`, `198.51.100.${network}`);
    expect(ask("another", "192.0.2.1")).toBe(true);
    expect(ended).toEqual(["slow-0"]);
  });

  test("do not end for a client at its own limit that sends from a second network", () => {
    hold(16, "greedy", "192.0.2.1", FAST);
    hold(8, "slow", "198.51.100.1");
    expect(ask("greedy", "192.0.2.2")).toBe(false);
    expect(ended).toEqual([]);
  });
});
