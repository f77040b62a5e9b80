import * as MimeReader from "../mime/MimeReader.ts"

export interface Input {
  readonly bytes: Uint8Array
  /** Further fields of the response. */
  readonly record: object
}

/**
 * Returns a mail as the JSON of a response, as a mail program shows it; writing that of a large mail takes longer than
 * reading it. Undefined when its parts or headers exceed the limits.
 */
export const showMail = ({ bytes, record }: Input): Uint8Array | undefined => {
  const mail = MimeReader.readIfSimple(bytes)
  if (mail === undefined) return undefined
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")
  return Buffer.from(JSON.stringify({ ...record, ...partsOf(mail), raw }))
}

const partsOf = ({ files, headers, html, text }: MimeReader.Mail) => ({
  headers: headers.map(({ key, value }) => ({ name: key, value })),
  html: html ?? null,
  text: text ?? null,
  attachments: files.map(({ content, contentId, filename, mimeType }) => ({
    filename,
    content_type: mimeType,
    content_id: contentId?.replace(/^<|>$/gu, "") ?? null,
    size_bytes: content.length,
    content: Buffer.from(content.buffer, content.byteOffset, content.length).toString("base64"),
  })),
})
