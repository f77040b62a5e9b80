import * as AmazonSes from "./AmazonSes.ts"
import * as Mailgun from "./Mailgun.ts"
import * as Postmark from "./Postmark.ts"
import * as Event from "./ProviderEvent.ts"
import type { Provider, ProviderEvent, Read } from "./ProviderEvent.ts"
import * as Resend from "./Resend.ts"
import * as SendGrid from "./SendGrid.ts"
import * as SparkPost from "./SparkPost.ts"

/** Most events of one call. SendGrid sends up to a thousand, SparkPost ten thousand of ordinary size. */
export const MAX_EVENTS = 10_000

const READERS: { readonly [P in Provider]: Read } = {
  ses: AmazonSes.read,
  postmark: Postmark.read,
  mailgun: Mailgun.read,
  sendgrid: SendGrid.read,
  sparkpost: SparkPost.read,
  resend: Resend.read,
}

export interface ReadCall {
  readonly events: ReadonlyArray<ProviderEvent>
  /** Objects of the call that are no event. */
  readonly malformed: number
}

/** Reads the events of a call, which is one object or a list of them. */
export const readCall = (provider: Provider, body: unknown): ReadCall => {
  const objects = Array.isArray(body) ? body : [body]
  const events: Array<ProviderEvent> = []
  let malformed = Math.max(0, objects.length - MAX_EVENTS)
  for (const object of objects.slice(0, MAX_EVENTS)) {
    const read = READERS[provider](object)
    if (read === undefined) malformed++
    else if (read !== "ignored")
      for (const event of read)
        if (events.length < MAX_EVENTS) events.push(withId(event, Event.idOf(event.id)))
        else malformed++
  }
  return { events, malformed }
}

const withId = (event: ProviderEvent, id: string): ProviderEvent => (id === event.id ? event : { ...event, id })
