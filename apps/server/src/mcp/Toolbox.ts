import { Waybill } from "@waybill/client/Waybill"
import { Data, Effect, Redacted } from "effect"
import * as AccountTools from "./tools/AccountTools.ts"
import * as DomainTools from "./tools/DomainTools.ts"
import * as EmailTools from "./tools/EmailTools.ts"
import { explainDelivery } from "./tools/explainDelivery.ts"
import * as InboundTools from "./tools/InboundTools.ts"
import * as SendTools from "./tools/SendTools.ts"
import { ask, type Tool } from "./tools/Tool.ts"
import * as WebhookTools from "./tools/WebhookTools.ts"

/** Waiting for one response of the API; an assistant waits for the tool meanwhile. */
const TIMEOUT_MS = 20_000
const RETRIES = 1

const TEST_MARK = "wb_test_"

/** Says why the tools cannot be offered. */
export class NotOffered extends Data.TaggedError("NotOffered")<{ readonly message: string }> {}

export interface Settings {
  readonly url: string
  readonly key: Redacted.Redacted
  readonly allowLiveSending: boolean
}

/** Tools of one connection, with the client that they use. */
export interface Toolbox {
  readonly waybill: Waybill
  readonly tools: ReadonlyArray<Tool>
  /** Texts that no answer may contain. */
  readonly secrets: ReadonlyArray<string>
}

const READING: ReadonlyArray<Tool> = [
  ...EmailTools.all,
  explainDelivery,
  ...DomainTools.all,
  ...AccountTools.all,
  ...WebhookTools.all,
  ...InboundTools.all,
]
/** Tools that are not offered for a test key, which the API refuses at domains and webhooks. */
const LIVE_ONLY: ReadonlySet<Tool> = new Set([...DomainTools.all, ...WebhookTools.all])

/** Returns the tools that a key may have: reading ones, sending in test mode, and live sending only if it is allowed. */
export const make = Effect.fnUntraced(function* ({ allowLiveSending, key, url }: Settings) {
  const secret = Redacted.value(key)
  const waybill = yield* Effect.try({
    try: () => new Waybill(secret, { baseUrl: url, retries: RETRIES, timeoutMs: TIMEOUT_MS }),
    catch: (cause) => new NotOffered({ message: cause instanceof Error ? cause.message : String(cause) }),
  })
  const isTest = secret.startsWith(TEST_MARK)
  const sending = yield* sendingTools(waybill, isTest, allowLiveSending)
  const reading = isTest ? READING.filter((each) => !LIVE_ONLY.has(each)) : READING
  return { waybill, tools: [...reading, ...sending], secrets: [secret] } satisfies Toolbox
})

const sendingTools = Effect.fnUntraced(function* (waybill: Waybill, isTest: boolean, allowLiveSending: boolean) {
  if (isTest && allowLiveSending)
    return yield* new NotOffered({
      message: "--allow-live-sending needs a live key, and this is a test key (wb_test_…). Leave the flag out.",
    })
  if (isTest) return [SendTools.sendTestEmail]
  if (!allowLiveSending) return []
  const { scopes } = yield* ask(() => waybill.session.get()).pipe(
    Effect.mapError(({ message }) => new NotOffered({ message: `--allow-live-sending: ${message}` })),
  )
  // `admin` implies all scopes, but sending by an assistant must have been meant when the key was made.
  if (!scopes.includes("email:send"))
    return yield* new NotOffered({
      message: `--allow-live-sending needs a key with the scope email:send; this one has ${scopes.join(", ")}.`,
    })
  return [SendTools.sendEmail]
})
