import type { Refusal } from "@waybill/domain/values/Refusal"
import { Effect } from "effect"
import { HttpApiSchema } from "effect/http-api"
import * as AcceptCommit from "../../../accept/AcceptCommit.ts"
import type * as Draft from "../../../accept/Draft.ts"
import * as RequestCommit from "../../../accept/RequestCommit.ts"
import * as Send from "../../../accept/Send.ts"
import * as Warnings from "../../../accept/Warnings.ts"

type Wanted<E> = ReadonlyArray<Draft.Outgoing<E>>

/** Sends the one message of a call, and warns of what it lacks. */
export const sendOne = Effect.fnUntraced(function* <E extends Refusal = never, E2 = never, R = never>(
  call: RequestCommit.Call,
  wanted: Wanted<E> | Effect.Effect<Wanted<E>, E2, R>,
) {
  const { commands, ...sent } = yield* Send.send(yield* Send.callerOf(call), wanted, AcceptCommit.acknowledge)
  const { body, headers } = RequestCommit.response(sent)
  return HttpApiSchema.withHeaders({ body, headers: { ...headers, ...Warnings.ofMessage(commands[0]) } })
})
