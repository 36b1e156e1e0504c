/** Finds the clients that would notice if a route, a member or a word were removed. */
import type { Pack } from "../../pack/index.ts";
import { answerQuestions, type ImpactContext, type Question } from "./noticing-clients.ts";
import { packSurface } from "./pack-surface.ts";
import { operationKey } from "./surface.ts";

/** The subject of a possible removal. */
export interface Subject {
  /** A route, named as in the pack; undefined: all routes that contain the field. */
  readonly route?: string | undefined;
  /** `label`, `disks.size`, or with its location: `body.label`, `query.page`, `filter.status`, `answer.label`. */
  readonly field?: string | undefined;
  /** A value of the field. */
  readonly word?: string | undefined;
}

/** The clients that would notice the removal of a subject. */
export type Notices = Awaited<ReturnType<typeof findNotices>>;
/** A subject on one route, and the clients that would notice. */
export type Notice = Notices["notices"][number];

/** The possible subjects: each route of a pack with its names. */
interface NamesOfRoute {
  readonly route: string;
  /** The names in requests: `body.label`, `body.plan=small`, `query.page`. */
  readonly sent: readonly string[];
  /** The names in responses: `answer.label`. */
  readonly read: readonly string[];
}

const namesOfPacks = new WeakMap<Pack, readonly NamesOfRoute[]>();

/** Returns the names of all routes of a pack for which summaries may contain clients. Called once per pack. */
export function namesOfRoutes(pack: Pack): readonly NamesOfRoute[] {
  const known = namesOfPacks.get(pack);
  if (known) return known;
  const surface = packSurface(pack);
  const names = [...new Set(pack.routes.map(({ name }) => name))].map((route) => ({
    route,
    sent: pack.sentNames.get(route)?.names ?? [],
    // A route that only responds with an error has no other response, but it has callers.
    read: [...(surface.get(operationKey(route))?.answer.keys() ?? [])].filter((name) => name !== "answer"),
  }));
  namesOfPacks.set(pack, names);
  return names;
}

const PLACES = new Set(["body", "query", "filter", "answer"]);

/** Whether a name refers to the field, in any location of a request or a response if none is given. */
function isField(name: string, field: string): boolean {
  const [place = "", ...path] = name.split(".");
  return PLACES.has(place) && (name === field || path.join(".") === field);
}

/** Whether a name in a response refers to the field, which may be in an envelope: `answer.data.label`. */
const isAnswered = (name: string, field: string): boolean =>
  name === field || (!field.startsWith("answer.") && name.endsWith(`.${field}`));

/** Returns the questions about a subject for each route. */
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

/** Finds the clients that would notice. @throws {AuditUnavailableError} */
export async function findNotices(asked: ReturnType<typeof findQuestions>, context: ImpactContext) {
  const subjects = asked.map((question) => ({ ...question, questions: [question] }));
  const { answers, clientsOf, namesSince } = await answerQuestions(subjects, context);
  return {
    notices: answers.map(({ route, name, concern, isExact, clients }) => ({
      route,
      /** The name: `body.label`, `body.plan=small`, `answer.label`; null for the route itself. */
      name,
      /** `readers`: these clients receive it, and it is unknown which of them read it. */
      concern,
      isExact,
      clients,
    })),
    /**
     * All these clients, with their calls of all these routes. Clients that only receive the subject in responses are
     * not included.
     */
    clients: clientsOf(({ concern }) => concern !== "readers"),
    /** All clients that receive the subject in responses. */
    readers: clientsOf(({ concern }) => concern === "readers"),
    /** The first day on which names were counted, if there are earlier calls; otherwise null. */
    namesSince,
  };
}
