/** Opens the circuit breaker of one service, with its log lines and its gauge. */
import type { Log, Metrics } from "../../base/index.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";

/** How operators see a circuit. */
interface BreakerTexts {
  /** The log line of a circuit that opens: its code, and the reason. */
  readonly code: `AG_${string}`;
  readonly reason: string;
  /** The start of the log line of a circuit that closes. */
  readonly recovery: string;
  readonly gauge: string;
  /** The service, in the help of the gauge. */
  readonly service: string;
}

/** @param areAddressesShared whether clients may share an address */
export function openBreaker(
  { code, reason, recovery, gauge, service }: BreakerTexts,
  areAddressesShared: boolean,
  { log, metrics }: { readonly log: Log; readonly metrics: Metrics },
): CircuitBreaker {
  const breaker = new CircuitBreaker({
    areAddressesShared,
    onChange(state) {
      if (state === "closed") log.info({}, `${recovery}: the circuit is closed`);
      else log.error({ code }, `${reason}: the circuit is open, a few requests a second probe it`);
    },
  });
  metrics.addGauge(gauge, `1 while the circuit to ${service} is open, otherwise 0.`, () =>
    Number(breaker.state() !== "closed"),
  );
  return breaker;
}
