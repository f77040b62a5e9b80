import { Effect } from "effect"
import * as ForwardMarks from "./ForwardMarks.ts"
import * as ReplyAddresses from "./ReplyAddresses.ts"

/** Makes the addresses and marks by which answers to sent mail, and forwards that come back, are known. */
export const of = (server: string, inboundDomain: string) =>
  Effect.gen(function* () {
    const marksOf = yield* ForwardMarks.marksOf
    return { replyAddress: yield* ReplyAddresses.addressesAt(inboundDomain), forwarder: { server, marksOf } }
  })
