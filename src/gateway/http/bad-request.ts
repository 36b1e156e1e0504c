import type { Pack } from "../../pack/index.ts";
import type { Log, Metrics } from "../../base/index.ts";
import { connectionAddress } from "../limits/client-address.ts";
import type { RateLimits } from "../limits/rate-limits.ts";
import type { MessageFault, MessageRejection } from "./invalid-messages.ts";

const REASONS: Readonly<Record<MessageFault, string>> = {
  connect: "CONNECT is not supported.",
  head_size: "The head of the request is too large.",
  malformed: "This is not an HTTP request.",
};

/** JSON body of the response to a message that the server rejects itself. */
export const badRequestBody = (
  { errors, responseTypes, statuses }: Pack,
  fault: MessageFault,
): ReturnType<MessageRejection["badRequest"]> => ({
  type: responseTypes.error,
  text: JSON.stringify(errors.client.write([{ reason: REASONS[fault] }], statuses.invalid)),
});

interface RejectionDependencies {
  readonly metrics: Pick<Metrics, "countRejection">;
  readonly log: Log;
  readonly shared: { readonly limits: Pick<RateLimits, "consumeAddress"> };
}

/**
 * Counts messages that the server rejects itself: in the metrics, in the log, and against the limit of the connection's
 * address, like a request with a token that v4 has not accepted. Their token and route are unknown, so they have no
 * audit record.
 */
export const createMessageRejection = (
  { metrics, log, shared: { limits } }: RejectionDependencies,
  pack: () => Pack,
): MessageRejection => ({
  badRequest: (fault) => badRequestBody(pack(), fault),
  onRejected({ fault, status, id, socket }) {
    const address = connectionAddress(socket);
    metrics.countRejection(fault, status);
    log.warn(
      { code: "AG_MESSAGE_REJECTED", message: fault, requestId: id, address },
      "a message that is not a valid request was rejected",
    );
    limits.consumeAddress(address).catch(() => {});
  },
});
