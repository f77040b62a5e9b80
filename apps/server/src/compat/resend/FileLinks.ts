import * as Livemode from "@waybill/domain/account/Livemode"
import type { Refusal } from "@waybill/domain/values/Refusal"
import type { EmailId, InboundId } from "@waybill/domain/values/Id"
import { Effect } from "effect"
import * as AttachmentLinks from "../../links/AttachmentLinks.ts"
import { accountOf } from "../../requests/accountOf.ts"
import { Admitted } from "../../requests/Admitted.ts"
import type { DoorServices, Route } from "../Door.ts"
import * as Native from "../Native.ts"
import { route } from "../route.ts"
import * as Paging from "./Paging.ts"

interface Mail {
  readonly id: EmailId | InboundId
  readonly livemode: boolean
}

/** Makes the links to the files of a mail that a request has read. */
export const of = Effect.fnUntraced(function* ({ id, livemode }: Mail, host: string | undefined) {
  const account_id = accountOf(yield* Admitted)
  const links = yield* AttachmentLinks.linksFrom(host)
  return links(livemode ? Livemode.liveAccountOf(account_id) : Livemode.testAccountOf(account_id), id)
})

/** Routes of the files of a mail: all of them, and one. */
export const routesOf = (
  path: `/${string}`,
  endpoint: Route["endpoint"],
  filesOf: (
    id: string | undefined,
    host: string | undefined,
  ) => Effect.Effect<ReadonlyArray<{ readonly id: string }>, Refusal, DoorServices>,
  missing: string,
): ReadonlyArray<Route> => [
  route(`GET ${path}`, { endpoint, query: Paging.NAMES }, function* ({ headers, query }, { id }) {
    return yield* Paging.pageOf(query, yield* filesOf(id, headers["host"]))
  }),
  route(`GET ${path}/:attachment`, { endpoint }, function* ({ headers }, { attachment, id }) {
    const found = (yield* filesOf(id, headers["host"])).find((file) => file.id === attachment)
    return found === undefined ? yield* Native.missing(missing) : Native.ok({ object: "attachment", ...found })
  }),
]
