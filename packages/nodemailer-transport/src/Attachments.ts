import { type Data, isData, isSet, listOf } from "./Data.ts"
import type { FieldProblem } from "./TransportError.ts"

/** A file in a request to the API. */
export interface Attachment {
  readonly filename: string
  readonly content: string
  readonly content_type?: string
  readonly content_id?: string
}

/** Options of an attachment that have no meaning for Waybill, and what to do instead. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  raw: "is not supported: Waybill composes each part itself; use `content`, `path` or `href`",
  headers: "is not supported: a file has no headers of its own; use `contentType` and `cid`",
}

/** Copies the list, because nodemailer replaces its entries by their contents, and they belong to the caller. */
export const prepare = (value: unknown, problems: Array<FieldProblem>): ReadonlyArray<unknown> =>
  listOf(value).map((each, nth) => {
    const path = `attachments[${nth}]`
    if (!isData(each)) {
      problems.push({ path, message: "must be an object" })
      return each
    }
    for (const [name, message] of Object.entries(UNSUPPORTED))
      if (isSet(each[name])) problems.push({ path: `${path}.${name}`, message })
    if (each["contentDisposition"] === "inline" && !isSet(each["cid"]))
      problems.push({
        path: `${path}.contentDisposition`,
        message: "needs a `cid`: Waybill shows a file inline if the HTML refers to it",
      })
    return { ...each }
  })

/** Returns the files of normalized data. */
export const ofData = (value: unknown, problems: Array<FieldProblem>): ReadonlyArray<Attachment> =>
  listOf(value).flatMap((each, nth) => {
    if (!isData(each)) return []
    const content = base64Of(each)
    if (content === undefined) {
      problems.push({ path: `attachments[${nth}]`, message: "needs `content`, `path` or `href`" })
      return []
    }
    const { cid, contentType, filename } = each
    return [
      {
        filename: String(filename),
        content,
        ...(isSet(contentType) ? { content_type: withCharset(String(contentType), each) } : {}),
        ...(isSet(cid) ? { content_id: String(cid) } : {}),
      },
    ]
  })

/** Names UTF-8 as the charset of a text that was given as a string, as nodemailer does. */
const withCharset = (contentType: string, { content, encoding }: Data): string =>
  /^text\/(?!.*charset)/i.test(contentType) &&
  typeof content === "string" &&
  encoding !== "base64" &&
  /[^\0-\x7f]/.test(content)
    ? `${contentType}; charset=utf-8`
    : contentType

const DEFAULT_METHOD = "PUBLISH"

/** Returns a meeting invitation as a file, as Waybill sends it over SMTP too. */
export const ofEvent = (event: unknown, problems: Array<FieldProblem>): ReadonlyArray<Attachment> => {
  if (!isData(event)) return []
  const content = base64Of(event)
  if (content === undefined) problems.push({ path: "icalEvent", message: "needs `content`, `path` or `href`" })
  const method = isSet(event["method"]) ? String(event["method"]).toUpperCase().trim() : DEFAULT_METHOD
  return [
    {
      filename: isSet(event["filename"]) ? String(event["filename"]) : "invite.ics",
      content: content ?? "",
      content_type: `text/calendar; charset=utf-8; method=${method}`,
    },
  ]
}

/** Content that nodemailer has read: text, or base64 of bytes. An empty one is still the object that was given. */
const base64Of = ({ content, encoding }: Data): string | undefined => {
  if (typeof content === "string") return encoding === "base64" ? content : Buffer.from(content).toString("base64")
  if (content instanceof Uint8Array) return Buffer.from(content).toString("base64")
  return isData(content) && content["content"] === "" ? "" : undefined
}
