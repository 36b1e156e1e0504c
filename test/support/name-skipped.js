/** Jest reporter: says by name what a run left out, so that nothing is missed in silence. */
export default class NameSkipped {
  onRunComplete(_contexts, { testResults }) {
    const skipped = testResults
      .flatMap((file) => file.testResults)
      .filter(({ status }) => status === "pending" || status === "skipped");
    for (const { fullName } of skipped) process.stderr.write(`Skipped: ${fullName}\n`);
  }
}
