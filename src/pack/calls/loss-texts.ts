/** The texts of losses that no field declares, because they are caused by a failed call. */

/** A call after a write has failed, so the client receives only a part of the object. */
export const responseLoss = (upstream: string): string => `the response: ${upstream} did not give it`;

/** A call for fields has failed. */
export const relatedLoss = (name: string, upstream: string): string => `${name}: ${upstream} did not give it`;

/** Some of the calls for the values of a body have failed. */
export const partLoss = (name: string, upstream: string): string => `${name}: ${upstream} did not give all`;

/** The levels that were requested for a token can't be read at the moment. */
export const levelsLoss = (name: string): string => `${name}: what was asked for is not known at the moment`;
