import { withImages } from "./withImages.ts"
import { strippedText } from "./strippedText.ts"
import * as MimeReader from "../mime/MimeReader.ts"

export interface ShowInput {
  readonly bytes: Uint8Array
  /** The fields of the record that the log has. */
  readonly record: object
  /** Maximum bytes of each text; beyond them it is cut, and `truncated` says so. */
  readonly most?: number
  /** Whether images of the mail stand in its HTML in place of references to them. */
  readonly images?: boolean
}

/** Maximum headers that a record shows. */
export const MAX_HEADERS = 1_000

/**
 * Returns the record of a received mail as the JSON of an answer, with its texts and headers. Writing that of a large mail
 * takes longer than reading it.
 */
export const showInbound = ({ bytes, images = false, most = Infinity, record }: ShowInput): Uint8Array =>
  Buffer.from(JSON.stringify({ ...record, ...textsOf(bytes, most, images) }))

const textsOf = (bytes: Uint8Array, most: number, images: boolean) => {
  const mail = MimeReader.readIfSimple(bytes)
  if (mail === undefined) return { headers: [], text: null, html: null, stripped_text: null }
  const text = mail.text ?? null
  const html = images ? withImages(mail) : (mail.html ?? null)
  const stripped = text === null ? null : strippedText(text)
  const isLong = (each: string | null): each is string => each !== null && Buffer.byteLength(each) > most
  const truncated = [text, html, stripped].some(isLong)
  // A decoder that waits for more leaves out the half of a character.
  const cut = (each: string | null) =>
    isLong(each) ? new TextDecoder().decode(Buffer.from(each).subarray(0, most), { stream: true }) : each
  return {
    headers: mail.headers.slice(0, MAX_HEADERS).map(({ originalKey, value }) => ({ name: originalKey, value })),
    text: cut(text),
    html: cut(html),
    stripped_text: cut(stripped),
    ...(truncated ? { truncated: true } : {}),
  }
}
