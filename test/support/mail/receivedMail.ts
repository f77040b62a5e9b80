import { decodeWords } from "postal-mime"

/** A part of a received message that is not a multipart. */
export interface ReceivedPart {
  readonly type: string
  readonly disposition: string
  readonly filename: string | undefined
  readonly bytes: Buffer
}

export interface ReceivedMail {
  readonly head: string
  readonly parts: ReadonlyArray<ReceivedPart>
}

const END_OF_HEAD = "\r\n\r\n"

/** Reads a message that this service has sent, by the letter of RFC 2045 and without any normalization. */
export const receivedMail = (bytes: Buffer): ReceivedMail => {
  const text = bytes.toString("latin1")
  return {
    head: text.slice(0, text.indexOf(END_OF_HEAD)).replaceAll(/\r\n(?=[ \t])/gu, ""),
    parts: partsOf(text),
  }
}

const partsOf = (text: string): ReadonlyArray<ReceivedPart> => {
  const end = text.indexOf(END_OF_HEAD)
  const head = text.slice(0, end).replaceAll(/\r\n(?=[ \t])/gu, "")
  const body = text.slice(end + END_OF_HEAD.length)
  const header = (name: string) => new RegExp(`^${name}: *(.*)$`, "imu").exec(head)?.[1] ?? ""
  const type = header("Content-Type")
  const boundary = /boundary="([^"]*)"/u.exec(type)?.[1]
  if (boundary !== undefined)
    return `\r\n${body}`
      .split(`\r\n--${boundary}`)
      .slice(1, -1)
      .flatMap((part) => partsOf(part.replace(/^\r\n/u, "")))
  const disposition = header("Content-Disposition")
  return [
    {
      type,
      disposition: disposition.split(";")[0] ?? "",
      filename: filenameIn(disposition),
      bytes: decoded(body, header("Content-Transfer-Encoding")),
    },
  ]
}

const decoded = (body: string, encoding: string): Buffer => {
  if (encoding === "base64") return Buffer.from(body, "base64")
  if (encoding !== "quoted-printable") return Buffer.from(body, "latin1")
  const octets = body.replaceAll(/=\r\n/gu, "").replaceAll(/=([\dA-F]{2})/gu, (_, hex: string) => unhex(hex))
  return Buffer.from(octets, "latin1")
}

const unhex = (hex: string): string => String.fromCharCode(Number.parseInt(hex, 16))

const filenameIn = (disposition: string): string | undefined => {
  const quoted = /filename="((?:[^"\\]|\\.)*)"/u.exec(disposition)?.[1]
  if (quoted !== undefined) return decodeWords(quoted.replaceAll(/\\(.)/gu, "$1"))
  const pieces = Array.from(disposition.matchAll(/filename\*(?:\d+\*)?=([^;]*)/gu), ([, piece = ""]) => piece.trim())
  return pieces.length === 0 ? undefined : decodeURIComponent(pieces.join("").replace(/^UTF-8''/u, ""))
}
