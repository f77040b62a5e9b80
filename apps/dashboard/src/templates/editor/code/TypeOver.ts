import { EditorSelection, Prec, type Extension } from "@codemirror/state"
import { EditorView } from "@codemirror/view"

const END_TAG = /^<\/([a-z][\w-]*)>/iu
const BEGUN = /<\/[\w-]*$/u

const countOf = (text: string, begin: string, name: string): number =>
  text.match(new RegExp(`${begin}${name}(?=[\\s/>])`, "giu"))?.length ?? 0

const TAG = /<(\/?)([a-z][\w-]*)/giu
const VOID = new Set("area base br col embed hr img input link meta source track wbr".split(" "))

/** Characters before the cursor in which an element is looked for that it is in. */
const REACH = 20_000

/** Returns the innermost element that a text has begun and not ended. */
const openIn = (text: string): string | undefined => {
  const open: Array<string> = []
  for (const [, slash, name = ""] of text.slice(-REACH).toLowerCase().matchAll(TAG)) {
    const begin = open.lastIndexOf(name)
    if (slash === "" && !VOID.has(name)) open.push(name)
    if (slash !== "" && begin >= 0) open.splice(begin)
  }
  return open.at(-1)
}

/**
 * Returns how much of the text after the cursor a typed character stands for: that of an end tag which is there already,
 * because the editor has inserted it. 0 if the character is another one, or the end tag belongs to another element.
 */
export const typedOver = (before: string, after: string, typed: string): number => {
  if (typed === "/" && before.endsWith("<")) {
    const [, name] = END_TAG.exec(after) ?? []
    const text = `${before.slice(0, -1)}${after}`
    const isOwn = name !== undefined && openIn(before) === name.toLowerCase()
    return isOwn && countOf(text, "<", name) === countOf(text, "</", name) ? 2 : 0
  }
  return BEGUN.test(before) && after.startsWith(typed) && /^[\w-]*>/u.test(after) ? 1 : 0
}

/** Lets an author type over the end tags that the editor inserts. */
export const typeOver: Extension = Prec.high(
  EditorView.inputHandler.of((view, from, to, typed) => {
    if (from !== to || typed.length !== 1) return false
    const [before, after] = [view.state.sliceDoc(0, from), view.state.sliceDoc(from)]
    const length = typedOver(before, after, typed)
    if (length === 0) return false
    // The `<` that was typed before is one with that of the end tag.
    const begin = length === 2 ? from - 1 : from
    view.dispatch({
      changes: { from: begin, to: from },
      selection: EditorSelection.cursor(begin + length),
      userEvent: "input.type",
    })
    return true
  }),
)
