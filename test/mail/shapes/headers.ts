import { bytesOf, FROM, mail, multipart, part, plain, shape, type Shape, utf8 } from "./Shape.ts"

const subject = (name: string, value: string, expected: string, unlike?: string): Shape =>
  shape(`subject: ${name}`, mail([`Subject: ${value}`], "Hi"), { subject: expected, text: "Hi" }, unlike)

const from = (name: string, value: string, address: string | null, sender?: string, unlike?: string): Shape =>
  shape(
    `sender: ${name}`,
    bytesOf(`From: ${value}`, "To: hi@acme.test", "", "Hi", ""),
    { from: address, text: "Hi", ...(sender === undefined ? {} : { sender }) },
    unlike,
  )

const to = (name: string, value: string, addresses: ReadonlyArray<string>): Shape =>
  shape(`recipients: ${name}`, bytesOf(FROM, `To: ${value}`, "", "Hi", ""), { to: addresses, text: "Hi" })

const named = (name: string, headers: ReadonlyArray<string>, expected: string, unlike?: string): Shape =>
  shape(
    `file name: ${name}`,
    multipart([], "mixed", plain("Hi"), part([...headers, "Content-Transfer-Encoding: base64"], "AAEC")),
    { text: "Hi", files: [expected], content: "\u0000\u0001\u0002" },
    unlike,
  )

const dated = (name: string, value: string, date: string | null): Shape =>
  shape(`date: ${name}`, bytesOf(FROM, `Date: ${value}`, "", "Hi", ""), { date })

const PDF = "Content-Type: application/pdf"
const TEN = "2026-11-29T09:00:00.000Z"

/** Fields of the header, right and wrong. */
export const headers: ReadonlyArray<Shape> = [
  subject("in quoted words", "=?utf-8?q?Gr=C3=BC=C3=9Fe_an_alle?=", "Grüße an alle"),
  subject("in base64 words", "=?UTF-8?B?R3LDvMOfZQ==?=", "Grüße"),
  subject("in words next to each other", "=?utf-8?q?Gr=C3=BC?=\r\n =?utf-8?q?=C3=9Fe?=", "Grüße"),
  subject("in words that cut a character", "=?utf-8?q?Gr=C3?=\r\n =?utf-8?q?=BC=C3=9Fe?=", "Grüße"),
  subject("in base64 words that cut a character", "=?utf-8?B?R3LD?= =?utf-8?B?vMOfZQ==?=", "Grüße"),
  subject("in words of two charsets", "=?iso-8859-1?q?Gr=FC=DFe?= =?utf-8?q?_=E2=82=AC?=", "Grüße €"),
  subject("in words with a language", "=?utf-8*de?q?Gr=C3=BC=C3=9Fe?=", "Grüße"),
  subject("in Japanese words", "=?ISO-2022-JP?B?GyRCRnxLXBsoQg==?=", "日本"),
  subject("in a word with spaces in it", "=?utf-8?q?Two words?=", "Two words"),
  subject("in a word that does not end", "=?utf-8?q?Hello", "=?utf-8?q?Hello"),
  subject("in a word of an unknown encoding", "=?utf-8?x?Hello?=", "=?utf-8?x?Hello?="),
  subject("partly in words", "Re: =?utf-8?q?Gr=C3=BC=C3=9Fe?= (2)", "Re: Grüße (2)"),
  subject("in UTF-8 as it is", utf8("Grüße 🎉"), "Grüße 🎉"),
  subject("folded by a tab", "One\r\n\ttwo", "One two", "the tab stays"),
  subject("folded over many lines", "One\r\n two\r\n three", "One two three"),
  subject("with an emoji in two words", "=?utf-8?B?8J+O?= =?utf-8?B?iQ==?=", "🎉"),
  shape("subject: none", mail([], "Hi"), { subject: null, text: "Hi" }),
  shape("subject: empty", mail(["Subject:"], "Hi"), { subject: "", text: "Hi" }),
  shape("subject: twice", mail(["Subject: One", "Subject: Two"], "Hi"), { subject: "One" }),
  shape("subject: no space behind the colon", mail(["Subject:Hello"], "Hi"), { subject: "Hello" }),
  shape("subject: a space before the colon", mail(["Subject : Hello"], "Hi"), { subject: "Hello" }),
  shape("subject: in capitals", mail(["SUBJECT: Hello"], "Hi"), { subject: "Hello" }),

  from("an address alone", "ana@example.org", "ana@example.org"),
  from("an address in brackets", "<ana@example.org>", "ana@example.org"),
  from("a name in quotes with a comma", '"Ana, of the shop" <ana@example.org>', "ana@example.org", "Ana, of the shop"),
  from("a name with quotes in it", '"Ana \\"A\\" B" <ana@example.org>', "ana@example.org", 'Ana "A" B'),
  from("a name in words", "=?utf-8?q?Ana_Gr=C3=BC=C3=9Fe?= <ana@example.org>", "ana@example.org", "Ana Grüße"),
  from("a name in words in quotes", '"=?utf-8?q?Gr=C3=BC=C3=9Fe?=" <ana@example.org>', "ana@example.org", "Grüße"),
  from("a name in UTF-8", utf8("Ána <ana@example.org>"), "ana@example.org", "Ána"),
  from("a name in a comment", "ana@example.org (Ana)", "ana@example.org", "Ana"),
  from("a name that is an address", '"bo@example.com" <ana@example.org>', "ana@example.org", "bo@example.com"),
  from("two authors", "ana@example.org, bo@example.org", "ana@example.org"),
  from("a name without quotes with a dot", "Ana B. <ana@example.org>", "ana@example.org", "Ana B."),
  from("no space before the bracket", "Ana<ana@example.org>", "ana@example.org", "Ana"),
  from("spaces in the brackets", "Ana < ana@example.org >", "ana@example.org", "Ana"),
  from("an address with a plus sign", "Ana <ana+x@example.org>", "ana+x@example.org"),
  from("an address in capitals", "Ana <ANA@Example.ORG>", "ANA@Example.ORG"),
  from("a local part in quotes", '"ana b"@example.org', '"ana b"@example.org', undefined, "the quotes are lost"),
  from("an address of a machine", "cron@localhost", "cron@localhost"),
  from("a daemon without a domain", "MAILER-DAEMON (Mail Delivery System)", "", "MAILER-DAEMON"),
  from("folded behind the name", "A very long name\r\n <ana@example.org>", "ana@example.org", "A very long name"),
  from("an international domain", utf8("ana@grüße.example"), "ana@grüße.example"),
  from("nothing", "", null),
  shape("sender: no From", bytesOf("Subject: x", "", "Hi"), { from: null, subject: "x" }),
  shape("sender: two From fields", bytesOf(FROM, "From: bo@example.org", "", "Hi"), { from: "ana@example.org" }),

  to("several", "a@x.test, B <b@x.test>,c@x.test", ["a@x.test", "b@x.test", "c@x.test"]),
  to("a group", "Team: a@x.test, B <b@x.test>;", ["a@x.test", "b@x.test"]),
  to("an empty group", "undisclosed-recipients:;", []),
  to("a group among others", "a@x.test, Team: b@x.test;, c@x.test", ["a@x.test", "b@x.test", "c@x.test"]),
  to("semicolons between them", "a@x.test; b@x.test", ["a@x.test", "b@x.test"]),
  to("a comma at the end", "a@x.test,", ["a@x.test"]),
  to("commas without anything between", "a@x.test,,, b@x.test", ["a@x.test", "b@x.test"]),
  to("folded", "a@x.test,\r\n\tb@x.test", ["a@x.test", "b@x.test"]),
  to("a name with a comma in words", "=?utf-8?q?A=2C_B?= <a@x.test>", ["a@x.test"]),

  named("in quotes", [PDF, 'Content-Disposition: attachment; filename="a b.pdf"'], "a b.pdf"),
  named("without quotes", [PDF, "Content-Disposition: attachment; filename=a.pdf"], "a.pdf"),
  named("with spaces and without quotes", [PDF, "Content-Disposition: attachment; filename=a b.pdf"], "a b.pdf"),
  named("by the type alone", [`${PDF}; name="a.pdf"`], "a.pdf"),
  named("by RFC 2231", [PDF, "Content-Disposition: attachment; filename*=utf-8''Gr%C3%BC%C3%9Fe.pdf"], "Grüße.pdf"),
  named(
    "by RFC 2231 with a language",
    [PDF, "Content-Disposition: attachment; filename*=utf-8'de'Gr%C3%BC%C3%9Fe.pdf"],
    "Grüße.pdf",
  ),
  named(
    "by RFC 2231 in another charset",
    [PDF, "Content-Disposition: attachment; filename*=iso-8859-1''Gr%FC%DFe.pdf"],
    "Grüße.pdf",
  ),
  named(
    "by RFC 2231 in pieces",
    [PDF, 'Content-Disposition: attachment;\r\n filename*0="a long ";\r\n filename*1="name.pdf"'],
    "a long name.pdf",
  ),
  named(
    "by RFC 2231 in encoded pieces",
    [
      PDF,
      "Content-Disposition: attachment;\r\n filename*0*=utf-8''Gr%C3%BC;\r\n filename*1*=%C3%9Fe;\r\n filename*2=.pdf",
    ],
    "Grüße.pdf",
  ),
  named(
    "by RFC 2231 in pieces out of order",
    [PDF, 'Content-Disposition: attachment; filename*1="b.pdf"; filename*0="a"'],
    "ab.pdf",
  ),
  named(
    "by RFC 2231 and without it",
    [PDF, "Content-Disposition: attachment; filename=fallback.pdf; filename*=utf-8''Gr%C3%BC%C3%9Fe.pdf"],
    "Grüße.pdf",
  ),
  named("in words", [PDF, 'Content-Disposition: attachment; filename="=?utf-8?B?R3LDvMOfZS5wZGY=?="'], "Grüße.pdf"),
  named(
    "in words over lines",
    [PDF, 'Content-Disposition: attachment; filename="=?utf-8?q?Gr=C3=BC?=\r\n =?utf-8?q?=C3=9Fe.pdf?="'],
    "Grüße.pdf",
  ),
  named("in UTF-8 as it is", [PDF, utf8('Content-Disposition: attachment; filename="Grüße.pdf"')], "Grüße.pdf"),
  named("with a quote in it", [PDF, 'Content-Disposition: attachment; filename="a \\"b\\".pdf"'], 'a "b".pdf'),
  named("with a semicolon in it", [PDF, 'Content-Disposition: attachment; filename="a;b.pdf"'], "a;b.pdf"),
  named("with a path", [PDF, 'Content-Disposition: attachment; filename="../../etc/a.pdf"'], "../../etc/a.pdf"),
  named("none", [PDF, "Content-Disposition: attachment"], "attachment-1"),
  named("empty", [PDF, 'Content-Disposition: attachment; filename=""'], "attachment-1"),
  named("in capitals", [PDF, 'CONTENT-DISPOSITION: ATTACHMENT; FILENAME="a.pdf"'], "a.pdf"),

  dated("of RFC 5322", "Sun, 29 Nov 2026 10:00:00 +0100", TEN),
  dated("without a weekday", "29 Nov 2026 10:00:00 +0100", TEN),
  dated("without seconds", "Sun, 29 Nov 2026 10:00 +0100", TEN),
  dated("with the name of a zone", "Sun, 29 Nov 2026 09:00:00 GMT", TEN),
  dated("with an old zone", "Sun, 29 Nov 2026 04:00:00 EST", TEN),
  dated("with a comment", "Sun, 29 Nov 2026 10:00:00 +0100 (CET)", TEN),
  dated("with one digit", "Sun, 1 Nov 2026 10:00:00 +0100", "2026-11-01T09:00:00.000Z"),
  dated("with a year of two digits", "Sun, 29 Nov 26 10:00:00 +0100", TEN),
  dated("in spaces", "  Sun,  29 Nov 2026 10:00:00  +0100 ", TEN),
  dated("of ISO 8601", "2026-11-29T10:00:00+01:00", TEN),
  dated("that is none", "yesterday", null),
  dated("that is empty", "", null),
  shape("date: no field", bytesOf(FROM, "", "Hi"), { date: null, text: "Hi" }),

  shape("header: no To", bytesOf(FROM, "Subject: x", "", "Hi"), { to: [], subject: "x" }),
  shape(
    "header: a line of a mailbox above it",
    bytesOf("From ana@example.org Sun Nov 29 10:00:00 2026", FROM, "Subject: x", "", "Hi"),
    { from: "ana@example.org", subject: "x", text: "Hi" },
  ),
  shape("header: a line without a colon in it", bytesOf(FROM, "what is this", "Subject: x", "", "Hi"), {
    subject: "x",
    text: "Hi",
  }),
  shape("header: an empty field", bytesOf(FROM, "X-Empty:", "Subject: x", "", "Hi"), { subject: "x", text: "Hi" }),
  shape(
    "header: a field of 20,000 characters",
    bytesOf(FROM, `X-Long: ${"x".repeat(20_000)}`, "Subject: x", "", "Hi"),
    { subject: "x", text: "Hi", complete: true },
  ),
  shape(
    "header: 200 Received fields",
    bytesOf(
      FROM,
      ...Array.from({ length: 200 }, (_, nth) => `Received: from mx${nth}.example.org`),
      "Subject: x",
      "",
      "Hi",
    ),
    { subject: "x", text: "Hi", complete: true },
  ),
  shape("header: a Message-ID without brackets", mail(["Message-ID: one@example.org"], "Hi"), {
    message_id: "<one@example.org>",
  }),
  shape("header: a Message-ID with a comment", mail(["Message-ID: <one@example.org> (added)"], "Hi"), {
    message_id: "<one@example.org>",
  }),
  shape("header: no Message-ID", mail(["Subject: x"], "Hi"), { message_id: null }),
  shape("header: an answer to words", mail(["In-Reply-To: Your message of Sunday <one@example.org>"], "Hi"), {
    in_reply_to: "<one@example.org>",
  }),
  shape("header: references over lines", mail(["References: <a@x.test>\r\n <b@x.test>\r\n\t<c@x.test>"], "Hi"), {
    references: 3,
  }),
  shape("header: references with commas", mail(["References: <a@x.test>,<b@x.test>"], "Hi"), { references: 2 }),
  shape(
    "header: 150 references",
    mail([`References: ${Array.from({ length: 150 }, (_, nth) => `<${nth}@x.test>`).join("\r\n ")}`], "Hi"),
    { references: 100, complete: false },
  ),
]
