import { Api } from "@waybill/api/Api"
import { CurrentKey } from "@waybill/api/middleware/Authorization"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as Inbound from "@waybill/domain/inbound/Inbound"
import * as InboundRefusal from "@waybill/domain/inbound/InboundRefusal"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Heading from "@waybill/mail/inbound/Heading"
import * as ReadInbound from "@waybill/mail/reading/InboundMail"
import * as InboundContent from "@waybill/store/content/InboundContent"
import * as InboundMail from "@waybill/store/readmodels/Inbound"
import { Effect, Option, Result } from "effect"
import { HttpServerResponse, type HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as RequestCommit from "../../../accept/RequestCommit.ts"
import * as InboundRecords from "../../../inbound/InboundRecords.ts"
import * as Receipt from "../../../receipts/Receipt.ts"
import * as RouteResults from "../../../inbound/RouteResults.ts"
import * as CallerReach from "../../middleware/CallerReach.ts"
import { findMail } from "./findMail.ts"
import { forwardMail } from "./forwardMail.ts"
import { readThread } from "./readThread.ts"
import { receiveTest } from "./receiveTest.ts"
import { replayMail } from "./replayMail.ts"
import { replyTo } from "./replyTo.ts"

export const InboundHandlers = HttpApiBuilder.group(Api, "inbound", (handlers) =>
  Effect.map(Receipt.make, (receiptOf) =>
    handlers.handleAll({
      list: ({ query, request }) =>
        Effect.gen(function* () {
          const { account_id } = yield* CurrentKey
          const { domain: requested, livemode: _, ...filters } = query
          const domain = yield* CallerReach.domainFilter(requested)
          const page = yield* InboundMail.list({ account_id, ...filters, ...(domain === undefined ? {} : { domain }) })
          const results = yield* RouteResults.of(account_id, page.data)
          const present = yield* InboundRecords.presenter(account_id, hostOf(request), results)
          return { object: "list" as const, ...page, data: page.data.map(present) }
        }),
      get: ({ params, query, request }) =>
        Effect.gen(function* () {
          const { account_id } = yield* CurrentKey
          const record = yield* findMail(params.id)
          const results = yield* RouteResults.of(account_id, [record])
          const present = yield* InboundRecords.presenter(account_id, hostOf(request), results)
          const bytes = yield* InboundContent.find(account_id, params.id)
          const shown = present(record)
          if (Option.isNone(bytes)) return { ...shown, headers: [], text: null, html: null, stripped_text: null }
          const json = yield* readable(
            ReadInbound.show(bytes.value, shown, account_id, { images: query.inline_images === "true" }),
          )
          return HttpServerResponse.uint8Array(json, { contentType: "application/json" })
        }),
      raw: ({ params }) =>
        Effect.gen(function* () {
          const { account_id } = yield* CurrentKey
          yield* findMail(params.id)
          const bytes = yield* InboundContent.find(account_id, params.id)
          if (Option.isNone(bytes)) return yield* new InboundRefusal.ContentExpired()
          return download(bytes.value, "message/rfc822", `${params.id}.eml`)
        }),
      receipt: (call) =>
        Effect.gen(function* () {
          const { account_id } = yield* CurrentKey
          yield* findMail(call.params.id)
          return yield* receiptOf(account_id, call.params.id, call)
        }),
      attachment: ({ params }) =>
        Effect.gen(function* () {
          const { account_id } = yield* CurrentKey
          const { attachments } = yield* findMail(params.id)
          const nth = Heading.placeOf(params.attachment)
          const file = nth === undefined ? undefined : attachments[nth]
          if (nth === undefined || file === undefined) return yield* new InboundRefusal.AttachmentNotFound()
          const bytes = yield* InboundContent.find(account_id, params.id)
          if (Option.isNone(bytes)) return yield* new InboundRefusal.ContentExpired()
          const content = yield* readable(ReadInbound.file(bytes.value, nth, account_id))
          if (content === undefined) return yield* new InboundRefusal.AttachmentNotFound()
          return download(content, "application/octet-stream", file.filename)
        }),
      remove: ({ params }) =>
        Effect.gen(function* () {
          const { account_id } = yield* CurrentKey
          yield* findMail(params.id)
          const removed = yield* RequestCommit.commitRepeatable({
            streams: [{ aggregate: Inbound, id: params.id }],
            decide: (view) => {
              const before = view.state<Inbound.State>(Inbound, params.id)
              return Result.map(Inbound.remove(view.now as Timestamp.Timestamp)(before), (events) => ({
                append: [{ aggregate: Inbound, id: params.id, events }],
                answer: { object: "inbound_email" as const, id: params.id, deleted: true as const },
              }))
            },
          })
          yield* InboundContent.remove(account_id, params.id)
          return removed
        }),
      replay: replayMail,
      reply: replyTo,
      forward: forwardMail,
      thread: ({ params }) => readThread(params.id),
      test: receiveTest,
    }),
  ),
)

const hostOf = ({ headers }: HttpServerRequest.HttpServerRequest) => headers["host"]

const readable = <A, R>(
  reading: Effect.Effect<A, { readonly _tag: "Busy" } | { readonly _tag: "NotDisplayable" }, R>,
) =>
  Effect.mapError(reading, (error) =>
    error._tag === "Busy"
      ? new RequestRefusal.Overloaded({ budget: "parsing" })
      : new RequestRefusal.MessageUnreadable(),
  )

/** A download whatever its type, so that no browser renders what strangers wrote. */
const download = (bytes: Uint8Array, contentType: string, filename: string) =>
  HttpServerResponse.uint8Array(bytes, {
    contentType,
    headers: {
      "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(filename)}`,
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
    },
  })
