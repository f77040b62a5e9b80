import * as PdfPage from "./PdfPage.ts"
import * as QrCode from "./QrCode.ts"
import * as ReceiptFacts from "./ReceiptFacts.ts"

const MARGIN = 48
const ROOM = PdfPage.WIDTH - 2 * MARGIN
const VALUES = MARGIN + 76
const CODE = 96
const CODE_LEFT = PdfPage.WIDTH - MARGIN - CODE
/** Where the proof begins, which always takes the same room. */
const PROOF = 634

const TITLE = { size: 22, bold: true }
const SUBJECT = { size: 12, bold: true }
const SECTION = { size: 10.5, bold: true }
const TEXT = { size: 9 }
const LABEL = { size: 9, gray: 0.4 }
const NOTE = { size: 8, gray: 0.25 }

const ROW = 14
/** Height of a recipient with the reply of the server below it. */
const TWO_LINES = 27
const MAX_LINE = 13
/** Below this height letters are too small to read on paper. */
const MIN_LINE = 7.4

export interface Places {
  /** Address of the newest checkpoint, for the QR code. */
  readonly checkpoint: string
  /** Address of the page that checks receipts. */
  readonly verify: string
}

/** Makes a page of PDF that says a receipt in words, with the receipt attached. */
export const make = (
  receipt: ReceiptFacts.ShownReceipt,
  file: { readonly name: string; readonly bytes: Uint8Array<ArrayBuffer> },
  places: Places,
  brush: PdfPage.Brush,
): Promise<Blob> => {
  const facts = ReceiptFacts.of(receipt)
  const page = PdfPage.make(brush)
  const rows = (top: number, list: ReadonlyArray<readonly [string, string]>, right: number): number => {
    for (const [nth, [label, value]] of list.entries()) {
      page.text(MARGIN, top + nth * ROW, label, LABEL, VALUES - MARGIN - 6)
      page.text(VALUES, top + nth * ROW, value, TEXT, right - VALUES)
    }
    return top + list.length * ROW
  }

  page.text(MARGIN, 66, "Receipt", TITLE, ROOM)
  page.paragraph(MARGIN, 90, facts.subject, SUBJECT, CODE_LEFT - MARGIN - 20, 2)
  const headingEnd = rows(126, facts.heading, CODE_LEFT - 20)
  drawCode(page, places.checkpoint)

  const top = Math.max(headingEnd, 48 + CODE + 28) + 14
  page.fill(MARGIN, top - 14, ROOM, 0.5, 0.7)
  page.text(MARGIN, top + 4, "What happened", SECTION, ROOM)
  writeOutcomes(page, facts.outcomes, top + 20, PROOF - 30)
  if (facts.others !== "") page.text(MARGIN, PROOF - 20, `Also in the log: ${facts.others}`, NOTE, ROOM)

  page.fill(MARGIN, PROOF - 10, ROOM, 0.5, 0.7)
  page.text(MARGIN, PROOF + 8, "Proof", SECTION, ROOM)
  const proofEnd = rows(PROOF + 25, facts.proof, PdfPage.WIDTH - MARGIN)
  const check = `To check it, open ${places.verify} and drop ${file.name} there, or run “npx @waybill/verify ${file.name}”. The file is attached to this page. It is checked on your own machine, also without a network.`
  const checked = page.paragraph(MARGIN, proofEnd + 8, check, NOTE, ROOM, 3)
  page.paragraph(MARGIN, checked + 6, MEANING, NOTE, ROOM, 4)
  return page.save(`Receipt: ${facts.subject}`, file)
}

const MEANING =
  "The attached receipt proves that the log held exactly these events when the checkpoint was signed, and that nobody has rewritten them since. It does not prove that a person read the email. This page only repeats it in words: rely on the file, not on the page."

const drawCode = (page: PdfPage.PdfPage, address: string): void => {
  const code = QrCode.encode(address) ?? []
  // Four squares of margin, which readers of codes need, lie in the margin of the page.
  const side = CODE / (code.length || 1)
  for (const [y, row] of code.entries())
    for (const [x, isDark] of row.entries())
      // Slightly larger, so that no light line shows between two squares.
      if (isDark) page.fill(CODE_LEFT + x * side, 48 + y * side, side + 0.05, side + 0.05)
  if (code.length > 0)
    page.text(CODE_LEFT, 48 + CODE + 12, "Newest checkpoint of the log", { size: 6.8, gray: 0.4 }, CODE)
}

const writeOutcomes = (
  page: PdfPage.PdfPage,
  outcomes: ReadonlyArray<ReceiptFacts.Outcome>,
  top: number,
  bottom: number,
): void => {
  const room = bottom - top
  if (outcomes.length * TWO_LINES <= room) {
    for (const [nth, { at, detail, outcome, recipient }] of outcomes.entries()) {
      const y = top + nth * TWO_LINES
      page.text(MARGIN, y, recipient, TEXT, 270)
      page.text(MARGIN + 280, y, outcome, { ...TEXT, bold: true }, 100)
      page.text(MARGIN + 385, y, at, TEXT, ROOM - 385)
      page.text(MARGIN, y + 10.5, detail, NOTE, ROOM)
    }
    return
  }
  const height = Math.max(MIN_LINE, Math.min(MAX_LINE, room / outcomes.length))
  const style = { size: height * 0.78 }
  const lines = Math.floor(room / height)
  const shown = outcomes.length > lines ? outcomes.slice(0, lines - 1) : outcomes
  for (const [nth, { at, detail, outcome, recipient }] of shown.entries()) {
    const y = top + nth * height
    page.text(MARGIN, y, recipient, style, 165)
    page.text(MARGIN + 170, y, outcome, style, 50)
    page.text(MARGIN + 225, y, at, style, 100)
    page.text(MARGIN + 330, y, detail, style, ROOM - 330)
  }
  const rest = outcomes.length - shown.length
  if (rest > 0) page.text(MARGIN, top + shown.length * height, `and ${rest} more, in the attached file`, style, ROOM)
}
