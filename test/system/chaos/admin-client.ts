/** What operators see of a gateway: whether it is ready, and its figures. */
import { setTimeout as wait } from "node:timers/promises";

/** Waits until `/readyz` has this status; the reasons that it gives. */
export async function waitForReadiness(admin: string, status: 200 | 503): Promise<readonly string[]> {
  for (;;) {
    const response = await fetch(`${admin}/readyz`);
    const { reasons } = (await response.json()) as { reasons: string[] };
    if (response.status === status) return reasons;
    await wait(20);
  }
}

/** One of its figures, by its name behind `alpha_gateway_`. */
export async function readMetric(admin: string, name: string): Promise<number> {
  const text = await (await fetch(`${admin}/metrics`)).text();
  return Number(new RegExp(`^alpha_gateway_${name} (.*)$`, "m").exec(text)?.[1]);
}
