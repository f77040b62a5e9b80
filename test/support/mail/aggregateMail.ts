import type { Heading } from "@waybill/store/domainreports/DomainReports"
import * as Dkim from "@waybill/mail/dkim/Dkim"
import * as DkimKey from "@waybill/mail/dkim/DkimKey"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { crc32, deflateRawSync, gzipSync } from "node:zlib"

export const DAY = 86_400_000

export interface Names {
  readonly domain: string
  /** Milliseconds since 1970 at which the period of the report begins; yesterday by default. */
  readonly begin?: number
}

/** The text of a fixture, for a domain and a day. */
export const text = (fixture: string, { begin = Math.floor(Date.now() / DAY - 1) * DAY, domain }: Names): string => {
  const iso = (at: number) => new Date(at).toISOString().replace(".000Z", "Z")
  return readFileSync(new URL(`../../fixtures/aggregate/${fixture}`, import.meta.url), "utf8")
    .replaceAll("{domain}", domain)
    .replaceAll("{begin}", String(begin / 1000))
    .replaceAll("{end}", String((begin + DAY) / 1000 - 1))
    .replaceAll("{start}", iso(begin))
    .replaceAll("{stop}", iso(begin + DAY - 1000))
    .replaceAll("{day}", iso(begin).slice(0, 10))
}

export interface ZipOptions {
  /** Whether sizes stand behind the data instead of before it, as programs that stream write them. */
  readonly streamed?: boolean
  /** Size that the directory claims. */
  readonly size?: number
  readonly flags?: number
}

/** An archive of these files. */
export const zip = (
  files: Readonly<Record<string, string | Buffer>>,
  { flags = 0, size, streamed = false }: ZipOptions = {},
): Buffer => {
  const local: Array<Buffer> = []
  const central: Array<Buffer> = []
  let at = 0
  for (const [name, content] of Object.entries(files)) {
    const data = Buffer.from(content)
    const packed = deflateRawSync(data)
    const mark = flags | (streamed ? 8 : 0)
    const fields = Buffer.alloc(26)
    fields.writeUInt16LE(20, 0)
    fields.writeUInt16LE(mark, 2)
    fields.writeUInt16LE(8, 4)
    fields.writeUInt32LE(crc32(data), 10)
    fields.writeUInt32LE(packed.length, 14)
    fields.writeUInt32LE(size ?? data.length, 18)
    fields.writeUInt16LE(name.length, 22)
    const head = Buffer.from(fields)
    if (streamed) head.fill(0, 10, 22)
    const entry = Buffer.concat([
      Buffer.from("PK\u0003\u0004"),
      head,
      Buffer.from(name),
      packed,
      ...(streamed ? [Buffer.from("PK\u0007\u0008"), fields.subarray(10, 22)] : []),
    ])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(at, 10)
    central.push(Buffer.concat([Buffer.from("PK\u0001\u0002"), Buffer.from([20, 0]), fields, rest, Buffer.from(name)]))
    local.push(entry)
    at += entry.length
  }
  const directory = Buffer.concat(central)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(central.length, 4)
  end.writeUInt16LE(central.length, 6)
  end.writeUInt32LE(directory.length, 8)
  end.writeUInt32LE(at, 12)
  return Buffer.concat([...local, directory, Buffer.from("PK\u0005\u0006"), end])
}

export interface File {
  readonly name: string
  readonly type: string
  readonly bytes: Buffer
}

const base64 = (bytes: Buffer): string => bytes.toString("base64").replaceAll(/.{76}/gu, "$&\r\n")

const partOf = ({ bytes, name, type }: File): string =>
  [
    `Content-Type: ${type}; name="${name}"`,
    "Content-Transfer-Encoding: base64",
    `Content-Disposition: attachment; filename="${name}"`,
    "",
    base64(bytes),
    "",
  ].join("\r\n")

const headers = (from: string, subject: string) =>
  [
    `From: ${from}`,
    "To: dmarc@bounces.waybill.test",
    `Subject: ${subject}`,
    "Date: Wed, 25 Nov 2026 06:00:00 +0000",
    "Message-ID: <1@reporter.example>",
    "MIME-Version: 1.0",
    "",
  ].join("\r\n")

/** A mail that is the file itself, as Google sends it. */
export const single = (from: string, file: File): Buffer =>
  Buffer.from(`${headers(from, "Report domain: x Submitter: y Report-ID: 1")}${partOf(file)}`)

/** A mail with a text and the files. */
export const mixed = (from: string, files: ReadonlyArray<File>, type = "multipart/mixed"): Buffer =>
  Buffer.from(
    `${headers(from, "Report")}Content-Type: ${type}; boundary="b"\r\n\r\n` +
      "--b\r\nContent-Type: text/plain\r\n\r\nThis is an aggregate report.\r\n" +
      files.map((file) => `--b\r\n${partOf(file)}`).join("") +
      "--b--\r\n",
  )

/** The forms in which mailbox providers send reports of DMARC: fixture, sender, and mail. */
export const dmarcForms = (
  names: Names,
): Readonly<Record<string, { readonly signer: string; readonly mail: Buffer }>> => {
  const xml = (fixture: string) => Buffer.from(text(fixture, names))
  const file = (org: string) => `${org}!${names.domain}!1!2`
  return {
    google: {
      signer: "google.com",
      mail: single("noreply-dmarc-support@google.com", {
        name: `${file("google.com")}.zip`,
        type: "application/zip",
        bytes: zip({ [`${file("google.com")}.xml`]: xml("google.xml") }, { streamed: true }),
      }),
    },
    microsoft: {
      signer: "microsoft.com",
      mail: mixed('"DMARC Aggregate Report" <dmarcreport@microsoft.com>', [
        {
          name: `${file("enterprise.protection.outlook.com")}.xml.gz`,
          type: "application/gzip",
          bytes: gzipSync(xml("microsoft.xml")),
        },
      ]),
    },
    yahoo: {
      signer: "dmarc.yahoo.com",
      mail: mixed("Yahoo <noreply@dmarc.yahoo.com>", [
        { name: `${file("yahoo.com")}.xml.gz`, type: "application/octet-stream", bytes: gzipSync(xml("yahoo.xml")) },
      ]),
    },
    fastmail: {
      signer: "fastmaildmarc.com",
      mail: mixed("reports@fastmaildmarc.com", [
        { name: `${file("fastmail.com")}.xml`, type: "text/xml", bytes: xml("fastmail.xml") },
      ]),
    },
    rfc9990: {
      signer: "receiver.example",
      mail: mixed("dmarc@mail.receiver.example", [
        { name: "report", type: "application/octet-stream", bytes: gzipSync(xml("rfc9990.xml")) },
      ]),
    },
  }
}

export const tlsForms = (
  names: Names,
): Readonly<Record<string, { readonly signer: string; readonly mail: Buffer }>> => {
  const json = (fixture: string) => Buffer.from(text(fixture, names))
  return {
    google: {
      signer: "google.com",
      mail: mixed(
        "noreply-smtp-tls-reporting@google.com",
        [
          {
            name: `google.com!${names.domain}!1!2!001.json.gz`,
            type: "application/tlsrpt+gzip",
            bytes: gzipSync(json("google-tls.json")),
          },
        ],
        'multipart/report; report-type="tlsrpt"',
      ),
    },
    microsoft: {
      signer: "microsoft.com",
      mail: mixed("tlsrpt-noreply@microsoft.com", [
        { name: "report.json", type: "application/tlsrpt+json", bytes: json("microsoft-tls.json") },
      ]),
    },
  }
}

/** Signs mail for any domain with one key, whose record stands at `s1._domainkey` of each. */
export const makeSigner = Effect.map(DkimKey.generateEd25519, (pair) => ({
  record: pair.record,
  sign: (mail: Uint8Array, domain: string) =>
    Effect.orDie(
      Dkim.sign(mail, [
        {
          id: `test ${pair.record} ${domain}`,
          domain,
          selector: "s1",
          algorithm: "ed25519",
          privateKey: pair.privateKey,
        },
      ]),
    ),
}))

/** Heading of a DMARC report about a domain, as it is recorded. */
export const dmarcHeading = (about: string): Heading => ({
  kind: "dmarc",
  verified: true,
  reporter: "example.org",
  reportId: "1",
  about,
  orgName: "Example",
  begin: Date.UTC(2026, 10, 1),
  end: Date.UTC(2026, 10, 2),
})
