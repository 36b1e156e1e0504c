/** The types of settings. Each accepts the text of a variable or flag, or the value that a program gives. */
import { isIP } from "node:net";
import { z } from "zod";
import { errorText } from "./error-text.ts";
import { redactAddresses } from "./redact-address.ts";
import { parseProductWords } from "./product-words.ts";

/** The longest delay of a timer in milliseconds. The runtime fires a longer one at once. */
export const LONGEST_TIMER_MS = 2_147_483_647;

/** The longest delay of a timer in seconds. */
export const LONGEST_TIMER_SECONDS = Math.floor(LONGEST_TIMER_MS / 1000);

/** Types whose values are addresses: only their user, password and parameters are secret. */
const addressTypes = new WeakSet<z.ZodType>();

export const isAddressType = (type: z.ZodType): boolean => addressTypes.has(type);

function address<T extends z.ZodType>(type: T): T {
  addressTypes.add(type);
  return type;
}

/** A text that `parse` turns into a value. The message of an error that `parse` throws becomes the problem. */
const parsedText = <T>(parse: (text: string) => T) =>
  z.string().transform((text, context) => {
    try {
      return parse(text);
    } catch (error) {
      context.addIssue(errorText(error));
      return z.NEVER;
    }
  });

/** Any text. */
export const text = z.string({ error: "must be a text" });

/** Minimum length of a secret in characters. Anything shorter can be guessed: 16 hexadecimal digits have 64 bits. */
export const SHORTEST_SECRET = 16;

/** A secret that the operator chooses. */
export const secretText = text.min(SHORTEST_SECRET, `must have at least ${SHORTEST_SECRET} characters`);

/** A whole number in decimal digits. */
export function integer(least: number, most: number, expected = `a whole number from ${least} to ${most}`) {
  const error = `must be ${expected}`;
  const digits = z
    .string()
    .regex(/^\d{1,15}$/, error)
    .transform(Number);
  return z.union([digits, z.number()], { error }).pipe(z.int({ error }).min(least, error).max(most, error));
}

/** The port of a listener. 0: the system chooses a free one. */
export const port = integer(0, 65_535);

/** The port of a listener that can be switched off. */
export const portOrOff = z.union([z.literal("off"), integer(0, 65_535, "a port (0 to 65535) or off")]);

/** One of the given words. */
export const oneOf = <const T extends readonly string[]>(...words: T) =>
  z.enum(words, { error: `must be one of ${words.join(", ")}` });

const boolean = (yes: string, no: string) => {
  const error = `must be one of ${yes}, ${no}`;
  const word = z.stringbool({ truthy: [yes], falsy: [no], case: "sensitive", error });
  return z.union([z.boolean(), word], { error });
};

/** `true` or `false`. */
export const trueOrFalse = boolean("true", "false");

/** `on` or `off`. */
export const onOrOff = boolean("on", "off");

const UNITS: Readonly<Record<string, number>> = { "": 0, kb: 1, mb: 2, gb: 3, tb: 4 };

/** Bytes: a number, or a text such as `16kb`. */
function bytes(least: number, most: number, expected: string) {
  const error = `must be a size such as ${expected}`;
  const size = z
    .string()
    .regex(/^\d{1,9}(?:[kmgt]b)?$/i, error)
    .transform(
      (value) => Number.parseInt(value, 10) * 1024 ** (UNITS[value.replace(/^\d+/, "").toLowerCase()] ?? 0),
    );
  return z.union([size, z.number()], { error }).pipe(z.int({ error }).min(least, error).max(most, error));
}

/** A size in memory. The runtime does not support strings above 512 MB, and a body becomes one string. */
export const memorySize = bytes(0, 256 * 1024 ** 2, "16kb, 1mb or 1048576, at most 256mb");

/** A size on disk. An empty store needs a few megabytes. */
export const diskSize = bytes(10 * 1024 ** 2, 1000 * 1024 ** 4, "500mb, 2gb or 1tb, from 10mb to 1000tb");

const RATE = "must be requests/seconds, whole numbers above 0, such as 1600/120 (seconds up to 999999)";

/**
 * Requests per number of seconds. The shared store treats a window below a second as endless. Six digits of seconds fit
 * into a timer.
 */
export const rate = z
  .union(
    [
      z
        .string()
        .regex(/^\d{1,9}\/\d{1,6}$/, RATE)
        .transform((value) => value.split("/").map(Number))
        .transform(([points = 0, seconds = 0]) => ({ points, seconds })),
      z.object({ points: z.number(), seconds: z.number() }),
    ],
    { error: RATE },
  )
  .pipe(
    z.object({
      points: z.int(RATE).min(1, RATE).max(999_999_999, RATE),
      seconds: z.int(RATE).min(1, RATE).max(999_999, RATE),
    }),
  );

const HTTP_URL = "must be an http or https URL";

/** The base address of a service. */
export const url = address(
  z
    .union([z.string(), z.instanceof(URL).transform(String)], { error: HTTP_URL })
    .pipe(z.url({ protocol: /^https?$/, error: HTTP_URL, abort: true }))
    .transform((value) => new URL(value))
    .refine(
      ({ username, password, search, hash }) => !(username || password || search || hash),
      "must be a URL without user, query or fragment",
    ),
);

/** The address of a database. It may contain the user, the password and parameters of the connection. */
export const postgresUrl = address(
  z.url({
    protocol: /^postgres(?:ql)?$/,
    error: "must be an address such as postgres://user:password@host:5432/database",
  }),
);

function canDecode(component: string): boolean {
  try {
    decodeURIComponent(component);
    return true;
  } catch {
    return false;
  }
}

const REDIS_ADDRESS = "must be redis://[user:password@]host[:port][/database], or rediss:// for TLS";

/** The address of a Redis, with user, password and the number of a database. */
export const redisUrl = address(
  z.url({ protocol: /^rediss?$/, error: REDIS_ADDRESS, abort: true }).refine((value) => {
    const { hostname, pathname, username, password, search, hash } = new URL(value);
    const hasDatabase = /^(?:\/\d{0,6})?$/.test(pathname);
    return hostname !== "" && hasDatabase && canDecode(username + password) && !search && !hash;
  }, REDIS_ADDRESS),
);

/** The name of a header, in lower case. */
export const headerName = z
  .string()
  .regex(/^[a-z][a-z\d-]{0,63}$/i, "must be the name of a header, such as X-Client-Name")
  .transform((value) => value.toLowerCase());

/** A list of texts, or one text with commas between them. `isValid` checks each item. */
const listOf = (isValid: (item: string) => boolean, expected: string) =>
  z
    .union([z.string().transform((value) => value.split(",")), z.array(z.string())], {
      error: `must be ${expected}, separated by commas`,
    })
    .transform((items): readonly string[] => items.map((item) => item.trim()).filter(Boolean))
    .superRefine((items, context) => {
      const invalid = items.find((item) => !isValid(item));
      if (invalid !== undefined)
        context.addIssue(`must be ${expected}; "${redactAddresses(invalid)}" is not`);
    });

/** A list of tokens. Problems never contain any of them. */
export const tokenList = listOf(() => true, "tokens");

/** Origins of browser clients, or `*`. */
export const origins = listOf(
  (item) => item === "*" || (URL.canParse(item) && new URL(item).origin === item),
  "origins such as https://app.example.org, or *",
);

function isAddressOrNetwork(item: string): boolean {
  const [address = "", bits, ...others] = item.split("/");
  const family = isIP(address);
  if (family === 0 || others.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

/** The value of a setting that states that there are no proxies. */
const NO_PROXY = "none";

/** Addresses and networks of proxies (`10.0.0.0/8`), or `none`. */
export const proxies = listOf(
  (item) => item === NO_PROXY || isAddressOrNetwork(item),
  "addresses or networks such as 10.0.0.0/8, or none",
).transform((items): readonly string[] => items.filter((item) => item !== NO_PROXY));

const word = z.string().regex(/^[a-z][a-z0-9]*$/, "must be words of lower-case letters and digits");

/** Product words: `vm=acme,orch=acmeks`, or an object. */
export const productWords = z.union([parsedText(parseProductWords), z.record(word, word)], {
  error: "must be product names such as vm=acme,orch=acmeks",
});
