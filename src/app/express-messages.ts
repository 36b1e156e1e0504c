/** Requests and responses that have Express's prototypes from the start. */
import { IncomingMessage, ServerResponse } from "node:http";
import express, { type Application } from "express";

/**
 * Express gives each request and each response its own prototype. After that, V8 no longer finds their members by their
 * hidden class, and every later access is slower: setting the headers of a response costs twice as much. Objects of
 * these classes have the prototype when they are created, and Express changes nothing.
 */
class ExpressRequest extends IncomingMessage {}
class ExpressResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {}

const { request, response } = express();
Object.setPrototypeOf(ExpressRequest.prototype, request);
Object.setPrototypeOf(ExpressResponse.prototype, response);

/** The classes, for a server whose requests go to applications that {@link useExpressMessages} has seen. */
export const EXPRESS_MESSAGES = { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };

/** Lets an application leave the prototypes of {@link EXPRESS_MESSAGES} as they are. */
export function useExpressMessages(app: Application): void {
  Object.assign(app, { request: ExpressRequest.prototype, response: ExpressResponse.prototype });
}
