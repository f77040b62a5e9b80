// One page of PDF (ISO 32000-1) with the fonts that every reader has. Points from the top left corner.

export const WIDTH = 595
export const HEIGHT = 842

/** Draws text for which the standard fonts have no letters, as a picture. */
export interface Brush {
  /** Width of a text in points. */
  readonly measure: (text: string, size: number) => number
  readonly draw: (text: string, size: number) => Bitmap
}

/** Rows of pixels, from black (0) to white (255). The base line lies at four fifths of the height. */
export interface Bitmap {
  readonly width: number
  readonly height: number
  readonly pixels: Uint8Array<ArrayBuffer>
}

/** Height of a drawn line, and what of it lies above the base line, by the size of the font. */
export const LINE = 1.5
export const ABOVE = 1.2

export interface Style {
  readonly size: number
  readonly bold?: boolean
  /** From black (0) to white (1). */
  readonly gray?: number
}

/** Widths of Helvetica's letters in thousandths of the size; those of all others are 556. */
const WIDTHS = new Map(
  Object.entries({
    191: "'",
    222: "ijl‚‘’",
    260: "|¦",
    278: " !,./:;I[\\]ft\u00a0·ÌÍÎÏìíîï",
    333: "()-`r„ˆ‹“”˜›¡¨\u00ad¯²³´¸¹",
    334: "{}",
    350: "•",
    355: '"',
    365: "º",
    370: "ª",
    389: "*",
    400: "°",
    469: "^",
    500: "Jcksvxyzšžçýÿ",
    537: "¶",
    584: "+<=>~¬±×÷",
    611: "FTZŽ¿ßø",
    667: "ABEKPSVXY&ŠŸÀÁÂÃÄÅÈÉÊËÝÞ",
    722: "CDHNRUwÇÐÑÙÚÛÜ",
    737: "©®",
    778: "GOQÒÓÔÕÖØ",
    833: "Mm",
    834: "¼½¾",
    889: "%æ",
    944: "Wœ",
    1000: "…‰Œ—™Æ",
    1015: "@",
  }).flatMap(([width, letters]) => [...letters].map((letter) => [letter, Number(width)] as const)),
)
const OTHER_WIDTH = 556
/** Bold letters are up to a quarter wider. */
const BOLD = 1.25

/** The letters of the encoding from 0x80 to 0x9f; the others below 0x100 stand at their code points. */
const EARLY = "€\0‚ƒ„…†‡ˆ‰Š‹Œ\0Ž\0\0‘’“”•–—˜™š›œ\0žŸ"

const codeOf = (letter: string): number | undefined => {
  const point = letter.codePointAt(0) ?? 0
  if ((point >= 0x20 && point < 0x7f) || (point >= 0xa0 && point <= 0xff)) return point
  const early = letter === "\0" ? -1 : EARLY.indexOf(letter)
  return early === -1 ? undefined : 0x80 + early
}

const hasFont = (text: string): boolean => [...text].every((letter) => codeOf(letter) !== undefined)

/** Width of a text in the standard font, in points. */
export const widthOf = (text: string, { bold = false, size }: Style): number =>
  [...text].reduce((sum, letter) => sum + (WIDTHS.get(letter) ?? OTHER_WIDTH), 0) * (size / 1000) * (bold ? BOLD : 1)

export type PdfPage = ReturnType<typeof make>

export const make = (brush: Brush) => {
  const operations: Array<string> = []
  const pictures: Array<Bitmap> = []

  const measured = (text: string, style: Style): number =>
    hasFont(text) ? widthOf(text, style) : brush.measure(text, style.size)

  /** Cuts a text so that it fits, between characters as a reader sees them. */
  const fitted = (text: string, style: Style, room: number): string => {
    if (measured(text, style) <= room) return text
    const letters = Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)
    const cut = (length: number) => `${letters.slice(0, length).join("")}…`
    let [fits, exceeds] = [0, letters.length]
    while (exceeds - fits > 1) {
      const middle = (fits + exceeds) >> 1
      if (measured(cut(middle), style) <= room) fits = middle
      else exceeds = middle
    }
    return cut(fits)
  }

  const page = {
    /** Writes one line, cut at the width of `room`. `y` is its base line. Returns where the text ends. */
    text: (x: number, y: number, text: string, style: Style, room: number): number => {
      const shown = fitted(text, style, room)
      const { bold = false, gray = 0, size } = style
      if (hasFont(shown)) {
        const font = bold ? "F2" : "F1"
        const bytes = [...shown].map((letter) => hex(codeOf(letter) ?? 0, 2)).join("")
        operations.push(`${gray} g BT /${font} ${size} Tf ${at(x, y)} Td <${bytes}> Tj ET`)
      } else {
        const picture = brush.draw(shown, size)
        const height = size * LINE
        const width = (picture.width / picture.height) * height
        const place = `${num(width)} 0 0 ${num(height)} ${at(x, y + height - size * ABOVE)} cm`
        // Readers copy and speak the text of the picture.
        operations.push(`/Span <</ActualText <feff${utf16(shown)}>>> BDC q ${place} /P${pictures.length} Do Q EMC`)
        pictures.push(picture)
      }
      return x + measured(shown, style)
    },

    /** Writes a text in at most so many lines, broken between words. Returns the base line of the line after it. */
    paragraph: (x: number, y: number, text: string, style: Style, room: number, lines: number): number => {
      const height = style.size * 1.3
      if (lines === 1 || measured(text, style) <= room) {
        page.text(x, y, text, style, room)
        return y + height
      }
      const line = fitted(text, style, room).slice(0, -1)
      const space = line.lastIndexOf(" ")
      const end = space > line.length / 2 ? space + 1 : line.length
      page.text(x, y, text.slice(0, end).trimEnd(), style, room)
      return page.paragraph(x, y + height, text.slice(end), style, room, lines - 1)
    },

    /** Fills a rectangle. */
    fill: (x: number, y: number, width: number, height: number, gray = 0): void => {
      operations.push(`${gray} g ${at(x, y + height)} ${num(width)} ${num(height)} re f`)
    },

    /** Returns the file, with another one attached. */
    save: async (title: string, attached: { readonly name: string; readonly bytes: Uint8Array<ArrayBuffer> }) => {
      const packed = await deflated(attached.bytes)
      const images = await Promise.all(pictures.map(({ pixels }) => deflated(pixels)))
      const first = 9
      const resources = images.map((_, nth) => `/P${nth} ${first + nth} 0 R`).join(" ")
      const font = (name: string) => `<</Type/Font/Subtype/Type1/BaseFont/${name}/Encoding/WinAnsiEncoding>>`
      const name = `<feff${utf16(attached.name)}>`
      return fileOf([
        `<</Type/Catalog/Pages 2 0 R/Lang(en)/ViewerPreferences<</DisplayDocTitle true>>/Names<</EmbeddedFiles<</Names[${name} 7 0 R]>>>>/AF[7 0 R]>>`,
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        `<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${WIDTH} ${HEIGHT}]/Contents 4 0 R/Resources<</Font<</F1 5 0 R/F2 6 0 R>>/XObject<<${resources}>>>>>>`,
        stream("", new TextEncoder().encode(operations.join("\n"))),
        font("Helvetica"),
        font("Helvetica-Bold"),
        `<</Type/Filespec/F${name}/UF${name}/EF<</F 8 0 R>>/AFRelationship/Source>>`,
        stream(
          `/Type/EmbeddedFile/Subtype/application#2Fjson/Params<</Size ${attached.bytes.length}>>${FLATE}`,
          packed,
        ),
        ...pictures.map(({ height, width }, nth) =>
          stream(
            `/Type/XObject/Subtype/Image/Width ${width}/Height ${height}/ColorSpace/DeviceGray/BitsPerComponent 8${FLATE}`,
            images[nth] ?? new Uint8Array(),
          ),
        ),
        `<</Title<feff${utf16(title)}>/Producer(Waybill)>>`,
      ])
    },
  }
  return page
}

const FLATE = "/Filter/FlateDecode"
const num = (value: number): string => String(Math.round(value * 100) / 100)
const at = (x: number, y: number): string => `${num(x)} ${num(HEIGHT - y)}`
const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, "0")
const utf16 = (text: string): string =>
  Array.from({ length: text.length }, (_, i) => hex(text.charCodeAt(i), 4)).join("")

const deflated = async (bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(
    await new Response(new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"))).arrayBuffer(),
  )

type Part = string | Uint8Array<ArrayBuffer>

const stream = (entries: string, bytes: Uint8Array<ArrayBuffer>): ReadonlyArray<Part> => [
  `<<${entries}/Length ${bytes.length}>>\nstream\n`,
  bytes,
  "\nendstream",
]

/** Numbers the objects from 1 and writes where each begins. The last one describes the file. */
const fileOf = (objects: ReadonlyArray<Part | ReadonlyArray<Part>>): Blob => {
  const parts: Array<Part> = ["%PDF-1.7\n%\u00e9\u00e9\u00e9\u00e9\n"]
  const places: Array<number> = []
  let length = new TextEncoder().encode(parts[0] as string).length
  const add = (part: Part) => {
    parts.push(part)
    length += typeof part === "string" ? new TextEncoder().encode(part).length : part.length
  }
  for (const [nth, object] of objects.entries()) {
    places.push(length)
    add(`${nth + 1} 0 obj\n`)
    for (const part of Array.isArray(object) ? (object as ReadonlyArray<Part>) : [object as Part]) add(part)
    add("\nendobj\n")
  }
  const start = length
  const table = places.map((place) => `${String(place).padStart(10, "0")} 00000 n \n`).join("")
  const size = objects.length + 1
  add(
    `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<</Size ${size}/Root 1 0 R/Info ${objects.length} 0 R>>\nstartxref\n${start}\n%%EOF\n`,
  )
  return new Blob(parts, { type: "application/pdf" })
}
