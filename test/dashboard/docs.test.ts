import axe from "axe-core"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { assert, layer, type TestContext } from "../support/effectTest.ts"
import * as Browser from "./support/Browser.ts"
import * as Instance from "./support/Instance.ts"
import { HttpWorld } from "../support/world/HttpWorld.ts"

const TIMEOUT = 180_000
const PHONE_PX = 390
const WIDE_PX = 1_440

/** What a page can reach of the address that it came from. The tests know no document, hence a text. */
const REACH = `(async () => {
  const attempt = async (look) => {
    try {
      return String(await look())
    } catch (error) {
      return error.name
    }
  }
  return {
    origin: self.origin,
    cookie: await attempt(() => document.cookie),
    kept: await attempt(() => localStorage.getItem("dashboard")),
    session: await attempt(() => typeof sessionStorage),
    databases: await attempt(() => new Promise((resolve, reject) => {
      const request = indexedDB.open("dashboard")
      request.onsuccess = () => resolve("open")
      request.onerror = () => reject(request.error)
    })),
    asked: await attempt(async () => (await fetch("/v1/members", { headers: { "x-waybill-dashboard": "1" } })).text()),
  }
})()`

/** Calls with the cookies of the dashboard, if the page has them, and one to another address. */
const CALLS = `(async () => {
  self.violated = []
  document.addEventListener("securitypolicyviolation", ({ blockedURI }) => self.violated.push(blockedURI))
  for (const url of ["/v1/members", "http://127.0.0.2:9/"])
    await fetch(url, { method: "POST", credentials: "include", mode: "no-cors" }).catch(() => {})
})()`

const SITE = [
  "/docs",
  "/docs/api",
  "/docs/api/domains",
  "/docs/operating/backup",
  "/docs/errors/domain_not_verified",
  "/docs/events/email.bounced",
  "/docs/search?q=webhook",
]

const OPEN = { cookie: "", kept: "kept", session: "object", databases: "open", asked: "" }

const SHUT = {
  origin: "null",
  cookie: "SecurityError",
  kept: "SecurityError",
  session: "SecurityError",
  databases: "SecurityError",
  asked: "TypeError",
}

/** Makes a test that has a tab at the service; skipped, with the reason, where there is no browser. */
const inTab =
  (run: (tab: Browser.BrowserTab, world: HttpWorld["Service"]) => Promise<void>) =>
  ({ skip }: TestContext) =>
    Effect.gen(function* () {
      const world = yield* HttpWorld
      const opened = yield* Effect.promise(() => Browser.open())
      if (typeof opened === "string") return skip(opened)
      const tested = Effect.promise(async () => run(await Browser.openTab(opened, world.url), world))
      yield* Effect.ensuring(tested, Effect.promise(Browser.closeTabs))
    })

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "180 seconds" })(
  "API documentation in a browser",
  (it) => {
    it.effect(
      "shows the contract, from which samples of the chosen language are copied",
      inTab(async ({ consoleErrors, context, page }, { url }) => {
        await page.goto("/docs/api/domains")
        const article = page.locator("#domains-list")
        await article.getByRole("button", { name: "Copy sample curl: List domains" }).click()
        await article.getByText("Copied").waitFor()
        const pasted = await pasteInto(await context.newPage())
        assert.include(pasted, `curl ${url}/v1/domains`)
        assert.include(pasted, "Authorization: Bearer")

        // The language that is chosen for one sample is that of all, also on the next page.
        await article.getByText("Python", { exact: true }).click()
        const shown = (text: string) => page.locator(".sample:visible", { hasText: text }).first().waitFor()
        await shown("print(waybill.domains.list())")
        await shown('print(waybill.domains.add("mail.example.org"))')
        await page.getByRole("link", { name: "Emails", exact: true }).click()
        await shown("print(waybill.emails.send({")
        await page.getByRole("link", { name: "Overview" }).click()
        assert.deepStrictEqual(consoleErrors, [])

        await page.getByRole("link", { name: "OpenAPI document" }).click()
        await page.waitForURL(/openapi\.json$/u)
      }),
      TIMEOUT,
    )

    it.effect(
      "is a site that is searched and read on a phone, accessible in both themes, with a way back to the dashboard",
      inTab(async ({ consoleErrors, page }, { url }) => {
        for (const path of SITE) {
          await page.goto(path)
          for (const width of [Browser.DESKTOP.width, PHONE_PX])
            for (const colorScheme of ["light", "dark"] as const) {
              await page.setViewportSize({ width, height: 800 })
              await page.emulateMedia({ colorScheme })
              await page.reload()
              assert.deepStrictEqual(await violations(page, colorScheme), [], `${path}, ${colorScheme}, ${width} px`)
            }
          await Browser.eventually(() => page.evaluate("document.documentElement.scrollWidth"), path).toBe(PHONE_PX)
        }
        // What was searched for before is replaced.
        await page.keyboard.press("/")
        await page.keyboard.type("backup_to")
        await page.keyboard.press("Enter")
        await page.getByRole("link", { name: "BACKUP_TO", exact: true }).first().click()
        await page.getByRole("heading", { level: 1 }).waitFor()
        assert.include(page.url(), "#backup_to")
        assert.deepStrictEqual(consoleErrors, [])
        await page.getByRole("link", { name: "Dashboard", exact: true }).click()
        await page.waitForURL(`${url}/`)

        // On a wide screen the sections stand beside the text, and no button lies over a sample.
        await page.setViewportSize({ width: WIDE_PX, height: 800 })
        await page.goto("/docs/webhooks")
        const edges = async (selector: string) =>
          (await page.locator(selector).first().boundingBox()) ?? assert.fail(selector)
        const [sections, text, button, code] = [
          await edges(".contents li a"),
          await edges("main > .table"),
          await edges(".sample button"),
          await edges(".sample pre"),
        ]
        assert.isAtLeast(sections.x, text.x + text.width)
        assert.isAtMost(button.y + button.height, code.y)
      }),
      TIMEOUT,
    )

    it.effect(
      "shows results while the reader types, chosen with the keyboard or the pointer",
      inTab(async ({ consoleErrors, page }) => {
        await page.goto("/docs")
        const input = page.getByRole("combobox", { name: "Search the documentation" })
        const options = page.getByRole("listbox", { name: "Results" }).getByRole("option")
        const isClosed = async () => Browser.eventually(() => input.getAttribute("aria-expanded")).toBe("false")
        await input.fill("webhook signature")
        await options.filter({ hasText: "Verify a call" }).first().waitFor()
        await page.getByText("8 results", { exact: true }).waitFor({ state: "attached" })
        assert.strictEqual(await input.getAttribute("aria-expanded"), "true")
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme })
          assert.deepStrictEqual(await violations(page, colorScheme), [], colorScheme)
        }

        // The arrows go round, and Escape leaves what was typed.
        await input.press("ArrowUp")
        assert.strictEqual(await options.nth(7).getAttribute("aria-selected"), "true")
        assert.strictEqual(await input.getAttribute("aria-activedescendant"), await options.nth(7).getAttribute("id"))
        await input.press("ArrowDown")
        assert.isNull(await input.getAttribute("aria-activedescendant"))
        await input.press("Escape")
        await isClosed()
        assert.strictEqual(await input.inputValue(), "webhook signature")

        // No silence where there is nothing: the note is seen, above near pages.
        await input.fill("zzzqq")
        await page.locator("#note", { hasText: "No results for “zzzqq”. These pages may help:" }).waitFor()
        await Browser.eventually(() => options.count()).toBe(3)
        for (const colorScheme of ["light", "dark"] as const)
          assert.deepStrictEqual(await violations(page, colorScheme), [], colorScheme)

        await input.fill("backup_to")
        await options.filter({ hasText: "BACKUP_TO" }).first().waitFor()
        await input.press("ArrowDown")
        await input.press("Enter")
        await page.waitForURL(/#backup_to$/u)
        await input.fill("retention")
        await options.first().click()
        await page.waitForURL("**/docs/operating/retention")

        // Without a chosen result, Enter opens all of them, also when the list was refused.
        await page.route("**/docs/search.json?*", (route) => route.fulfill({ status: 429, json: {} }))
        const refused = page.waitForResponse(/search\.json/u)
        await input.fill("domain")
        await refused
        await isClosed()
        await input.press("Enter")
        await page.waitForURL("**/docs/search?q=domain")
        assert.deepStrictEqual(
          consoleErrors.filter((error) => !error.includes("429")),
          [],
        )
      }),
      TIMEOUT,
    )

    // threat: docs-page
    it(
      "runs in an origin of its own, out of which no script reaches the dashboard",
      { timeout: TIMEOUT },
      async ({ skip }) => {
        const opened = await Browser.open()
        if (typeof opened === "string") return skip(opened)
        const instance = await Instance.start()
        try {
          const { context, page } = await Browser.openTab(opened, instance.url)
          await Browser.signIn(page, instance.owner)
          await context.addCookies([{ name: "readable", value: "of-the-dashboard", url: instance.url }])
          await page.evaluate(`localStorage.setItem("dashboard", "kept"); sessionStorage.setItem("dashboard", "kept")`)

          // Without its sandbox the page would reach all of it.
          await withPolicy(page, (policy) => policy.replace(/^sandbox [^;]*; /u, ""))
          const reached = await reachOf(page)
          assert.include(reached["cookie"], "readable=of-the-dashboard")
          assert.include(reached["asked"], instance.owner.email)
          assert.deepStrictEqual({ ...reached, cookie: "", asked: "" }, { ...OPEN, origin: instance.url })

          // As it is served, calls leave for the service only, and without the cookies of the dashboard.
          await withPolicy(page, (policy) => policy)
          assert.deepStrictEqual(await reachOf(page), SHUT)
          const called = page.waitForRequest(/\/v1\/members/u)
          await page.evaluate(CALLS)
          assert.isUndefined((await (await called).allHeaders())["cookie"])
          assert.deepStrictEqual(await page.evaluate("violated"), ["http://127.0.0.2:9/"])
        } finally {
          await Browser.closeTabs()
          await instance.close()
        }
      },
    )
  },
)

const reachOf = async (page: Page) => {
  await page.goto("/docs")
  return (await page.evaluate(REACH)) as Readonly<Record<string, string>>
}

/** Serves the page under another policy. */
const withPolicy = async (page: Page, change: (policy: string) => string) => {
  await page.unroute("**/docs")
  await page.route("**/docs", async (route) => {
    const response = await route.fetch()
    const headers = response.headers()
    const policy = change(headers["content-security-policy"] ?? "")
    await route.fulfill({ response, headers: { ...headers, "content-security-policy": policy } })
  })
}

/**
 * Accessibility faults, in the dark theme those of colors, which alone are others there. The page allows no script from outside,
 * so axe runs as one of the browser's.
 */
const violations = async (page: Page, theme: "light" | "dark"): Promise<ReadonlyArray<string>> => {
  await page.evaluate(axe.source)
  const rules = theme === "dark" ? `{ runOnly: { type: "rule", values: ["color-contrast"] } }` : "{}"
  return (await page.evaluate(
    `axe.run(document, ${rules}).then(({ violations }) => violations.map(({ id, nodes }) => id + " " + nodes[0].html))`,
  )) as ReadonlyArray<string>
}

const pasteInto = async (page: Page): Promise<string> => {
  await page.setContent("<textarea></textarea>")
  await page.getByRole("textbox").focus()
  await page.keyboard.press("ControlOrMeta+v")
  return page.getByRole("textbox").inputValue()
}
