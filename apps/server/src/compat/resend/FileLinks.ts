import * as Livemode from "@waybill/domain/account/Livemode"
import type { Refusal } from "@waybill/domain/values/Refusal"
import type { AccountId, EmailId, InboundId } from "@waybill/domain/values/Id"
import { Effect } from "effect"
import * as AttachmentLinks from "../../links/AttachmentLinks.ts"
import { accountOf } from "../../requests/accountOf.ts"
import { Admitted } from "../../requests/Admitted.ts"
import type { DoorServices, NativeError, Route } from "../Door.ts"
import * as Native from "../Native.ts"
import * as Paging from "./Paging.ts"

interface Mail {
  readonly id: EmailId | InboundId
  readonly livemode: boolean
}

/** Makes the links to the files of a mail that a request has read. */
export const of = Effect.fnUntraced(function* ({ id, livemode }: Mail, host: string | undefined) {
  const account_id = accountOf(yield* Admitted) as AccountId
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
  ) => Effect.Effect<ReadonlyArray<{ readonly id: string }>, Refusal | NativeError, DoorServices>,
  missing: string,
): ReadonlyArray<Route> => [
  {
    method: "GET",
    path,
    endpoint,
    query: Paging.NAMES,
    handle: ({ headers, query }, { id }) =>
      Effect.flatMap(filesOf(id, headers["host"]), (files) => Paging.pageOf(query, files)),
  },
  {
    method: "GET",
    path: `${path}/:attachment`,
    endpoint,
    handle: Effect.fnUntraced(function* ({ headers }, { attachment, id }) {
      const found = (yield* filesOf(id, headers["host"])).find((file) => file.id === attachment)
      return found === undefined ? yield* Native.missing(missing) : Native.ok({ object: "attachment", ...found })
    }),
  },
]
