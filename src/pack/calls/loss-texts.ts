/** The texts of losses that no field declares: a call has failed. */

/** A call after a write has failed, so that the client gets only a part of the object. */
export const responseLoss = (upstream: string): string => `the response: ${upstream} did not give it`;

/** A call for fields has failed. */
export const relatedLoss = (name: string, upstream: string): string => `${name}: ${upstream} did not give it`;

/** Some of the calls for the values of a body have failed. */
export const partLoss = (name: string, upstream: string): string => `${name}: ${upstream} did not give all`;

/** The levels that were requested for a token can't be read now. */
export const levelsLoss = (name: string): string => `${name}: what was asked for is not known at the moment`;
