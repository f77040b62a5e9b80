import type * as InboundState from "@waybill/domain/inbound/InboundState"
import { Duration, Effect, Option } from "effect"
import * as Dns from "../dns/Dns.ts"
import * as Sender from "../inbound/Sender.ts"
import * as Parser from "../parsing/Parser.ts"

/** Time limit of all lookups and readings of one mail: its 250 waits for no name server longer than this. */
export const JUDGED_WITHIN_SECONDS = 15
/** Names that are looked up for one mail; the others count as names that cannot be looked up now. */
export const MAX_LOOKUPS = 60
/** Readings of a whole mail. Those after the first one are for lookups that only they ask for. */
const MAX_READINGS = 3

/** Findings about a mail that takes too long to judge. */
const LATER: InboundState.Authentication = { spf: "temperror", dkim: [], dmarc: "temperror", arc: "temperror" }

/**
 * Judges who sent a mail, on a thread that is ended if it takes too much time or memory, with names that are looked up here.
 * A mail is not refused for its result, which the customer's routes may look at. `account` has a queue of its own.
 */
export const judge = (
  bytes: Uint8Array,
  client: Sender.Client,
  account: string,
): Effect.Effect<InboundState.Authentication, never, Dns.Dns> =>
  judgeWith(bytes, client, account).pipe(
    Effect.timeoutOption(Duration.seconds(JUDGED_WITHIN_SECONDS)),
    Effect.map(Option.getOrElse(() => LATER)),
    Effect.catchTags({
      Busy: () => Effect.succeed(LATER),
      // A reading that fails is the sender's doing, like one without end.
      Killed: () => Effect.succeed(LATER),
    }),
  )

const judgeWith = Effect.fn("Authentication.judge")(function* (
  bytes: Uint8Array,
  client: Sender.Client,
  account: string,
): Effect.fn.Return<InboundState.Authentication, Parser.Busy | Parser.Killed, Dns.Dns> {
  const dns = yield* Dns.Dns
  const answers = new Map<string, Dns.Answer<unknown>>()
  /** Looks names up, of which there is a maximum; returns whether there were any. */
  const lookUp = Effect.fnUntraced(function* (questions: ReadonlyArray<Sender.Question>) {
    const left = Math.max(0, MAX_LOOKUPS - answers.size)
    for (const question of questions.slice(left)) answers.set(Sender.keyOf(question), Dns.unavailable("TIMEOUT"))
    yield* Effect.forEach(
      questions.slice(0, left),
      (question) => Effect.map(query(dns, question), (answer) => answers.set(Sender.keyOf(question), answer)),
      { concurrency: "unbounded", discard: true },
    )
    return questions.length > 0
  })
  // Connections are bounded, and each has one mail: the queue needs no bound of its own.
  const read = { patient: true, pool: Parser.SenderPool }
  yield* lookUp(yield* Parser.run("ahead", { bytes: bytes.subarray(0, Sender.HEAD_BYTES), client }, account, read))
  for (let readings = 0; readings < MAX_READINGS; readings++) {
    // A small mail is read at once: most have no more to look up.
    if (readings > 0 || bytes.length > Sender.HEAD_BYTES)
      while (yield* lookUp(yield* Parser.run("questions", { client, answers }, account, read)));
    const judged = yield* Parser.run("sender", { bytes, client, answers }, account, read)
    if (judged._tag === "Judged") return judged.auth
    yield* lookUp(judged.questions)
  }
  return LATER
})

const query = (dns: Dns.Dns["Service"], { name, type }: Sender.Question): Effect.Effect<Dns.Answer<unknown>> => {
  switch (type) {
    case "TXT":
      return Effect.map(
        dns.txt(name),
        mapped((text) => [text]),
      )
    case "MX":
      return Effect.map(
        dns.mx(name),
        mapped(({ exchange, preference }) => ({ exchange, priority: preference })),
      )
    case "A":
      return dns.a(name)
    case "AAAA":
      return dns.aaaa(name)
    case "CNAME":
      return dns.cname(name)
    case "PTR":
      return dns.ptr(addressIn(name))
  }
}

const mapped =
  <A, B>(change: (record: A) => B) =>
  (answer: Dns.Answer<A>): Dns.Answer<B> =>
    answer._tag === "Found" ? Dns.found(answer.records.map(change)) : answer

/** Returns the address whose reverse name this is. */
const addressIn = (name: string): string => {
  const labels = name.toLowerCase().split(".").slice(0, -2).toReversed()
  return name.toLowerCase().endsWith(".ip6.arpa")
    ? (labels.join("").match(/.{1,4}/gu) ?? []).join(":")
    : labels.join(".")
}
