import { expect, jest, test } from "@jest/globals";
import { setTimeout as wait } from "node:timers/promises";
import type { Answer, Asked, Compared } from "../../../src/compare/answers/comparison.ts";
import type { AlphaRequest } from "../../../src/gateway/request/request.ts";
import type { Route } from "../../../src/pack/routes/route.ts";
import { Budget, type Limits } from "../../../src/compare/answers/budget.ts";
import type { Judge } from "../../../src/compare/answers/judge.ts";
import type { AskedRequest, ServedRequest } from "../../../src/compare/live/served-request.ts";
import { ShadowRunner, type ShadowOptions } from "../../../src/compare/live/shadow-runner.ts";
import { WriteFence } from "../../../src/compare/live/write-fence.ts";
import { waitFor } from "../../support/wait-for.ts";

const answer = (text: string, status = 200): Answer => ({ status, headers: {}, body: Buffer.from(text) });

/** Says that two answers differ where their bodies do. */
const judge: Judge = {
  compare: (_request, pair) =>
    pair.old.body.equals(pair.new.body)
      ? { result: "equal", key: "k", differences: [] }
      : { result: "differs" },
  confirm: (_request, _first, second) => ({
    result: second.old.body.equals(second.new.body) ? "unstable" : "different",
    key: "k",
    differences: [{ field: "name", kind: "value", old: '"a"', new: '"b"' }],
  }),
  needsOldPair: () => false,
  learn: () => {},
};

interface Setup {
  readonly runner: ShadowRunner;
  readonly fence: WriteFence;
  readonly budget: Budget;
  readonly reported: Compared[];
  readonly closing: AbortController;
}

function createRunner(
  options: Partial<Pick<ShadowOptions, "share" | "onError" | "judge" | "report">> & {
    readonly translate?: (question: AskedRequest) => Promise<Asked>;
    readonly askOld?: (question: AskedRequest) => Promise<Asked>;
    readonly limits?: Partial<Limits>;
  } = {},
): Setup {
  const { limits, translate, askOld, ...given } = options;
  const reported: Compared[] = [];
  const closing = new AbortController();
  const fence = new WriteFence({ lagMs: () => 0, onFull() {} });
  const budget = new Budget(() => ({
    perSecond: 100,
    perClient: 100,
    clientSeconds: 60,
    memory: 1e6,
    ...limits,
  }));
  const runner = new ShadowRunner({
    share: () => 1,
    subject: () => "pack data",
    judge,
    budget,
    fence,
    answers: {
      old: { source: "legacy", ask: askOld ?? (async () => answer("same")) },
      new: { source: "legacy", ask: translate ?? (async () => answer("same")) },
    },
    report: (compared) => void reported.push(compared),
    onError: (error) => {
      throw error;
    },
    confirmAfterMs: () => 5,
    closing: closing.signal,
    ...given,
  });
  return { runner, fence, budget, reported, closing };
}

const serve = (
  given: Partial<ServedRequest> & { readonly method?: string; readonly id?: string } = {},
): ServedRequest => {
  const { method = "GET", id = "r1", ...others } = given;
  const request = { id, method, path: "/things", query: "page=2", headers: {} } as unknown as AlphaRequest;
  return {
    request,
    route: { name: "GET /things", isSafe: true } as Route,
    filter: null,
    client: "shop",
    writers: [given.client ?? "shop"],
    payer: given.client ?? "shop",
    provenBy: () => "shop",
    token: "t1",
    side: "old",
    isFresh: false,
    obstacle: undefined,
    ...others,
  };
};

/** All results, once there is one. */
async function resultsOf({ reported }: Setup): Promise<readonly Compared[]> {
  await waitFor(() => reported.length > 0);
  return reported;
}

test("the other service is asked at the same moment, and equal answers are reported", async () => {
  const translate = jest.fn(async (): Promise<Asked> => answer("same"));
  const setup = createRunner({ translate });
  const begun = setup.runner.begin(serve());
  expect(translate).toHaveBeenCalledTimes(1);
  begun?.served(answer("same"));
  expect(await resultsOf(setup)).toMatchObject([
    { source: "legacy", route: "GET /things", client: "shop", requestId: "r1", result: "equal", key: "k" },
  ]);
  expect(setup.budget).toMatchObject({ bytes: 0, comparisons: 0 });
});

test("both services are called again if they differ: the same result again is a difference", async () => {
  const askOld = jest.fn(async (): Promise<Asked> => answer("old"));
  const translate = jest.fn(async (): Promise<Asked> => answer("new"));
  const setup = createRunner({ askOld, translate });
  setup.runner.begin(serve())?.served(answer("old"));
  const [compared] = await resultsOf(setup);
  expect(compared).toMatchObject({
    result: "different",
    sample: { method: "GET", path: "/things?page=2", old: answer("old"), new: answer("new"), tokens: ["t1"] },
  });
  expect(translate).toHaveBeenCalledTimes(2);
});

test("a POST that only reads is sent to the other service once its body is known", async () => {
  const translate = jest.fn(async (..._sent: readonly unknown[]): Promise<Asked> => answer("same"));
  const setup = createRunner({ translate });
  const route = { name: "POST /search", isSafe: true } as Route;
  const begun = setup.runner.begin(serve({ method: "POST", route }));
  expect(translate).not.toHaveBeenCalled();
  begun?.served(answer("same"), Buffer.from("{}"));
  expect(await resultsOf(setup)).toMatchObject([{ result: "equal", route: "POST /search" }]);
  expect(translate).toHaveBeenCalledWith(expect.objectContaining({ body: Buffer.from("{}") }));
});

test.each([
  ["a form", "a=1&_method=DELETE"],
  ["a form with an escaped name", "a=1&%5Fmethod=DELETE"],
  ["a form with a name that PHP reads so", "%20_method=DELETE"],
  ["another such name", "a=1&.method=DELETE"],
  ["JSON", '{"a":1,"_method":"DELETE"}'],
  ["JSON with an escaped name", String.raw`{"\u005fmethod":"DELETE"}`],
  ["a multipart form", '--x\r\nContent-Disposition: form-data; name="_method"\r\n\r\nDELETE\r\n--x--\r\n'],
  ["bytes that are no UTF-8", Buffer.from("_method=DELETE", "utf16le")],
] as const)(
  "a POST that names another method in its body is not sent a second time: %s",
  async (_what, body) => {
    for (const side of ["old", "new"] as const) {
      const ask = jest.fn(async (): Promise<Asked> => answer("same"));
      const setup = createRunner({ translate: ask, askOld: ask });
      const route = { name: "POST /search", isSafe: true } as Route;
      setup.runner.begin(serve({ method: "POST", route, side }))?.served(answer("same"), Buffer.from(body));
      expect(await resultsOf(setup)).toMatchObject([{ result: "not_comparable", reason: "write" }]);
      expect(ask).not.toHaveBeenCalled();
    }
  },
);

test.each(["payment_method=card", '{"payment_method":"card"}', "q=a+_+method", ""])(
  "a POST that only reads is compared whose body has %j",
  async (body) => {
    const setup = createRunner();
    const route = { name: "POST /search", isSafe: true } as Route;
    setup.runner.begin(serve({ method: "POST", route }))?.served(answer("same"), Buffer.from(body));
    expect(await resultsOf(setup)).toMatchObject([{ result: "equal" }]);
  },
);

test("a POST that only reads is not sent without its body", async () => {
  const translate = jest.fn(async (): Promise<Asked> => answer("same"));
  const setup = createRunner({ translate });
  const route = { name: "POST /search", isSafe: true } as Route;
  setup.runner.begin(serve({ method: "POST", route }))?.served(answer("same"));
  expect(await resultsOf(setup)).toMatchObject([{ result: "not_comparable", reason: "unreadable" }]);
  expect(translate).not.toHaveBeenCalled();
});

test("a sender that becomes known after both services have responded is counted", async () => {
  const setup = createRunner();
  let known: string | undefined;
  const begun = setup.runner.begin(serve({ provenBy: () => known }));
  known = "shop";
  begun?.served(answer("same"));
  expect(await resultsOf(setup)).toMatchObject([{ result: "equal", provenBy: "shop" }]);
});

test("the old service is occasionally called twice, to measure its own variation", async () => {
  const learn = jest.fn();
  const askOld = jest.fn(async (): Promise<Asked> => answer("again"));
  const setup = createRunner({ askOld, judge: { ...judge, needsOldPair: () => true, learn } });
  setup.runner.begin(serve())?.served(answer("same"));
  await resultsOf(setup);
  await waitFor(() => learn.mock.calls.length > 0);
  expect(learn).toHaveBeenCalledWith(expect.anything(), answer("same"), answer("again"));
});

test("the old service is not called twice after responses that are not comparable", async () => {
  const learn = jest.fn();
  const askOld = jest.fn(async (): Promise<Asked> => answer("again", 429));
  const limited: Judge = {
    ...judge,
    compare: () => ({ result: "not_comparable", reason: "limited", key: undefined, differences: [] }),
    needsOldPair: () => true,
    learn,
  };
  const setup = createRunner({ askOld, judge: limited });
  setup.runner.begin(serve())?.served(answer("too many requests", 429));
  expect(await resultsOf(setup)).toMatchObject([{ result: "not_comparable", reason: "limited" }]);
  await wait(5);
  expect(askOld).not.toHaveBeenCalled();
  expect(learn).not.toHaveBeenCalled();
});

test("a difference that is not found again is unstable", async () => {
  const setup = createRunner({ translate: async () => answer("new"), askOld: async () => answer("new") });
  setup.runner.begin(serve())?.served(answer("old"));
  expect(await resultsOf(setup)).toMatchObject([{ result: "unstable" }]);
});

test.each(["client_gone", "size"] as const)(
  "an answer of the old service that did not come whole is not comparable: %s",
  async (reason) => {
    const setup = createRunner();
    setup.runner.begin(serve())?.served(reason);
    expect(await resultsOf(setup)).toMatchObject([{ result: "not_comparable", reason, differences: [] }]);
  },
);

test.each(["timeout", "unreachable", "unreadable"] as const)(
  "a second service that does not answer is not comparable: %s",
  async (reason) => {
    const setup = createRunner({ askOld: async () => reason });
    setup.runner.begin(serve({ side: "new" }))?.served(answer("same"));
    expect(await resultsOf(setup)).toMatchObject([{ result: "not_comparable", reason }]);
  },
);

test("a comparison during which its client wrote is void", async () => {
  const setup = createRunner();
  const begun = setup.runner.begin(serve());
  setup.fence.begin(["shop"], "shop")();
  begun?.served(answer("same"));
  expect(await resultsOf(setup)).toMatchObject([{ result: "not_comparable", reason: "write" }]);
});

test("nothing is asked while a write of the client is in flight", async () => {
  const translate = jest.fn(async (): Promise<Asked> => answer("same"));
  const setup = createRunner({ translate });
  setup.fence.begin(["shop"], "shop");
  expect(setup.runner.begin(serve())).toBeUndefined();
  expect(setup.reported).toMatchObject([{ result: "not_comparable", reason: "write" }]);
  expect(translate).not.toHaveBeenCalled();
});

test.each(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])(
  "a %s of a route that may change something is never compared",
  (method) => {
    const ask = jest.fn(async (): Promise<Asked> => answer("same"));
    const setup = createRunner({ translate: ask, askOld: ask });
    const route = { name: `${method} /reboot`, isSafe: false } as Route;
    expect(setup.runner.begin(serve({ method, route }))).toBeUndefined();
    expect([setup.reported, ask.mock.calls]).toEqual([[], []]);
  },
);

test("the bodies of HEAD responses are not compared", async () => {
  const setup = createRunner({ translate: async () => answer("a body that is not sent") });
  setup.runner.begin(serve({ method: "HEAD" }))?.served(answer(""));
  expect(await resultsOf(setup)).toMatchObject([{ result: "equal" }]);
});

test("a share of the requests is compared, and no client knows which ids are in it", () => {
  const begins = (): boolean[] => {
    const { runner } = createRunner({ share: () => 0.1, limits: { perSecond: 5000, perClient: 5000 } });
    return Array.from({ length: 1000 }, (_, index) => {
      const begun = runner.begin(serve({ id: `request ${index}` }));
      begun?.served("client_gone");
      return begun !== undefined;
    });
  };
  const begun = begins();
  const count = begun.filter(Boolean).length;
  expect(count).toBeGreaterThan(60);
  expect(count).toBeLessThan(140);
  expect(begins()).not.toEqual(begun);
});

test("nothing is compared or reported without a plan", () => {
  const setup = createRunner({ share: () => undefined });
  expect(setup.runner.begin(serve({ isFresh: true }))).toBeUndefined();
  expect(setup.reported).toEqual([]);
});

test("a comparison above the budget is skipped and counted", () => {
  const setup = createRunner({ limits: { perSecond: 1 } });
  setup.runner.begin(serve());
  expect(setup.runner.begin(serve({ client: "billing" }))).toBeUndefined();
  expect(setup.reported).toMatchObject([{ client: "billing", result: "not_comparable", reason: "budget" }]);
  expect(setup.budget.comparisons).toBe(1);
});

test("answers above the memory of the budget are left out, and nothing stays held", async () => {
  const setup = createRunner({ limits: { memory: 10 } });
  setup.runner.begin(serve())?.served(answer("longer than that"));
  expect(await resultsOf(setup)).toMatchObject([{ result: "not_comparable", reason: "budget" }]);
  expect(setup.budget).toMatchObject({ bytes: 0, comparisons: 0 });
});

test("a request that can't be compared is counted with its reason, and is not repeated", () => {
  const translate = jest.fn(async (): Promise<Asked> => answer("same"));
  const setup = createRunner({ translate });
  expect(setup.runner.begin(serve({ obstacle: "token" }))).toBeUndefined();
  expect(setup.reported).toMatchObject([{ result: "not_comparable", reason: "token" }]);
  expect(translate).not.toHaveBeenCalled();
});

test("an error of a comparison is reported and counted, and releases its memory", async () => {
  const onError = jest.fn();
  const broken = {
    ...judge,
    compare: () => {
      throw new Error("broken");
    },
  };
  const setup = createRunner({ onError, judge: broken });
  setup.runner.begin(serve())?.served(answer("same"));
  expect(await resultsOf(setup)).toMatchObject([{ result: "not_comparable", reason: "unreadable" }]);
  expect(onError).toHaveBeenCalledWith(new Error("broken"), "r1");
  expect(setup.budget).toMatchObject({ bytes: 0, comparisons: 0 });
});

test("a request of an unknown sender is neither judged nor counted, and uses no memory", async () => {
  const compare = jest.fn(judge.compare);
  const setup = createRunner({ judge: { ...judge, compare } });
  const provenBy = (): undefined => undefined;
  setup.runner.begin(serve({ provenBy }))?.served(answer("refused", 401));
  expect(setup.runner.begin(serve({ provenBy, obstacle: "token" }))).toBeUndefined();
  await wait(30);
  expect([compare.mock.calls, setup.reported]).toEqual([[], []]);
  expect(setup.budget).toMatchObject({ bytes: 0, comparisons: 0 });
  expect(setup.fence.size).toBe(0);
});

test("a gateway that stops ends what waits, and reports nothing of it", async () => {
  const setup = createRunner({ translate: async () => answer("new") });
  setup.runner.begin(serve())?.served(answer("old"));
  setup.closing.abort();
  await wait(30);
  expect(setup.reported).toEqual([]);
  expect(setup.budget).toMatchObject({ bytes: 0, comparisons: 0 });
});

test("an answer takes memory from the moment on when it is there, while the other service hangs", async () => {
  let answerOld: (asked: Asked) => void = () => {};
  const askOld = (): Promise<Asked> => new Promise((resolve) => (answerOld = resolve));
  const setup = createRunner({ askOld, limits: { memory: 20 } });
  setup.runner.begin(serve({ side: "new" }))?.served(answer("1234"));
  await wait(5);
  expect(setup.budget.bytes).toBe(4);
  setup.runner.begin(serve({ side: "new" }))?.served(answer("1234"));
  await wait(5);
  expect(setup.budget.bytes).toBe(4);
  answerOld(answer("1234"));
  expect(await resultsOf(setup)).toMatchObject([{ result: "not_comparable", reason: "budget" }]);
});

test("all tokens of a request are secrets of its example, also those that the pack does not know", async () => {
  const setup = createRunner({ askOld: async () => answer("old"), translate: async () => answer("new") });
  const { request } = serve();
  const headers = { "x-api-key": ["k1"], authorization: ["Basic dTpw"] };
  setup.runner.begin(serve({ request: { ...request, headers } }))?.served(answer("old"));
  const [compared] = await resultsOf(setup);
  expect(compared?.sample?.tokens).toEqual(expect.arrayContaining(["t1", "k1", "u:p", "dTpw"]));
});
