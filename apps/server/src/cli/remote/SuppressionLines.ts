import * as Address from "@waybill/domain/values/Address"
import * as SuppressionFile from "@waybill/domain/suppression/SuppressionFile"
import { Duration, Effect, Result, Schema } from "effect"
import { type ApiClient, call } from "./ApiClient.ts"

/** Requests of an import at the same time. */
const CONCURRENCY = 2
/** Pause after a 429 that names none. */
const DEFAULT_PAUSE_S = 1

const decode = Schema.decodeUnknownResult(Address.FromText)

/** Returns a file whose lines without an address are rejected, as the service would. */
export const checked = ({ lines, rejected }: SuppressionFile.File): SuppressionFile.File => {
  const isAddress = ({ email }: SuppressionFile.Line) => Result.isSuccess(decode(email))
  const others = lines
    .filter((line) => !isAddress(line))
    .map(({ email, line }) => ({ line, text: email, problem: `"${email}" is not an email address` }))
  return {
    lines: lines.filter(isAddress),
    rejected: [...rejected, ...others].sort((a, b) => a.line - b.line),
  }
}

export interface Totals {
  readonly added: number
  readonly removed: number
  readonly unchanged: number
  readonly rejected: ReadonlyArray<SuppressionFile.RejectedLine>
}

/** Adds or removes the lines, a thousand in a request. `report` is told how many are done. */
export const change = Effect.fnUntraced(function* (
  lines: ReadonlyArray<SuppressionFile.Line>,
  removes: boolean,
  report: (done: number) => Effect.Effect<void>,
): Effect.fn.Return<Totals, Effect.Error<ReturnType<typeof send>>, ApiClient> {
  let done = 0
  const answers = yield* Effect.forEach(
    chunksOf(lines),
    (chunk) =>
      Effect.tap(send(chunk, removes), () =>
        Effect.suspend(() => {
          done += chunk.length
          return report(done)
        }),
      ),
    { concurrency: CONCURRENCY },
  )
  const sum = (field: "added" | "removed" | "unchanged") => answers.reduce((total, each) => total + each[field], 0)
  return {
    added: sum("added"),
    removed: sum("removed"),
    unchanged: sum("unchanged"),
    rejected: answers.flatMap(({ rejected }) => rejected),
  }
})

const chunksOf = (lines: ReadonlyArray<SuppressionFile.Line>) =>
  Array.from({ length: Math.ceil(lines.length / SuppressionFile.LINES_PER_REQUEST) }, (_, nth) =>
    lines.slice(nth * SuppressionFile.LINES_PER_REQUEST, (nth + 1) * SuppressionFile.LINES_PER_REQUEST),
  )

/** Sends one request, and waits as long as the rate limit asks. */
const send = (lines: ReadonlyArray<SuppressionFile.Line>, removes: boolean) =>
  call((client) =>
    client.suppressions.batch(
      removes
        ? { remove: lines.map(({ email }) => email) }
        : { add: lines.map(({ email, reason }) => ({ email, reason })) },
    ),
  ).pipe(
    Effect.retry({
      while: ({ error }) =>
        error.status !== 429
          ? Effect.succeed(false)
          : Effect.as(Effect.sleep(Duration.seconds(error.retryAfter ?? DEFAULT_PAUSE_S)), true),
    }),
    Effect.map(({ data, ...counts }) => ({
      ...counts,
      rejected: data
        .filter(({ status }) => status === "rejected")
        .map(({ email, index, message }) => ({
          line: lines[index]?.line ?? 0,
          text: email,
          problem: message ?? "is not an address",
        })),
    })),
  )
