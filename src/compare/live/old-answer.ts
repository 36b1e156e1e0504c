import type { SecondAnswer } from "../answers/second-answer.ts";
import type { OldService } from "./ask-old-service.ts";
import type { ComparedSides } from "./compared-sides.ts";
import type { SideQuestion } from "./served-request.ts";

/** Why the old service gave no answer: a route returns only to a service that is well. */
const NO_ANSWER: ReadonlySet<string> = new Set(["timeout", "unreachable"]);

/** Creates what asks the old service for a comparison. The roll-out learns how it did. */
export const createOldAnswer = (
  service: Pick<OldService, "ask">,
  sides: Pick<ComparedSides, "beginOld" | "noteOld">,
): SecondAnswer<SideQuestion> => ({
  async ask({ served: { route, request, payer, provenBy }, body }) {
    const answer = await service.ask(request, payer, body, () => sides.beginOld(route.name, provenBy));
    const hasFailed = typeof answer === "string" ? NO_ANSWER.has(answer) : answer.status >= 500;
    const sender = provenBy();
    // Without a free connection it was not asked.
    if (answer !== "budget" && sender !== undefined) sides.noteOld(route.name, hasFailed, sender);
    return answer;
  },
});
