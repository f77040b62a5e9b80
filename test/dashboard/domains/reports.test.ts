import { Effect } from "effect"
import { assert, it } from "vitest"
import * as Mail from "../../support/mail/aggregateMail.ts"
import * as DnsServer from "../../support/mail/dnsServer.ts"
import { freePort, runToEnd } from "../../support/process/service.ts"
import * as Accessibility from "../support/Accessibility.ts"
import * as Browser from "../support/Browser.ts"
import { inDashboardWith, TIMEOUT } from "../support/inDashboard.ts"
import * as ContactSheet from "../support/ContactSheet.ts"
import { sendReport } from "./sendReport.ts"

const DOMAIN = "acme.test"
const RETURN_PATH = "bounces.waybill.example"
const PHONE_PX = 360

let dns: Awaited<ReturnType<typeof DnsServer.open>>
let port: number

const within = inDashboardWith(async () => {
  dns = await DnsServer.open()
  port = await freePort()
  return {
    settings: { DNS_SERVERS: dns.server, RETURN_PATH_DOMAIN: RETURN_PATH, MAIL_PORT: String(port) },
    close: () => dns.close(),
  }
})

await within("reports of a domain", (opened) => {
  const send = (local: string, mail: Uint8Array) => sendReport(port, `${local}@${RETURN_PATH}`, mail)

  it("tell which record to publish while there are none", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.goto(`/domains/${DOMAIN}`)
    await page.getByText("See who sends in the name of this domain").waitFor()
    await page.getByText("See whether mail reaches this domain over TLS").waitFor()
    for (const text of [
      "_dmarc.acme.test",
      `v=DMARC1; p=none; rua=mailto:dmarc@${RETURN_PATH}`,
      "_smtp._tls.acme.test",
      `v=TLSRPTv1; rua=mailto:tlsrpt@${RETURN_PATH}`,
    ])
      await Browser.eventually(() => page.getByText(text, { exact: true }).count(), text).toBeGreaterThan(0)
    assert.deepEqual(await Accessibility.violations(page), [])
    await ContactSheet.shoot(page, "domain-reports-empty", page.getByRole("heading", { name: "DMARC reports" }))
  })

  it("show sources and failures, and unverified reports apart", { timeout: TIMEOUT }, async () => {
    const { record, sign } = await Effect.runPromise(Mail.makeSigner)
    const [dmarc, tls] = [Mail.dmarcForms({ domain: DOMAIN }), Mail.tlsForms({ domain: DOMAIN })]
    const signed = ["google", "microsoft", "fastmail"].flatMap((form) => dmarc[form] ?? [])
    for (const { signer } of signed) dns.set(`s1._domainkey.${signer}`, { TXT: [record] })
    for (const { mail, signer } of signed) await send("dmarc", await Effect.runPromise(sign(mail, signer)))
    await send("dmarc", dmarc["yahoo"]?.mail ?? Buffer.alloc(0))
    const google = tls["google"]
    assert(google !== undefined)
    await send("tlsrpt", await Effect.runPromise(sign(google.mail, google.signer)))

    const { page } = opened.tab
    await page.goto(`/domains/${DOMAIN}`)
    const sources = page.getByRole("table", { name: "Sources" })
    const cells = () => sources.getByRole("row").allInnerTexts()
    await sources.waitFor()
    const [, first = "", second = ""] = await cells()
    assert.match(first, /192\.0\.2\.10[^]*21[^]*Passed/u)
    assert.match(second, /2001:db8::7[^]*forwarder\.example[^]*4[^]*Failed/u)
    assert.match(
      second,
      /Policy not applied: rule of the receiver \(3, arc=pass & so on\); forwarded \(1\); mailing list \(1\)/u,
    )
    await page.getByText("84 %").waitFor()
    await page.getByText("microsoft.com (Enterprise Outlook)").waitFor()
    const failures = page.getByRole("table", { name: "Failures" })
    await Browser.eventually(() => failures.innerText()).toMatch(
      /certificate-expired[^]*mx\.acme\.test[^]*2[^]*MTA-STS/u,
    )
    assert.deepEqual(await Accessibility.violations(page), [])
    await ContactSheet.shoot(page, "domain-reports", page.getByRole("heading", { name: "DMARC reports" }))

    await page.setViewportSize({ width: PHONE_PX, height: 800 })
    const overflow = await page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert.isAtMost(overflow as number, 0)
    await page.setViewportSize(Browser.DESKTOP)

    await page.getByText("1 report without a valid signature left out.").waitFor()
    await page.getByRole("button", { name: "Show unverified reports" }).click()
    await page.getByText("Unverified reports: nobody signed them").waitFor()
    await Browser.eventually(async () => (await cells()).length).toEqual(2)
    assert.match((await cells())[1] ?? "", /192\.0\.2\.11/u)
    assert.deepEqual(await Accessibility.violations(page), [])
    await page.getByRole("button", { name: "Show verified reports" }).click()
    await Browser.eventually(async () => (await cells()).length).toEqual(3)

    await page.getByRole("button", { name: "7 days" }).first().click()
    await Browser.eventually(async () => (await cells()).length).toEqual(3)
  })

  it("are told by the command line", { timeout: TIMEOUT }, async () => {
    const command = async (...args: ReadonlyArray<string>) => {
      const env = { WAYBILL_URL: opened.instance.url, WAYBILL_KEY: opened.instance.key }
      const { code, output } = await runToEnd(["domains", ...args], env)
      assert.strictEqual(code, 0, output)
      return output
    }
    const sources = await command("dmarc", DOMAIN)
    assert.match(sources, /last 30 days, verified reports of 3 reporters\. Unverified reports: 1/u)
    assert.match(sources, /192\.0\.2\.10\s+21\s+21/u)
    assert.match(sources, /local_policy 3, forwarded 1, mailing_list 1/u)
    assert.match(await command("dmarc", DOMAIN, "--unverified", "--days", "7"), /192\.0\.2\.11\s+2\s+2/u)
    assert.match(await command("tls", DOMAIN), /sts\s+41\s+3[^]*certificate-expired\s+mx\.acme\.test\s+2/u)
    const json = JSON.parse(await command("dmarc", DOMAIN, "--json"))
    assert.strictEqual(json.object, "dmarc_reports")
  })
})
