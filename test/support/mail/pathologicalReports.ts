import type { Grammar } from "../process/documents.ts"
import { CRLF, flowed, HEADERS, LARGEST, lines, mixed, part } from "./mailForms.ts"

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
  knownSlow: [
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

/** Maximum number of addresses that fit into the headers. */
const FAILED = `X-Failed-Recipients: ${Array.from({ length: 20_000 }, (_, nth) => `a${nth}@b.test`).join(",")}${CRLF}`

export const BOUNCES: Grammar = {
  knownSlow: [
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
