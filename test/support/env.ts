/** The value of each variable that a test has set, before it did. */
const before = new Map<string, string | undefined>();

function assign(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}

/** Sets a variable of this process, or removes it, until {@link restoreEnv}. */
export function setEnv(name: string, value: string | undefined): void {
  if (!before.has(name)) before.set(name, process.env[name]);
  assign(name, value);
}

/** Restores the variables that were set. */
export function restoreEnv(): void {
  for (const [name, value] of before) assign(name, value);
  before.clear();
}
