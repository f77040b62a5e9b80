import * as Limits from "../language/Limits.ts"
import * as Problem from "../html/Problem.ts"

/** A template of another language in Liquid, and what of it cannot be said there. */
export interface Translated {
  readonly liquid: string
  /** At their places in the source. */
  readonly problems: ReadonlyArray<Problem.Problem>
}

/** Problems that are told of one source: each is placed by reading the source up to it. */
const MAX_PROBLEMS = 20

/** Braces that Liquid would read as its own. */
const OWN = /\{\{|\{%/u
const END_RAW = /\{%-?\s*endraw/u

/** Collects a translation piece by piece. */
export class LiquidWriter {
  readonly #source: string
  readonly #pieces: Array<string> = []
  readonly #problems: Array<Problem.Problem> = []
  /** Text that is not yet written, and where it begins. */
  #text = ""
  #textOffset = 0
  #chars = 0

  constructor(source: string) {
    this.#source = source
  }

  /** Writes text as it is. */
  text(text: string, offset: number): void {
    if (this.#text === "") this.#textOffset = offset
    this.#text += text
  }

  /** Writes Liquid. */
  liquid(liquid: string): void {
    this.#flush(true)
    this.#chars += liquid.length
    this.#pieces.push(liquid)
  }

  /** Whether no template can be as long, so that the rest need not be translated. */
  get isFull(): boolean {
    return this.#chars > Limits.MAX_SOURCE_CHARS
  }

  problem(offset: number, message: string): void {
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push(Problem.at(this.#source, offset, message))
  }

  finish(): Translated {
    this.#flush(false)
    if (this.isFull) this.problem(0, `is longer than ${Limits.MAX_SOURCE_CHARS} characters in Liquid`)
    return { liquid: this.#pieces.join(""), problems: this.#problems }
  }

  /** A brace before a tag would become part of it. */
  #flush(isBeforeTag: boolean): void {
    const text = this.#text
    this.#text = ""
    if (END_RAW.test(text)) this.problem(this.#textOffset, "{% endraw %} cannot stand in a text of Liquid")
    else if (OWN.test(text) || (isBeforeTag && text.endsWith("{"))) this.#pieces.push(`{% raw %}${text}{% endraw %}`)
    else this.#pieces.push(text)
  }
}
