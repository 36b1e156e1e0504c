/** The first that an entry point imports: an older Node would fail somewhere later, with a stack. */
const LEAST = 24;

if (Number(process.versions.node.split(".")[0]) < LEAST) {
  process.stderr.write(`alpha-gateway needs Node ${LEAST} or newer; this is ${process.versions.node}.\n`);
  process.exit(1);
}
