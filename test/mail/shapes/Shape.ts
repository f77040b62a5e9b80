/** A mail as the world sends it, and what must come of it. Fields that are left out are not looked at. */
export interface Shape {
  readonly name: string
  readonly raw: Buffer
  readonly is: {
    readonly subject?: string | null
    /** Address of the sender. */
    readonly from?: string | null
    readonly sender?: string
    /** Addresses of the recipients in the header. */
    readonly to?: ReadonlyArray<string>
    /** The text, or a part of it as a pattern, without spaces around it. */
    readonly text?: string | RegExp | null
    readonly html?: string | RegExp | null
    readonly stripped?: string
    /** Names of the files, or their names and types. */
    readonly files?: ReadonlyArray<string | readonly [name: string, type: string]>
    /** Content of the first file. */
    readonly content?: string
    readonly automatic?: "auto_reply" | "bounce" | "list" | null
    readonly complete?: boolean
    readonly date?: string | null
    readonly message_id?: string | null
    readonly in_reply_to?: string | null
    readonly references?: number
  }
  /** Why postal-mime reads it in another way. */
  readonly unlike?: string
}

export const FROM = "From: Ana <ana@example.org>"
const USUAL = [FROM, "To: hi@acme.test", "Date: Sun, 29 Nov 2026 10:00:00 +0100", "MIME-Version: 1.0"]

/** Joins lines as mail has them. A character is a byte, so that texts in any charset can stand in them. */
export const bytesOf = (...lines: ReadonlyArray<string>): Buffer => Buffer.from(lines.join("\r\n"), "latin1")

/** Returns text in UTF-8 as characters that are its bytes. */
export const utf8 = (text: string): string => Buffer.from(text).toString("latin1")

/** A mail with the usual headers and these. */
export const mail = (headers: ReadonlyArray<string>, ...body: ReadonlyArray<string>): Buffer =>
  bytesOf(...USUAL, ...headers, "", ...body, "")

export const part = (headers: ReadonlyArray<string>, ...body: ReadonlyArray<string>): string =>
  [...headers, "", ...body].join("\r\n")

/** The header and the body of parts in a multipart. */
export const parts = (
  kind: string,
  boundary: string,
  ...inside: ReadonlyArray<string>
): readonly [header: string, body: string] => [
  `Content-Type: multipart/${kind}; boundary="${boundary}"`,
  [...inside.map((each) => `--${boundary}\r\n${each}`), `--${boundary}--`].join("\r\n"),
]

export const multipart = (headers: ReadonlyArray<string>, kind: string, ...inside: ReadonlyArray<string>): Buffer => {
  const [header, body] = parts(kind, "=_b", ...inside)
  return mail([...headers, header], body)
}

export const plain = (text: string): string => part(["Content-Type: text/plain; charset=utf-8"], utf8(text))
export const html = (text: string): string => part(["Content-Type: text/html; charset=utf-8"], utf8(text))
export const file = (name: string, type: string, content: string): string =>
  part(
    [
      `Content-Type: ${type}; name="${name}"`,
      "Content-Transfer-Encoding: base64",
      `Content-Disposition: attachment; filename="${name}"`,
    ],
    Buffer.from(content).toString("base64"),
  )

export const shape = (name: string, raw: Buffer, is: Shape["is"], unlike?: string): Shape => ({
  name,
  raw,
  is,
  ...(unlike === undefined ? {} : { unlike }),
})
