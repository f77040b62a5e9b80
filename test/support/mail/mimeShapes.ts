type Random = (most: number) => number

/** mulberry32, which returns the same numbers on every machine. */
const randomOf = (seed: number): Random => {
  let state = seed
  return (most) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % most
  }
}

interface Leaf {
  readonly headers: ReadonlyArray<string>
  readonly body: Buffer
}

export interface ExpectedFile {
  readonly filename: string
  readonly bytes: Buffer
}

/** The body of a message in some shape of MIME, and what its recipient has to get. */
export interface MimeShape {
  readonly bytes: Buffer
  readonly text: string | undefined
  readonly html: string | undefined
  readonly files: ReadonlyArray<ExpectedFile>
}

const hex = (byte: number) => byte.toString(16).toUpperCase().padStart(2, "0")

/** Escapes every line break, as Python does for bytes, so that a file may end in `=0A=`. */
const quotedBytes = (bytes: Buffer): string => {
  const units = Array.from(bytes, (byte) =>
    byte > 32 && byte < 127 && byte !== 61 ? String.fromCharCode(byte) : `=${hex(byte)}`,
  )
  let out = ""
  let column = 0
  for (const unit of units) {
    if (column + unit.length > 70) {
      out += "=\r\n"
      column = 0
    }
    out += unit
    column += unit.length
  }
  return bytes.at(-1) === 10 ? `${out}=` : out
}

const base64 = (bytes: Buffer): string => bytes.toString("base64").replaceAll(/.{76}(?=.)/gu, "$&\r\n")

const PIECES = [
  "Dear Ana",
  ".",
  "..",
  "From here",
  "a = b",
  "",
  " ",
  "\t",
  "größer",
  "--b",
  "=3D",
  "été",
  "x".repeat(90),
]
const ASCII = PIECES.filter((piece) => /^\p{ASCII}*$/u.test(piece))
const LATIN = [...PIECES, "ÿ"]
const ALL = [...PIECES, "日本語", "🐎", "\u00a0"]

const linesOf = (random: Random, pieces: ReadonlyArray<string>): string => {
  const lines = Array.from({ length: 1 + random(6) }, () => pieces[random(pieces.length)] ?? "")
  return `${["Hello", ...lines].join("\n")}${["", "\n", "\n\n"][random(3)]}`
}

/** A body: its text with LF line ends, in a charset and a transfer encoding. */
const text = (random: Random, subtype: "plain" | "html"): { readonly value: string; readonly leaf: Leaf } => {
  const [charset, pieces, encoding] =
    (
      [
        ["utf-8", ALL, "utf8"],
        ["ISO-8859-1", LATIN, "latin1"],
        ["utf-16le", ALL, "utf16le"],
        ["us-ascii", ASCII, "latin1"],
        ["cp932", ASCII, "latin1"],
      ] as const
    )[random(5)] ?? (["utf-8", ALL, "utf8"] as const)
  const lines = linesOf(random, pieces)
  const value = subtype === "html" ? `<p>${lines}` : lines
  const wire = Buffer.from(value.replaceAll("\n", "\r\n"), encoding)
  const named = encoding === "utf16le" ? "base64" : (["8bit", "quoted-printable", "base64", "quoted"][random(4)] ?? "")
  const body =
    named === "base64"
      ? base64(wire)
      : named === "quoted"
        ? quotedBytes(Buffer.from(value, encoding))
        : named === "8bit"
          ? wire.toString("latin1")
          : quotedLines(wire)
  return {
    value,
    leaf: {
      headers: [
        `Content-Type: text/${subtype};${random(2) === 0 ? "\r\n\t" : " "}charset=${random(2) === 0 ? charset : `"${charset}"`}`,
        ...(random(3) === 0 ? ["Content-Disposition: inline"] : []),
        `Content-Transfer-Encoding: ${named === "quoted" ? "quoted-printable" : named}`,
      ],
      body: Buffer.from(body, "latin1"),
    },
  }
}

/** Keeps line breaks as line breaks. */
const quotedLines = (wire: Buffer): string =>
  wire
    .toString("latin1")
    .split("\r\n")
    .map((line) => quotedBytes(Buffer.from(line, "latin1")))
    .join("\r\n")

const NAMES: ReadonlyArray<readonly [name: string, parameter: string]> = [
  ["notes.txt", "filename=notes.txt"],
  ["a b (1).html", 'filename="a b (1).html"'],
  ['quo"te.csv', 'filename="quo\\"te.csv"'],
  ["semi;colon.csv", 'filename="semi;colon.csv"'],
  ["größe.pdf", "filename*=UTF-8''gr%C3%B6%C3%9Fe.pdf"],
  ["größe.txt", "filename*=iso-8859-1'de'gr%F6%DFe.txt"],
  ["größe.ics", "filename*0*=UTF-8''gr%C3%B6;\r\n filename*1*=%C3%9Fe;\r\n filename*2=.ics"],
  ["grüße.dat", 'filename="=?utf-8?Q?gr=C3=BC=C3=9Fe.dat?="'],
  [`${"long".repeat(30)}.bin`, `filename="${"long".repeat(30)}.bin"`],
]

const TYPES = [
  "text/plain",
  "text/plain; charset=iso-8859-1; format=flowed",
  "text/html; charset=utf-8",
  "text/csv",
  "text/calendar; charset=utf-8; method=REQUEST",
  "application/ics",
  "application/octet-stream",
  "image/png",
  "application/x-own; version=2",
]

const file = (random: Random, id: string | undefined): { readonly file: ExpectedFile; readonly leaf: Leaf } => {
  const [filename, parameter] = NAMES[random(NAMES.length)] ?? ["", ""]
  const type = id === undefined ? (TYPES[random(TYPES.length)] ?? "") : "image/png"
  const encoding = ["base64", "quoted-printable", "8bit", "7bit", "binary", "BASE64"][random(6)] ?? ""
  const isLines = ["8bit", "7bit", "binary"].includes(encoding)
  const bytes = isLines
    ? Buffer.from(linesOf(random, encoding === "7bit" ? ASCII : LATIN).replaceAll("\n", "\r\n"), "latin1")
    : Buffer.concat([
        Buffer.from(Array.from({ length: random(200) }, () => random(256))),
        Buffer.from(["", "\n", "\r\n", "\r", "=", " ", "\n\n"][random(7)] ?? ""),
      ])
  return {
    file: { filename, bytes },
    leaf: {
      headers: [
        `Content-Type: ${type}`,
        `Content-Disposition: ${random(2) === 0 ? "inline" : "attachment"};${random(2) === 0 ? "\r\n " : " "}${parameter}`,
        ...(id === undefined ? [] : [`Content-ID: <${id}>`]),
        `Content-Transfer-Encoding: ${encoding}`,
      ],
      body: isLines ? bytes : Buffer.from(/base64/iu.test(encoding) ? base64(bytes) : quotedBytes(bytes), "latin1"),
    },
  }
}

/** A message that is attached: of ASCII, as it may not be encoded. */
const message = (random: Random): ReturnType<typeof file> => {
  const bytes = Buffer.from(
    `From: b@acme.test\r\nSubject: inner\r\n\r\n${linesOf(random, ASCII).replaceAll("\n", "\r\n")}`.replaceAll(
      "--b",
      "- b",
    ),
  )
  return {
    file: { filename: "message.eml", bytes },
    leaf: { headers: ["Content-Type: message/rfc822", "Content-Transfer-Encoding: 7bit"], body: bytes },
  }
}

let boundaries = 0
const multipart = (subtype: string, leaves: ReadonlyArray<Leaf>, random: Random): Leaf => {
  const boundary = `=_b${boundaries++}`
  const CRLF = "\r\n"
  return {
    headers: [`Content-Type: multipart/${subtype};${random(2) === 0 ? CRLF : ""} boundary="${boundary}"`],
    body: Buffer.concat([
      Buffer.from(random(2) === 0 ? "This is a message of MIME.\r\n" : ""),
      ...leaves.flatMap((leaf) => [Buffer.from(`--${boundary}\r\n`), written(leaf), Buffer.from(CRLF)]),
      Buffer.from(`--${boundary}--${random(2) === 0 ? `${CRLF}epilogue` : ""}`),
    ]),
  }
}

const written = ({ body, headers }: Leaf): Buffer =>
  Buffer.concat([Buffer.from(`${headers.join("\r\n")}\r\n\r\n`), body])

/** Returns messages of nested multiparts, charsets, encodings and names; the same ones for the same seed. */
export const mimeShapes = (seed: number, count: number): ReadonlyArray<MimeShape> =>
  Array.from({ length: count }, (_, nth) => {
    const random = randomOf(seed + nth)
    const plain = random(5) === 0 ? undefined : text(random, "plain")
    const picture = random(3) === 0 ? file(random, "logo@acme.test") : undefined
    const html = picture === undefined && random(2) === 0 && plain !== undefined ? undefined : text(random, "html")
    const shown = picture === undefined || html === undefined ? html : withPicture(html)
    const inner =
      shown === undefined
        ? undefined
        : picture === undefined
          ? shown.leaf
          : multipart("related", [shown.leaf, picture.leaf], random)
    const texts = [...(plain === undefined ? [] : [plain.leaf]), ...(inner === undefined ? [] : [inner])]
    const body = texts.length === 1 && texts[0] !== undefined ? texts[0] : multipart("alternative", texts, random)
    const files = Array.from({ length: random(4) }, () => (random(6) === 0 ? message(random) : file(random, undefined)))
    const nested = files.length > 2 && random(2) === 0
    const leaves = files.map(({ leaf }) => leaf)
    const attached = nested ? [leaves[0], multipart("mixed", leaves.slice(1), random)] : leaves
    const whole =
      files.length === 0
        ? body
        : multipart(
            "mixed",
            [body, ...attached].filter((leaf) => leaf !== undefined),
            random,
          )
    return {
      bytes: written(whole),
      text: plain?.value,
      html: shown?.value,
      files: [...(picture === undefined ? [] : [picture]), ...files].map(({ file }) => file),
    }
  })

/** The HTML has to show a picture, or the picture is an ordinary file. */
const withPicture = ({ leaf }: ReturnType<typeof text>): ReturnType<typeof text> => {
  const value = '<img src="cid:logo@acme.test">'
  return {
    value,
    leaf: { headers: leaf.headers.slice(0, 0).concat("Content-Type: text/html"), body: Buffer.from(value) },
  }
}
