/** Waits until a function returns something. The test's own time limit ends the wait. */
export async function waitFor<T>(look: () => T | Promise<T>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
