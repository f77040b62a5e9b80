import { parseVkey, type Vkey } from "@waybill/verify/SignedNote"
import { Config, ConfigProvider, Effect } from "effect"
import { CommaList } from "./Setting.ts"

/** A witness that cosigns the checkpoints of this instance. */
export interface LogWitness {
  /** Prefix of its addresses. */
  readonly url: string
  /** Its key, as it is written in the setting. */
  readonly text: string
  readonly key: Vkey
}

export const MAX_WITNESSES = 8

/** An address without a query, and the key behind the first equals sign. */
const PATTERN = /^(https?:\/\/[^\s=?#@]+?)\/?=(\S+)$/u

/** Reads a list such as `https://witness.example.org=witness.example.org/w1+d6fe0f6c+BAm5…`. */
export const config = (name: string): Config.Config<ReadonlyArray<LogWitness>> =>
  CommaList(name).pipe(
    Config.mapEffect((entries) =>
      entries.length > MAX_WITNESSES
        ? Effect.fail(problem(`there are ${entries.length} witnesses; at most ${MAX_WITNESSES} are asked`))
        : Effect.forEach(entries, read),
    ),
  )

const read = Effect.fnUntraced(function* (entry: string) {
  const [, url = "", text = ""] = PATTERN.exec(entry) ?? []
  const key = yield* Effect.tryPromise({
    try: () => parseVkey(text),
    catch: () => problem(`"${entry}" must be an address and the key that the witness prints, such as ${EXAMPLE}`),
  })
  if (!URL.canParse(url) || key.kind !== "witness")
    return yield* Effect.fail(problem(`"${entry}" does not end in the key of a witness, such as ${EXAMPLE}`))
  return { url, text, key } satisfies LogWitness
})

const EXAMPLE = "https://witness.example.org=witness.example.org/w1+d6fe0f6c+BAm5…"

const problem = (message: string) => new Config.ConfigError(new ConfigProvider.SourceError({ message }))
