import { Effect, Layer } from "effect"
import type { OutgoingMessage } from "./Transport.ts"
import * as Simulator from "./Simulator.ts"
import * as Transport from "./Transport.ts"

/** A mail of the sandbox, as the dashboard shows it. */
export interface KeptMail {
  readonly message: Pick<OutgoingMessage, "bytes" | "emailId" | "owner" | "subject"> & { readonly mailFrom: string }
  readonly recipients: ReadonlyArray<string>
}

export type Keep = (mail: KeptMail) => Effect.Effect<void>

/**
 * The transport of the sandbox. Opens no socket. Every mail is delivered and kept, except to the simulator's addresses, whose
 * outcomes pass through the service like those of a real server, but suppress nobody.
 */
export const make = (keep: Keep, domains: Simulator.Domains): Transport.Transport["Service"] => ({
  kind: "capture",
  deliver: Effect.fn("SandboxTransport.deliver")(function* (
    message: OutgoingMessage,
    recipients: ReadonlyArray<string>,
  ) {
    if (message.mayBegin?.() === false) return recipients.map(Transport.notStarted)
    const outcomes = yield* Effect.forEach(recipients, (recipient) => Simulator.simulate(message, recipient, domains), {
      concurrency: "unbounded",
    })
    const taken = outcomes.flatMap(({ recipient, status }) =>
      status === "delivered" || status === "sent" ? [recipient] : [],
    )
    const mailFrom = message.mailFrom(recipients)
    if (taken.length > 0) yield* keep({ message: { ...message, mailFrom }, recipients: taken })
    return outcomes
  }),
})

/** The transport of an instance that sends nothing. Its simulator knows addresses of reserved domains only. */
export const layer = (keep: Keep): Layer.Layer<Transport.Transport> =>
  Layer.succeed(Transport.Transport, make(keep, "reserved"))
