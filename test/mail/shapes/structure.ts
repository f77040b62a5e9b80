import { bytesOf, file, FROM, html, mail, multipart, part, parts, plain, shape, type Shape, utf8 } from "./Shape.ts"

const inner = (subject: string, ...more: ReadonlyArray<string>) =>
  ["From: bo@example.org", `Subject: ${subject}`, ...(more.length === 0 ? ["", "Inside"] : more)].join("\r\n")
const attachedMail = (content: string) => part(["Content-Type: message/rfc822"], content)

/** A mail in a mail, so many times. */
const nested = (depth: number): string => {
  if (depth === 0) return inner("the innermost")
  const [header, body] = parts("mixed", `b${depth}`, plain(`level ${depth}`), attachedMail(nested(depth - 1)))
  return inner(`level ${depth}`, header, "", body)
}

const CALENDAR = ["BEGIN:VCALENDAR", "METHOD:REQUEST", "BEGIN:VEVENT", "SUMMARY:Lunch", "END:VEVENT", "END:VCALENDAR"]
const calendar = (method: string) => part([`Content-Type: text/calendar; charset=utf-8; method=${method}`], ...CALENDAR)
const empty = mail(["Content-Type: text/plain; charset=utf-8"])
const PGP = ["-----BEGIN PGP MESSAGE-----", "", "wcBMA0==", "-----END PGP MESSAGE-----"].join("\r\n")
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

  shape(
    "calendar: an invitation",
    multipart([], "alternative", plain("Lunch?"), html("<p>Lunch?</p>"), calendar("REQUEST")),
    { text: "Lunch?", html: "<p>Lunch?</p>", files: [["attachment-1", "text/calendar"]] },
  ),
  shape(
    "calendar: an invitation and its file",
    multipart(
      [],
      "mixed",
      plain("Lunch?"),
      calendar("REQUEST"),
      file("invite.ics", "application/ics", CALENDAR.join("\r\n")),
    ),
    {
      text: "Lunch?",
      files: [
        ["attachment-1", "text/calendar"],
        ["invite.ics", "application/ics"],
      ],
    },
  ),
  shape(
    "calendar: an answer",
    mail(["Subject: Accepted: Lunch", 'Content-Type: text/calendar; charset="utf-8"; method=REPLY'], ...CALENDAR),
    { subject: "Accepted: Lunch", text: null, files: [["attachment-1", "text/calendar"]] },
  ),
  shape("a card", multipart([], "mixed", plain("Me"), file("ana.vcf", "text/vcard", "BEGIN:VCARD\r\nEND:VCARD")), {
    text: "Me",
    files: [["ana.vcf", "text/vcard"]],
  }),

  shape(
    "S/MIME: signed",
    (() => {
      const [h, b] = parts(
        'signed; protocol="application/pkcs7-signature"; micalg=sha-256',
        "s",
        plain("Signed"),
        file("smime.p7s", "application/pkcs7-signature", "sig"),
      )
      return mail([h], b)
    })(),
    { text: "Signed", files: [["smime.p7s", "application/pkcs7-signature"]] },
  ),
  shape(
    "S/MIME: signed, opaque",
    mail(
      [
        'Content-Type: application/pkcs7-mime; smime-type=signed-data; name="smime.p7m"',
        "Content-Transfer-Encoding: base64",
      ],
      "MIAG",
    ),
    { text: null, files: [["smime.p7m", "application/pkcs7-mime"]] },
  ),
  shape(
    "S/MIME: encrypted",
    mail(
      [
        'Content-Type: application/x-pkcs7-mime; smime-type=enveloped-data; name="smime.p7m"',
        'Content-Disposition: attachment; filename="smime.p7m"',
        "Content-Transfer-Encoding: base64",
      ],
      "MIAG",
    ),
    { text: null, files: [["smime.p7m", "application/x-pkcs7-mime"]] },
  ),
  shape(
    "PGP: signed",
    (() => {
      const [h, b] = parts(
        'signed; protocol="application/pgp-signature"; micalg=pgp-sha512',
        "s",
        plain("Signed"),
        part(["Content-Type: application/pgp-signature; name=signature.asc"], "-----BEGIN PGP SIGNATURE-----"),
      )
      return mail([h], b)
    })(),
    { text: "Signed", files: [["signature.asc", "application/pgp-signature"]] },
  ),
  shape(
    "PGP: encrypted",
    (() => {
      const [h, b] = parts(
        'encrypted; protocol="application/pgp-encrypted"',
        "s",
        part(["Content-Type: application/pgp-encrypted"], "Version: 1"),
        part(['Content-Type: application/octet-stream; name="encrypted.asc"'], PGP),
      )
      return mail([h], b)
    })(),
    {
      text: null,
      files: [
        ["attachment-1", "application/pgp-encrypted"],
        ["encrypted.asc", "application/octet-stream"],
      ],
    },
  ),
  shape("PGP: encrypted in the text", mail(["Content-Type: text/plain"], ...PGP.split("\r\n")), {
    text: /^-----BEGIN PGP MESSAGE-----/u,
    files: [],
  }),
  shape(
    "PGP: signed in the text",
    mail(
      ["Content-Type: text/plain"],
      "-----BEGIN PGP SIGNED MESSAGE-----",
      "Hash: SHA512",
      "",
      "Hi",
      "-----BEGIN PGP SIGNATURE-----",
      "",
      "iQ==",
      "-----END PGP SIGNATURE-----",
    ),
    { text: /\nHi\r?\n/u },
  ),
  shape("PGP: a key", multipart([], "mixed", plain("My key"), file("0x1.asc", "application/pgp-keys", "KEY")), {
    text: "My key",
    files: [["0x1.asc", "application/pgp-keys"]],
  }),

  shape(
    "TNEF: winmail.dat",
    multipart(
      ["X-MS-TNEF-Correlator: <x>"],
      "mixed",
      plain("Hi"),
      file("winmail.dat", "application/ms-tnef", "\u0078\u009f\u003e\u0022"),
    ),
    { text: "Hi", files: [["winmail.dat", "application/ms-tnef"]] },
  ),
  shape(
    "TNEF: the whole mail",
    mail(["Content-Type: application/ms-tnef; name=winmail.dat", "Content-Transfer-Encoding: base64"], "eJ8+Ig=="),
    { text: null, files: [["winmail.dat", "application/ms-tnef"]] },
  ),

  shape(
    "boundary: no end",
    mail(
      ['Content-Type: multipart/mixed; boundary="b"'],
      "--b",
      plain("Hi"),
      "--b",
      file("a.pdf", "application/pdf", "x"),
    ),
    { text: "Hi", files: ["a.pdf"] },
  ),
  shape(
    "boundary: text above and below",
    mail(['Content-Type: multipart/mixed; boundary="b"'], "This is MIME.", "--b", plain("Hi"), "--b--", "The end."),
    { text: "Hi", files: [] },
  ),
  shape(
    "boundary: spaces behind it",
    mail(['Content-Type: multipart/mixed; boundary="b"'], "--b  ", plain("Hi"), "--b-- "),
    { text: "Hi", files: [] },
  ),
  shape(
    "boundary: without quotes",
    mail(["Content-Type: multipart/mixed; boundary=b_1.2"], "--b_1.2", plain("Hi"), "--b_1.2--"),
    { text: "Hi" },
  ),
  shape(
    "boundary: with strange characters",
    mail(['Content-Type: multipart/mixed; boundary="=_(b)+/:?"'], "--=_(b)+/:?", plain("Hi"), "--=_(b)+/:?--"),
    { text: "Hi" },
  ),
  shape(
    "boundary: one begins as the other",
    mail(
      ['Content-Type: multipart/mixed; boundary="b"'],
      "--b",
      'Content-Type: multipart/alternative; boundary="b1"',
      "",
      "--b1",
      plain("Hi"),
      "--b1",
      html("<p>Hi</p>"),
      "--b1--",
      "--b--",
    ),
    { text: "Hi", html: "<p>Hi</p>" },
  ),
  shape(
    "boundary: in the text",
    mail(['Content-Type: multipart/mixed; boundary="b"'], "--b", plain("Hi --b there"), "--b--"),
    { text: "Hi --b there" },
  ),
  shape("boundary: none is named", mail(["Content-Type: multipart/mixed"], "--b", "", "Hi", "--b--"), {
    complete: true,
  }),
  shape("boundary: of a single part", mail(['Content-Type: text/plain; boundary="b"'], "Hi"), { text: "Hi" }),
  shape(
    "boundary: line feeds alone",
    Buffer.from(
      'From: ana@example.org\nContent-Type: multipart/mixed; boundary="b"\n\n--b\n\nHi\n--b\nContent-Type: application/pdf; name=a.pdf\n\nx\n--b--\n',
    ),
    { text: "Hi", files: ["a.pdf"], content: "x" },
  ),
  shape("a part without a header", mail(['Content-Type: multipart/mixed; boundary="b"'], "--b", "", "Hi", "--b--"), {
    text: "Hi",
  }),
  shape(
    "a mail without MIME-Version",
    bytesOf(FROM, 'Content-Type: multipart/mixed; boundary="b"', "", "--b", plain("Hi"), "--b--", ""),
    { text: "Hi" },
  ),
  shape(
    "alternatives in a mixed in a mixed",
    multipart(
      [],
      "mixed",
      (() => {
        const [h, b] = parts(
          "mixed",
          "m2",
          part(
            [parts("alternative", "a", plain("Hi"), html("<p>Hi</p>"))[0]],
            parts("alternative", "a", plain("Hi"), html("<p>Hi</p>"))[1],
          ),
        )
        return part([h], b)
      })(),
    ),
    { text: "Hi", html: "<p>Hi</p>", files: [] },
  ),
  shape("alternatives with HTML first", multipart([], "alternative", html("<p>Hi</p>"), plain("Hi")), {
    text: "Hi",
    html: "<p>Hi</p>",
  }),
  shape(
    "alternatives with a page of AMP",
    multipart(
      [],
      "alternative",
      plain("Hi"),
      part(["Content-Type: text/x-amp-html"], "<html amp4email>"),
      html("<p>Hi</p>"),
    ),
    { text: "Hi", html: "<p>Hi</p>" },
  ),
  shape(
    "a file between two texts",
    multipart([], "mixed", plain("Above"), file("a.pdf", "application/pdf", "x"), plain("Below")),
    { text: /^Above\s+Below$/u, files: ["a.pdf"] },
  ),
  shape(
    "an unknown kind of multipart",
    multipart([], "x-martian", plain("Hi"), file("a.pdf", "application/pdf", "x")),
    { text: "Hi", files: ["a.pdf"] },
  ),
  shape(
    "a file of Macintosh",
    multipart(
      [],
      "mixed",
      plain("Hi"),
      (() => {
        const [h, b] = parts(
          "appledouble",
          "ad",
          part(["Content-Type: application/applefile; name=a.pdf"], "x"),
          file("a.pdf", "application/pdf", "y"),
        )
        return part([h], b)
      })(),
    ),
    { text: "Hi", files: ["a.pdf", "a.pdf"] },
  ),
  shape(
    "a content elsewhere",
    multipart(
      [],
      "mixed",
      plain("Hi"),
      part(
        ['Content-Type: message/external-body; access-type=URL; URL="https://example.org/a"'],
        "Content-Type: image/png",
        "",
      ),
    ),
    { text: "Hi" },
  ),
  shape(
    "HTML with a charset of its own",
    mail(["Content-Type: text/html; charset=utf-8"], utf8('<meta charset="iso-8859-1"><p>Grüße</p>')),
    { html: /Grüße/u },
  ),
  shape(
    "rich text",
    multipart([], "alternative", plain("Hi"), part(["Content-Type: text/enriched"], "<bold>Hi</bold>")),
    { text: "Hi" },
  ),
]
