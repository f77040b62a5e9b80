import * as Contract from "@waybill/api/schemas/AccountQueue"
import * as LivemodeQuery from "@waybill/api/schemas/Livemode"
import * as Livemode from "@waybill/domain/account/Livemode"
import * as AccountQueue from "@waybill/store/statistics/AccountQueue"
import { Effect, Schema } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import * as RequestTarget from "../../requests/RequestTarget.ts"
import * as DashboardRoute from "./DashboardRoute.ts"

const find = Effect.gen(function* () {
  const { url } = yield* HttpServerRequest.HttpServerRequest
  const { account_id } = yield* DashboardRoute.user
  const account = RequestTarget.livemodeOf(url) === false ? Livemode.testAccountOf(account_id) : account_id
  return (yield* AccountQueue.find(account)) satisfies Contract.AccountQueue
})

/** Route of the unfinished mail of the account, which the overview shows. */
export const layer = HttpRouter.use((router) =>
  router.add("GET", Contract.PATH, DashboardRoute.json(DashboardRoute.user, find, Schema.Struct(LivemodeQuery.query))),
)
