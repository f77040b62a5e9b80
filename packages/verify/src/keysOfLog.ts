import type { VerifyOptions } from "./verify.ts"

/** A log at `/.well-known/waybill-log.json` of an instance, as far as its keys are concerned. */
interface PublishedLog {
  readonly keys: ReadonlyArray<string>
  readonly former_keys?: ReadonlyArray<{ readonly key: string; readonly until: string }>
  /** Logs of other cells, and those that a log continues. */
  readonly cells?: ReadonlyArray<PublishedLog>
  readonly former?: ReadonlyArray<PublishedLog>
}

/** Returns the keys of the logs of an instance, with the times until which the former ones sign. */
export const keysOfLog = (json: string): NonNullable<VerifyOptions["keys"]> => {
  const ofLog = ({
    cells = [],
    former = [],
    former_keys = [],
    keys,
  }: PublishedLog): NonNullable<VerifyOptions["keys"]> => [
    ...former_keys.map(({ key, until }) => ({ key, until })),
    ...keys.filter((key) => !former_keys.some((each) => each.key === key)),
    ...[...cells, ...former].flatMap(ofLog),
  ]
  return ofLog(JSON.parse(json) as PublishedLog)
}
