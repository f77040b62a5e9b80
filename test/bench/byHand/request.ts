import * as Rows from "./Rows.ts"

/** Body of a send, as the load sends it. */
export interface Request {
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly reply_to: string
  readonly subject: string
  readonly html: string
  readonly text: string
  readonly headers: Readonly<Record<string, string>>
  readonly tags: ReadonlyArray<string>
}

/** Returns the message of a request and its tags. */
export const messageOf = (request: Request): [Rows.Message, ReadonlyArray<string>] => {
  const { from, headers, html, reply_to, subject, tags, text, to } = request
  const content = { from, headers, html, subject, text }
  const createdAt = new Date().toISOString()
  return [{ ...content, id: Rows.newId(), createdAt, to: to[0] ?? "", replyTo: reply_to, domain: "acme.test" }, tags]
}
