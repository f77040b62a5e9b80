import * as MimeReader from "./MimeReader.ts"

export interface Input {
  readonly bytes: Uint8Array
  /** What else the answer says of the mail. */
  readonly record: object
}

/**
 * A mail as a mail program reads it, as the JSON of an answer: of a large mail that takes longer to write than the mail
 * to read. Undefined where its parts or headers are beyond the limits.
 */
export const showMail = async ({ bytes, record }: Input): Promise<Uint8Array | undefined> => {
  const mail = await MimeReader.read(bytes).catch(() => undefined)
  if (mail === undefined) return undefined
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")
  return Buffer.from(JSON.stringify({ ...record, ...partsOf(mail), raw }))
}

const partsOf = ({ attachments, headers, html, text }: MimeReader.Mail) => ({
  headers: headers.map(({ key, value }) => ({ name: key, value })),
  html: html ?? null,
  text: text ?? null,
  attachments: attachments.map(({ content, contentId, filename, mimeType }) => {
    const file = typeof content === "string" ? Buffer.from(content) : Buffer.from(new Uint8Array(content))
    return {
      filename,
      content_type: mimeType,
      content_id: contentId?.replace(/^<|>$/gu, "") ?? null,
      size_bytes: file.length,
      content: file.toString("base64"),
    }
  }),
})
