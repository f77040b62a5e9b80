/** A document made to be slow to read, small enough to be accepted. */
export interface Document {
  readonly name: string
  /** Each character a byte. */
  readonly text: string
}

/** Bytes of most documents: on both sides of what is read on the event loop, and what is handed to a thread. */
const SIZES = [1_000, 8_000, 30_000, 33_000, 60_000]
/** One document of so many is as large as is accepted. */
const LARGEST_EVERY = 100

type Random = (most: number) => number

/** mulberry32: the same numbers on every machine. */
const randomOf = (seed: number): Random => {
  let state = seed
  return (most) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % most
  }
}

/** One piece again and again, or several in any order, up to a size; a size so large that only repeats are cheap to make. */
const filled = (pieces: ReadonlyArray<string>, bytes: number, random: Random): string => {
  const first = pieces[random(pieces.length)] ?? ""
  if (random(2) === 0) return first.repeat(Math.ceil(bytes / first.length)).slice(0, bytes)
  const mixture = Array.from({ length: 50 }, () => pieces[random(pieces.length)] ?? "").join("")
  return mixture.repeat(Math.ceil(bytes / mixture.length)).slice(0, bytes)
}

export interface Form {
  /** What stands around the pieces. */
  readonly before: string
  readonly after: string
  /** How much of them is accepted. */
  readonly most?: number
}

export interface Grammar {
  readonly pieces: ReadonlyArray<string>
  readonly forms: ReadonlyArray<Form>
  /** What was slow once, at the size at which it was. */
  readonly known: ReadonlyArray<Form & { readonly piece: string; readonly bytes: number }>
}

/** `count` documents of a grammar, the same for the same seed: first what is known, then any. */
export function* documents(grammar: Grammar, seed: number, count: number, largest: number): Generator<Document> {
  for (const { after, before, bytes, piece } of grammar.known) {
    const size = Math.min(bytes, largest)
    const room = Math.max(0, size - before.length - after.length)
    const text = before + piece.repeat(Math.ceil(room / piece.length)).slice(0, room) + after
    yield { name: `${JSON.stringify(piece)} in ${size} bytes`, text }
  }
  const random = randomOf(seed)
  for (let nth = grammar.known.length; nth < count; nth++) {
    const { after, before, most = largest } = grammar.forms[random(grammar.forms.length)] ?? { before: "", after: "" }
    const size = nth % LARGEST_EVERY === LARGEST_EVERY - 1 ? largest : (SIZES[random(SIZES.length)] ?? 0)
    const room = Math.max(0, Math.min(most, size) - before.length - after.length)
    const text = before + filled(grammar.pieces, room, random) + after
    yield { name: `${nth} of ${JSON.stringify(before.slice(-80))} in ${size} bytes`, text }
  }
}

const CRLF = "\r\n"
const lines = (...each: ReadonlyArray<string>) => each.join(CRLF)
const HEAD = lines("From: {from}", "To: ana@example.org", "Subject: s", "MIME-Version: 1.0", "")
const part = (type: string, more = "") => `--b${CRLF}Content-Type: ${type}${CRLF}${more}${CRLF}`

/** Headers of all parts, without those above. */
const HEADERS = 250_000

const HTML_PIECES = [
  "<a href=href",
  "<a ",
  "<a href='",
  '<a href="https://x.test/">x</a>',
  "<",
  "<!--",
  "--!",
  "</",
  "<b>",
  "<p>",
  "<div>",
  "<table><tr><td>",
  "<ul><li>",
  "<li>",
  "</p>",
  "<b a=b ",
  "<script>",
  "</script",
  "<style>",
  "<svg>",
  "<![CDATA[",
  "<img src=x>",
  "<br>",
  "&",
  "&amp;",
  "&#x41;",
  "&#99999999;",
  "a<b>c</b>",
  "<pre> \n",
  "<h1>",
  "<blockquote>",
  "<base href=x>",
  "<title>",
  "x ",
  "x\n",
  "\t",
]

/** Mail in two parts, outside of `alternative`: text is made of the HTML, and HTML of the text. */
const mixed = (head: string, first: string, second: string): Form => ({
  before: `${head}Content-Type: multipart/mixed; boundary=b${CRLF}${CRLF}${part(first)}x${CRLF}${part(second)}`,
  after: `${CRLF}--b--${CRLF}`,
})
const flowed = (more: string): Form => ({
  before: `${HEAD}Content-Type: text/plain; format=flowed${more}${CRLF}${CRLF}`,
  after: CRLF,
})
/** As long as a line has to be for as many of them as fit. */
const LINE = `${"x".repeat(62)} ${CRLF}`
const LARGEST = Infinity

export const MIME: Grammar = {
  known: [
    ...["href=", "href=x", "href='"].map((piece) => {
      const { after, before } = mixed(HEAD, "text/plain", "text/html")
      return { before: `${before}<a `, after, piece, bytes: 6_000 }
    }),
    ...["<b>", "<p>", "a<b>c</b>", "<a ", "&"].map((piece) => ({
      ...mixed(HEAD, "text/plain", "text/html"),
      piece,
      bytes: 200_000,
    })),
    { ...flowed(""), piece: LINE, bytes: LARGEST },
    { ...flowed("; delsp=yes"), piece: LINE, bytes: 1_000_000 },
    { before: `${HEAD}${CRLF}`, after: CRLF, piece: LINE, bytes: LARGEST },
    { before: `${HEAD}${CRLF}`, after: CRLF, piece: `x${CRLF}`, bytes: 59_000 },
    {
      before: `${HEAD}Content-Transfer-Encoding: quoted-printable${CRLF}${CRLF}`,
      after: CRLF,
      piece: `${"=C3=A4".repeat(12)}=${CRLF}`,
      bytes: LARGEST,
    },
  ],
  pieces: [
    ...HTML_PIECES,
    "x\r\n",
    "\r\n",
    " \r\n",
    `--b${CRLF}${CRLF}x${CRLF}`,
    "--bx\r\n",
    "--\r\n",
    "=",
    "=\r\n",
    "=3D",
    "====\r\n",
    "QQ==\r\n",
    "QUJD\r\n",
    "-_",
    "\xff",
    "\xc3\r\n",
    "> \r\n",
    "-- \r\n",
    "a: b\r\n",
    "cid:%",
    "cid:x ",
  ],
  forms: [
    { before: `${HEAD}${CRLF}`, after: CRLF },
    { before: `${HEAD}Content-Type: text/plain; format=flowed${CRLF}${CRLF}`, after: CRLF },
    { before: `${HEAD}Content-Type: text/plain; format=flowed; delsp=yes${CRLF}${CRLF}`, after: CRLF },
    { before: `${HEAD}Content-Type: text/plain; charset=utf-16${CRLF}${CRLF}`, after: CRLF },
    { before: `${HEAD}Content-Type: text/plain; charset=iso-2022-jp${CRLF}${CRLF}`, after: CRLF },
    {
      before: `${HEAD}Content-Type: text/html${CRLF}Content-Transfer-Encoding: quoted-printable${CRLF}${CRLF}`,
      after: CRLF,
    },
    { before: `${HEAD}Content-Type: application/x${CRLF}Content-Transfer-Encoding: base64${CRLF}${CRLF}`, after: CRLF },
    mixed(HEAD, "text/plain", "text/html"),
    mixed(HEAD, "text/html", "text/plain"),
    { before: `${HEAD}Content-Type: multipart/mixed; boundary=b${CRLF}${CRLF}`, after: `${CRLF}--b--${CRLF}` },
    {
      before: `${HEAD}Content-Type: multipart/related; boundary=b${CRLF}${CRLF}${part("image/png", `Content-ID: <x>${CRLF}`)}x${CRLF}${part("text/html")}`,
      after: `${CRLF}--b--${CRLF}`,
    },
  ],
}

export const ADDRESSES: Grammar = {
  known: ["To", "Cc", "From", "Reply-To"].flatMap((name) =>
    ["a:", "a:b,", "a,", '"', "=?u?q?_?=x", "=?u?b?QQ==?= "].map((piece) => ({
      before: `From: {from}${CRLF}${name}: `,
      after: `${CRLF}${CRLF}x${CRLF}`,
      piece,
      bytes: HEADERS,
    })),
  ),
  pieces: [
    "a:",
    "a;",
    "a,",
    "a:b,",
    ":;",
    "<",
    "<a@b<",
    "x <",
    "a <b@c.test>, ",
    "a@b.test, ",
    "a@",
    "@ ",
    "@",
    '"',
    '"\\',
    '"a" ',
    "(",
    "((a)",
    ")",
    "\\",
    " ",
    "\t",
    "\r\n ",
    ",\r\n ",
    "=?",
    "=?u?q?",
    "=?utf-8?q?a?= ",
    "=?u?b?QQ==?= ",
    "=?u?q?=FF?= ",
    "=?u?q?_?=x",
    "*0*=",
    "; a*1=b",
    "%",
    "'",
    "[",
    "\xff",
  ],
  forms: [
    ...["To", "Cc", "Reply-To", "From", "Sender", "Subject", "References", "X-A", "X-Tag"].map((name) => ({
      before: `From: {from}${CRLF}${name}: `,
      after: `${CRLF}${CRLF}x${CRLF}`,
      most: HEADERS,
    })),
    { before: `${HEAD}Content-Type: text/plain; a=`, after: `${CRLF}${CRLF}x${CRLF}`, most: HEADERS },
    { before: `${HEAD}Content-Type: text/plain; charset="`, after: `"${CRLF}${CRLF}x${CRLF}`, most: HEADERS },
    {
      before: `${HEAD}Content-Disposition: attachment; filename*0*="`,
      after: `"${CRLF}${CRLF}x${CRLF}`,
      most: HEADERS,
    },
    { before: `${HEAD}Content-Type: multipart/mixed; boundary="`, after: `"${CRLF}${CRLF}x${CRLF}`, most: HEADERS },
  ],
}

export const HTML: Grammar = {
  known: ["<b>", "<p>", "<li>", "</p>", "a<b>c</b>", "<svg>", "<div>", "<h1>", "<a href=x>", "x "].map((piece) => ({
    before: "",
    after: "",
    piece,
    bytes: 131_072,
  })),
  pieces: HTML_PIECES,
  forms: [
    { before: "", after: "" },
    { before: "<p>", after: "</p>" },
    { before: "<html><head>", after: "</head><body></body></html>" },
    { before: "<table>", after: "" },
    { before: "<a href=https://x.test/", after: "" },
    { before: "<p>x</p><!--", after: "" },
  ],
}

export const PICTURES: Grammar = {
  known: [120_000, 600_000, LARGEST].map((bytes) => ({ before: "", after: "", piece: "cid:% ", bytes })),
  pieces: ["cid:%", "cid:%41", "cid:x ", "cid:p7 ", 'src="cid:p3"', "cid:", "cid:%zz'", "cid", " cid:p1)", "CID:P1>"],
  forms: [
    { before: "<p>", after: "</p>" },
    { before: "<img src='", after: "'>" },
    { before: "cid:", after: "" },
  ],
}

const report = (type: string) => ({
  before: lines(
    "From: MAILER-DAEMON@x.test",
    `Content-Type: multipart/report; report-type=${type}; boundary=b`,
    "",
    "--b",
    "Content-Type: text/plain",
    "",
    "x",
    "--b",
    `Content-Type: message/${type}`,
    "",
    "",
  ),
  after: `${CRLF}--b${CRLF}Content-Type: message/rfc822${CRLF}${CRLF}Message-ID: <a@b>${CRLF}${CRLF}--b--${CRLF}`,
})

export const REPORTS: Grammar = {
  known: [
    ...["href=", "href=x"].map((piece) => {
      const { after, before } = mixed("", "text/plain", "text/html")
      return { before: `${before}<a `, after, piece, bytes: 6_000 }
    }),
    ...["From", "To", "Sender", "Return-Path"].map((name) => ({
      before: `${name}: `,
      after: `${CRLF}${CRLF}x${CRLF}`,
      piece: "a:",
      bytes: HEADERS,
    })),
    { ...report("delivery-status"), piece: `a: b${CRLF}${" x".repeat(100)}${CRLF}`, bytes: LARGEST },
    { ...flowed(""), piece: `${"x".repeat(200)} ${CRLF}`, bytes: LARGEST },
  ],
  pieces: [
    "Final-Recipient: rfc822; a@b.test\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n",
    "Final-Recipient: rfc822; ",
    "Diagnostic-Code: smtp; 550 ",
    "Original-Rcpt-To: <",
    "Feedback-Type: abuse\r\n",
    "\r\n \r\n",
    "\r\n",
    " \r\n",
    "a:b\r\n",
    " x\r\n",
    ":",
    "<",
    "\\x{41}",
    "+2B",
    "550 ",
    "5.1.1 ",
    "x@",
    "x",
    "\t",
    "user ",
    "try again in 5 ",
    "mailbox account exceeded the ",
  ],
  forms: [
    report("delivery-status"),
    report("feedback-report"),
    report("disposition-notification"),
    { ...report("delivery-status"), before: `${report("delivery-status").before}Reporting-MTA: dns; x${CRLF}${CRLF}` },
    { ...report("feedback-report"), before: `${report("feedback-report").before}Feedback-Type: abuse${CRLF}` },
    {
      before: `${report("feedback-report").before}Feedback-Type: abuse${CRLF}${CRLF}--b${CRLF}Content-Type: message/rfc822${CRLF}${CRLF}To: `,
      after: `${CRLF}--b--${CRLF}`,
    },
  ],
}

const prose = (subject: string, more = "") => ({
  before: `From: postmaster@x.test${CRLF}Subject: ${subject}${CRLF}${more}${CRLF}`,
  after: CRLF,
})

/** Addresses in a header, as many as fit into the headers. */
const FAILED = `X-Failed-Recipients: ${Array.from({ length: 20_000 }, (_, nth) => `a${nth}@b.test`).join(",")}${CRLF}`

export const BOUNCES: Grammar = {
  known: [
    {
      before: `${prose("x", `${FAILED}Content-Type: multipart/mixed; boundary=b${CRLF}`).before}${part("text/plain")}x${CRLF}${part("message/rfc822")}`,
      after: `${CRLF}--b--${CRLF}`,
      piece: `${"x".repeat(900)}${CRLF}`,
      bytes: 1_900_000,
    },
    { ...prose("failure"), piece: `${"deliver".repeat(70)}${CRLF}`, bytes: 400_000 },
  ],
  pieces: [
    "<a@b.test>: 550 no\r\n",
    "<a@b.test>",
    "  a@b.test\r\n",
    "deliver",
    "undeliver\r\n",
    "returned to sender\r\n",
    "could not be delivered ",
    "550 ",
    "host a.b.c.d.e.f.",
    " on 1",
    "\r\n",
    "--",
    "<",
    "@",
    "a@",
    "'",
    " ",
    "x\r\n",
    "x",
    "exceeded the ",
    "mailbox ",
    "user does not ",
    "address failed:\r\n",
    "Received: x\r\n",
    "will continue to ",
  ],
  forms: [
    prose("failure"),
    prose("failure", `X-Failed-Recipients: ${"a@b.test,".repeat(5_000)}${CRLF}`),
    {
      before: `From: x@x.test${CRLF}Subject: complaint about message from `,
      after: `${CRLF}${CRLF}x${CRLF}`,
      most: HEADERS,
    },
    { before: `From: x@x.test${CRLF}X-Failed-Recipients: `, after: `${CRLF}${CRLF}x${CRLF}`, most: HEADERS },
    {
      before: `From: x@x.test${CRLF}In-Reply-To: `,
      after: `${CRLF}${CRLF}address failed:${CRLF}  a@b.test${CRLF}`,
      most: HEADERS,
    },
    prose("failure", `Content-Type: text/html${CRLF}`),
    {
      before: `${prose("x", `Content-Type: multipart/mixed; boundary=b${CRLF}`).before}${part("text/plain")}address failed:${CRLF}  a@b.test${CRLF}${part("message/rfc822")}`,
      after: `${CRLF}--b--${CRLF}`,
    },
  ],
}
