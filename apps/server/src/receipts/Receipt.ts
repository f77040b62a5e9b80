import type * as Contract from "@waybill/api/groups/history/Receipt"
import * as EmailRefusal from "@waybill/domain/email/EmailRefusal"
import type * as Id from "@waybill/domain/values/Id"
import * as Databases from "@waybill/store/routing/Databases"
import * as Checkpoints from "@waybill/store/transparency/Checkpoints"
import * as LogKeys from "@waybill/store/transparency/LogKeys"
import * as Receipts from "@waybill/store/transparency/Receipts"
import * as Turn from "@waybill/runtime/flow/Turn"
import { summaryOf } from "@waybill/verify/summaryOf"
import { Duration, Effect, Schedule } from "effect"
import { HttpServerResponse, type HttpServerRequest } from "effect/http"
import * as Cose from "./Cose.ts"
import { COSE, prefersCose } from "./prefersCose.ts"
import * as Redaction from "./Redaction.ts"

/** Time that a request waits for the signature of the last events. */
export const SIGNED_WITHIN = Duration.seconds(3)
const LOOK_EVERY = Duration.millis(200)

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url")

const prove = (account_id: Id.AccountId, id: string) =>
  Databases.ofAccount(account_id, Receipts.prove(account_id, id)).pipe(
    Effect.retry({
      while: (error) => error._tag === "Unproved" && error.why === "pending",
      schedule: Schedule.spaced(LOOK_EVERY),
      times: Duration.toMillis(SIGNED_WITHIN) / Duration.toMillis(LOOK_EVERY),
    }),
    Effect.catchTag("Unproved", ({ why }) => Effect.fail(refusalOf(why))),
  )

const refusalOf = (why: Receipts.Unproved["why"]) => {
  switch (why) {
    case "pending":
      return new EmailRefusal.ReceiptPending()
    case "erased":
      return new EmailRefusal.ReceiptErased()
    case "changed":
      return new EmailRefusal.ReceiptMismatch()
    case "missing":
      return new EmailRefusal.EmailNotFound()
  }
}

/** Makes the answers to requests for receipts. */
export const make = Effect.map(LogKeys.makeSigners, (signers) => {
  const answer = Effect.fnUntraced(function* (
    account_id: Id.AccountId,
    id: Id.EmailId | Id.InboundId,
    { query: { redact = [] }, request }: Call,
  ) {
    const { events, tree } = yield* prove(account_id, id)
    const redaction = Redaction.make(
      redact,
      events.map(({ event }) => event.data),
    )
    const signersOf = yield* signers
    const shown: Array<Contract.Receipt["events"][number]> = []
    for (const { entry, event, index, open, proof } of events) {
      yield* Turn.shared(account_id)
      const opened = open((name) => redaction.isHidden(name, event.data[name]))
      const fields = opened.fields as Contract.Receipt["events"][number]["fields"]
      shown.push({ entry, fields, hidden: opened.hidden, index, proof: proof.map(base64url) })
    }
    const receipt = {
      object: "receipt" as const,
      origin: tree.origin,
      email: summaryOf(shown),
      events: shown,
      checkpoint: tree.note,
      cosignatures: tree.cosignatures,
      keys: [...(yield* LogKeys.vkeysOf(tree.origin, tree.note)), ...tree.witnesses],
    } satisfies Contract.Receipt
    const [signer] = signersOf(tree.origin)
    if (signer === undefined || !prefersCose(request.headers["accept"])) return receipt
    const { root } = Checkpoints.checkpointOf(tree.note)
    const proved = { size: tree.size, root, leaves: events }
    const statement = yield* Cose.statement(account_id, signer, JSON.stringify(receipt), proved)
    return HttpServerResponse.uint8Array(statement, { contentType: COSE })
  })
  return answer
})

interface Call {
  readonly query: { readonly redact?: ReadonlyArray<string> }
  readonly request: HttpServerRequest.HttpServerRequest
}
