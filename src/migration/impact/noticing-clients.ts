/** Finds the clients that a change affects, from the summaries. */
import {
  ANONYMOUS,
  type CallersReader,
  type ClientDirectory,
  type IdentifiedGroup,
  identifyGroups,
  type RouteCaller,
  type RouteCallers,
  type SentName,
  type UsageQuery,
  type UsageReader,
} from "../../audit/index.ts";
import { formatDay } from "../../base/index.ts";
import type { Concern } from "./compare-surfaces.ts";

type Identity = Pick<IdentifiedGroup, "id" | "client" | "name" | "family" | "userAgent">;

/** A client that would notice something: a row of the report. */
export interface NoticingClient extends Identity {
  /** The number of its calls. For a name, the calls on the days on which the client sent the name, which is an upper bound. */
  readonly calls: number;
  /** The last day, `2026-03-01`. */
  readonly last: string;
  readonly routes: readonly string[];
  /** For a name that becomes required: on how many of the client's days it was sent at least once. */
  readonly sends?: "never" | "on some days" | "every day";
}

/** The data sources for questions. */
export interface ImpactContext {
  readonly store: CallersReader & Pick<UsageReader, "clients">;
  readonly directory: ClientDirectory;
  readonly range?: Pick<UsageQuery, "since" | "until">;
}

/** A question about the clients that a change of a route affects. */
export interface Question {
  readonly route: string;
  readonly concern: Concern;
  /**
   * Names in the form of the summaries. A client is affected if it sends one of them. Undefined: all callers are
   * affected.
   */
  readonly names?: readonly string[] | undefined;
  /** The name that must be sent for the change to have an effect: `body.disks` for `body.disks.size`. */
  readonly within?: string | undefined;
}

/** The effect of a change on clients. */
export interface Effect {
  readonly questions: readonly Question[];
  /** Names of clients that the change affects: `body.label`, `status`. */
  readonly names: readonly string[];
}

/** A key of the summaries whose client is not known yet. */
type Found = Pick<NoticingClient, "client" | "calls" | "last" | "sends"> & { readonly route: string };

/** Removes repeated counts. A client may send several names in the same calls to a route, so only the largest count is used. */
function withoutRepeated(found: readonly Found[]): Found[] {
  const most = new Map<string, Found>();
  for (const each of found) {
    const key = `${each.route}\n${each.client}`;
    const other = most.get(key);
    most.set(key, other && other.calls > each.calls ? other : each);
  }
  return [...most.values()];
}

interface Noticing {
  readonly found: readonly Found[];
  /** False if the summaries don't count the name. The list then also contains clients that would not notice. */
  readonly isExact: boolean;
}

/** Answers questions about routes whose callers were read. */
class CallersIndex {
  readonly #callers: ReadonlyMap<string, readonly RouteCaller[]>;
  readonly #sent: ReadonlyMap<string, readonly SentName[]>;
  readonly #counted: RouteCallers["counted"];

  /**
   * The first day on which names were counted, if there are earlier calls. A client that only sent a name before that
   * day is not found. Null otherwise.
   */
  readonly namesSince: string | null;

  constructor({ callers, sent, counted, namesSince }: RouteCallers) {
    const hasEarlier = callers.some(({ firstDay }) => namesSince === null || firstDay < namesSince);
    this.namesSince = hasEarlier ? namesSince : null;
    this.#callers = Map.groupBy(callers, ({ route }) => route);
    this.#sent = Map.groupBy(sent, ({ route, name }) => `${route}\n${name}`);
    this.#counted = counted;
  }

  /** Finds the clients that would notice a change. If this is not counted, it finds more clients, and never fewer. */
  find({ route, concern, names, within }: Question): Noticing {
    const callers = this.#callers.get(route) ?? [];
    if (concern === "omitters") return this.#findOmitters(route, callers, names ?? [], within);
    if (names === undefined || concern === "callers" || concern === "readers")
      return { found: callers.map(callOf), isExact: true };
    const known = names.map((name) => this.#countedAs(route, name));
    if (known.includes(undefined)) return { found: callers.map(callOf), isExact: callers.length === 0 };
    return {
      found: known.flatMap((name) => this.#sendersOf(route, name ?? "").map(sentOf)),
      isExact: known.every((name, index) => name === names[index]),
    };
  }

  /** Returns the name itself, or the name of its member if the word is not counted. Undefined if neither is counted. */
  #countedAs(route: string, name: string): string | undefined {
    const counted = this.#counted.get(route);
    const at = name.indexOf("=");
    return [name, ...(at < 0 ? [] : [name.slice(0, at)])].find((each) => counted?.has(each));
  }

  #sendersOf(route: string, name: string): readonly SentName[] {
    return this.#sent.get(`${route}\n${name}`) ?? [];
  }

  /** Returns all callers of the route, because a client that sent a name on a day may also have sent calls without it. */
  #findOmitters(
    route: string,
    callers: readonly RouteCaller[],
    names: readonly string[],
    within: string | undefined,
  ): Noticing {
    const senders = new Map(
      names.flatMap((name) => this.#sendersOf(route, name)).map((row) => [row.client, row] as const),
    );
    const outer = within !== undefined && this.#counted.get(route)?.has(within) === true;
    const concerned = outer ? this.#sendersOf(route, within).map(sentOf) : callers.map(callOf);
    const daysOf = new Map(callers.map(({ client, days }) => [client, days]));
    return {
      found: concerned.map((client) => {
        const days = senders.get(client.client)?.days ?? 0;
        const isDaily = days >= (daysOf.get(client.client) ?? Infinity);
        return { ...client, sends: days === 0 ? "never" : isDaily ? "every day" : "on some days" };
      }),
      isExact: within === undefined || outer,
    };
  }
}

const callOf = ({ client, route, requests, last }: RouteCaller): Found => {
  return { client, route, calls: requests, last: formatDay(last) };
};

const sentOf = ({ client, route, requests, lastDay: last }: SentName): Found => {
  return { client, route, calls: requests, last };
};

/** Finds the client that has a key of the summaries. */
type IdentifyClient = (key: string | null) => Identity;

/**
 * Finds the clients of keys, grouped as in the report and the console.
 *
 * @param keys Keys of the summaries
 * @throws {AuditUnavailableError}
 */
async function readClients(
  store: Pick<UsageReader, "clients">,
  directory: ClientDirectory,
  keys: Iterable<string | null>,
): Promise<IdentifyClient> {
  const clients = [...new Set(keys)];
  const counted = clients.length === 0 ? [] : await store.clients({ clients, limit: clients.length });
  const ofKey = new Map(
    identifyGroups(counted, directory).flatMap((group) => group.keys.map((key) => [key, group] as const)),
  );
  return (key) =>
    ofKey.get(key) ?? { id: key ?? ANONYMOUS, client: key, name: null, family: null, userAgent: null };
}

const SENDS = ["never", "on some days", "every day"] as const;

/**
 * Joins the results of several routes and of several keys of one client. The client with the most calls comes first.
 */
function joinClients(found: readonly Found[], identify: IdentifyClient): NoticingClient[] {
  const joined = new Map<string, NoticingClient>();
  for (const { route, ...own } of found) {
    const { id, client, name, family, userAgent } = identify(own.client);
    const other = joined.get(id);
    const least = SENDS.find((sends) => sends === own.sends || sends === other?.sends);
    joined.set(id, {
      id,
      client,
      name,
      family,
      userAgent,
      calls: own.calls + (other?.calls ?? 0),
      last: other && other.last > own.last ? other.last : own.last,
      routes: [...new Set([...(other?.routes ?? []), route])],
      ...(least !== undefined && { sends: least }),
    });
  }
  return [...joined.values()].toSorted((one, two) => two.calls - one.calls || one.id.localeCompare(two.id));
}

/**
 * Answers questions from the summaries.
 *
 * @param asked Subjects, each with its questions
 * @returns each subject with the clients that would notice it, and a function that merges the clients of several
 *   subjects
 * @throws {AuditUnavailableError}
 */
export async function answerQuestions<Asked extends { readonly questions: readonly Question[] }>(
  asked: readonly Asked[],
  { store, directory, range = {} }: ImpactContext,
) {
  const routes = new Set(asked.flatMap(({ questions }) => questions.map(({ route }) => route)));
  const index = new CallersIndex(await store.callers({ ...range, routes: [...routes] }));
  const answers = asked.map((subject) => {
    const answered = subject.questions.map((question) => index.find(question));
    return {
      subject,
      found: withoutRepeated(answered.flatMap(({ found }) => found)),
      isExact: answered.every(({ isExact }) => isExact),
    };
  });
  const keys = answers.flatMap(({ found }) => found.map(({ client }) => client));
  const identify = await readClients(store, directory, keys);
  return {
    answers: answers.map(({ subject, found, isExact }) => ({
      ...subject,
      isExact,
      clients: joinClients(found, identify),
    })),
    /** Returns the clients that notice any of the selected subjects. */
    clientsOf(isMeant: (subject: Asked) => boolean): NoticingClient[] {
      const meant = answers.flatMap(({ subject, found }) => (isMeant(subject) ? found : []));
      return joinClients(withoutRepeated(meant), identify);
    },
    namesSince: index.namesSince,
  };
}
