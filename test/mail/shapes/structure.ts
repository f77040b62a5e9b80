import { bytesOf, file, html, mail, multipart, part, parts, plain, shape, type Shape } from "./Shape.ts"

const inner = (subject: string, ...more: ReadonlyArray<string>) =>
  ["From: bo@example.org", `Subject: ${subject}`, ...(more.length === 0 ? ["", "Inside"] : more)].join("\r\n")
const attachedMail = (content: string) => part(["Content-Type: message/rfc822"], content)

/** A mail in a mail, so many times. */
const nested = (depth: number): string => {
  if (depth === 0) return inner("the innermost")
  const [header, body] = parts("mixed", `b${depth}`, plain(`level ${depth}`), attachedMail(nested(depth - 1)))
  return inner(`level ${depth}`, header, "", body)
}

const empty = mail(["Content-Type: text/plain; charset=utf-8"])
const many = (count: number) =>
  multipart(
    [],
    "mixed",
    plain("Hi"),
    ...Array.from({ length: count }, (_, nth) => file(`f${nth}.bin`, "application/octet-stream", `${nth}`)),
  )

/** Parts of a mail, and mails whose parts are not what they say. */
export const structure: ReadonlyArray<Shape> = [
  shape("empty: no content", empty, { text: null, html: null, files: [], complete: true }),
  shape("empty: spaces alone", mail(["Content-Type: text/plain"], "   ", ""), { text: "", files: [] }),
  shape("empty: HTML without text", mail(["Content-Type: text/html"], "<html><body></body></html>"), {
    html: "<html><body></body></html>",
    files: [],
  }),
  shape("empty: a multipart without parts", mail(['Content-Type: multipart/mixed; boundary="b"'], "--b--"), {
    text: null,
    files: [],
    complete: true,
  }),
  shape("empty: a multipart without content", mail(['Content-Type: multipart/mixed; boundary="b"']), {
    text: null,
    files: [],
    complete: true,
  }),
  shape("an empty type", mail(["Content-Type:"], "Hi"), { text: "Hi", files: [] }, "it is taken for a file"),
  shape("HTML alone", mail(["Content-Type: text/html; charset=utf-8"], "<p>Hi</p>"), { text: null, html: "<p>Hi</p>" }),
  shape("HTML of several programs", multipart([], "mixed", html("<p>One</p>"), html("<p>Two</p>")), {
    html: /One[^]*Two/u,
    files: [],
  }),
  shape("a text below another", multipart([], "mixed", plain("One"), plain("Two")), {
    text: /^One\s+Two$/u,
    files: [],
  }),
  shape(
    "a footer of a list",
    multipart(
      [],
      "mixed",
      plain("One"),
      part(["Content-Type: text/plain", "Content-Disposition: inline"], "-- footer"),
    ),
    { text: /One[^]*footer/u, files: [] },
  ),
  shape("files alone", multipart([], "mixed", file("a.pdf", "application/pdf", "x")), { text: null, files: ["a.pdf"] }),
  shape(
    "a file that is the mail",
    mail(["Content-Type: application/pdf; name=a.pdf", "Content-Transfer-Encoding: base64"], "eA=="),
    { text: null, files: [["a.pdf", "application/pdf"]], content: "x" },
  ),
  shape("an image that is the mail", mail(["Content-Type: image/png", "Content-Transfer-Encoding: base64"], "eA=="), {
    text: null,
    files: [["attachment-1", "image/png"]],
  }),
  shape(
    "a text that is a file",
    multipart(
      [],
      "mixed",
      plain("Hi"),
      part(
        ['Content-Type: text/plain; name="notes.txt"', "Content-Disposition: attachment; filename=notes.txt"],
        "Notes",
      ),
    ),
    { text: "Hi", files: [["notes.txt", "text/plain"]], content: "Notes" },
  ),
  shape("a page that is a file", multipart([], "mixed", plain("Hi"), file("page.html", "text/html", "<p>Page</p>")), {
    text: "Hi",
    html: null,
    files: [["page.html", "text/html"]],
  }),
  shape("a table that is a file", multipart([], "mixed", plain("Hi"), file("a.csv", "text/csv", "a,b")), {
    text: "Hi",
    files: [["a.csv", "text/csv"]],
  }),
  shape("50 files", many(50), {
    text: "Hi",
    files: Array.from({ length: 50 }, (_, nth) => `f${nth}.bin`),
    complete: true,
  }),
  shape("120 files", many(120), {
    text: "Hi",
    files: Array.from({ length: 100 }, (_, nth) => `f${nth}.bin`),
    complete: false,
  }),
  shape(
    "two files of one name",
    multipart([], "mixed", file("a.txt", "application/x-a", "1"), file("a.txt", "application/x-a", "2")),
    { files: ["a.txt", "a.txt"], content: "1" },
  ),
  shape("a file of an unknown type", multipart([], "mixed", plain("Hi"), file("a.x", "application/x-martian", "x")), {
    files: [["a.x", "application/x-martian"]],
  }),
  shape(
    "a file of a broken type",
    multipart(
      [],
      "mixed",
      plain("Hi"),
      part(["Content-Type: pdf", "Content-Disposition: attachment; filename=a.pdf"], "x"),
    ),
    { files: ["a.pdf"], text: "Hi" },
  ),

  shape(
    "forward: a mail as a file",
    multipart(["Subject: Fwd: x"], "mixed", plain("See below"), attachedMail(inner("inside"))),
    {
      subject: "Fwd: x",
      text: "See below",
      files: [["attachment-1", "message/rfc822"]],
      content: "From: bo@example.org\r\nSubject: inside\r\n\r\nInside",
    },
    "it takes the mail for text",
  ),
  shape(
    "forward: a mail with a name",
    multipart(
      [],
      "mixed",
      plain("See"),
      part(["Content-Type: message/rfc822", 'Content-Disposition: attachment; filename="x.eml"'], inner("inside")),
    ),
    { text: "See", files: [["x.eml", "message/rfc822"]] },
  ),
  shape(
    "forward: three deep",
    bytesOf(nested(3)),
    { subject: "level 3", text: "level 3", files: [["attachment-1", "message/rfc822"]], complete: true },
    "it takes the mails for text",
  ),
  shape(
    "forward: twelve deep",
    bytesOf(nested(12)),
    { subject: "level 12", text: "level 12", files: [["attachment-1", "message/rfc822"]], complete: true },
    "it takes the mails for text",
  ),
  shape(
    "forward: a mail in base64",
    multipart(
      [],
      "mixed",
      plain("See"),
      part(
        ["Content-Type: message/rfc822", "Content-Transfer-Encoding: base64"],
        Buffer.from(inner("inside")).toString("base64"),
      ),
    ),
    { text: "See", files: [["attachment-1", "message/rfc822"]] },
    "it takes the mail for text",
  ),
  shape(
    "forward: the mail alone",
    mail(["Content-Type: message/rfc822"], inner("inside")),
    { files: [["attachment-1", "message/rfc822"]], text: null },
    "it takes the mail for text",
  ),
  shape(
    "forward: a digest",
    (() => {
      const [h, b] = parts("digest", "d", part([], inner("one")), part([], inner("two")))
      return mail([h], b)
    })(),
    {
      files: [
        ["attachment-1", "message/rfc822"],
        ["attachment-2", "message/rfc822"],
      ],
      text: null,
    },
    "it takes the mails for text",
  ),
  shape(
    "forward: within the text",
    mail(
      ["Content-Type: text/plain"],
      "See:",
      "",
      "---------- Forwarded message ---------",
      "From: Bo <bo@example.org>",
      "Subject: x",
      "",
      "Inside",
    ),
    { text: /Inside$/u, stripped: "See:" },
  ),
]
