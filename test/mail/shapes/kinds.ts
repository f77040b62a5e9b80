import { bytesOf, file, FROM, html, mail, multipart, part, parts, plain, shape, type Shape, utf8 } from "./Shape.ts"

const CALENDAR = ["BEGIN:VCALENDAR", "METHOD:REQUEST", "BEGIN:VEVENT", "SUMMARY:Lunch", "END:VEVENT", "END:VCALENDAR"]
const calendar = (method: string) => part([`Content-Type: text/calendar; charset=utf-8; method=${method}`], ...CALENDAR)
const PGP = ["-----BEGIN PGP MESSAGE-----", "", "wcBMA0==", "-----END PGP MESSAGE-----"].join("\r\n")

/** Calendars, signed and encrypted mail, boundaries, and other kinds of parts. */
export const kinds: ReadonlyArray<Shape> = [
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
