import { Api } from "@waybill/api/Api"
import * as Inbound from "@waybill/domain/inbound/Inbound"
import * as InboundRefusal from "@waybill/domain/inbound/InboundRefusal"
import type * as Id from "@waybill/domain/values/Id"
import * as Heading from "@waybill/mail/inbound/Heading"
import * as ReadInbound from "@waybill/mail/reading/InboundMail"
import * as InboundContent from "@waybill/store/content/InboundContent"
import * as InboundMail from "@waybill/store/readmodels/Inbound"
import { Effect, Option } from "effect"
import { HttpServerResponse, type HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as InboundRecords from "../../../inbound/InboundRecords.ts"
import * as Receipt from "../../../receipts/Receipt.ts"
import * as RouteResults from "../../../inbound/RouteResults.ts"
import * as CallerReach from "../../middleware/CallerReach.ts"
import * as ForeignContent from "../../pages/ForeignContent.ts"
import { found } from "../../../web/found.ts"
import { findMail } from "./findMail.ts"
import { forwardMail } from "./forwardMail.ts"
import { readThread } from "./readThread.ts"
import { receiveTest } from "./receiveTest.ts"
import { replayMail } from "./replayMail.ts"
import { replyTo } from "./replyTo.ts"
import * as Handlers from "../../middleware/Handlers.ts"

export const InboundHandlers = HttpApiBuilder.group(Api, "inbound", (handlers) =>
  Effect.map(Receipt.make, (receiptOf) =>
    handlers.handleAll({
      list: Handlers.withKey(function* ({ account_id }, { query, request }) {
        const { domain: requested, livemode: _, ...filters } = query
        const domain = yield* CallerReach.domainFilter(requested)
        const page = yield* InboundMail.list({ account_id, ...filters, ...(domain === undefined ? {} : { domain }) })
        const results = yield* RouteResults.of(account_id, page.data)
        const present = yield* InboundRecords.presenter(account_id, hostOf(request), results)
        return { object: "list" as const, ...page, data: page.data.map(present) }
      }),
      get: Handlers.withKey(function* ({ account_id }, { params, query, request }) {
        const record = yield* findMail(params.id)
        const results = yield* RouteResults.of(account_id, [record])
        const present = yield* InboundRecords.presenter(account_id, hostOf(request), results)
        const bytes = yield* InboundContent.find(account_id, params.id)
        const shown = present(record)
        if (Option.isNone(bytes)) return { ...shown, headers: [], text: null, html: null, stripped_text: null }
        const json = yield* ForeignContent.readable(
          ReadInbound.show(bytes.value, shown, account_id, { images: query.inline_images === "true" }),
        )
        return HttpServerResponse.uint8Array(json, { contentType: "application/json" })
      }),
      raw: Handlers.withKey(function* ({ account_id }, { params }) {
        yield* findMail(params.id)
        return ForeignContent.download(yield* bytesOf(account_id, params.id), `${params.id}.eml`, {
          contentType: "message/rfc822",
        })
      }),
      receipt: Handlers.withKey(function* ({ account_id }, call) {
        yield* findMail(call.params.id)
        return yield* receiptOf(account_id, call.params.id, call)
      }),
      attachment: Handlers.withKey(function* ({ account_id }, { params }) {
        const { attachments } = yield* findMail(params.id)
        const nth = Heading.placeOf(params.attachment)
        const file = nth === undefined ? undefined : attachments[nth]
        if (nth === undefined || file === undefined) return yield* new InboundRefusal.AttachmentNotFound()
        const content = yield* ForeignContent.readable(
          ReadInbound.file(yield* bytesOf(account_id, params.id), nth, account_id),
        )
        if (content === undefined) return yield* new InboundRefusal.AttachmentNotFound()
        return ForeignContent.download(content, file.filename)
      }),
      remove: Handlers.withKey(function* ({ account_id }, { params }) {
        yield* findMail(params.id)
        const removed = yield* Handlers.remove("inbound_email", Inbound, params.id, Inbound.remove)
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

const bytesOf = (account_id: Id.AccountId, id: Id.InboundId) =>
  found(InboundContent.find(account_id, id), () => new InboundRefusal.ContentExpired())

const hostOf = ({ headers }: HttpServerRequest.HttpServerRequest) => headers["host"]
