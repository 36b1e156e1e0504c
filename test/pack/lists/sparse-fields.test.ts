/** The members that clients choose, whatever they ask for. Responses are in the golden cases of `examples/json-api`. */
import { afterAll, expect, test } from "@jest/globals";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { createDryRun } from "../../../src/compare/dry-run/dry-run.ts";
import { withPack } from "../load/pack-folder.ts";

const FOLDER = "examples/json-api/pack";
const PERSON = { full_name: "Ada", titles: {}, location: { town: "Bath" }, phone: "1", email: "a" };
const BODY = { data: { type: "people", id: "1", attributes: PERSON } };
const upstream = {
  call: async () => ({ status: 200, headers: {}, bytes: Buffer.from(JSON.stringify(BODY)), ms: 0 }),
  close: async () => {},
};
const strict = createDryRun(loadPack(FOLDER), upstream);
const lenient = withPack(
  [{ file: "pack.yaml", from: "always: [id], unknown: reject", to: "always: [id], multiple: repeat" }],
  (folder) => createDryRun(loadPack(folder), upstream),
  FOLDER,
);
afterAll(() => {
  strict.catalogs.stop();
  lenient.catalogs.stop();
});

async function get(run: typeof strict, query: string): Promise<unknown> {
  const { response } = await run.send({ method: "GET", path: `/people/1?${query}` });
  const { person, errors } = JSON.parse(response.body) as { person?: unknown; errors?: object };
  return person ?? [response.status, Object.values(errors ?? {}).flat()];
}
const ALL = expect.objectContaining({ id: 1, name: "Ada", contact: { phone: "1", email: "a" } });

test.each([
  ["nothing is everything", "fields[person]=", ALL],
  [
    "a whole member includes those below it",
    "fields[person]=contact.phone,contact",
    { id: 1, contact: { phone: "1", email: "a" } },
  ],
  ["a member of a nested object", "fields[person]=address.city", { id: 1, address: { city: "Bath" } }],
  [
    "an unknown member of a nested object",
    "fields[person]=address.nope",
    [422, ["address.nope is not a field of person."]],
  ],
  ["a member of a text", "fields[person]=name.first", expect.anything()],
  ["the parameter twice", "fields[person]=id&fields[person]=name", [422, ["There is more than one."]]],
  [
    "a name of an object's prototype",
    "fields[person]=__proto__",
    [422, ["__proto__ is not a field of person."]],
  ],
  ["too many names", `fields[person]=${"id,".repeat(501)}`, [422, ["Must have at most 500 entries."]]],
  ["the parameter of another object", "fields[order]=id", [422, ["This parameter is not known."]]],
])("%s", async (_what, query, expected) => expect(await get(strict, query)).toEqual(expected));

test.each([
  [
    "repeated names",
    "fields[person]=name&fields[person]=contact.email",
    { id: 1, name: "Ada", contact: { email: "a" } },
  ],
  ["unknown names have no effect", "fields[person]=nope", { id: 1 }],
  ["names of the prototype", "fields[person]=__proto__.x&fields[person]=constructor", { id: 1 }],
  ["a name with thousands of levels", `fields[person]=${"a.".repeat(7000)}a`, { id: 1 }],
])("where unknown names are ignored: %s", async (_what, query, expected) =>
  expect(await get(lenient, query)).toEqual(expected),
);
