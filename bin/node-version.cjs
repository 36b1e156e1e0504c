const MIN_NODE = 24;

/** Why a version of Node is too old; undefined if it is new enough. */
module.exports.needsNewerNode = (version) =>
  Number(version.split(".")[0]) >= MIN_NODE
    ? undefined
    : `alpha-gateway needs Node ${MIN_NODE} or newer; this is ${version}`;
