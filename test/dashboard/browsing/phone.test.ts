import { assert, it } from "vitest"
import * as Accessibility from "../support/Accessibility.ts"
import * as Browser from "../support/Browser.ts"
import * as ContactSheet from "../support/ContactSheet.ts"
import { inDashboard, TIMEOUT } from "../support/inDashboard.ts"

/** Widths of what scrolls sideways. A string, because the tests have no DOM types. */
const OVERFLOWS = `[...document.querySelectorAll("main *")].filter((element) =>
  element.checkVisibility() && element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).overflowX === "auto"
).map((element) => element.className)`

await inDashboard("a phone", (opened) => {
  it("shows rows with many columns as cards, and keys with their makers", { timeout: TIMEOUT }, async () => {
    const { instance, tab } = opened
    const { page } = tab
    await instance.request("POST", "/webhooks", { url: "https://hooks.shop.dev/one", events: ["email.bounced"] })
    await instance.request("POST", "/api-keys", { name: "Phone key", scopes: ["email:send"] })
    await page.setViewportSize(ContactSheet.PHONE)
    await page.goto("/operate/queues")
    const queue = page.getByRole("row", { name: /^Email deliveries/u })
    await queue.waitFor()
    await Browser.eventually(() => page.evaluate(OVERFLOWS)).toEqual([])
    const last = await queue.getByRole("cell").last().boundingBox()
    assert.isAtMost((last?.x ?? 0) + (last?.width ?? 0), ContactSheet.PHONE.width)
    assert.deepEqual(await Accessibility.violations(page), [])
    await ContactSheet.shoot(page, "phone-queues")
    await page.goto("/webhooks")
    await page
      .getByRole("row", { name: /hooks\.shop\.dev/u })
      .getByText("None yet")
      .waitFor()
    assert.deepEqual(await Accessibility.violations(page), [])
    await ContactSheet.shoot(page, "phone-webhooks")
    await page.goto("/settings/api-keys")
    await page
      .getByRole("row", { name: /^Phone key/u })
      .getByText(/Created just now by/u)
      .waitFor()
    const key = page.getByRole("row", { name: /^Phone key/u })
    await Browser.eventually(() => key.innerText()).toMatch(/email:send[^]*Never used/u)
    await ContactSheet.shoot(page, "phone-api-keys")
    await instance.request("POST", "/suppressions", { email: "left@example.org", reason: "manual" })
    await page.goto("/suppressions")
    const suppressed = page.getByRole("row", { name: /left@example\.org/u })
    await Browser.eventually(() => suppressed.innerText()).toMatch(/Manual[^]*Added just now[^]*First key/u)
    assert.deepEqual(await Accessibility.violations(page), [])
    await ContactSheet.shoot(page, "phone-suppressions")
  })

  it("gives a lone button no row, nor one that does nothing", { timeout: TIMEOUT }, async () => {
    const { instance, tab } = opened
    const { page } = tab
    const { json } = await instance.request("POST", "/webhooks", { url: "https://hooks.shop.dev/two", events: ["*"] })
    await page.setViewportSize(ContactSheet.PHONE)
    await page.goto("/domains/acme.test")
    const middleOf = async (name: "Domain actions" | "acme.test") => {
      const found = name === "acme.test" ? page.getByRole("heading", { level: 1 }) : page.getByRole("button", { name })
      const { height = 0, y = 0 } = (await found.boundingBox()) ?? {}
      return Math.round(y + height / 2)
    }
    await page.getByRole("button", { name: "Domain actions" }).waitFor()
    assert.strictEqual(await middleOf("Domain actions"), await middleOf("acme.test"))
    await ContactSheet.shoot(page, "phone-domain")
    // A finger needs 44 px, and a phone zooms into a field with letters below 16 px.
    const back = await page.getByRole("link", { name: "Back to domains" }).boundingBox()
    assert.isAtLeast(back?.height ?? 0, 44)
    await page.goto("/suppressions")
    await page.getByLabel("Search suppressions").waitFor()
    const small = `[...document.querySelectorAll("input, select, textarea")].filter((each) => parseFloat(getComputedStyle(each).fontSize) < 16).length`
    assert.strictEqual(await page.evaluate(small), 0)
    await page.goto(`/webhooks/${json.id}`)
    await page.getByText("Signature headers").waitFor()
    await ContactSheet.shoot(page, "phone-webhook")
  })

  it("shows the texts of a template, or what they become", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const template = { name: "Letter", subject: "Hi", html: "<p>Hello phone</p>" }
    const { json } = await opened.instance.request("POST", "/templates", template)
    await page.goto(`/templates/${json.id}`)
    const preview = page.locator('iframe[title="Template preview"]')
    await page.getByLabel("Subject").waitFor()
    await Browser.eventually(() => preview.isVisible()).toBe(false)
    await ContactSheet.shoot(page, "phone-template-edit")
    await page.getByRole("group", { name: "Show" }).getByRole("button", { name: "Preview" }).click()
    await preview.contentFrame().getByText("Hello phone").waitFor()
    await Browser.eventually(() => page.getByLabel("Subject").isVisible()).toBe(false)
    assert.deepEqual(await Accessibility.violations(page), [])
    await ContactSheet.shoot(page, "phone-template-preview")
    await page.setViewportSize(Browser.DESKTOP)
    await page.getByLabel("Subject").waitFor()
    await preview.waitFor()
  })

  it("names no key where there is no keyboard", { timeout: TIMEOUT }, async () => {
    const { instance, tab } = opened
    const storageState = await tab.context.storageState()
    const touched = await tab.context.browser()?.newContext({
      baseURL: instance.url,
      storageState,
      hasTouch: true,
      isMobile: true,
      viewport: ContactSheet.PHONE,
    })
    const page = await touched?.newPage()
    assert.isDefined(page)
    await page?.goto("/overview")
    await page?.getByRole("button", { name: "Search" }).first().tap()
    await page?.getByRole("option", { name: /^Overview/u }).waitFor()
    const visible = await page?.locator("kbd").evaluateAll((all) => all.filter((each) => each.checkVisibility()).length)
    assert.strictEqual(visible, 0)
    await touched?.close()
  })

  it("names the domains of recipients where no large provider is among them", { timeout: TIMEOUT }, async () => {
    const { instance, tab } = opened
    const { page } = tab
    const mail = { from: "hello@acme.test", subject: "Hi", text: "Hi" }
    for (const to of ["ana@customers.example", "bo@customers.example", "cy@partners.example"])
      await instance.request("POST", "/email/send", { ...mail, to })
    const row = page.getByRole("row", { name: /^customers\.example\s*2/u })
    await Browser.eventually(async () => {
      await page.goto("/overview")
      await page.getByRole("button", { name: "Provider", exact: true }).click()
      await page.getByText(/No large provider|No email in this range/u).waitFor()
      return row.count()
    }).toBe(1)
    // All mail of the range is counted: a part of it would have no rates.
    await page.getByText("Their own domains:").waitFor()
    await page.getByRole("columnheader", { name: "Bounced" }).waitFor()
    await ContactSheet.shoot(page, "overview-own-domains")
    await row.getByRole("link", { name: "customers.example" }).click()
    await page.getByRole("list", { name: "Emails" }).getByRole("listitem").nth(1).waitFor()
    assert.include(decodeURIComponent(page.url()), "to:@customers.example")
    await page.route("**/v1/email/logs?**limit=100**", async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), has_more: true } })
    })
    await page.goto("/overview")
    await page.getByRole("button", { name: "Provider", exact: true }).click()
    await page.getByText("Their own domains in the newest 3 emails, without rates:").waitFor()
    await Browser.eventually(() => page.getByRole("columnheader", { name: "Bounced" }).count()).toBe(0)
    // The link finds the emails that were counted, and none before them.
    const { json } = await instance.request("GET", "/email/logs?limit=3")
    const found = (await row.getByRole("link", { name: "customers.example" }).getAttribute("href")) ?? ""
    assert.include(decodeURIComponent(found), `since:${json.data.at(-1).created_at}`)
    // Waits for a response that is being changed.
    await page.unrouteAll({ behavior: "wait" })
  })

  it(
    "says in a row who bounced, and keeps tabs in one line, the selected one in sight",
    { timeout: TIMEOUT },
    async () => {
      const { instance, tab } = opened
      const { page } = tab
      const to = ["ana@example.org", "bounced+who@customers.test"]
      await instance.request("POST", "/email/send", { from: "hello@acme.test", to, subject: "Two", html: "<p>Hi</p>" })
      await page.setViewportSize(ContactSheet.PHONE)
      await page.goto("/emails")
      const row = page.getByRole("list", { name: "Emails" }).getByRole("link", { name: /Partly bounced/u })
      await row.getByText("bounced+who@customers.test").filter({ visible: true }).waitFor()
      await row.getByText("+1").filter({ visible: true }).waitFor()
      // The address comes first, as in a wider list and in the sandbox.
      const address = await row.getByText("bounced+who@customers.test").boundingBox()
      const subject = await row.getByText("Two", { exact: true }).boundingBox()
      assert.isBelow(address?.y ?? 0, subject?.y ?? 0)
      await row.click()
      const tabs = page.getByRole("tablist", { name: "Content" }).getByRole("tab")
      await tabs.last().waitFor()
      const boxes = await Promise.all((await tabs.all()).map((each) => each.boundingBox()))
      assert.strictEqual(new Set(boxes.map((box) => box?.y)).size, 1)
      // The end beyond which tabs are fades, until they are in sight.
      const list = page.getByRole("tablist", { name: "Content" })
      await Browser.eventually(() => list.getAttribute("data-more-after")).toBe("")
      // Without a pointer, which would scroll there itself.
      await tabs.last().dispatchEvent("click")
      const rightEdge = async () => {
        const { width = 0, x = Infinity } = (await tabs.last().boundingBox()) ?? {}
        return x + width
      }
      await Browser.eventually(rightEdge).toBeLessThanOrEqual(ContactSheet.PHONE.width)
      await Browser.eventually(() => list.getAttribute("data-more-before")).toBe("")
      assert.deepEqual(await Accessibility.violations(page), [])
      await ContactSheet.shoot(page, "phone-tabs", tabs.first())
    },
  )

  it("logs no errors", () => assert.deepEqual(opened.tab.consoleErrors, []))
})
