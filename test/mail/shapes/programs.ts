import { bytesOf, parts, part, shape, type Shape } from "./Shape.ts"

/** A program that writes mail, by its habits. */
interface Program {
  readonly name: string
  readonly headers: ReadonlyArray<string>
  readonly boundary: (nth: number) => string
  /** The charset of a text, and its header and its bytes. */
  readonly charset: string
  readonly encode: (text: string) => readonly [encoding: string, body: string]
  readonly attribution: string
  /** How a file is named. */
  readonly named: (name: string, type: string) => ReadonlyArray<string>
}

const latin1 = (text: string) => Buffer.from(text, "latin1").toString("latin1")
const raw8 = (text: string) => ["8bit", Buffer.from(text).toString("latin1")] as const
const quoted = (charset: "latin1" | "utf8") => (text: string) =>
  [
    "quoted-printable",
    [...Buffer.from(text, charset)]
      .map((byte) =>
        byte === 13 || byte === 10 || (byte >= 32 && byte < 127 && byte !== 61)
          ? String.fromCharCode(byte)
          : `=${byte.toString(16).toUpperCase().padStart(2, "0")}`,
      )
      .join(""),
  ] as const
const base64 = (text: string) =>
  [
    "base64",
    (
      Buffer.from(text)
        .toString("base64")
        .match(/.{1,76}/gu) ?? []
    ).join("\r\n"),
  ] as const

const both = (name: string, type: string) => [
  `Content-Type: ${type};\r\n\tname="${name}"`,
  `Content-Disposition: attachment;\r\n\tfilename="${name}"`,
]
const bare = (name: string, type: string) => [
  `Content-Type: ${type}; name=${name}`,
  `Content-Disposition: attachment; filename=${name}`,
]

const PROGRAMS: ReadonlyArray<Program> = [
  {
    name: "Outlook for Windows",
    headers: ["X-Mailer: Microsoft Outlook 16.0", "Thread-Index: AdpX0w==", "Content-Language: de", "X-MS-Has-Attach:"],
    boundary: (nth) => `----=_NextPart_00${nth}_0001_01DA57D3.5A3C9D20`,
    charset: "iso-8859-1",
    encode: quoted("latin1"),
    attribution:
      "From: Shop <hi@acme.test>\r\nSent: Sunday, November 29, 2026 9:00 AM\r\nTo: Ana <ana@example.org>\r\nSubject: Order\r\n",
    named: both,
  },
  {
    name: "Outlook on the web",
    headers: ["X-MS-Exchange-CrossTenant-id: 1", "x-ms-exchange-messagesentrepresentingtype: 1", "msip_labels:"],
    boundary: (nth) => `_00${nth}_AM0PR01MB1234567890ABCDEFAM0PR01MB1234eurp_`,
    charset: "utf-8",
    encode: base64,
    attribution:
      "________________________________\r\nVon: Shop <hi@acme.test>\r\nGesendet: Sonntag, 29. November 2026 09:00\r\nAn: Ana <ana@example.org>\r\nBetreff: Order\r\n",
    named: (name, type) => [
      `Content-Type: ${type}; name="${name}"`,
      `Content-Description: ${name}`,
      `Content-Disposition: attachment; filename="${name}"; size=4;\r\n\tcreation-date="Sun, 29 Nov 2026 09:00:00 GMT"`,
    ],
  },
  {
    name: "Gmail",
    headers: ["X-Gm-Message-State: AOJu0Yw", "X-Google-DKIM-Signature: v=1; a=rsa-sha256"],
    boundary: (nth) => `0000000000009b1f6d06${nth}a1b2c3`,
    charset: '"UTF-8"',
    encode: quoted("utf8"),
    attribution: "On Sun, Nov 29, 2026 at 9:00\u202fAM Shop <hi@acme.test> wrote:\r\n",
    named: (name, type) => [
      `Content-Type: ${type}; name="${name}"`,
      `Content-Disposition: attachment; filename="${name}"`,
      "X-Attachment-Id: f_lx1",
      "Content-ID: <f_lx1>",
    ],
  },
  {
    name: "Apple Mail",
    headers: ["X-Mailer: Apple Mail (2.3826)", "X-Apple-Base-Url: x-msg://1/"],
    boundary: (nth) => `Apple-Mail=_C0FFEE00-0000-0000-0000-00000000000${nth}`,
    charset: "utf-8",
    encode: quoted("utf8"),
    attribution: "> On 29. Nov 2026, at 09:00, Shop <hi@acme.test> wrote:\r\n> \r\n",
    named: (name, type) => [
      `Content-Disposition: attachment;\r\n\tfilename=${name}`,
      `Content-Type: ${type};\r\n\tx-unix-mode=0644;\r\n\tname="${name}"`,
    ],
  },
  {
    name: "Thunderbird",
    headers: ["User-Agent: Mozilla Thunderbird", "Content-Language: en-US"],
    boundary: (nth) => `------------${nth}0r8Lq0wT3hZ1vYbJx0nQ2pK`,
    charset: "UTF-8; format=flowed",
    encode: raw8,
    attribution: "On 11/29/26 09:00, Shop wrote:\r\n",
    named: both,
  },
  {
    name: "Yahoo",
    headers: ["X-Mailer: WebService/1.1.22876 YMailNorrin", "X-YMail-OSG: x"],
    boundary: (nth) => `----=_Part_${nth}4711_1234567.1795946400000`,
    charset: "UTF-8",
    encode: base64,
    attribution: "    On Sunday, November 29, 2026 at 09:00:00 AM GMT+1, Shop <hi@acme.test> wrote:\r\n",
    named: both,
  },
  {
    name: "Samsung Mail",
    headers: ["X-Mailer: com.samsung.android.email"],
    boundary: (nth) => `--_com.samsung.android.email_${nth}79594640000`,
    charset: "utf-8",
    encode: base64,
    attribution: "-------- Original message --------From: Shop <hi@acme.test> Date: 29/11/2026  09:00\r\n",
    named: bare,
  },
  {
    name: "Notes",
    headers: ["X-Mailer: HCL Notes Release 11.0", "X-MIMETrack: Serialize by Router", "X-KeepSent: 1"],
    boundary: (nth) => `=_mixed 003${nth}7A1BC1258B2A_=`,
    charset: "ISO-8859-1",
    encode: (text) => ["8bit", latin1(text)],
    attribution:
      'From: "Shop" <hi@acme.test>\r\nTo: Ana <ana@example.org>\r\nDate: 29.11.2026 09:00\r\nSubject: Order\r\n',
    named: both,
  },
  {
    name: "Roundcube",
    headers: ["User-Agent: Roundcube Webmail/1.6.6"],
    boundary: (nth) => `=_${nth}f1e2d3c4b5a69788`,
    charset: "UTF-8;\r\n format=flowed",
    encode: raw8,
    attribution: "Am 2026-11-29 09:00, schrieb Shop <hi@acme.test>:\r\n",
    named: (name, type) => [
      `Content-Type: ${type};\r\n name=${name}`,
      `Content-Disposition: attachment;\r\n filename=${name};\r\n size=4`,
    ],
  },
  {
    name: "mutt",
    headers: ["User-Agent: Mutt/2.2.12 (2023-09-09)"],
    boundary: (nth) => `x${nth}Ky5JvNu8zk4bRB`,
    charset: "us-ascii",
    encode: (text) => ["7bit", text],
    attribution: "On Sun, Nov 29, 2026 at 09:00:00AM +0100, Shop wrote:\r\n",
    named: (name, type) => [`Content-Type: ${type}`, `Content-Disposition: attachment; filename="${name}"`],
  },
]

const shapesOf = (program: Program): ReadonlyArray<Shape> => {
  const { attribution, boundary, charset, encode, headers, name, named } = program
  const word = charset === "us-ascii" ? "Hello" : "Grüße"
  const whole = (more: ReadonlyArray<string>, body: string) =>
    bytesOf(
      "From: Ana <ana@example.org>",
      "To: hi@acme.test",
      "Subject: Order",
      "MIME-Version: 1.0",
      ...headers,
      ...more,
      "",
      body,
      "",
    )
  const text = (type: string, content: string) => {
    const [encoding, body] = encode(content)
    return [[`Content-Type: text/${type}; charset=${charset}`, `Content-Transfer-Encoding: ${encoding}`], body] as const
  }
  const textPart = (type: string, content: string) => {
    const [head, body] = text(type, content)
    return part(head, body)
  }
  const markup = `<html><body><p>${word}</p></body></html>`
  const [plainHead, plainBody] = text("plain", word)
  const alternative = parts("alternative", boundary(1), textPart("plain", word), textPart("html", markup))
  const attached = part(
    [...named("a.bin", "application/octet-stream"), "Content-Transfer-Encoding: base64"],
    "AAECAw==",
  )
  const [mixedHead, mixedBody] = parts("mixed", boundary(2), part([alternative[0]], alternative[1]), attached)
  const image = part(
    [
      'Content-Type: image/png; name="logo.png"',
      "Content-ID: <logo@acme>",
      "Content-Transfer-Encoding: base64",
      'Content-Disposition: inline; filename="logo.png"',
    ],
    "iVBORw0KGgo=",
  )
  const withImage = `<html><body><p>${word}</p><img src="cid:logo@acme"></body></html>`
  const related = parts("related", boundary(3), textPart("html", withImage), image)
  const [imageHead, imageBody] = parts(
    "alternative",
    boundary(4),
    textPart("plain", word),
    part([related[0]], related[1]),
  )
  const isAscii = charset === "us-ascii"
  const attributionText =
    isAscii || charset.toLowerCase().startsWith("iso") ? attribution.replaceAll("\u202f", " ") : attribution
  const [replyHead, replyBody] = text("plain", `${word}\r\n\r\n${attributionText}> Is it there?\r\n`)
  const base = { subject: "Order", from: "ana@example.org", automatic: null, complete: true } as const
  return [
    shape(`${name}: a text`, whole(plainHead, plainBody), { ...base, text: word, html: null, files: [] }),
    shape(`${name}: a text and HTML`, whole([alternative[0]], alternative[1]), {
      ...base,
      text: word,
      html: markup,
      files: [],
    }),
    shape(`${name}: a file`, whole([mixedHead], mixedBody), {
      ...base,
      text: word,
      html: markup,
      files: [["a.bin", "application/octet-stream"]],
      content: "\u0000\u0001\u0002\u0003",
    }),
    shape(`${name}: an image in the HTML`, whole([imageHead], imageBody), {
      ...base,
      text: word,
      html: withImage,
      files: [["logo.png", "image/png"]],
    }),
    shape(`${name}: an answer above the quote`, whole([...replyHead, "In-Reply-To: <msg@acme.test>"], replyBody), {
      ...base,
      stripped: word,
      in_reply_to: "<msg@acme.test>",
    }),
  ]
}

export const programs: ReadonlyArray<Shape> = PROGRAMS.flatMap(shapesOf)
