import { Router } from "express";

/** Why the gateway is not ready; empty when it is. */
export type Readiness = () => readonly string[] | Promise<readonly string[]>;

/** `GET /healthz` and `GET /readyz`: open to everybody, as probes carry no credentials. */
export function health(readiness: Readiness): Router {
  const router = Router({ caseSensitive: true, strict: true });

  router.get("/healthz", (_request, response) => {
    response.json({ status: "ok" });
  });

  router.get("/readyz", async (_request, response) => {
    const reasons = await readReasons(readiness);
    const ready = reasons.length === 0;
    response.status(ready ? 200 : 503).json({ status: ready ? "ready" : "not ready", reasons });
  });

  return router;
}

async function readReasons(readiness: Readiness): Promise<readonly string[]> {
  try {
    return await readiness();
  } catch {
    return ["The state of the gateway could not be read."];
  }
}
