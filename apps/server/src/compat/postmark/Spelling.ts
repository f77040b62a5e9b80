import * as Labels from "@waybill/domain/email/Labels"
import type { Refusal } from "@waybill/domain/values/Refusal"
import * as Respelling from "../Respelling.ts"
import * as AddressList from "./AddressList.ts"
import * as InvalidAddress from "./InvalidAddress.ts"
import type * as PostmarkMessage from "./PostmarkMessage.ts"

const NAMES: ReadonlyMap<string, string> = new Map([
  ["from", "From"],
  ["to", "To"],
  ["cc", "Cc"],
  ["bcc", "Bcc"],
  ["reply_to", "ReplyTo"],
  ["subject", "Subject"],
  ["html", "HtmlBody"],
  ["text", "TextBody"],
  ["headers", "Headers"],
  ["tags", "Tag"],
  ["metadata", "Metadata"],
  ["attachments", "Attachments"],
  ["filename", "Name"],
  ["content", "Content"],
  ["content_type", "ContentType"],
  ["content_id", "ContentID"],
])

const nameOf = (ours: string): string => NAMES.get(ours) ?? ours

/** Fields whose addresses are in one text. */
const LISTS = ["To", "Cc", "Bcc", "ReplyTo"] as const

/**
 * Returns how Postmark spells a field of the send that a message was translated to. Most messages need no spelling, and
 * one that is refused for hundreds of fields is taken apart once.
 */
export const of = (message: PostmarkMessage.Message): Respelling.Spelling => {
  let lookups: ReturnType<typeof lookupsOf> | undefined
  return (place) => {
    // A refusal within a batch may begin with the message's place in it.
    const path = place.replace(/^emails\[\d+\]\.?/u, "")
    const match = /^(\w+)(?:\[(\d+)\])?(?:\.(.+))?$/su.exec(path)
    if (match === null) return path
    const [, head = "", index, rest = ""] = match
    if (head === "tracking") return message.TrackOpens === true ? "TrackOpens" : "TrackLinks"
    lookups ??= lookupsOf(message)
    if (head === "tags" || (head === "metadata" && Labels.isFurther(rest))) return "Tag"
    if (head === "metadata" && rest !== "") return `Metadata.${rest}`
    if (head === "headers" && rest !== "") {
      const position = lookups.headers.get(rest)
      return position === undefined ? "Headers" : `Headers[${position}]`
    }
    const name = nameOf(head)
    const position = index === undefined || lookups.single.has(name) ? "" : `[${index}]`
    return `${name}${position}${rest === "" ? "" : `.${nameOf(rest)}`}`
  }
}

const lookupsOf = (message: PostmarkMessage.Message) => ({
  headers: new Map((message.Headers ?? []).map(({ Name }, nth) => [Name, nth])),
  /** The lists of one address, which needs no position. */
  single: new Set<string>(LISTS.filter((name) => AddressList.split(message[name] ?? "", 1).length === 1)),
})

/** Returns a refusal of a message as Postmark words it. */
export const refusal = (message: PostmarkMessage.Message, refusal: Refusal, spelling = of(message)) => {
  const spelled = Respelling.respell(refusal, spelling)
  return refusal.reason === "validation_failed"
    ? Respelling.withDetails(spelled, InvalidAddress.told(message, spelled.details))
    : spelled
}
