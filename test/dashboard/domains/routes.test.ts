import { assert, beforeAll, describe, it } from "vitest"
import { positionsAfterMove } from "../../../apps/dashboard/src/routes/positionsAfterMove.ts"
import * as DnsServer from "../../support/mail/dnsServer.ts"
import * as Accessibility from "../support/Accessibility.ts"
import * as Browser from "../support/Browser.ts"
import { inDashboardWith, TIMEOUT } from "../support/inDashboard.ts"
import * as ContactSheet from "../support/ContactSheet.ts"

const BO = { email: "bo@acme.test", password: "a long password of bo" }

describe("a moved route", () => {
  const rowsAt = (...positions: ReadonlyArray<number>) =>
    positions.map((position, index) => ({ id: `rte_${index}`, position }))
  const inOrder = (rows: ReturnType<typeof rowsAt>) =>
    rows.toSorted((a, b) => a.position - b.position || (a.id < b.id ? -1 : 1)).map(({ id }) => id)

  it("is at its new place, and no other two are ever in another order", () => {
    for (const positions of [
      [0, 1, 2, 3],
      [0, 0, 0, 0],
      [5, 6, 6, 9],
      [0, 10, 20, 30],
      [3, 3, 4, 5],
    ])
      for (let from = 0; from < positions.length; from++)
        for (let to = 0; to < positions.length; to++) {
          let rows = rowsAt(...positions)
          const others = inOrder(rows).filter((_, index) => index !== from)
          for (const { id, position } of positionsAfterMove(rows, from, to)) {
            rows = rows.map((row) => (row.id === id ? { id, position } : row))
            const now = inOrder(rows).filter((each) => each !== `rte_${from}`)
            assert.deepStrictEqual(now, others, `${positions.join()} ${from} ${to}`)
          }
          assert.deepStrictEqual(
            inOrder(rows),
            others.toSpliced(to, 0, `rte_${from}`),
            `${positions.join()} ${from} ${to}`,
          )
          assert.isTrue(rows.every(({ position }) => position >= 0))
        }
  })

  it("takes one change where its new neighbours leave a number free", () => {
    assert.deepStrictEqual(positionsAfterMove(rowsAt(0, 10, 20), 2, 1), [{ id: "rte_2", position: 5 }])
    assert.deepStrictEqual(positionsAfterMove(rowsAt(0, 1, 2), 0, 2), [{ id: "rte_0", position: 3 }])
  })
})

let dns: Awaited<ReturnType<typeof DnsServer.open>>

const within = inDashboardWith(async () => {
  dns = await DnsServer.open()
  return {
    settings: { DNS_SERVERS: dns.server, EHLO_NAME: "mx.waybill.dev", WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8" },
    close: () => dns.close(),
  }
})

await within("routes in the dashboard", (opened) => {
  beforeAll(async () => {
    await opened.instance.request("POST", "/webhooks", { url: "http://127.0.0.1:9/orders", events: ["email.bounced"] })
  }, TIMEOUT)

  const rows = () => opened.tab.page.getByRole("list", { name: "Routes" }).getByRole("listitem")
  /** What each route does, in the order of the screen and in that of the API. */
  const shown = async () => (await rows().locator("p:nth-of-type(2)").allInnerTexts()).map((text) => text.split(":")[0])
  const stored = async () =>
    (await opened.instance.request("GET", "/inbound/routes")).json.data.map(
      ({ action }: { readonly action: { readonly type: string } }) => action.type,
    )
  const create = async (fill: (dialog: ReturnType<typeof opened.tab.page.getByRole>) => Promise<void>) => {
    await opened.tab.page.getByRole("button", { name: "Create route" }).first().click()
    const dialog = opened.tab.page.getByRole("dialog")
    await fill(dialog)
    await dialog.getByRole("button", { name: "Create" }).click()
    await dialog.waitFor({ state: "detached" })
  }

  it("says what happens without a route", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.goto("/routes")
    await page.getByText("every webhook that subscribes to received mail is called", { exact: false }).waitFor()
    await page.getByText("*@acme.test").waitFor()
    assert.deepEqual(await Accessibility.violations(page), [])
    await ContactSheet.shoot(page, "routes-empty")
  })

  it("creates routes with a form for each action", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await create(async (dialog) => {
      await dialog.getByLabel("Recipient").fill("sup*port@acme.test")
      await dialog.getByLabel("Webhook").selectOption({ label: "http://127.0.0.1:9/orders" })
      await dialog.getByRole("button", { name: "Create" }).click()
      // A pattern that is none is named beside its field, and what was entered stays.
      await dialog.getByText("neither the whole name", { exact: false }).waitFor()
      await dialog.getByLabel("Recipient").fill("support+*@acme.test")
      await dialog.getByLabel("Subject contains").fill("order")
      await dialog.getByLabel("Stop here").check()
      assert.deepEqual(await Accessibility.violations(page), [])
      await ContactSheet.shoot(page, "routes-form")
    })
    await create(async (dialog) => {
      await dialog.getByLabel("Sender", { exact: true }).fill("*@spam.example")
      await dialog.getByLabel("Action").selectOption("reject")
      await dialog.getByLabel("Message to the sender").fill("Sold out")
    })
    await create(async (dialog) =>
      dialog
        .getByLabel("Action")
        .selectOption("store")
        .then(() => undefined),
    )
    await Browser.eventually(shown).toEqual(["Call http", "Reject", "Store, without a call"])
    assert.deepStrictEqual(await stored(), ["webhook", "reject", "store"])
    await Browser.eventually(() => rows().nth(0).innerText()).toContain(
      "Mail to support+*@acme.test, with “order” in the subject",
    )
    await Browser.eventually(() => rows().nth(0).innerText()).toContain("Stops")
    await Browser.eventually(() => rows().nth(1).innerText()).toContain("Reject: Sold out")
    await Browser.eventually(() => rows().nth(2).innerText()).toContain("Every mail")
    assert.deepEqual(await Accessibility.violations(page), [])
  })

  it("forwards to addresses, with the one that is wrong named", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await create(async (dialog) => {
      await dialog.getByLabel("Action").selectOption("forward")
      await dialog.getByLabel("Addresses").fill("team@example.org, nobody")
      await dialog.getByRole("button", { name: "Create" }).click()
      await dialog.getByText("This is not an address", { exact: false }).waitFor()
      await dialog.getByLabel("Addresses").fill("team@example.org, ops@example.org")
    })
    await page.getByText("Forward to team@example.org, ops@example.org").waitFor()
    const routes = (await opened.instance.request("GET", "/inbound/routes")).json.data
    assert.deepStrictEqual(routes.at(-1).action.to, ["team@example.org", "ops@example.org"])
    await opened.instance.request("DELETE", `/inbound/routes/${routes.at(-1).id}`)
    await page.goto("/routes")
    await Browser.eventually(shown).toEqual(["Call http", "Reject", "Store, without a call"])
  })

  it("tries the routes with a mail that is only described", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.getByLabel("To", { exact: true }).fill("support+42@acme.test")
    await page.getByLabel("From", { exact: true }).fill("ana@example.org")
    await page.getByLabel("Subject", { exact: true }).fill("My order")
    await page.getByRole("button", { name: "Test", exact: true }).click()
    await page.getByText("The mail would be received.").waitFor()
    const outcome = page.getByRole("status").filter({ hasText: "would be" }).getByRole("listitem")
    await Browser.eventually(() =>
      outcome.evaluateAll((all) => all.map((each) => each.getAttribute("data-applies"))),
    ).toEqual(["true", "false", "false"])
    await Browser.eventually(() => outcome.nth(2).innerText()).toContain("Route 1 ends the choice.")
    await ContactSheet.shoot(page, "routes")
    await page.getByLabel("From", { exact: true }).fill("nobody")
    await page.getByRole("button", { name: "Test", exact: true }).click()
    await page.getByText("This is not an address", { exact: false }).waitFor()
  })

  it("moves a route by the arrow keys, the menu and the pointer", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await page.getByRole("button", { name: "Move route 1" }).focus()
    // Twice without a pause: the second counts from where the first leads.
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowDown")
    await Browser.eventually(stored).toEqual(["reject", "store", "webhook"])
    await page.getByText("Moved to 3 of 3.").waitFor({ state: "attached" })
    await Browser.eventually(
      () => page.evaluate("document.activeElement.getAttribute('aria-label')"),
      "the focus stays on the route",
    ).toBe("Move route 3")
    await page.getByRole("button", { name: "Actions of route 2" }).click()
    await page.getByRole("menuitem", { name: "Move up" }).click()
    await Browser.eventually(stored).toEqual(["store", "reject", "webhook"])
    await page.getByRole("button", { name: "Move route 3" }).dragTo(rows().nth(0))
    await Browser.eventually(stored).toEqual(["webhook", "store", "reject"])
    await Browser.eventually(shown).toEqual(["Call http", "Store, without a call", "Reject"])
  })

  it("restores the order when the server refuses the move", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const before = await shown()
    assert.lengthOf(before, 3)
    await page.route("**/v1/inbound/routes/rte_*", (route) =>
      route.fulfill({ status: 422, json: { error: { message: "No.", reason: "no", request_id: "req_1" } } }),
    )
    await page.getByRole("button", { name: "Move route 1" }).press("ArrowDown")
    await page.getByRole("region", { name: "Notifications" }).getByText("No.").waitFor()
    await Browser.eventually(shown).toEqual(before)
    await page.unroute("**/v1/inbound/routes/rte_*")
  })

  it("changes, disables and deletes a route", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    const act = async (nth: number, name: string) => {
      await page.getByRole("button", { name: `Actions of route ${nth}` }).click()
      await page.getByRole("menuitem", { name }).click()
    }
    await act(1, "Edit")
    const dialog = page.getByRole("dialog")
    await Browser.eventually(() => dialog.getByLabel("Recipient").inputValue()).toBe("support+*@acme.test")
    await Browser.eventually(() => dialog.getByLabel("Stop here").isChecked()).toBe(true)
    await dialog.getByLabel("Recipient").fill("")
    await dialog.getByLabel("Action").selectOption("drop")
    await Browser.eventually(() => dialog.getByLabel("Stop here").count()).toBe(0)
    await dialog.getByRole("button", { name: "Save changes" }).click()
    await dialog.waitFor({ state: "detached" })
    await rows().nth(0).getByText("Accept and drop").waitFor()
    await Browser.eventually(() => rows().nth(0).innerText()).toContain("Mail with “order” in the subject")
    await act(1, "Disable")
    await rows().nth(0).getByText("Disabled").waitFor()
    await page.getByRole("button", { name: "Undo" }).click()
    await rows().nth(0).getByText("Enabled").waitFor()
    await act(1, "Delete")
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete route" }).click()
    await Browser.eventually(stored).toEqual(["store", "reject"])
    await Browser.eventually(() => rows().count()).toBe(2)
  })

  it("shows whether the MX of a domain leads here", { timeout: TIMEOUT }, async () => {
    const { page } = opened.tab
    await opened.instance.request("POST", "/domains", { name: "shop.dev" })
    await opened.instance.request("PATCH", "/domains/shop.dev", { receiving: true })
    await opened.instance.request("POST", "/domains/shop.dev/verify", {})
    await page.goto("/routes")
    const row = page.getByRole("listitem").filter({ hasText: "*@shop.dev" })
    await row.getByText("Missing").waitFor()
    await Browser.eventually(() => row.innerText()).toContain("Record not found.")
    await ContactSheet.shoot(page, "routes-addresses", row)
    dns.set("shop.dev", { MX: [[10, "mx.waybill.dev"]] })
    await row.getByRole("link").click()
    // One sentence for all records that DNS does not have.
    await page.getByText("Record not found.", { exact: false }).waitFor()
    const receiving = page.locator("section", { has: page.getByRole("switch", { name: "Receive mail" }) })
    await receiving.getByText("Missing").waitFor()
    await receiving.getByText("use a subdomain such as in.shop.dev.").waitFor()
    await page.getByRole("button", { name: "Verify DNS" }).click()
    await receiving.getByText("Verified").waitFor()
    await receiving.getByRole("link", { name: "Routes" }).click()
    await row.getByText("Verified").waitFor()
  })

  it("is for members, and not for viewers", { timeout: TIMEOUT }, async () => {
    const bo = await Browser.openTab(opened.browser, opened.instance.url)
    const { json } = await opened.instance.request("POST", "/members", { email: BO.email, role: "member" })
    await bo.page.goto(json.url)
    await bo.page.getByLabel("Password").fill(BO.password)
    await bo.page.keyboard.press("Enter")
    await bo.page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
    await bo.page.getByRole("link", { name: "Routes" }).click()
    await bo.page.getByRole("button", { name: "Create route" }).waitFor()
    await opened.instance.request("PATCH", `/members/${json.member.id}`, { role: "viewer" })
    await bo.page.goto("/received")
    await bo.page.getByText("No mail yet").waitFor()
    await Browser.eventually(() => bo.page.getByRole("link", { name: "Routes" }).count()).toBe(0)
    await bo.page.goto("/routes")
    await bo.page.getByText("Your role does not include this", { exact: false }).waitFor()
    assert.deepEqual(bo.consoleErrors, [])
  })

  it("logs no console errors", () => {
    assert.deepEqual(
      opened.tab.consoleErrors.filter((error) => !/ (?:400|422) /u.test(error)),
      [],
    )
  })
})
