import { afterAll, assert, beforeAll, it } from "vitest"
import * as Browser from "./support/Browser.ts"
import { inBrowser } from "./support/inBrowser.ts"
import { TIMEOUT } from "./support/inDashboard.ts"
import * as Instance from "./support/Instance.ts"

const NEIGHBOUR = { email: "nina@neighbours.test", password: "a long password of nina" }

await inBrowser("operating an instance with two accounts", (browser) => {
  let instance: Instance.Instance
  let operator: Browser.BrowserTab
  let neighbour: Browser.BrowserTab
  let message = ""

  beforeAll(async () => {
    // Its process starts rebuilds as processes of the same program.
    instance = await Instance.start({}, "apart")
    const mail = { from: "hello@acme.test", to: "ana@example.org", subject: "Between us", html: "<p>Quiet.</p>" }
    message = (await instance.request("POST", "/email/send", mail)).json.id
    operator = await Browser.openTab(browser, instance.url)
    neighbour = await Browser.openTab(browser, instance.url)
  }, TIMEOUT)

  afterAll(async () => {
    await instance.close()
  }, TIMEOUT)

  /** Opens a path without loading the page again. */
  const open = ({ page }: Browser.BrowserTab, path: string) =>
    page.evaluate(`history.pushState({}, "", ${JSON.stringify(path)})`)
  const fetchAs = (page: Browser.BrowserTab["page"], path: string) =>
    page.context().request.get(path, { headers: { "x-waybill-dashboard": "1" } })

  it(
    "lets the operator create an account, whose owner sets a password with the invitation link",
    { timeout: TIMEOUT },
    async () => {
      const { page } = operator
      await Browser.signIn(page, instance.owner)
      await Browser.chord(page, "g", "b")
      await page.getByRole("heading", { level: 1, name: "Accounts" }).waitFor()
      await Browser.tabTo(page, "Create account")
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
      await neighbour.page.getByRole("heading", { level: 1, name: "Overview" }).waitFor()
      assert.deepEqual([...operator.consoleErrors, ...neighbour.consoleErrors], [])
    },
  )

  it("shows nothing of one account to a session of another", { timeout: TIMEOUT }, async () => {
    const { page } = neighbour
    for (const [path, title] of [
      ["/overview", "Get started"],
      ["/emails", "No emails yet"],
      ["/sandbox", "No mail in the sandbox yet"],
      ["/domains", "No domains yet"],
      ["/settings/api-keys", "No API keys yet"],
    ] as const) {
      await open(neighbour, path)
      await page.getByText(title).waitFor()
    }
    await open(neighbour, `/emails/${message}`)
    await page.getByText("No email with this id exists in this account.").waitFor()
    for (const path of [
      `/v1/email/logs/${message}`,
      `/preview/emails/${message}`,
      `/preview/emails/${message}/raw`,
      `/v1/sandbox/messages/${message}`,
    ])
      assert.strictEqual((await fetchAs(page, path)).status(), 404, path)
    assert.strictEqual((await fetchAs(operator.page, `/preview/emails/${message}`)).status(), 200)
  })

  it(
    "composes the source of a sent email identically except for the DKIM signature",
    { timeout: TIMEOUT },
    async () => {
      const { json } = await instance.request("GET", `/sandbox/messages/${message}`)
      const sent = Buffer.from(json.raw, "base64").toString()
      const raw = await (await fetchAs(operator.page, `/preview/emails/${message}/raw`)).text()
      assert.match(raw, /^Subject: Between us\r$/mu)
      assert.strictEqual(sent.slice(-raw.length), raw)
      assert.match(sent.slice(0, -raw.length), /^DKIM-Signature: /u)
    },
  )

  it(
    "shows the operator screens only to sessions of operators, not to other users or API keys",
    { timeout: TIMEOUT },
    async () => {
      for (const path of ["accounts", "queues", "nodes", "projections", "addresses", "settings"]) {
        assert.strictEqual((await fetchAs(operator.page, `/v1/operate/${path}`)).status(), 200, path)
        assert.strictEqual((await fetchAs(neighbour.page, `/v1/operate/${path}`)).status(), 404, path)
        assert.strictEqual((await instance.request("GET", `/operate/${path}`)).status, 404, path)
      }
      await Browser.eventually(() => neighbour.page.getByRole("link", { name: "Projections" }).count()).toBe(0)
    },
  )

  it(
    "changes the plan of an account, undoes it and records the operator in the audit log",
    { timeout: TIMEOUT },
    async () => {
      const { page } = operator
      await page.getByLabel("Plan of Neighbours").selectOption("growth")
      await page.getByText("Neighbours is now on the growth plan.").waitFor()
      await page.getByRole("button", { name: "Undo" }).click()
      await page.getByText("Neighbours is now on the free plan.").waitFor()
      await open(neighbour, "/settings/audit")
      const row = neighbour.page.getByRole("row", { name: /^Account plan changed.*Operator/u }).first()
      await row.waitFor()
      await Browser.eventually(() => row.textContent()).toContain("This account")
    },
  )

  it("names a cell whose accounts are missing", { timeout: TIMEOUT }, async () => {
    const { page } = operator
    const path = "**/v1/operate/accounts"
    await page.route(path, async (route) => {
      const json = await (await route.fetch()).json()
      await route.fulfill({ json: { ...json, unreachable: ["cell_b"] } })
    })
    await page.reload()
    const notice = page.getByText("The cell cell_b does not answer. Its accounts are missing here.")
    await notice.waitFor()
    await page.getByLabel("Plan of Neighbours").waitFor()
    await page.unroute(path)
    await page.reload()
    await page.getByLabel("Plan of Neighbours").waitFor()
    await Browser.eventually(() => notice.count()).toBe(0)
  })

  it("disables and enables the tracked links of an account", { timeout: TIMEOUT }, async () => {
    const { page } = operator
    const links = page.getByLabel("Tracked links of Neighbours", { exact: true })
    await links.selectOption("disabled")
    await page.getByText("Tracked links of Neighbours disabled.").waitFor()
    const [, account] = (await (await fetchAs(page, "/v1/operate/accounts")).json()).data
    assert.isString(account.links_stopped_at)
    await Browser.eventually(() => links.inputValue()).toBe("disabled")
    const toast = page.locator("[data-toast]").filter({ hasText: "Tracked links of Neighbours disabled." })
    await toast.getByRole("button", { name: "Undo" }).click()
    await page.getByText("Tracked links of Neighbours enabled.").waitFor()
    await Browser.eventually(() => links.inputValue()).toBe("enabled")
    assert.deepEqual(operator.consoleErrors, [])
  })

  it(
    "shows the settings of the running service, and of secrets only that they are set",
    { timeout: TIMEOUT },
    async () => {
      const { page } = operator
      await open(operator, "/operate/settings")
      await page.getByRole("heading", { level: 1, name: "Configuration" }).waitFor()
      const setting = (name: string) => page.locator("main li").filter({ has: page.getByText(name, { exact: true }) })
      await setting("PORT").getByText("Default: 3025").waitFor()
      await setting("DATABASE_URL").getByText("<set>").waitFor()
      await Browser.eventually(() => setting("TRACKING_URL").count()).toBe(0)
      await page.getByRole("button", { name: "All" }).click()
      await setting("TRACKING_URL").getByText("Unset by default").waitFor()
      assert.deepEqual(operator.consoleErrors, [])
    },
  )

  it("shows queues and nodes, and verifies, rebuilds and activates a projection", { timeout: TIMEOUT }, async () => {
    const { page } = operator
    await open(operator, "/operate/queues")
    await page.getByRole("row", { name: /Email deliveries/u }).waitFor()
    await open(operator, "/operate/providers")
    await page.getByText("No providers yet").waitFor()
    await open(operator, "/operate/nodes")
    await page.getByRole("row", { name: /prc_/u }).getByText("Active").waitFor()
    await open(operator, "/operate/projections")
    const log = page.locator("main li").filter({ has: page.getByRole("heading", { name: "email_log", exact: true }) })
    await log.getByRole("button", { name: "Verify" }).click()
    await log.getByText("The only row matches the log.").waitFor()
    await log.getByRole("button", { name: "Rebuild" }).click()
    await log.getByText(/^Version 2 is ready/u).waitFor()
    await log.getByRole("button", { name: "Activate" }).click()
    await page.getByRole("alertdialog").getByRole("button", { name: "Activate" }).click()
    await page.getByText("The new version of email_log is live.").waitFor()
    assert.deepEqual(operator.consoleErrors, [])
  })

  it(
    "shows the progress of a rebuild in another process and continues it after a crash",
    { timeout: TIMEOUT },
    async () => {
      const { page } = operator
      const emails = Array.from({ length: 100 }, (_, nth) => ({
        from: "hello@acme.test",
        to: `reader${nth}@example.org`,
        subject: `Number ${nth}`,
        text: "One of many.",
      }))
      const sent = await Promise.all(
        [emails, emails].map((each) => instance.request("POST", "/email/send/batch", { emails: each })),
      )
      for (const { status } of sent) assert.strictEqual(status, 200)
      const log = page.locator("main li").filter({ has: page.getByRole("heading", { name: "email_log", exact: true }) })
      // The throttle makes one slice of 100 events take some seconds.
      const remoteRebuild = instance.startCommand("projections", "rebuild", "email_log", "--throttle", "16")
      const runningJob = async () => (await (await fetchAs(page, "/v1/operate/projections")).json()).under_way[0]
      await Browser.eventually(async () => (await runningJob())?.slices_done ?? 0).toBeGreaterThan(0)
      const bar = log.getByRole("progressbar", { name: "Version 3 of email_log" })
      await bar.waitFor()
      const share = async () => Number(await bar.getAttribute("aria-valuenow"))
      // The screen polls, so it shows a slice some time after the API does.
      await Browser.eventually(share).toBeGreaterThan(0)
      assert.isBelow(await share(), 100)
      await log.getByText("Reading events").waitFor()
      await log.getByText(/^[\d,]+ of [\d,]+ events · \d+ slices? done$/u).waitFor()
      await Browser.eventually(() => log.getByRole("button", { name: "Rebuild" }).isDisabled()).toBe(true)
      await remoteRebuild.stop("SIGKILL")
      await log.getByText("Interrupted", { exact: false }).waitFor()
      await log.getByRole("button", { name: "Rebuild" }).click()
      await log.getByText(/^Version 3 is ready/u).waitFor()
      assert.isUndefined(await runningJob())
      assert.deepEqual(operator.consoleErrors, [])
    },
  )

  it("shows cells, and the cell of each account, once there are several", { timeout: TIMEOUT }, async () => {
    const { page } = operator
    await open(operator, "/operate/accounts")
    await page.getByRole("row", { name: /Neighbours/u }).waitFor()
    await Browser.eventually(() => page.getByRole("columnheader", { name: "Cell" }).count()).toBe(0)
    await instance.runCommand("cells", "add", "cell_b")
    const cells = async () => {
      const accounts = JSON.parse(await instance.runCommand("accounts", "list", "--json"))
      return (accounts as ReadonlyArray<{ readonly cell: string }>).map(({ cell }) => cell)
    }
    // A new cell takes no accounts before every process knows it.
    while (!(await cells()).includes("cell_b")) await instance.runCommand("accounts", "create", "Elsewhere")
    await open(operator, "/operate/nodes")
    await page
      .getByRole("row", { name: /cell_b/u })
      .getByText("Open")
      .waitFor()
    for (const name of ["Accounts", "Events per second", "Waiting", "Events behind"])
      await Browser.eventually(() => page.getByRole("columnheader", { name, exact: true }).count(), name).toBe(1)
    await page.reload()
    await open(operator, "/operate/accounts")
    await page
      .getByRole("row", { name: /Elsewhere/u })
      .getByText("cell_b")
      .waitFor()
    assert.deepEqual(operator.consoleErrors, [])
  })

  it("appoints an operator and resets a password from the command line", { timeout: TIMEOUT }, async () => {
    const [listed] = await Promise.all([
      instance.runCommand("users", "list"),
      instance.runCommand("users", "operator", NEIGHBOUR.email, "--on"),
    ])
    assert.include(listed, NEIGHBOUR.email)
    assert.strictEqual((await fetchAs(neighbour.page, "/v1/operate/nodes")).status(), 200)
    await instance.runCommand("users", "operator", NEIGHBOUR.email, "--off")
    assert.strictEqual((await fetchAs(neighbour.page, "/v1/operate/nodes")).status(), 404)
    const output = await instance.runCommand("users", "password", NEIGHBOUR.email, "--json")
    const { password } = JSON.parse(output) as { readonly password: string }
    await neighbour.page.goto("/emails")
    await neighbour.page.getByRole("heading", { name: "Sign in to Waybill" }).waitFor()
    await Browser.signIn(neighbour.page, { email: NEIGHBOUR.email, password })
  })
})
