import * as MimeReader from "../mime/MimeReader.ts"
import type { NamedFile } from "./postmarkBody.ts"

export interface SendGridInput {
  readonly bytes: Uint8Array
  /** Whether the mail takes the place of its texts and files, as it came. */
  readonly raw: boolean
  /** Fields of the form that follow from the record. */
  readonly fields: Readonly<Record<string, string>>
  readonly attachments: ReadonlyArray<NamedFile>
  /** A text that no mail has foreseen, so that none can end a field. */
  readonly boundary: string
}

/** Names of the fields whose charset is told. All of them are in UTF-8, whatever the mail came in. */
const TEXTS = ["to", "cc", "from", "subject", "html", "text"]

/** Returns the form of SendGrid's Inbound Parse for a received mail (RFC 7578), with the content of all files. */
export const sendGridForm = ({ attachments, boundary, bytes, fields, raw }: SendGridInput): Uint8Array => {
  const whole = raw && bytes.length > 0
  const mail = whole ? undefined : MimeReader.readIfSimple(bytes, { exact: true })
  const files = (mail?.files ?? []).slice(0, attachments.length)
  const all: Record<string, string> = {
    ...fields,
    ...(whole ? {} : { headers: headersIn(mail?.headers ?? []), attachments: String(files.length) }),
    ...(mail?.text === undefined ? {} : { text: mail.text }),
    ...(mail?.html === undefined ? {} : { html: mail.html }),
    ...(files.length === 0 ? {} : aboutFiles(attachments.slice(0, files.length))),
  }
  all["charsets"] = JSON.stringify(
    Object.fromEntries(TEXTS.flatMap((name) => (all[name] === undefined ? [] : [[name, "UTF-8"]]))),
  )
  const head = (lines: string) => Buffer.from(`--${boundary}\r\n${lines}\r\n\r\n`)
  const parts = Object.entries(all).map(([name, value]) =>
    Buffer.concat([head(`Content-Disposition: form-data; name="${name}"`), Buffer.from(`${value}\r\n`)]),
  )
  const contents = files.flatMap(({ content }, nth) => {
    const { content_type = "", filename = "" } = attachments[nth] ?? {}
    const disposition = `Content-Disposition: form-data; name="${nameOf(nth)}"; filename="${quoted(filename)}"`
    return [head(`${disposition}\r\nContent-Type: ${content_type}`), content, Buffer.from("\r\n")]
  })
  const email = whole ? [head('Content-Disposition: form-data; name="email"'), bytes, Buffer.from("\r\n")] : []
  return Buffer.concat([...parts, ...email, ...contents, Buffer.from(`--${boundary}--\r\n`)])
}

const headersIn = (headers: ReadonlyArray<{ readonly originalKey: string; readonly value: string }>): string =>
  headers.map(({ originalKey, value }) => `${originalKey}: ${value}\n`).join("")

const nameOf = (nth: number): string => `attachment${nth + 1}`

const aboutFiles = (attachments: ReadonlyArray<NamedFile>) => ({
  "attachment-info": JSON.stringify(
    Object.fromEntries(
      attachments.map(({ content_id, content_type, filename }, nth) => [
        nameOf(nth),
        { filename, name: filename, type: content_type, ...(content_id === null ? {} : { "content-id": content_id }) },
      ]),
    ),
  ),
  ...(attachments.every(({ content_id }) => content_id === null)
    ? {}
    : {
        "content-ids": JSON.stringify(
          Object.fromEntries(
            attachments.flatMap(({ content_id }, nth) => (content_id === null ? [] : [[content_id, nameOf(nth)]])),
          ),
        ),
      }),
})

/** Escapes what would end a name, as browsers do. */
const quoted = (filename: string): string =>
  filename.replaceAll(/["\r\n]/gu, (character) => encodeURIComponent(character))
