import * as ReportRecords from "@waybill/mail/dns/ReportRecords"
import { assert, describe, it } from "../../support/effectTest.ts"

const ADDRESS = "dmarc@bounces.waybill.test"

const valueOf = (found: string | undefined) => ReportRecords.dmarcRecord("acme.test", ADDRESS, found)?.value

describe("the DMARC record that asks for reports", () => {
  it("is a whole one for a domain without a policy", () => {
    for (const found of [undefined, "v=DMARC1", "v=spf1 -all", "v=DMARC1; p"])
      assert.deepStrictEqual(ReportRecords.dmarcRecord("acme.test", ADDRESS, found), {
        type: "TXT",
        name: "_dmarc.acme.test",
        value: `v=DMARC1; p=none; rua=mailto:${ADDRESS}`,
      })
  })

  it("keeps the policy and the recipients that are there", () => {
    assert.strictEqual(valueOf("v=DMARC1; p=reject;pct=50;"), `v=DMARC1; p=reject; pct=50; rua=mailto:${ADDRESS}`)
    assert.strictEqual(
      valueOf("v=DMARC1; p=reject; rua=mailto:a@b.example!10m , mailto:c@d.example; sp=none"),
      `v=DMARC1; p=reject; rua=mailto:a@b.example!10m,mailto:c@d.example,mailto:${ADDRESS}; sp=none`,
    )
  })

  it("is none when reports come here already", () => {
    for (const rua of [
      `mailto:${ADDRESS}`,
      `mailto:a@b.example,mailto:${ADDRESS}!10m`,
      `MAILTO:${ADDRESS.toUpperCase()}`,
    ])
      assert.isUndefined(valueOf(`v=DMARC1; p=none; rua=${rua}`), rua)
  })

  it("is not proposed where no mail arrives", () => {
    assert.isNull(ReportRecords.addressAt("dmarc", "bounces.localhost"))
    assert.strictEqual(ReportRecords.addressAt("dmarc", "bounces.example.org"), "dmarc@bounces.example.org")
    assert.strictEqual(ReportRecords.dmarcPolicy(null), "v=DMARC1; p=none;")
  })
})
