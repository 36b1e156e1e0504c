/** Reporter: says by name what a run left out, so that nothing is missed in silence. */
export default class NameSkipped {
  onTestRunEnd(testModules) {
    for (const testModule of testModules)
      for (const { fullName } of testModule.children.allTests("skipped"))
        process.stderr.write(`Skipped: ${fullName}\n`);
  }
}
