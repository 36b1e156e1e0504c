/** Finds the clients that would notice if a route, a member or a word were removed. */
import type { Pack } from "../../pack/index.ts";
import type { Concern } from "./compare-surfaces.ts";
import {
  joinClients,
  readCallersOf,
  readClients,
  type ImpactContext,
  type NoticingClient,
  type Question,
  withoutRepeated,
} from "./noticing-clients.ts";
import { packSurface } from "./pack-surface.ts";
import { operationKey } from "./surface.ts";

/** The subject that may be removed. */
export interface Subject {
  /** A route as the pack names it; undefined: all that have the field. */
  readonly route?: string | undefined;
  /** `label`, `disks.size`, or with its place: `body.label`, `query.page`, `filter.status`, `answer.label`. */
  readonly field?: string | undefined;
  /** A value of the field. */
  readonly word?: string | undefined;
}

/** The subject on one route, and the clients that would notice its removal. */
export interface Notice {
  readonly route: string;
  /** `body.label`, `body.plan=small`, `answer.label`; null for the route itself. */
  readonly name: string | null;
  /** `readers`: these clients get it, and nobody can know who reads it. */
  readonly concern: Concern;
  readonly isExact: boolean;
  readonly clients: readonly NoticingClient[];
}

export interface Notices {
  readonly notices: readonly Notice[];
  /** All these clients, with their calls of all these routes. Who only gets something in answers is not among them. */
  readonly clients: readonly NoticingClient[];
  /** The same for clients that get it in answers. */
  readonly readers: readonly NoticingClient[];
  /** The first day on which names were counted, where calls are known of earlier days; else null. */
  readonly namesSince: string | null;
}

/** The possible subjects: each route of a pack with its names. */
export interface NamesOfRoute {
  readonly route: string;
  /** `body.label`, `body.plan=small`, `query.page`. */
  readonly sent: readonly string[];
  /** `answer.label`. */
  readonly read: readonly string[];
}

const namesOfPacks = new WeakMap<Pack, readonly NamesOfRoute[]>();

/** The names of all routes of a pack, for which summaries may have the clients. They are read once. */
export function namesOfRoutes(pack: Pack): readonly NamesOfRoute[] {
  const known = namesOfPacks.get(pack);
  if (known) return known;
  const surface = packSurface(pack);
  const names = [...new Set(pack.routes.map(({ name }) => name))].map((route) => ({
    route,
    sent: pack.sentNames.get(route)?.names ?? [],
    // A route that only answers with an error has no answer, and yet has callers.
    read: [...(surface.get(operationKey(route))?.answer.keys() ?? [])].filter((name) => name !== "answer"),
  }));
  namesOfPacks.set(pack, names);
  return names;
}

const PLACES = new Set(["body", "query", "filter", "answer"]);

/** Whether a name is the field, at any place of a request or an answer if none is given. */
function isField(name: string, field: string): boolean {
  const [place = "", ...path] = name.split(".");
  return PLACES.has(place) && (name === field || path.join(".") === field);
}

/** In answers a field may be in an envelope: `answer.data.label`. */
const isAnswered = (name: string, field: string): boolean =>
  name === field || (!field.startsWith("answer.") && name.endsWith(`.${field}`));

/** The form of a subject on each route. */
export function findQuestions(
  { route, field, word }: Subject,
  names: readonly NamesOfRoute[],
): (Question & { readonly name: string | null })[] {
  const routes = names.filter((each) => route === undefined || each.route === route);
  if (field === undefined)
    return routes.map((each) => ({ route: each.route, concern: "callers", name: null }));
  return routes.flatMap(({ route: of, sent, read }) => {
    const fields = sent.filter((name) => isField(name, field));
    const wanted =
      word === undefined
        ? fields
        : fields.map((name) => `${name}=${word}`).filter((name) => sent.includes(name));
    return [
      ...wanted.map((name) => ({ route: of, concern: "senders", names: [name], name }) as const),
      ...read
        .filter((name) => isAnswered(name, field))
        .map((name) => ({ route: of, concern: "readers", name }) as const),
    ];
  });
}

/** Finds who would notice. @throws {AuditUnavailableError} */
export async function findNotices(
  questions: ReturnType<typeof findQuestions>,
  { store, directory, range }: ImpactContext,
): Promise<Notices> {
  const index = await readCallersOf(
    store,
    questions.map(({ route }) => route),
    range,
  );
  const answers = questions.map((question) => ({ ...question, ...index.find(question) }));
  const identify = await readClients(
    store,
    directory,
    answers.flatMap(({ found }) => found.map(({ client }) => client)),
  );
  const allOf = (isReader: boolean): NoticingClient[] => {
    const found = answers.flatMap((answer) =>
      (answer.concern === "readers") === isReader ? answer.found : [],
    );
    return joinClients(withoutRepeated(found), identify);
  };
  return {
    notices: answers.map(({ route, name, concern, isExact, found }) => ({
      route,
      name,
      concern,
      isExact,
      clients: joinClients(found, identify),
    })),
    clients: allOf(false),
    readers: allOf(true),
    namesSince: index.namesSince,
  };
}
