import { Socket } from "node:net";

/**
 * A connection that ends when whoever reads it throws. The driver's parser throws at bytes that no PostgreSQL says,
 * out of the socket's own event, where nobody could catch it: the process would end.
 *
 * Over TLS the driver reads another stream, on which nobody but the server can have said anything.
 */
class GuardedSocket extends Socket {
  override emit(event: string | symbol, ...given: unknown[]): boolean {
    if (event !== "data") return super.emit(event, ...given);
    try {
      return super.emit(event, ...given);
    } catch (error) {
      this.destroy(error as Error);
      return true;
    }
  }
}

export const guardedSocket = (): Socket => new GuardedSocket();
