import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import { Effect } from "effect"
import { decodeBody } from "../../decodeBody.ts"
import type { Route } from "../../Door.ts"
import { route } from "../../route.ts"
import * as PostmarkMessage from "../PostmarkMessage.ts"
import * as Sends from "../Sends.ts"
import * as Spelling from "../Spelling.ts"
import * as TemplateNumber from "./TemplateNumber.ts"

type Naming = Effect.Success<typeof TemplateNumber.naming>

const decode = Effect.fnUntraced(function* (body: unknown, nameOf: Naming) {
  const message = yield* decodeBody(PostmarkMessage.TemplatedMessage, PostmarkMessage.inCase(body))
  const details = PostmarkMessage.templatedProblems(message)
  if (details.length > 0) return yield* new RequestRefusal.InvalidRequest({ reason: "validation_failed", details })
  const { TemplateAlias, TemplateId = "", TemplateModel = {} } = message
  const id = TemplateAlias ?? (yield* nameOf(String(TemplateId)))
  const spelling = Spelling.of(message)
  return {
    message,
    native: (tracks) => {
      const { html: _, subject: __, text: ___, ...native } = PostmarkMessage.toNative(message, tracks)
      return { ...native, template: { id, variables: TemplateModel } }
    },
    spelling: (path) =>
      /^template\b/u.test(path) ? (TemplateAlias === undefined ? "TemplateId" : "TemplateAlias") : spelling(path),
  } satisfies Sends.Decoded
})

const send = route(
  "POST /email/withTemplate",
  { endpoint: "emails.send", ownBody: PostmarkMessage.TemplatedMessage },
  function* ({ body, headers }) {
    return yield* Sends.one(yield* decode(body, TemplateNumber.nameOf), headers)
  },
)

/** The messages are in a field, whose name may be in any case. */
const messagesIn = (body: unknown): unknown =>
  typeof body === "object" && body !== null && !Array.isArray(body)
    ? Object.entries(body).find(([name]) => name.toLowerCase() === "messages")?.[1]
    : body

const batch = route(
  "POST /email/batchWithTemplates",
  { endpoint: "emails.sendBatch", ownBody: PostmarkMessage.TemplatedBatch },
  function* ({ body, headers }) {
    const bodies = yield* Sends.entries(messagesIn(body))
    const nameOf = yield* TemplateNumber.naming
    return yield* Sends.many(bodies, (each) => decode(each, nameOf), headers)
  },
)

export const routes: ReadonlyArray<Route> = [send, batch]
