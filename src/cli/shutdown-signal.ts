/** Ctrl-C reaches a program under npm twice: from the terminal, and handed on by npm. The two are one wish. */
const SAME_WISH_MS = 500;

const NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;

/**
 * Resolves at the first SIGTERM or SIGINT. A second one ends the process at once, with the exit code that
 * shells give to a program ended by it (128 and its number).
 */
export function waitForShutdownSignal(): Promise<void> {
  return new Promise((resolve) => {
    let first: number | undefined;
    const hear = (signal: NodeJS.Signals): void => {
      const now = performance.now();
      first ??= now;
      if (now - first > SAME_WISH_MS) process.exit(128 + NUMBERS[signal as keyof typeof NUMBERS]);
      resolve();
    };
    for (const signal of Object.keys(NUMBERS)) process.on(signal, hear);
  });
}
