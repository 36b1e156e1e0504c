// Plain JavaScript that old versions of Node can read: it loads the library, or says which Node it needs.
const { needsNewerNode } = require("./node-version.cjs");

const reason = needsNewerNode(process.versions.node);
if (reason !== undefined) throw new Error(reason);
module.exports = require("../dist/index.js");
