import { ABOVE, LINE, type Brush } from "./PdfPage.ts"

/** Pixels a point: 288 in an inch, as printers need. */
const SCALE = 4
/** Size at which letters are tried. */
const INK = 12

/** Draws with the fonts of the browser, which has letters for most writing systems. */
export const brush = (): Brush => {
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true })
  if (context === null) throw new Error("The browser has no canvas.")
  const { canvas } = context
  const fontOf = (size: number) => `${size}px Helvetica, Arial, "Liberation Sans", sans-serif`
  const widthOf = (text: string, size: number): number => {
    context.font = fontOf(size * SCALE)
    return context.measureText(text).width / SCALE
  }
  const known = new Map<string, string>()
  /** Writes the code points of a letter that no font of this machine has, so that nothing is left out unseen. */
  const shown = (letter: string): string => {
    context.font = fontOf(INK)
    context.clearRect(0, 0, INK * 4, INK * 2)
    context.fillText(letter, INK, INK)
    const hasInk = context.getImageData(0, 0, INK * 4, INK * 2).data.some((value) => value > 0)
    const points = Array.from(letter, (each) => `U+${(each.codePointAt(0) ?? 0).toString(16).toUpperCase()}`)
    return hasInk ? letter : `[${points.join(" ")}]`
  }
  const drawable = (text: string): string =>
    Array.from(new Intl.Segmenter().segment(text), ({ segment }) => {
      if (/^[\s\p{Cf}\u{20}-\u{ff}]+$/u.test(segment)) return segment
      const letter = known.get(segment) ?? shown(segment)
      known.set(segment, letter)
      return letter
    }).join("")
  return {
    measure: (text, size) => widthOf(drawable(text), size),
    draw: (undrawn, size) => {
      const text = drawable(undrawn)
      const height = Math.ceil(size * LINE * SCALE)
      canvas.width = Math.ceil(widthOf(text, size) * SCALE) || 1
      canvas.height = height
      context.fillStyle = "#fff"
      context.fillRect(0, 0, canvas.width, height)
      context.fillStyle = "#000"
      context.font = fontOf(size * SCALE)
      context.fillText(text, 0, size * ABOVE * SCALE)
      const { data } = context.getImageData(0, 0, canvas.width, height)
      const pixels = Uint8Array.from({ length: data.length / 4 }, (_, i) => {
        const [red = 0, green = 0, blue = 0] = data.subarray(i * 4, i * 4 + 3)
        return Math.round(0.299 * red + 0.587 * green + 0.114 * blue)
      })
      return { width: canvas.width, height, pixels }
    },
  }
}
