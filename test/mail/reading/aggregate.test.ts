import { readAggregate } from "@waybill/mail/aggregate/readAggregate"
import * as DmarcReport from "@waybill/mail/aggregate/DmarcReport"
import * as ReportFile from "@waybill/mail/aggregate/ReportFile"
import * as TlsReport from "@waybill/mail/aggregate/TlsReport"
import * as XmlReader from "@waybill/mail/aggregate/XmlReader"
import { gzipSync } from "node:zlib"
import { dice } from "../../support/dice.ts"
import { assert, describe, it } from "../../support/effectTest.ts"
import * as Mail from "../../support/mail/aggregateMail.ts"

const NAMES = { domain: "acme.test", begin: 1_763_942_400_000 }
const dmarc = Mail.dmarcForms(NAMES)
const tls = Mail.tlsForms(NAMES)

const reportOf = async (mail: Buffer) => {
  const read = await readAggregate(mail)
  return typeof read === "string" ? read : read.report
}

const inShort = ({ dkim, disposition, dkimDomain, domain, messages, source, spf, spfDomain }: DmarcReport.Row) =>
  [source, messages, disposition, dkim ? "dkim" : "-", spf ? "spf" : "-", domain, dkimDomain, spfDomain].join(" ")

describe("an aggregate report of DMARC", () => {
  it("is read in the form of each mailbox provider", async () => {
    const rows: Record<string, ReadonlyArray<string>> = {
      google: [
        "192.0.2.10 12 none dkim spf acme.test acme.test bounce.acme.test",
        "2001:db8::7 3 quarantine - - acme.test forwarder.example forwarder.example",
      ],
      microsoft: ["192.0.2.10 5 none dkim - acme.test acme.test bounces.esp.example"],
      yahoo: ["192.0.2.11 2 reject - spf news.acme.test  news.acme.test"],
      fastmail: [
        "2001:db8::7 1 none - - acme.test list.example list.example",
        "192.0.2.10 4 none dkim spf acme.test  ",
      ],
      rfc9990: ["192.0.2.10 7 none dkim - acme.test acme.test "],
    }
    for (const [form, { mail }] of Object.entries(dmarc)) {
      const report = await reportOf(mail)
      if (typeof report === "string" || report._tag !== "Dmarc") return assert.fail(`${form}: ${String(report)}`)
      assert.deepStrictEqual(report.rows.map(inShort), rows[form], form)
      assert.strictEqual(report.domain, "acme.test")
      assert.strictEqual(report.begin, NAMES.begin)
      assert.strictEqual(report.end, NAMES.begin + Mail.DAY - 1000)
    }
  })

  it("tells why a receiver did not apply the policy, by reason", () => {
    const overridesIn = (text: string) => {
      const report = DmarcReport.read(text)
      return typeof report === "string" ? report : report.rows.map(({ overrides }) => overrides)
    }
    const google = Mail.text("google.xml", NAMES)
    const arc = { reason: "local_policy", messages: 3, comment: "arc=pass & so on" } as const
    assert.deepStrictEqual(overridesIn(google), [[], [arc]])
    assert.deepStrictEqual(overridesIn(Mail.text("fastmail.xml", NAMES)), [
      [
        { reason: "forwarded", messages: 1, comment: null },
        { reason: "mailing_list", messages: 1, comment: null },
      ],
      [],
    ])
    const [reason = ""] = /<reason>[^]*<\/reason>/u.exec(google) ?? []
    const withReasons = (...reasons: ReadonlyArray<string>) => overridesIn(google.replace(reason, reasons.join("")))[1]
    assert.deepStrictEqual(withReasons(reason, reason.replace("arc=pass", "again")), [arc])
    assert.deepStrictEqual(withReasons("<reason/>", "<reason><type>new_word</type></reason>"), [
      { reason: "other", messages: 3, comment: null },
    ])
    const named = "<reason><comment>ana@example.org</comment><type>Mailing_List</type></reason>"
    assert.deepStrictEqual(withReasons(named), [{ reason: "mailing_list", messages: 3, comment: null }])
    const long = `<reason><type>other</type><comment>a\u202eb ${"x".repeat(200)}</comment></reason>`
    assert.deepStrictEqual(withReasons(long), [{ reason: "other", messages: 3, comment: `a b ${"x".repeat(96)}` }])
    // Records of one source and result are one row.
    const [record = ""] = google.match(/<record>[^]*?<\/record>/gu)?.slice(-1) ?? []
    const other = record.replace("local_policy", "forwarded").replace(/<comment>.*<\/comment>/u, "")
    const twice = overridesIn(google.replace(record, [record, record, other].join("")))
    assert.deepStrictEqual(twice[1], [
      { ...arc, messages: 6 },
      { reason: "forwarded", messages: 3, comment: null },
    ])
  })

  it("tells the reporter's name, id and address", async () => {
    const read = await readAggregate(dmarc["rfc9990"]?.mail ?? Buffer.alloc(0))
    if (typeof read === "string") return assert.fail(read)
    assert.deepStrictEqual(
      [read.report.orgName, read.report.reportId, read.from],
      ["Receiver & Sons", "3v98abbp8ya9n3va8yr8oa3ya", "mail.receiver.example"],
    )
  })

  it("keeps no address as the reporter's name, and no control characters", () => {
    const nameOf = (name: string) => {
      const report = DmarcReport.read(
        Mail.text("google.xml", NAMES).replace("<org_name>google.com", `<org_name>${name}`),
      )
      return typeof report === "string" ? report : report.orgName
    }
    assert.strictEqual(nameOf("ana@example.org"), "")
    assert.strictEqual(nameOf(`a\u001b[2J &#x202e;b ${"x".repeat(200)}`), `a [2J b ${"x".repeat(92)}`)
  })

  it("without mail is a report, and one without what is stored is none", () => {
    const whole = Mail.text("google.xml", NAMES)
    const without = (pattern: RegExp) => DmarcReport.read(whole.replace(pattern, ""))
    const empty = without(/<record>[^]*<\/record>/u)
    assert.deepStrictEqual(typeof empty === "string" ? empty : empty.rows, [])
    for (const pattern of [/<domain>/u, /<\/feedback>/u, /<count>/u])
      assert.strictEqual(without(pattern), "malformed_xml")
    for (const pattern of [
      /<domain>acme.test<\/domain>/u,
      /<report_id>.*<\/report_id>/u,
      /<begin>.*<\/begin>/u,
      /<end>.*<\/end>/u,
      /<count>12<\/count>/u,
      /<source_ip>192.*<\/source_ip>/u,
    ])
      assert.strictEqual(without(pattern), "not_a_report", pattern.source)
    assert.strictEqual(DmarcReport.read(whole.replaceAll("feedback>", "html>")), "not_a_report")
    assert.strictEqual(DmarcReport.read(whole.replace("<count>12", "<count>-12")), "not_a_report")
    assert.strictEqual(DmarcReport.read(whole.replace("192.0.2.10", "192.0.2.10.1")), "not_a_report")
  })

  it("about a foreign From domain counts for the domain of the policy", () => {
    const text = Mail.text("google.xml", NAMES).replace("<header_from>acme.test", "<header_from>notacme.test")
    const report = DmarcReport.read(text)
    assert.deepStrictEqual(typeof report === "string" ? report : report.rows.map(({ domain }) => domain), [
      "acme.test",
      "acme.test",
    ])
  })

  it("is read whatever the order of its parts, and whatever extensions stand in it", () => {
    const text = Mail.text("google.xml", NAMES)
    const [policy = ""] = /<policy_published>[^]*<\/policy_published>/u.exec(text) ?? []
    const extension = Array.from({ length: 300 }, (_, nth) => `<x${nth}><report_id>${nth}</report_id></x${nth}>`).join(
      "",
    )
    const moved = text
      .replace(policy, "")
      .replace("<version>", `${extension}<version>`)
      .replace("</feedback>", `${policy}</feedback>`)
    assert.deepStrictEqual(DmarcReport.read(moved), DmarcReport.read(text))
  })

  it("with many sources keeps those with the most mail and adds up the others", () => {
    const record = (nth: number) =>
      `<record><row><source_ip>10.0.${nth >> 8}.${nth & 255}</source_ip><count>${nth}</count></row></record>`
    const many = DmarcReport.MAX_ROWS + 10
    const text = Mail.text("google.xml", NAMES).replace(
      /<record>[^]*<\/record>/u,
      Array.from({ length: many }, (_, nth) => record(nth + 1)).join(""),
    )
    const report = DmarcReport.read(text)
    if (typeof report === "string") return assert.fail(report)
    assert.strictEqual(report.rows.length, DmarcReport.MAX_ROWS + 1)
    assert.deepStrictEqual(report.rows.at(-1), {
      domain: "acme.test",
      source: null,
      disposition: "none",
      dkim: false,
      spf: false,
      messages: 55,
      dkimDomain: null,
      spfDomain: null,
      overrides: [],
    })
    const flood = text.replace("<record>", record(1).repeat(DmarcReport.MAX_RECORDS))
    assert.strictEqual(DmarcReport.read(flood), "malformed_xml")
    assert.strictEqual(
      DmarcReport.read(text.replace("<record>", `${record(1).repeat(DmarcReport.MAX_RECORDS)}<record>`)),
      "too_many_records",
    )
  })
})

describe("an aggregate report of TLS", () => {
  it("is read in the form of each mailbox provider", async () => {
    const google = await reportOf(tls["google"]?.mail ?? Buffer.alloc(0))
    const microsoft = await reportOf(tls["microsoft"]?.mail ?? Buffer.alloc(0))
    const rowsOf = (report: typeof google) =>
      typeof report === "string" || report._tag !== "Tls"
        ? report
        : report.rows.map(({ domain, failure, policy, server, sessions }) =>
            [domain, policy, failure, server, sessions].join(" "),
          )
    assert.deepStrictEqual(rowsOf(google), [
      "acme.test sts   41",
      "acme.test sts certificate-expired mx.acme.test 2",
      "acme.test sts unspecified  1",
    ])
    assert.deepStrictEqual(rowsOf(microsoft), [
      "acme.test no-policy-found   9",
      "acme.test no-policy-found starttls-not-supported mx.acme.test 1",
      "acme.test tlsa   2",
    ])
  })

  it("is read as RFC 8460 has it, and without the servers that failed", () => {
    const rowsOf = (fixture: string) => {
      const report = TlsReport.read(Mail.text(fixture, NAMES))
      return typeof report === "string" ? report : report.rows.map((row) => [row.failure, row.server, row.sessions])
    }
    assert.deepStrictEqual(rowsOf("rfc8460-tls.json"), [
      [null, null, 5100],
      ["certificate-expired", "mx1.mail.acme.test", 100],
      ["starttls-not-supported", "mx2.mail.acme.test", 200],
      ["validation-failure", "mx-backup.mail.acme.test", 3],
    ])
    assert.deepStrictEqual(rowsOf("no-server-tls.json"), [["sts-policy-fetch-error", null, 1]])
  })

  it("counts no failures beyond the summary, and none of an unknown form", () => {
    const text = Mail.text("google-tls.json", NAMES)
    const over = TlsReport.read(text.replace('"failed-session-count":2', '"failed-session-count":2000'))
    assert.deepStrictEqual(typeof over === "string" ? over : over.rows.map(({ sessions }) => sessions), [41, 3])
    const problems = [
      ["{", "malformed_json"],
      ["[]", "malformed_json"],
      ["{}", "not_a_report"],
      [text.replace('"sts"', '"none"'), "not_a_report"],
      [text.replace("certificate-expired", "<script>"), "not_a_report"],
      [text.replace(/"start-datetime":"[^"]*"/u, '"start-datetime":"yesterday"'), "not_a_report"],
      [text.replace("41", "-41"), "not_a_report"],
      [text.replace("41", "4.1"), "not_a_report"],
      [text.replace('"failure-details":[', '"failure-details":{"a":[').replace("}]}]}", "}]}}]}"), "not_a_report"],
      [
        text.replace(
          /"policies":\[(.*)\]\}/su,
          (_, one: string) => `"policies":[${Array.from({ length: 101 }, () => one).join(",")}]}`,
        ),
        "too_many_records",
      ],
    ] as const
    for (const [changed, problem] of problems)
      assert.strictEqual(TlsReport.read(changed), problem, changed.slice(0, 80))
  })
})

describe("a packed report", () => {
  const file = (bytes: Buffer) => ReportFile.unpack({ name: "report", type: "application/octet-stream", bytes })
  const xml = Mail.text("google.xml", NAMES)

  it("is unpacked by its first bytes, whatever its name", () => {
    for (const bytes of [
      Buffer.from(xml),
      gzipSync(xml),
      Mail.zip({ "a.xml": xml }),
      Mail.zip({ "a.xml": xml }, { streamed: true }),
      Mail.zip({ "readme.txt": "hello", "a.xml": xml }),
    ])
      assert.strictEqual(file(bytes), xml)
    const latin = Buffer.from(`<?xml version="1.0" encoding="iso-8859-1"?><a>\u00fc</a>`, "latin1")
    assert.match(file(latin), /\u00fc/u)
    assert.strictEqual(file(Buffer.from(`\ufeff${xml}`, "utf16le")), xml)
  })

  // threat: domain-reports
  it("is refused as a bomb by its size, its ratio or its number of files", () => {
    const zeros = (bytes: number) => Buffer.alloc(bytes)
    assert.strictEqual(file(gzipSync(zeros(ReportFile.MAX_TEXT_BYTES + 1))), "too_large")
    assert.strictEqual(file(Mail.zip({ "a.xml": zeros(ReportFile.MAX_TEXT_BYTES + 1) })), "too_large")
    // The directory lies about the size.
    assert.strictEqual(file(Mail.zip({ "a.xml": zeros(ReportFile.MAX_TEXT_BYTES + 1) }, { size: 100 })), "too_large")
    assert.strictEqual(file(gzipSync(zeros(8 * 1024 * 1024))), "too_large")
    assert.strictEqual(file(Mail.zip({ "a.xml": zeros(8 * 1024 * 1024) })), "too_large")
    const many = Object.fromEntries(Array.from({ length: 11 }, (_, nth) => [`${nth}.xml`, "x"]))
    assert.strictEqual(file(Mail.zip(many)), "too_large")
    assert.strictEqual(file(Buffer.alloc(ReportFile.MAX_TEXT_BYTES + 1, 0x20)), "too_large")
  })

  it("is refused when it is damaged, encrypted or empty", () => {
    const whole = Mail.zip({ "a.xml": xml })
    for (const bytes of [
      whole.subarray(0, whole.length - 1),
      whole.subarray(0, 100),
      gzipSync(xml).subarray(0, 200),
      Mail.zip({ "a.xml": xml }, { size: 100 }),
      Mail.zip({ "a.xml": xml }, { flags: 1 }),
      Buffer.from([0x1f, 0x8b]),
      Buffer.from([0xff, 0x00, 0x41]),
    ])
      assert.strictEqual(file(bytes), "damaged")
  })
})

describe("the reader of XML", () => {
  const read = (text: string): string | false => {
    const seen: Array<string> = []
    const isWellFormed = XmlReader.read(text, {
      open: (name) => void seen.push(`<${name}`),
      close: (name, value) => void seen.push(`${value}>${name}`),
    })
    return isWellFormed && seen.join(" ")
  }

  it("reads elements, text, references and character data", () => {
    assert.strictEqual(
      read(
        `\ufeff<?xml version="1.0"?>\n<!-- < --><n:a xmlns:n="u" b='"'> x&lt;&#65;&#x42;<b/><![CDATA[<&]]> </n:a>\n`,
      ),
      "<a <b >b x<AB<&>a",
    )
  })

  // threat: domain-reports
  it("refuses document types, unknown entities and whatever is not well formed", () => {
    for (const text of [
      '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
      '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
      "<a>&x;</a>",
      "<a>&#0;</a>",
      "<a>&#xD800;</a>",
      "<a>& b</a>",
      "<a><!ELEMENT b></a>",
      "<a></b>",
      "<n:a></a>",
      "<a>",
      "</a>",
      "<a/><b/>",
      "x<a/>",
      "<a/>x",
      "<a b></a>",
      '<a b="<"></a>',
      "<a",
      "<a><!-- </a>",
      "<![CDATA[x]]>",
      "",
      "<a>".repeat(21) + "</a>".repeat(21),
    ])
      assert.strictEqual(read(text), false, text)
  })

  it("cuts long text, also inside a reference", () => {
    const cut = read(`<a>${"x".repeat(XmlReader.MAX_TEXT_CHARS - 1)}&amp;${"y".repeat(10_000)}</a>`)
    assert.strictEqual(cut, `<a ${"x".repeat(XmlReader.MAX_TEXT_CHARS - 1)}>a`)
  })
})

describe("whatever is made of a report", () => {
  it("cut, doubled, mixed or changed is read or refused, and never fails", async () => {
    const { below, pick } = dice(64)
    const mails = [...Object.values(dmarc), ...Object.values(tls)].map(({ mail }) => mail)
    const texts = ["google.xml", "fastmail.xml", "rfc9990.xml", "google-tls.json"].map((name) =>
      Buffer.from(Mail.text(name, NAMES)),
    )
    const changes: ReadonlyArray<(bytes: Buffer, other: Buffer) => Buffer> = [
      (bytes) => bytes.subarray(0, below(bytes.length)),
      (bytes) => Buffer.concat([bytes, bytes]),
      (bytes, other) => Buffer.concat([bytes.subarray(0, below(bytes.length)), other.subarray(below(other.length))]),
      (bytes) => {
        const changed = Buffer.from(bytes)
        for (let times = 0; times < 5; times++) changed[below(changed.length)] = below(256)
        return changed
      },
    ]
    for (let round = 0; round < 300; round++) {
      const read = await readAggregate(pick(changes)(pick(mails), pick(mails)))
      assert.isTrue(typeof read === "string" || read.report.reportId !== "")
      const text = pick(changes)(pick(texts), pick(texts)).toString()
      for (const report of [DmarcReport.read(text), TlsReport.read(text)])
        assert.isTrue(typeof report === "string" || report.reportId !== "")
    }
  })
})
