import { bytesOf, mail, part, parts, plain, shape, type Shape } from "./Shape.ts"

const report = (type: string, headers: ReadonlyArray<string>, ...inside: ReadonlyArray<string>) => {
  const [header, body] = parts("report", "r", ...inside)
  return mail([...headers, header.replace("multipart/report", `multipart/report; report-type=${type}`)], body)
}
const STATUS = part(
  ["Content-Type: message/delivery-status"],
  "Reporting-MTA: dns; mx.example.org",
  "",
  "Final-Recipient: rfc822; bo@example.org",
  "Action: failed",
  "Status: 5.1.1",
  "",
)
const RECEIPT = part(
  ["Content-Type: message/disposition-notification"],
  "Final-Recipient: rfc822; bo@example.org",
  "Disposition: manual-action/MDN-sent-manually; displayed",
  "",
)
const HEAD = part(["Content-Type: text/rfc822-headers"], "Subject: Order", "")

const by = (name: string, headers: ReadonlyArray<string>, automatic: Shape["is"]["automatic"]) =>
  shape(`automatic: ${name}`, mail(headers, "Hi"), { automatic: automatic ?? null, text: "Hi" })

/** Mail that programs write, and mail that is like it and is a person's. */
export const automatic: ReadonlyArray<Shape> = [
  shape(
    "automatic: a delivery status notification",
    report("delivery-status", ["Auto-Submitted: auto-replied"], plain("Failed"), STATUS, HEAD),
    { automatic: "bounce", text: /^Failed/u },
  ),
  shape(
    "automatic: a notification of a delay",
    report("delivery-status", [], plain("Later"), STATUS.replace("failed", "delayed")),
    { automatic: "bounce" },
  ),
  shape(
    "automatic: a read receipt",
    report("disposition-notification", ["Subject: Read: Order"], plain("Read"), RECEIPT),
    { automatic: "auto_reply", subject: "Read: Order" },
  ),
  shape(
    "automatic: a complaint",
    report(
      "feedback-report",
      [],
      plain("Spam"),
      part(["Content-Type: message/feedback-report"], "Feedback-Type: abuse", ""),
    ),
    { automatic: "auto_reply" },
  ),
  shape(
    "automatic: an old bounce",
    bytesOf("From: MAILER-DAEMON@example.org", "Subject: failure notice", "Auto-Submitted: auto-replied", "", "Sorry"),
    { automatic: "bounce" },
  ),
  shape(
    "automatic: a bounce of Exim",
    mail(["X-Failed-Recipients: bo@example.org", "Auto-Submitted: auto-replied"], "Sorry"),
    { automatic: "bounce" },
  ),
  by("an absence by RFC 3834", ["Auto-Submitted: auto-replied"], "auto_reply"),
  by("an absence with a comment", ["Auto-Submitted: auto-replied (vacation)"], "auto_reply"),
  by("a report of a machine", ["Auto-Submitted: auto-generated"], "auto_reply"),
  by("a person by RFC 3834", ["Auto-Submitted: no"], null),
  by("an absence of Exchange", ["X-Auto-Response-Suppress: All", "Auto-Submitted: auto-generated"], "auto_reply"),
  by("an absence of an old program", ["X-Autoreply: yes"], "auto_reply"),
  by("an absence of another one", ["X-Autorespond: Away"], "auto_reply"),
  by("an absence of a third one", ["Precedence: auto_reply"], "auto_reply"),
  by("a list by its id", ["List-Id: Friends <friends.example.org>"], "list"),
  by("a newsletter", ["List-Unsubscribe: <https://example.org/u>"], "list"),
  by("a list by its precedence", ["Precedence: list"], "list"),
  by("a circular", ["Precedence: bulk"], "list"),
  by("a list of Google", ["List-Post: <mailto:friends@example.org>", "Precedence: list"], "list"),
  by("a person with priority", ["X-Priority: 1", "Importance: high"], null),
  by("a person who asks for a receipt", ["Disposition-Notification-To: ana@example.org"], null),
  by("a person through a ticket system", ["X-Mailer: Zendesk Mailer", "X-Zendesk-From-Account-Id: 1"], null),
]
