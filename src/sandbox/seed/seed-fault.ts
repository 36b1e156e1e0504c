/** Seed data that can't be used. Its message is for whoever wrote the file. */
export class SeedError extends Error {
  override readonly name = "SeedFault";
  readonly code = "SEED";

  /** @param where `accounts[0].users`; the whole of the data where it is left out */
  constructor(reason: string, where?: string) {
    super(`Seed data${where === undefined ? "" : `, ${where}`}: ${reason}`);
  }
}
