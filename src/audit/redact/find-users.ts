import type { Edit } from "./edits.ts";

/** Matches the user info of a URL (RFC 3986, 3.2.1), even if its slashes are escaped. A run of slashes is scanned once. */
const USER_INFO = /(?<![\\/])([\\/]{2,})([^\\/?#\s]*)@/g;
/**
 * Matches the user and the password in an option of curl: `--user admin:X`. Two numbers are a user id and a group id of
 * other programs.
 */
const USER_OPTION =
  /((?<![\w-])(?:-u|--(?:proxy-)?user)(?:\s{1,16}|=)["']?)(?!\d{1,6}:\d{1,6}(?!\S))([^\s"':]{0,64}:[^\s"']+)/gi;

/** Whether a text has a user. Most texts have none of the required characters, and this is faster than the patterns. */
export const mayHaveUser = (text: string): boolean =>
  (text.includes("@") && text.search(USER_INFO) !== -1) ||
  ((text.includes("-u") || text.includes("-U")) && text.search(USER_OPTION) !== -1);

/** Finds the users in URLs and in options of curl, with their passwords. */
export const findUsers = (text: string): Iterable<Edit & { readonly password: string }> =>
  (mayHaveUser(text) ? [USER_INFO, USER_OPTION] : []).values().flatMap((pattern) =>
    text.matchAll(pattern).map(({ index, 1: before = "", 2: user = "" }) => {
      const start = index + before.length;
      return { start, end: start + user.length, password: user.slice(user.indexOf(":") + 1) };
    }),
  );
