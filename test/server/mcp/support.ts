import { Client, InMemoryTransport } from "@modelcontextprotocol/client"
import * as Email from "@waybill/domain/email/Email"
import * as EmailReport from "@waybill/domain/email/EmailReport"
import type * as DeliveryOutcome from "@waybill/domain/email/DeliveryOutcome"
import type * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Effect, Redacted } from "effect"
import * as McpServer from "../../../apps/server/src/mcp/McpServer.ts"
import * as Toolbox from "../../../apps/server/src/mcp/Toolbox.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"

export const CLIENT = { name: "waybill-tests", version: "1" }

/** Text of a tool's answer; throws if it has another form. */
export const textOf = (result: unknown): string => {
  const { content } = result as { readonly content: ReadonlyArray<{ readonly text?: string }> }
  return content.map(({ text }) => text ?? "").join("\n")
}

/** JSON of an answer: what follows the sentences. */
// Tests read answers of every kind.
// oxlint-disable-next-line typescript/no-explicit-any
export const jsonOf = (text: string): any => JSON.parse(text.slice(text.indexOf("\n\n{") + 2))

/** Connects the official client with the tools of a key, in this process. */
export const connect = Effect.fnUntraced(function* (
  key: string,
  options: { readonly allowLiveSending?: boolean } = {},
) {
  const { url } = yield* HttpWorld
  const toolbox = yield* Toolbox.make({
    url,
    key: Redacted.make(key),
    allowLiveSending: options.allowLiveSending ?? false,
  })
  const factory = yield* McpServer.make(toolbox)
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair()
  const server = yield* Effect.promise(async () => factory({ era: "legacy" }))
  yield* Effect.promise(() => server.connect(serverSide))
  const client = new Client(CLIENT)
  yield* Effect.promise(() => client.connect(clientSide))
  // From then on, the client compares each answer with the form that its tool announces.
  yield* Effect.promise(() => client.listTools())
  yield* Effect.addFinalizer(() => Effect.promise(() => server.close()))
  return {
    client,
    toolbox,
    /** Calls a tool and returns its text. */
    call: (name: string, input: Record<string, unknown> = {}) =>
      Effect.promise(() => client.callTool({ name, arguments: input })).pipe(
        Effect.map((result) => ({
          text: textOf(result),
          isError: result.isError === true,
          structured: result.structuredContent as Readonly<Record<string, unknown>> | undefined,
        })),
      ),
  }
})

const REPLY: DeliveryOutcome.ServerResponse = {
  code: 250,
  enhanced_code: null,
  response: null,
  mx: "mx.example.org",
  tls: null,
  duration_ms: 1,
  category: null,
  attempt: 1,
}

/** Records an outcome for every recipient of an email, as a worker does. */
export const record = Effect.fnUntraced(function* (
  account_id: Id.AccountId,
  stream_id: string,
  recipient: string,
  tag: "Delivered" | "Bounced" | "Failed",
  reply: Partial<DeliveryOutcome.ServerResponse> = {},
) {
  const { commit } = yield* EventStore
  yield* commit(
    Email,
    { account_id, stream_id },
    EmailReport.record(Timestamp.fromMillis(Date.now()), [
      { _tag: tag, recipient: recipient as never, words: { ...REPLY, ...reply } },
    ]),
  )
})
