import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as Browser from "./Browser.ts"
import * as House from "./Service.ts"

const browser = await Browser.open()
const TIMEOUT = 120_000
const NEIGHBOUR = { email: "nina@neighbours.test", password: "a long password of nina" }

describe.skipIf(typeof browser === "string")(
  `an instance with two accounts${typeof browser === "string" ? ` (skipped: ${browser})` : ""}`,
  () => {
    let house: House.House
    let operator: Browser.Watched
    let neighbour: Browser.Watched
    let message = ""

    beforeAll(async () => {
      if (typeof browser === "string") return
      house = await House.open()
      const mail = { from: "hello@acme.test", to: "ana@example.org", subject: "Between us", html: "<p>Quiet.</p>" }
      message = (await house.ask("POST", "/email/send", mail)).json.id
      operator = await Browser.visit(browser, house.url)
      neighbour = await Browser.visit(browser, house.url)
    }, TIMEOUT)

    afterAll(async () => {
      if (typeof browser === "string") return
      await browser.close()
      await house.close()
    }, TIMEOUT)

    const asked = (page: Browser.Watched["page"], path: string) =>
      page.context().request.get(path, { headers: { "x-waybill-dashboard": "1" } })

    it(
      "lets its operator make the second one, whose owner sets a password by a link",
      { timeout: TIMEOUT },
      async () => {
        const { page } = operator
        await Browser.signIn(page, house.owner)
        await page.keyboard.press("g")
        await page.keyboard.press("t")
        await page.getByRole("heading", { level: 1, name: "Accounts" }).waitFor()
        await Browser.tabTo(page, "New account")
        await page.keyboard.press("Enter")
        await Browser.tabTo(page, "Name")
        await page.keyboard.type("Neighbours")
        await page.keyboard.press("Tab")
        await page.keyboard.type(NEIGHBOUR.email)
        await page.keyboard.press("Enter")
        const link = (await page.locator("[role=dialog] code[title*='/welcome#']").getAttribute("title")) ?? ""
        await Browser.tabTo(page, "Done")
        await page.keyboard.press("Enter")
        await page.getByRole("row", { name: /Neighbours/u }).waitFor()

        await neighbour.page.goto(link)
        await neighbour.page.getByLabel("Password").waitFor()
        await Browser.tabTo(neighbour.page, "Password")
        await neighbour.page.keyboard.type(NEIGHBOUR.password)
        await neighbour.page.keyboard.press("Enter")
        await neighbour.page.getByRole("heading", { name: "Sign in to Waybill" }).waitFor()
        await Browser.signIn(neighbour.page, NEIGHBOUR)
        assert.deepEqual([...operator.complaints, ...neighbour.complaints], [])
      },
    )

    it("shows nothing of the first to a session of the second", { timeout: TIMEOUT }, async () => {
      const { page } = neighbour
      for (const [path, words] of [
        ["/overview", "Nothing was sent yet"],
        ["/emails", "No mail yet"],
        ["/inbox", "The inbox is empty"],
        ["/domains", "No domain yet"],
        ["/settings/api-keys", "No key yet"],
      ] as const) {
        await page.goto(path)
        await page.getByText(words).waitFor()
      }
      await page.goto(`/emails/${message}`)
      await page.getByText("No email with this id exists in this account.").waitFor()
      for (const path of [
        `/v1/email/logs/${message}`,
        `/preview/emails/${message}`,
        `/preview/emails/${message}/raw`,
        `/v1/sandbox/messages/${message}`,
      ])
        assert.strictEqual((await asked(page, path)).status(), 404, path)
      assert.strictEqual((await asked(operator.page, `/preview/emails/${message}`)).status(), 200)
    })

    it("composes a message anew as it left, but for its signature", { timeout: TIMEOUT }, async () => {
      const { json } = await house.ask("GET", `/sandbox/messages/${message}`)
      const sent = Buffer.from(json.raw, "base64").toString()
      const raw = await (await asked(operator.page, `/preview/emails/${message}/raw`)).text()
      assert.match(raw, /^Subject: Between us\r$/mu)
      assert.strictEqual(sent.slice(-raw.length), raw)
      assert.match(sent.slice(0, -raw.length), /^DKIM-Signature: /u)
    })

    it(
      "shows the instance to its operator alone: to no other session, and to no key",
      { timeout: TIMEOUT },
      async () => {
        for (const path of ["accounts", "queues", "nodes", "projections"]) {
          assert.strictEqual((await asked(operator.page, `/v1/operate/${path}`)).status(), 200, path)
          assert.strictEqual((await asked(neighbour.page, `/v1/operate/${path}`)).status(), 404, path)
          assert.strictEqual((await house.ask("GET", `/operate/${path}`)).status, 404, path)
        }
        assert.strictEqual(await neighbour.page.getByRole("link", { name: "Projections" }).count(), 0)
      },
    )

    it(
      "puts an account on another plan, and back, with the operator's hand in its log",
      { timeout: TIMEOUT },
      async () => {
        const { page } = operator
        await page.getByLabel("The plan of Neighbours").selectOption("growth")
        await page.getByText("Neighbours is on growth now.").waitFor()
        await page.getByRole("button", { name: "Undo" }).click()
        await page.getByText("Neighbours is on free now.").waitFor()
        await neighbour.page.goto("/settings/audit")
        await neighbour.page
          .getByText(/^Operator, /u)
          .first()
          .waitFor()
        assert.include(await neighbour.page.locator("main").textContent(), "account.plan_changed")
      },
    )

    it("stops the links of an account, and lets them lead on", { timeout: TIMEOUT }, async () => {
      const { page } = operator
      const links = page.getByLabel("The tracked links of Neighbours")
      await links.selectOption("stopped")
      await page.getByText("The links of Neighbours lead nowhere now.").waitFor()
      const [, account] = (await (await asked(page, "/v1/operate/accounts")).json()).data
      assert.isString(account.links_stopped_at)
      await Browser.eventually(() => links.inputValue()).toBe("stopped")
      const told = page.locator("[data-toast]").filter({ hasText: "The links of Neighbours lead nowhere now." })
      await told.getByRole("button", { name: "Undo" }).click()
      await page.getByText("The links of Neighbours lead on.").waitFor()
      await Browser.eventually(() => links.inputValue()).toBe("followed")
      assert.deepEqual(operator.complaints, [])
    })

    it("shows queues and nodes, and verifies and rebuilds what is read", { timeout: TIMEOUT }, async () => {
      const { page } = operator
      await page.goto("/operate/queues")
      await page.getByRole("row", { name: /Deliveries/u }).waitFor()
      await page.goto("/operate/nodes")
      await page.getByRole("row", { name: /prc_/u }).getByText("Active").waitFor()
      await page.goto("/operate/projections")
      const log = page.locator("main li").filter({ has: page.getByRole("heading", { name: "email_log", exact: true }) })
      await log.getByRole("button", { name: "Verify" }).click()
      await log.getByText("It is what the log says, in all of its 1 rows.").waitFor()
      await log.getByRole("button", { name: "Rebuild" }).click()
      await log.getByText(/^Version 2 is ready/u).waitFor()
      await log.getByRole("button", { name: "Swap in" }).click()
      await page.getByRole("alertdialog").getByRole("button", { name: "Swap it in" }).click()
      await page.getByText("The new version of email_log is live.").waitFor()
      assert.deepEqual(operator.complaints, [])
    })

    it(
      "shows how far a rebuild is that another process does, and goes on with what it left",
      { timeout: TIMEOUT },
      async () => {
        const { page } = operator
        const emails = Array.from({ length: 100 }, (_, nth) => ({
          from: "hello@acme.test",
          to: `reader${nth}@example.org`,
          subject: `Number ${nth}`,
          text: "One of many.",
        }))
        assert.strictEqual((await house.ask("POST", "/email/send/batch", { emails })).status, 200)
        const log = page
          .locator("main li")
          .filter({ has: page.getByRole("heading", { name: "email_log", exact: true }) })
        // One slice of a hundred events in many seconds.
        const elsewhere = house.begin("projections", "rebuild", "email_log", "--throttle", "4")
        const underWay = async () => (await (await asked(page, "/v1/operate/projections")).json()).under_way[0]
        await Browser.eventually(async () => (await underWay())?.slices_done ?? 0).toBeGreaterThan(0)
        await page.goto("/operate/projections")
        const bar = log.getByRole("progressbar", { name: "Version 3 of email_log" })
        await bar.waitFor()
        const share = Number(await bar.getAttribute("aria-valuenow"))
        assert.isAbove(share, 0)
        assert.isBelow(share, 100)
        await log.getByText(/folding/u).waitFor()
        await log.getByText(/^[\d,]+ of [\d,]+ events, \d+ slices? done$/u).waitFor()
        assert.isTrue(await log.getByRole("button", { name: "Rebuild" }).isDisabled())
        await elsewhere.stop("SIGKILL")
        await log.getByText("was left unfinished", { exact: false }).waitFor()
        await log.getByRole("button", { name: "Rebuild" }).click()
        await log.getByText(/^Version 3 is ready/u).waitFor()
        assert.isUndefined(await underWay())
        assert.deepEqual(operator.complaints, [])
      },
    )

    it("names another operator and mends a lost password at the command line", { timeout: TIMEOUT }, async () => {
      assert.include(await house.command("users", "list"), NEIGHBOUR.email)
      await house.command("users", "operator", NEIGHBOUR.email, "--on")
      assert.strictEqual((await asked(neighbour.page, "/v1/operate/nodes")).status(), 200)
      await house.command("users", "operator", NEIGHBOUR.email, "--off")
      assert.strictEqual((await asked(neighbour.page, "/v1/operate/nodes")).status(), 404)
      const said = await house.command("users", "password", NEIGHBOUR.email, "--json")
      const { password } = JSON.parse(said) as { readonly password: string }
      await neighbour.page.goto("/emails")
      await neighbour.page.getByRole("heading", { name: "Sign in to Waybill" }).waitFor()
      await Browser.signIn(neighbour.page, { email: NEIGHBOUR.email, password })
    })
  },
)
