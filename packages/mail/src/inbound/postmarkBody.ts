import * as MimeReader from "../mime/MimeReader.ts"
import { type Header, postmarkHeaders } from "./postmarkHeaders.ts"
import { strippedText } from "./strippedText.ts"

export interface PostmarkInput {
  readonly bytes: Uint8Array
  /** Whether the mail is added as it came. */
  readonly raw: boolean
  /** The fields that follow from the record, and no others of the call. */
  readonly record: object
  readonly attachments: ReadonlyArray<NamedFile>
  /** Headers that are shown in place of those that the mail came with. */
  readonly findings: ReadonlyArray<Header>
  /** Whether the mail says that it answers another one. */
  readonly isReply: boolean
}

/** A file as the record shows it. */
export interface NamedFile {
  readonly filename: string
  readonly content_type: string
  readonly content_id: string | null
}

/** Returns the JSON of a received mail as Postmark's inbound webhook has it, with the content of all files. */
export const postmarkBody = ({ attachments, bytes, findings, isReply, raw, record }: PostmarkInput): Uint8Array => {
  const mail = MimeReader.readIfSimple(bytes, { exact: true })
  const text = mail?.text ?? ""
  const stripped = strippedText(text)
  const headers = (mail?.headers ?? []).map(({ originalKey, value }) => ({ Name: originalKey, Value: value }))
  return Buffer.from(
    JSON.stringify({
      ...record,
      TextBody: text,
      HtmlBody: mail?.html ?? "",
      StrippedTextReply: isReply || stripped !== text.trim() ? stripped : "",
      Headers: postmarkHeaders(findings, headers),
      ...(raw && bytes.length > 0 ? { RawEmail: Buffer.from(bytes).toString("utf8") } : {}),
      Attachments: (mail?.files ?? []).slice(0, attachments.length).map(({ content }, nth) => ({
        Name: attachments[nth]?.filename ?? "",
        Content: Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString("base64"),
        ContentType: attachments[nth]?.content_type ?? "",
        ContentLength: content.length,
        // Anymail of Django takes a file with an id, even an empty one, as inline.
        ContentID: attachments[nth]?.content_id ?? null,
      })),
    }),
  )
}
