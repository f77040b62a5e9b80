/** Finds ends of comments that tags of Liquid take apart, such as `-{% if x %}->`. */
export class CommentEnd {
  /** Whether the text before is only a part of an end. */
  #isDash = false

  /** Tells by which of its ends the next text between tags could be a part of one. */
  read(text: string): { readonly isRest: boolean; readonly isHalf: boolean } {
    const isRest = /^-!?>/u.test(text) || (this.#isDash && /^!?>/u.test(text))
    this.#isDash = /^-!?$/u.test(text)
    return { isRest, isHalf: /--!?$/u.test(text) }
  }
}
