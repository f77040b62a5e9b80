/** Maximum bytes of one reply, which is a few lines. */
export const REPLY_BYTES = 64 * 1024

/** The lines of one reply; the text behind the code is read as UTF-8 where it is valid. */
export interface WireReply {
  readonly code: number
  readonly lines: ReadonlyArray<string>
}

const CR = 13
const REPLY_LINE = /^[2-5]\d\d(?:[ -]|$)/u
const BEYOND_ASCII = /[\x80-\xff]/u

/** The lines that have arrived of a reply that is not complete. */
export class ReplyLines {
  #text = ""
  /** Start of the text that is not read yet. */
  #at = 0
  #lines: Array<string> = []
  #size = 0

  get isEmpty(): boolean {
    return this.#at === this.#text.length && this.#lines.length === 0
  }

  /** Passes on the replies that are complete, and returns what is wrong with what has arrived. */
  add(chunk: Buffer, complete: (reply: WireReply) => void): string | undefined {
    // Read as latin1, since a chunk may split a character.
    const text = this.#text.slice(this.#at) + chunk.toString("latin1")
    this.#text = text
    this.#at = 0
    this.#size += chunk.length
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", this.#at)) {
      const hasReturn = end > this.#at && text.charCodeAt(end - 1) === CR
      const line = text.slice(this.#at, hasReturn ? end - 1 : end)
      this.#at = end + 1
      if (!REPLY_LINE.test(line)) return `not an SMTP reply: ${line.slice(0, 100)}`
      this.#lines.push(BEYOND_ASCII.test(line) ? Buffer.from(line, "latin1").toString("utf8") : line)
      if (line.charAt(3) === "-") continue
      const reply: WireReply = { code: Number(line.slice(0, 3)), lines: this.#lines }
      this.#lines = []
      this.#size = text.length - this.#at
      complete(reply)
    }
    return this.#size > REPLY_BYTES ? "reply too long" : undefined
  }
}
