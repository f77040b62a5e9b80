import { Api } from "@waybill/api/Api"
import { CurrentKey } from "@waybill/api/middleware/Authorization"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import type { RequestRecord } from "@waybill/api/groups/history/Requests"
import * as Page from "@waybill/api/schemas/Page"
import * as ReplyCode from "@waybill/domain/search/ReplyCode"
import * as RequestLog from "@waybill/store/requests/RequestLog"
import * as RequestLogCounts from "@waybill/store/requests/RequestLogCounts"
import { Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as Handlers from "../../middleware/Handlers.ts"

export const RequestHandlers = HttpApiBuilder.group(Api, "requests", (handlers) =>
  handlers.handleAll({
    list: Handlers.withKey(function* ({ account_id }, { query }) {
      const { limit, livemode: _, request_id, status, ...filter } = query
      const own = yield* ownKey
      if (own !== undefined && filter.api_key_id !== undefined && filter.api_key_id !== own)
        return { ...Page.make([], limit), not_kept: [] }
      const rows = yield* RequestLog.list({
        account_id,
        ...filter,
        limit: limit + 1,
        ...(own === undefined ? {} : { api_key_id: own }),
        ...(request_id === undefined ? {} : { id: request_id }),
        ...(status === undefined ? {} : { statuses: status.map(ReplyCode.rangeOf) }),
      })
      const not_kept = yield* RequestLogCounts.notKeptOf(account_id, own)
      return { ...Page.make(rows.map(recordOf), limit), not_kept }
    }),
    get: Handlers.withKey(function* ({ account_id }, { params: { id } }) {
      const call = yield* RequestLog.find(account_id, id, yield* ownKey)
      if (Option.isNone(call)) return yield* new RequestRefusal.RequestNotFound()
      const { answer, body } = call.value
      const email_ids = yield* RequestLog.messagesOf(account_id, call.value)
      return {
        ...recordOf(call.value),
        body: body === "" ? null : body,
        answer: answer === "" ? null : answer,
        email_ids,
      }
    }),
  }),
)

/** A key that is bound to a domain sees only its own calls, because those of others may be about other domains. */
const ownKey = Effect.map(CurrentKey, ({ domain, key_id }) => (domain === null || key_id === null ? undefined : key_id))

const recordOf = ({ id, query, ...call }: RequestLog.Summary) =>
  ({
    object: "request",
    id,
    query: query === "" ? null : query,
    ...call,
    created_at: RequestLog.createdAt(id),
  }) as RequestRecord
