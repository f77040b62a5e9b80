import { Effect } from "effect"
import type { Page } from "playwright-core"
import { assert, layer, type TestContext } from "../support/effectTest.ts"
import * as Browser from "./Browser.ts"
import * as Instance from "./Instance.ts"
import { HttpWorld } from "../support/world/HttpWorld.ts"

const TIMEOUT = 180_000

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

const OPEN = { cookie: "", kept: "kept", session: "object", databases: "open", asked: "" }

const SHUT = {
  origin: "null",
  cookie: "SecurityError",
  kept: "null",
  session: "SecurityError",
  databases: "SecurityError",
  asked: "TypeError",
}

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "180 seconds" })(
  "API documentation in a browser",
  (it) => {
    it.effect(
      "shows the contract, is searched, copied and downloaded, and breaks no rule of its policy",
      ({ skip }: TestContext) =>
        Effect.gen(function* () {
          const world = yield* HttpWorld
          const opened = yield* Effect.promise(() => Browser.open())
          if (typeof opened === "string") return skip(opened)
          yield* Effect.promise(async () => {
            const { consoleErrors, context, page } = await Browser.openTab(opened, world.url)
            await page.goto("/docs")
            await page.getByText("Send an email").first().waitFor()
            const download = page.waitForEvent("download")
            await page.locator("button.download-button").first().click()
            assert.match((await download).suggestedFilename(), /\.json$/u)

            await page.getByText("Search", { exact: true }).first().click()
            await page.keyboard.type("rotate a domain's dkim")
            await page.locator("[role=option]", { hasText: "Rotate a domain's DKIM key" }).first().click()
            await page.waitForURL(/#.*rotate/iu)

            await page.goto("/docs#tag/domains/GET/v1/domains")
            await page.reload()
            const section = page.locator('section[id$="GET/v1/domains"]')
            await section.getByText("Authorization: Bearer").waitFor()
            // No button offers what the sandbox would refuse.
            assert.strictEqual(await page.getByText("Test Request").count(), 0)
            await section.locator(".scalar-code-block").first().hover()
            await section.locator(".scalar-code-copy button").first().click()
            await page.getByText("Copied").first().waitFor()
            const pasted = await pasteInto(await context.newPage())
            assert.include(pasted, `curl ${world.url}/v1/domains`)
            assert.include(pasted, "Authorization: Bearer")

            const dark = () => page.evaluate(`document.body.classList.contains("dark-mode")`)
            const before = await dark()
            await page.locator('[aria-label="Set dark mode"], [aria-label="Set light mode"]').first().click()
            await Browser.eventually(dark).toBe(before !== true)
            assert.deepStrictEqual(consoleErrors, [])
          }).pipe(Effect.ensuring(Effect.promise(() => opened.close())))
        }),
      TIMEOUT,
    )

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

          // Without its sandbox the page would reach all of it, once the rule on calls is away as well.
          await withPolicy(page, (policy) => policy.replace(/^sandbox [^;]*; /u, "").replace("; img-src", FREE))
          const reached = await reachOf(page)
          assert.include(reached["cookie"], "readable=of-the-dashboard")
          assert.include(reached["asked"], instance.owner.email)
          assert.deepStrictEqual({ ...reached, cookie: "", asked: "" }, { ...OPEN, origin: instance.url })

          // The sandbox by itself is enough, also where the policy lets the page call.
          await withPolicy(page, (policy) => policy.replace("; img-src", FREE))
          assert.deepStrictEqual(await reachOf(page), SHUT)

          // As it is served, no call leaves the page at all.
          await withPolicy(page, (policy) => policy)
          const sent: Array<string> = []
          page.on("request", (request) => sent.push(request.url()))
          assert.deepStrictEqual(await reachOf(page), SHUT)
          assert.deepStrictEqual(
            sent.filter((url) => url.includes("/v1/")),
            [],
          )
        } finally {
          await opened.close()
          await instance.close()
        }
      },
    )
  },
)

const FREE = "; connect-src *; img-src"

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

const pasteInto = async (page: Page): Promise<string> => {
  await page.setContent("<textarea></textarea>")
  await page.getByRole("textbox").focus()
  await page.keyboard.press("ControlOrMeta+v")
  return page.getByRole("textbox").inputValue()
}
