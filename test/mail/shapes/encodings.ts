import { bytesOf, file, mail, multipart, plain, shape, type Shape, utf8 } from "./Shape.ts"

const TEXT = ["Content-Type: text/plain; charset=utf-8"]
const encoded = (encoding: string, ...body: ReadonlyArray<string>) =>
  mail([...TEXT, `Content-Transfer-Encoding: ${encoding}`], ...body)
const WORD = "Grüße"
const IN_BASE64 = Buffer.from(WORD).toString("base64")
const LONG = "0123456789".repeat(10_000)

/** Encodings of content, right and wrong. */
export const encodings: ReadonlyArray<Shape> = [
  shape("quoted-printable with soft breaks", encoded("quoted-printable", "Gr=C3=BC=C3=", "=9Fe"), { text: WORD }),
  shape("quoted-printable with small digits", encoded("quoted-printable", "Gr=c3=bc=c3=9fe"), { text: WORD }),
  shape(
    "quoted-printable with spaces behind a soft break",
    encoded("quoted-printable", "Gr=C3=BC=  ", "=C3=9Fe"),
    {
      text: WORD,
    },
    "the spaces are taken for text",
  ),
  shape("quoted-printable with spaces at the end of a line", encoded("quoted-printable", "One   ", "Two"), {
    text: /^One *\r?\nTwo$/u,
  }),
  shape("quoted-printable that is broken", encoded("quoted-printable", "100=ZZ sure = yes"), {
    text: "100=ZZ sure = yes",
  }),
  shape("quoted-printable that ends in an equals sign", encoded("quoted-printable", "Hi="), { text: /^Hi=?$/u }),
  shape("quoted-printable with bytes that are not encoded", encoded("quoted-printable", utf8(WORD)), { text: WORD }),
  shape("base64 in one line", encoded("base64", IN_BASE64), { text: WORD }),
  shape("base64 in short lines", encoded("base64", ...(IN_BASE64.match(/.{1,4}/gu) ?? [])), { text: WORD }),
  shape("base64 without padding", encoded("base64", IN_BASE64.replaceAll("=", "")), { text: WORD }),
  shape("base64 with spaces", encoded("base64", [...IN_BASE64].join(" ")), { text: WORD }),
  shape("base64 with a line of stars", encoded("base64", "****", IN_BASE64), { text: WORD }),
  shape("base64 of several encoders, each padded", encoded("base64", "SGk=", "IQ=="), { text: "Hi!" }),
  shape("base64 named in capitals", encoded("BASE64", IN_BASE64), { text: WORD }),
  shape("base64 with a comment", encoded("base64 (really)", IN_BASE64), { text: WORD }),
  shape("base64 in quotes", encoded('"base64"', IN_BASE64), { text: WORD }),
  shape("base64 with a semicolon", encoded("base64;", IN_BASE64), { text: WORD }),
  shape("8bit", encoded("8bit", utf8(WORD)), { text: WORD }),
  shape("binary", encoded("binary", utf8(WORD)), { text: WORD }),
  shape("7bit with 8 bits", encoded("7bit", utf8(WORD)), { text: WORD }),
  shape("an encoding that is a charset", encoded("utf-8", utf8(WORD)), { text: WORD }),
  shape("an empty encoding", encoded("", utf8(WORD)), { text: WORD }),
  shape(
    "two encodings",
    mail([...TEXT, "Content-Transfer-Encoding: base64", "Content-Transfer-Encoding: 7bit"], IN_BASE64),
    {
      text: new RegExp(`^(?:${WORD}|${IN_BASE64})$`, "u"),
    },
  ),
  shape("no type and no charset", mail([], utf8(WORD)), { text: WORD }),
  shape(
    "an unknown charset",
    mail(["Content-Type: text/plain; charset=x-martian"], utf8(WORD)),
    { text: WORD },
    "it is taken for Windows-1252",
  ),
  shape("latin1 said to be utf-8", mail(TEXT, "Gr\u00fc\u00dfe"), { text: /^Gr.+e$/u }),
  shape(
    "utf-8 said to be us-ascii",
    mail(["Content-Type: text/plain; charset=us-ascii"], utf8(WORD)),
    { text: WORD },
    "it is taken for Windows-1252",
  ),
  shape("a charset that is empty", mail(["Content-Type: text/plain; charset="], utf8(WORD)), { text: WORD }),
  shape("a charset in comments", mail(["Content-Type: text/plain (text); charset=utf-8 (all)"], utf8(WORD)), {
    text: WORD,
  }),
  shape("two charsets", mail(["Content-Type: text/plain; charset=utf-8; charset=us-ascii"], utf8(WORD)), {
    text: WORD,
  }),
  shape(
    "a type that is no type",
    mail(["Content-Type: text"], "Hi"),
    { text: "Hi", files: [] },
    "it is taken for a file",
  ),
  shape("a type with a slash at its end", mail(["Content-Type: text/"], "Hi"), { complete: true }),
  shape("line feeds alone", Buffer.from("From: ana@example.org\nSubject: LF\n\nOne\nTwo\n"), {
    subject: "LF",
    text: "One\nTwo",
  }),
  shape("a null byte in the text", mail(TEXT, "a\0b"), { text: /^a.?b$/u }),
  shape("a line of 100,000 characters", mail(TEXT, LONG), { text: LONG }),
  shape("no line break at the end", bytesOf("From: ana@example.org", "", "Hi"), { text: "Hi" }),
  shape("a header and nothing else", bytesOf("From: ana@example.org", "Subject: Alone"), {
    subject: "Alone",
    text: null,
  }),
  shape(
    "format=flowed with quotes",
    mail(["Content-Type: text/plain; charset=utf-8; format=flowed"], "One ", "two", "> three ", "> four"),
    {
      text: "One two\n> three four",
    },
    "the marks of later lines stay",
  ),
  shape(
    "format=flowed with delsp",
    mail(["Content-Type: text/plain; charset=utf-8; format=flowed; delsp=yes"], "One ", "two"),
    { text: "Onetwo" },
  ),
  shape("a dot at the start of a line", mail(TEXT, ".", "..two"), { text: ".\n..two" }),
  shape("a From line in the text", mail(TEXT, "From here", ">From there"), { text: /From here/u }),
  shape(
    "a file with a broken base64",
    multipart(
      [],
      "mixed",
      plain("Hi"),
      "Content-Type: application/pdf; name=a.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\nJVBE\r\n!!RiQ",
    ),
    {
      text: "Hi",
      files: ["a.pdf"],
    },
  ),
  shape(
    "a file without content",
    multipart([], "mixed", plain("Hi"), file("empty.bin", "application/octet-stream", "")),
    {
      files: ["empty.bin"],
      content: "",
    },
  ),
]
