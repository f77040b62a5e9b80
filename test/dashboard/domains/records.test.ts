import { assert, beforeAll, it } from "vitest"
import * as Browser from "../support/Browser.ts"
import { inDashboardWith, TIMEOUT } from "../support/inDashboard.ts"
import * as ContactSheet from "../support/ContactSheet.ts"

const DOMAIN = "mail.broken.dev"

const within = inDashboardWith(
  // A port where nothing answers: the test says what DNS told.
  async () => ({ settings: { DNS_SERVERS: "127.0.0.1:9" } }),
)

await within("DNS records of a domain", (opened) => {
  beforeAll(async () => {
    await opened.instance.request("POST", "/domains", { name: DOMAIN })
    await opened.tab.context.grantPermissions(["clipboard-read", "clipboard-write"])
  }, TIMEOUT)

  const record = () => opened.tab.page.getByRole("row", { name: /Signs your mail/u })
  const copied = async (button: string) => {
    await record().getByRole("button", { name: button, exact: true }).click()
    return opened.tab.page.evaluate("navigator.clipboard.readText()")
  }

  it(
    "have their full names while the zone is unknown, and no host that may be wrong",
    { timeout: TIMEOUT },
    async () => {
      await opened.tab.page.goto(`/domains/${DOMAIN}`)
      assert.strictEqual(await copied("Copy full name"), `wb1._domainkey.${DOMAIN}`)
      await Browser.eventually(() => record().getByText(/^Host/u).count()).toBe(0)
      await opened.tab.page.getByText("leave that part out at the end of the name", { exact: false }).waitFor()
      // A return path that nothing can reach is not to be published.
      await opened.tab.page.getByText("Set RETURN_PATH_DOMAIN first", { exact: false }).waitFor()
      await Browser.eventually(() => opened.tab.page.getByText("bounces.localhost").count()).toBe(0)
      await ContactSheet.shoot(opened.tab.page, "domain-without-zone")
    },
  )

  it("have the host in the zone of the provider beside the full name", { timeout: TIMEOUT }, async () => {
    // No name server of a test has a public address, so the check of the service does not find one.
    await opened.instance.sql(
      `UPDATE domains SET record = jsonb_set(record::jsonb, '{zone}', '"broken.dev"') WHERE name = '${DOMAIN}'`,
    )
    const { json } = await opened.instance.request("GET", `/domains/${DOMAIN}`)
    assert.deepStrictEqual(
      [json.zone, json.records[0].host, json.records[0].zone_host, json.records[0].name],
      ["broken.dev", "wb1._domainkey", "wb1._domainkey.mail", `wb1._domainkey.${DOMAIN}`],
    )
    await opened.tab.page.reload()
    await record().getByText("Host in broken.dev").waitFor()
    assert.strictEqual(await copied("Copy host"), "wb1._domainkey.mail")
    assert.strictEqual(await copied("Copy full name"), `wb1._domainkey.${DOMAIN}`)
    await ContactSheet.shoot(opened.tab.page, "domain-zone")
  })
})
