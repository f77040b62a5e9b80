import type { Form, Grammar } from "../process/documents.ts"
import { CRLF, HEADERS, LARGEST } from "./mailForms.ts"

const FROM = `From: dmarc@reporter.example${CRLF}`

const file = (type: string, before: string, after = ""): Form => ({
  before: `${FROM}Content-Type: ${type}${CRLF}${CRLF}${before}`,
  after: `${after}${CRLF}`,
})
const xml = (before: string, after = "") => file("text/xml", `<feedback>${before}`, `${after}</feedback>`)
const signature = (before: string): Form => ({
  before: `DKIM-Signature: v=1; a=rsa-sha256; d=reporter.example; s=s1; h=From; bh=x; ${before}`,
  after: `${CRLF}${FROM}${CRLF}x${CRLF}`,
  most: HEADERS,
})

const RECORD =
  "<record><row><source_ip>192.0.2.1</source_ip><count>1</count></row><identifiers><header_from>a.b.c.d.test</header_from></identifiers></record>"

/** Mails with aggregate reports, in XML, in JSON, and with many or long signatures. */
export const AGGREGATES: Grammar = {
  knownSlow: [
    { ...xml(""), piece: RECORD, bytes: LARGEST },
    { ...xml("<a "), piece: 'b="c" ', bytes: 100_000 },
    { ...xml(""), piece: "&amp;", bytes: 1_000_000 },
    { ...file("application/json", '{"policies":[', "]}"), piece: "[", bytes: 1_000_000 },
    { ...signature("b="), piece: "a; ", bytes: HEADERS },
    { ...signature("h="), piece: "from:", bytes: HEADERS },
  ],
  pieces: [
    RECORD,
    "<a>",
    "</a>",
    "<a/>",
    "<x:a ",
    'b="c" ',
    "b='",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?x ",
    "?>",
    "&amp;",
    "&#65;",
    "&",
    "<!DOCTYPE a [",
    " ",
    CRLF,
    '{"policies":',
    '[{"policy":{"policy-domain":"a.b.test"}},',
    '"\\u0041',
    "1e9,",
    "a.",
    "from:",
    "b=; ",
    ";",
  ],
  forms: [
    xml(""),
    xml("<record><row><source_ip>"),
    xml("<report_metadata><org_name>", "</org_name></report_metadata>"),
    xml("<a "),
    file("application/tlsrpt+json", "{", "}"),
    file("application/json", '{"report-id":"', '"}'),
    file("application/octet-stream", "\u001f\u008b\u0008"),
    file("application/zip", "PK\u0003\u0004"),
    signature(""),
    signature("b="),
  ],
}
