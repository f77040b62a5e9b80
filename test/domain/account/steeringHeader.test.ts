import * as Header from "@waybill/domain/email/Header"
import * as SteeringHeader from "@waybill/domain/account/SteeringHeader"
import { Schema } from "effect"
import { readFileSync } from "node:fs"
import { assert, describe, it } from "../../support/effectTest.ts"

describe("headers that steer a provider", () => {
  it.for([
    "X-SMTPAPI",
    "x-smtpapi",
    "X_SMTPAPI",
    "X-SG-EID",
    "X-SES-CONFIGURATION-SET",
    "X-SES-MESSAGE-TAGS",
    "X-SES-SOURCE-ARN",
    "X-SES-RETURN-PATH-ARN",
    "X-SES-LIST-MANAGEMENT-OPTIONS",
    "X-MSYS-API",
    "X-MC-BccAddress",
    "X-MC-SendAt",
    "X-Mailgun-Drop-Message",
    "X-Mailgun-Recipient-Variables",
    "X-PM-Message-Stream",
    "X-PM-Metadata-color",
    "X-MJ-TemplateErrorReporting",
    "X-Mailjet-DeduplicateCampaign",
    "X-Mailin-IP",
    "sender.ip",
    "X-ElasticEmail-Channel",
    "X-xsMailingId",
    "X-GreenArrow-MtaID",
    "X-Virtual-MTA",
    "X-Job",
    "X-Sending-Zone",
    "X-MS-Exchange-Organization-SCL",
    "X-Ignore-Unsubscribe",
    "AhaSend-Sandbox",
    "Deferred-Delivery",
    "X-DKIM-Options",
    "X-UNISENDER-GO",
    "X-UNISENDER-GO-Skip-Unsubscribe",
    "X-TM-TEMPLATE",
    "X-TM-SUB",
    "X-TM-META",
    "X-TM-TAGS",
    "X-Lettermint-Route",
    "X-Smtpcom-Tag",
  ])("%s is one", (name) => assert.isTrue(SteeringHeader.isSteering(name)))

  it.for([
    "Auto-Submitted",
    "Disposition-Notification-To",
    "Feedback-ID",
    "List-Unsubscribe",
    "Precedence",
    "Reply-To",
    "X-Campaign",
    "X-Entity-Ref-ID",
    "X-Mailer",
    "X-MS-Exchange-CrossTenant-Id",
    "X-Order",
    "X-Priority",
    "X-Sender",
  ])("%s is none", (name) => assert.isFalse(SteeringHeader.isSteering(name)))

  it("each name is in lower case, once, and none that the service or a mail server writes", () => {
    assert.deepStrictEqual(SteeringHeader.normalize(SteeringHeader.NAMES), [...SteeringHeader.NAMES].toSorted())
    for (const name of SteeringHeader.NAMES) assert.isTrue(Header.isAllowed(name), name)
  })

  it("each name is in the documentation", () => {
    const page = readFileSync("docs/operating/transports.md", "utf8").toLowerCase()
    for (const name of SteeringHeader.NAMES)
      assert.isTrue(page.includes(`\`${name.endsWith("-") ? `${name}*` : name}\``), name)
  })

  it("an operator allows names and families of them, and nothing else", () => {
    const isAllowable = (...names: ReadonlyArray<string>) => Schema.is(SteeringHeader.Allowed)(names)
    assert.deepStrictEqual(
      [
        ["X-PM-Tag"],
        ["x-smtpapi", "X-Mailgun-*", "X-PM-Metadata-*"],
        ["X-Order"],
        ["X-*"],
        ["*"],
        ["From"],
        ["X-SMTPAPI*"],
        ["X-PM-Tag: x"],
        ["X-PM-Tag\r\nBcc"],
        [""],
        Array.from({ length: SteeringHeader.MAX_ALLOWED + 1 }, (_, nth) => `X-PM-${nth}`),
      ].map((names) => isAllowable(...names)),
      [true, true, false, false, false, false, false, false, false, false, false],
    )
  })

  it("headers are sorted by what is allowed, in any spelling", () => {
    const headers = { "X-Order": "1", "X-PM-TAG": "a", X_PM_Metadata_a: "b", "x-SmtpApi": "{}", "X-SES-TAG": "c" }
    const allowed = SteeringHeader.normalize(["X-PM-*", "X-SMTPAPI", "x-pm-*"])
    assert.deepStrictEqual(allowed, ["x-pm-*", "x-smtpapi"])
    assert.deepStrictEqual(SteeringHeader.sort(headers, allowed), {
      allowed: ["X-PM-TAG", "X_PM_Metadata_a", "x-SmtpApi"],
      refused: ["X-SES-TAG"],
    })
    assert.deepStrictEqual(SteeringHeader.sort({ "X-Order": "1" }, []), { allowed: [], refused: [] })
  })
})
