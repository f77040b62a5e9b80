import { Api } from "@waybill/api/Api"
import { CurrentKey } from "@waybill/api/middleware/Authorization"
import * as Page from "@waybill/api/schemas/Page"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import type { SandboxMessage } from "@waybill/api/groups/Sandbox"
import * as Livemode from "@waybill/domain/account/Livemode"
import * as EmailRefusal from "@waybill/domain/email/EmailRefusal"
import * as ReadMail from "@waybill/mail/reading/ReadMail"
import * as Sandbox from "@waybill/store/content/Sandbox"
import * as EmailLogQuery from "@waybill/store/search/EmailLogQuery"
import { Duration, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { EventFeed } from "../../live/EventFeed.ts"
import * as Revocations from "../../live/Revocations.ts"
import { Instance } from "../../settings/Instance.ts"
import * as ForeignContent from "../pages/ForeignContent.ts"
import { filterOf } from "./LogHandlers.ts"
import { found } from "../../web/found.ts"

export const SandboxHandlers = HttpApiBuilder.group(Api, "sandbox", (handlers) =>
  handlers.handleAll({
    list: Effect.fnUntraced(function* ({ query }) {
      const { after, limit, q, to, wait } = query
      const { account_id, domain } = yield* owner
      const request = {
        account_id,
        domain,
        limit: limit + 1,
        ...(after === undefined ? {} : { after }),
        ...(to === undefined ? {} : { to }),
      }
      const livemode = Livemode.isLive(account_id)
      const recordOf = (row: Sandbox.SandboxRecord): SandboxMessage => ({ ...row, livemode })
      if (q !== undefined) {
        // The log finds the emails, some of which the sandbox may not have any more.
        const found = yield* EmailLogQuery.list(yield* filterOf(account_id, { q, limit, ...(after && { after }) }))
        const rows = yield* Sandbox.list({ ...request, ids: found.data.map(({ id }) => id) })
        return { object: "list" as const, ...found, data: rows.map(recordOf) }
      }
      const rows = yield* wait === undefined
        ? Sandbox.list(request)
        : Revocations.whileAdmitted(
            Effect.raceFirst(
              Sandbox.wait(request, Duration.seconds(wait)),
              Effect.andThen((yield* EventFeed).closed, Sandbox.list(request)),
            ),
          )
      return Page.make(rows.map(recordOf), limit)
    }),
    get: Effect.fnUntraced(function* ({ params }) {
      const { account_id, domain } = yield* owner
      const row = Sandbox.find(account_id, params.id, domain)
      const { bytes, ...record } = yield* found(row, () => new EmailRefusal.EmailNotCaptured())
      const whole = { ...record, livemode: Livemode.isLive(account_id) }
      const json = yield* ForeignContent.readable(ReadMail.show(bytes, whole, account_id))
      return HttpServerResponse.uint8Array(json, { contentType: "application/json" })
    }),
    remove: Effect.fnUntraced(function* ({ params }) {
      const { account_id, domain } = yield* owner
      const deleted = yield* Sandbox.remove(account_id, params.id, domain)
      return deleted === 0 ? yield* new EmailRefusal.EmailNotCaptured() : { object: "sandbox" as const, deleted }
    }),
    clear: Effect.fnUntraced(function* () {
      const { account_id, domain } = yield* owner
      return { object: "sandbox" as const, deleted: yield* Sandbox.remove(account_id, undefined, domain) }
    }),
  }),
)

/** Account of the sandbox, and the domain for a bound key. On an instance that delivers mail, only test mail has one. */
const owner = Effect.gen(function* () {
  const { transport } = yield* Instance
  const { account_id, domain } = yield* CurrentKey
  if (transport !== "capture" && Livemode.isLive(account_id))
    return yield* new RequestRefusal.NoSuchRoute({ method: "sandbox", path: "while TRANSPORT is not sandbox" })
  return { account_id, domain }
})
