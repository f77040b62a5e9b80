import * as Address from "@waybill/domain/values/Address"
import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import * as ApiError from "../errors/ApiError.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { annotate } from "../middleware/annotate.ts"
import * as EmailSearch from "../schemas/EmailSearch.ts"
import * as Page from "../schemas/Page.ts"
import * as Livemode from "../schemas/Livemode.ts"
import { Validation } from "../middleware/Validation.ts"

/** Longest wait of a request: enough for a test suite. */
export const MAX_WAIT_SECONDS = 60

/** A number of seconds such as `10s`. */
const Wait = Schema.String.annotate({
  description: `How long to wait for a message if there is none, at most ${MAX_WAIT_SECONDS}s`,
  examples: ["10s"],
}).pipe(
  Schema.decodeTo(
    Schema.Int,
    SchemaTransformation.transformEffect<number, string>({
      decode: (text) => {
        const seconds = /^(\d{1,3})s$/u.exec(text)?.[1]
        return seconds !== undefined && Number(seconds) <= MAX_WAIT_SECONDS
          ? Effect.succeed(Number(seconds))
          : Effect.fail(
              new SchemaIssue.InvalidValue({
                message: `must be a number of seconds up to ${MAX_WAIT_SECONDS}, such as 10s`,
              }),
            )
      },
      encode: (seconds) => Effect.succeed(`${seconds}s`),
    }),
  ),
)

const fields = {
  object: Schema.Literal("sandbox_message"),
  id: Id.EmailId.annotateKey({ description: "Id of the email" }),
  recipients: Schema.Array(Schema.String).annotate({ description: "The envelope recipients" }),
  subject: Schema.String,
  mail_from: Schema.String.annotate({ description: "The return path" }),
  size_bytes: Schema.Natural,
  livemode: Livemode.field("False for test mail, true for mail of an instance without a transport"),
  created_at: Timestamp.Timestamp,
  expires_at: Timestamp.Timestamp,
}

export const SandboxMessage = Schema.Struct(fields).annotate({ identifier: "SandboxMessage" })
export type SandboxMessage = typeof SandboxMessage.Type

const Part = Schema.Struct({
  filename: Schema.NullOr(Schema.String),
  content_type: Schema.String,
  content_id: Schema.NullOr(Schema.String),
  size_bytes: Schema.Natural,
  content: Schema.String.annotate({ description: "The bytes, in base64" }),
}).annotate({ identifier: "SandboxAttachment" })

export const MessageWithContent = Schema.Struct({
  ...fields,
  headers: Schema.Array(Schema.Struct({ name: Schema.String, value: Schema.String })),
  html: Schema.NullOr(Schema.String),
  text: Schema.NullOr(Schema.String),
  attachments: Schema.Array(Part),
  raw: Schema.String.annotate({
    description: "The complete message as it would have been sent, including signatures, in base64",
  }),
}).annotate({ identifier: "SandboxMessageWhole" })

export const Emptied = Schema.Struct({
  object: Schema.Literal("sandbox"),
  deleted: Schema.Natural.annotate({ description: "Number of deleted messages" }),
}).annotate({ identifier: "SandboxEmptied" })

const params = { id: Id.EmailId }
const scope = "email:logs:read"
/** Scope for deleting mail of the sandbox. Read-only callers such as viewers cannot delete. */
const deletion = "email:send"

export class Sandbox extends HttpApiGroup.make("sandbox")
  .add(
    HttpApiEndpoint.get("list", "/sandbox/messages", {
      query: Schema.Struct({
        ...Livemode.query,
        limit: Page.limit(),
        after: Schema.optionalKey(Id.EmailId),
        to: Schema.optionalKey(Address.FromText),
        q: Schema.optionalKey(EmailSearch.Typed),
        wait: Schema.optionalKey(Wait),
      }).check(
        Schema.makeFilter(
          ({ q, wait }) =>
            q === undefined || wait === undefined || { path: ["wait"], issue: "cannot be combined with `q`" },
        ),
      ),
      success: Page.of(SandboxMessage),
    }).annotateMerge(
      annotate(
        "List sandbox emails",
        scope,
        "Newest first. With `wait` and `to`, a test suite can wait for a message to an address. A page of a search with `q` may hold fewer than `limit` and still have `has_more`.",
      ),
    ),
    HttpApiEndpoint.get("get", "/sandbox/messages/:id", {
      params,
      query: Livemode.query,
      success: MessageWithContent,
      error: ApiError.Unprocessable,
    }).annotateMerge(annotate("Get a sandbox email", scope, "The parsed message and its raw bytes.")),
    HttpApiEndpoint.delete("remove", "/sandbox/messages/:id", {
      params,
      query: Livemode.query,
      success: Emptied,
    }).annotateMerge(
      annotate(
        "Delete a sandbox email",
        deletion,
        "Deletes the message from the sandbox only; its events stay in the log.",
      ),
    ),
    HttpApiEndpoint.delete("clear", "/sandbox/messages", { query: Livemode.query, success: Emptied }).annotateMerge(
      annotate(
        "Empty the sandbox",
        deletion,
        "Deletes all mail of the account from the sandbox; for a key bound to a domain, of that domain.",
      ),
    ),
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(
    OpenApi.annotations({
      title: "Sandbox",
      description:
        "Mail that was kept instead of delivered: test mail always, live mail while the instance's `TRANSPORT` is `sandbox`, else 404.",
    }),
  ) {}
