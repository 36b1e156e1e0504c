import { readFileSync } from "node:fs";
import { Router } from "express";
import type { RequestHandler, Response } from "express";

/** Beside this file, in the sources and in the build alike. */
const FOLDER = new URL("./public/", import.meta.url);

export interface Pages {
  /** `GET /` and its scripts. */
  readonly console: Router;
  /** What the sign-in form needs as well; nothing in it is worth a token. */
  readonly open: Router;
  /** Answers with the form that takes the admin token, and status 401. */
  readonly signIn: (response: Response, shown: { readonly failed: boolean }) => void;
}

/**
 * Reads the files of the console, once.
 *
 * @param signOut Whether there are sessions that one can sign out of.
 * @throws {Error} where a file is missing.
 */
export function readPages(signOut: boolean): Pages {
  const index = signOut ? read("index.html").replace(" hidden data-sign-out", "") : read("index.html");
  const form = read("sign-in.html");

  function signIn(response: Response, { failed }: { readonly failed: boolean }): void {
    response
      .status(401)
      .type("html")
      .send(failed ? form.replace(" hidden data-failed", "") : form);
  }

  return {
    console: routes({
      "/": send("html", index),
      "/app.js": asset("app.js"),
      "/detail.js": asset("detail.js"),
    }),
    open: routes({ "/style.css": asset("style.css"), "/icon.svg": asset("icon.svg") }),
    signIn,
  };
}

function routes(handlers: Readonly<Record<string, RequestHandler>>): Router {
  const router = Router({ caseSensitive: true, strict: true });
  for (const [path, handler] of Object.entries(handlers)) router.get(path, handler);
  return router;
}

function asset(name: string): RequestHandler {
  return send(name.slice(name.lastIndexOf(".") + 1), read(name));
}

function send(type: string, text: string): RequestHandler {
  return function sendText(_request, response) {
    response.type(type).send(text);
  };
}

function read(name: string): string {
  return readFileSync(new URL(name, FOLDER), "utf8");
}
