/** Reporter: says by name what a run left out, so that nothing is missed in silence. */
module.exports = class NameSkipped {
  #chosen;

  constructor({ testNamePattern }) {
    this.#chosen = Boolean(testNamePattern);
  }

  onRunComplete(_contexts, { testResults }) {
    if (this.#chosen) return;
    for (const file of testResults)
      for (const { status, fullName } of file.testResults)
        if (status === "pending") process.stderr.write(`Skipped: ${fullName}\n`);
  }
};
