/** Maximum bytes of one reply, which is a few lines. */
export const REPLY_BYTES = 64 * 1024

/** The lines of one reply; the text behind the code is read as UTF-8 where it is valid. */
export interface WireReply {
  readonly code: number
  readonly lines: ReadonlyArray<string>
}

/** The lines that have arrived of a reply that is not complete. */
export class ReplyLines {
  #text = ""
  #lines: Array<string> = []
  #size = 0

  get isEmpty(): boolean {
    return this.#text === "" && this.#lines.length === 0
  }

  /** Passes on the replies that are complete, and returns what is wrong with what has arrived. */
  add(chunk: Buffer, complete: (reply: WireReply) => void): string | undefined {
    // Read as latin1, since a chunk may split a character.
    this.#text += chunk.toString("latin1")
    this.#size += chunk.length
    for (let end = this.#text.indexOf("\n"); end >= 0; end = this.#text.indexOf("\n")) {
      const line = this.#text.slice(0, end).replace(/\r$/u, "")
      this.#text = this.#text.slice(end + 1)
      if (!/^[2-5]\d\d(?:[ -]|$)/u.test(line)) return `not an SMTP reply: ${line.slice(0, 100)}`
      this.#lines.push(Buffer.from(line, "latin1").toString("utf8"))
      if (line.charAt(3) === "-") continue
      const reply: WireReply = { code: Number(line.slice(0, 3)), lines: this.#lines }
      this.#lines = []
      this.#size = this.#text.length
      complete(reply)
    }
    return this.#size > REPLY_BYTES ? "reply too long" : undefined
  }
}
