import { errorText, type Log, type Metrics } from "../../base/index.ts";

interface TokensReloadOptions {
  /** Reads the tokens into the table of the active pack. @returns Whether any is different. @throws If they are invalid. */
  readonly refresh: () => boolean;
  readonly log: Log;
  readonly metrics: Pick<Metrics, "addGauge">;
}

/**
 * Creates the function that reads the file of `UPSTREAM_TOKENS_FILE` again. If the file is invalid, the tokens that were
 * read before stay active. The function never throws: problems are logged, without the content of the file.
 */
export function createTokensReloader({ refresh, log, metrics }: TokensReloadOptions): () => void {
  let isLastSuccessful = true;
  metrics.addGauge(
    "upstream_tokens_last_reload_successful",
    "1 if the last reload of the tokens file succeeded, 0 if the file was rejected.",
    () => Number(isLastSuccessful),
  );
  return function reloadTokens() {
    try {
      if (refresh()) log.info({}, "the tokens of the upstream were reloaded");
      isLastSuccessful = true;
    } catch (error) {
      isLastSuccessful = false;
      log.error(
        { code: "AG_UPSTREAM_TOKENS_RELOAD_FAILED", faults: [errorText(error)] },
        "the tokens of the upstream were rejected, the active ones stay",
      );
    }
  };
}
