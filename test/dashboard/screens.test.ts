import axe from "axe-core"
import { mkdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as DnsServer from "../support/dnsServer.ts"
import * as Browser from "./Browser.ts"
import * as House from "./Service.ts"
import { furnish } from "./seedAccount.ts"

const browser = await Browser.open()
const TIMEOUT = 120_000
const PHONE_PX = 360
const MAX_FIRST_SCREEN_JS_BYTES = 250 * 1024
const DIST = fileURLToPath(new URL("../../apps/dashboard/dist/", import.meta.url))
const IMAGES = fileURLToPath(new URL("../../docs/images/", import.meta.url))
/** Pictures for the documentation are taken when they are asked for, so that a test run changes no file. */
const isAsked = process.env["WAYBILL_SCREENSHOTS"] !== undefined

interface Screen {
  readonly path: string
  /** Shown when the screen has what it asked for. */
  readonly ready: string | RegExp
  readonly picture?: string
  readonly keys?: ReadonlyArray<string>
}

const SCREENS: ReadonlyArray<Screen> = [
  { path: "/overview", ready: "All emails", picture: "overview" },
  { path: "/emails", ready: "Your order has shipped", picture: "emails" },
  { path: "/emails?subject=shipped", ready: "Your order has shipped", keys: ["j", "Enter"], picture: "email" },
  { path: "/inbox", ready: "Load remote images", picture: "inbox" },
  { path: "/compose", ready: "The same by the API" },
  { path: "/domains", ready: "mail.shop.dev" },
  { path: "/domains/mail.shop.dev", ready: "What DNS answered", picture: "domain" },
  { path: "/webhooks", ready: "Every event of the shop" },
  { path: "/settings/api-keys?new=true", ready: "Create the key", picture: "new-key" },
  { path: "/suppressions", ready: /^bounced\+/u },
  { path: "/settings/api-keys", ready: "Shop, production" },
  { path: "/settings/members", ready: "bo@acme.test" },
  { path: "/settings/plan", ready: "Recipients of one message" },
  { path: "/settings/audit", ready: /Shop, production|api_key|key/u },
  { path: "/settings/sign-in", ready: "Where you are signed in" },
  { path: "/operate/accounts", ready: "My company" },
  { path: "/operate/queues", ready: "Deliveries" },
  { path: "/operate/projections", ready: "email_log", picture: "projections" },
  { path: "/operate/nodes", ready: /^prc_/u },
]

interface Violation {
  readonly id: string
  readonly impact: string
  readonly nodes: ReadonlyArray<{ readonly html: string; readonly failureSummary: string }>
}

/** By night only the colours are others. */
const RULES = { light: "", dark: `, runOnly: { type: "rule", values: ["color-contrast"] }` }

const violations = async (page: Page, theme: keyof typeof RULES): Promise<ReadonlyArray<string>> => {
  await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" })
  // The page is told with the next frame, and one that lies still draws none by itself.
  await page.evaluate("new Promise(requestAnimationFrame)")
  await page.locator(theme === "dark" ? "html.dark" : "html:not(.dark)").waitFor()
  const options = `{ resultTypes: ["violations"], iframes: false${RULES[theme]} }`
  const run = `axe.run(document, ${options}).then(({ violations }) => violations)`
  const found = (await page.evaluate(run)) as ReadonlyArray<Violation>
  return found
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ failureSummary, html }) => `${id}: ${html}\n${failureSummary}`))
}

describe.skipIf(typeof browser === "string")(
  `the dashboard's screens${typeof browser === "string" ? ` (skipped: ${browser})` : ""}`,
  () => {
    let dns: Awaited<ReturnType<typeof DnsServer.open>>
    let house: House.House
    let seen: Browser.Watched
    const scripts = new Set<string>()

    beforeAll(async () => {
      if (typeof browser === "string") return
      dns = await DnsServer.open({ "wb1._domainkey.mail.shop.dev": { TXT: ["v=DKIM1; k=rsa; p=somebodyElses"] } })
      house = await House.open({ WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8", DNS_SERVERS: dns.server })
      await furnish(house)
      seen = await Browser.visit(browser, house.url)
      await seen.context.addInitScript(axe.source)
      seen.page.on("response", (response) => {
        if (response.url().endsWith(".js")) scripts.add(new URL(response.url()).pathname)
      })
    }, TIMEOUT)

    afterAll(async () => {
      if (typeof browser === "string") return
      await browser.close()
      await house.close()
      await dns.close()
    }, TIMEOUT)

    it("begin with a sign-in without barriers", { timeout: TIMEOUT }, async () => {
      await seen.page.goto("/")
      await seen.page.getByLabel("Email").waitFor()
      assert.deepEqual(await violations(seen.page, "dark"), [])
      assert.deepEqual(await violations(seen.page, "light"), [])
    })

    it("have the first one with at most 250 KB of script", { timeout: TIMEOUT }, async () => {
      await Browser.signIn(seen.page, house.owner)
      await seen.page.getByText("All emails").waitFor()
      await seen.page.locator("canvas").waitFor()
      const sizeOf = (path: string) =>
        Math.min(
          ...["", ".gz"].map((ending) => statSync(join(DIST, path + ending), { throwIfNoEntry: false })?.size ?? 1e9),
        )
      const bytes = [...scripts].reduce((all, path) => all + sizeOf(path), 0)
      assert.isAbove(bytes, 0)
      assert.isBelow(bytes, MAX_FIRST_SCREEN_JS_BYTES)
    })

    it("draw numbers for a browser whose language is no locale", { timeout: TIMEOUT }, async () => {
      const page = await seen.context.newPage()
      await page.addInitScript(
        'Object.defineProperty(Navigator.prototype, "language", { get: () => "en-US@posix", configurable: true })',
      )
      await page.goto("/overview")
      await page.locator("canvas").waitFor()
      assert.strictEqual(await page.evaluate("navigator.language"), "en")
      await page.close()
    })

    for (const { keys = [], path, picture, ready } of SCREENS) {
      it(`show ${path} to everybody, by day, by night and on a phone`, { timeout: TIMEOUT }, async () => {
        const { page } = seen
        // As a link would, without loading everything anew.
        await page.evaluate(`history.pushState({}, "", ${JSON.stringify(path)})`)
        await page.getByText(ready).first().waitFor()
        for (const key of keys) await page.keyboard.press(key)
        if (keys.length > 0) await page.getByText("Timeline").waitFor()
        for (const theme of ["light", "dark"] as const) {
          assert.deepEqual(await violations(page, theme), [], `${path}, ${theme}`)
          if (isAsked && picture !== undefined) {
            mkdirSync(IMAGES, { recursive: true })
            await page.screenshot({ path: join(IMAGES, `${picture}-${theme}.png`) })
          }
        }
        // On a phone nothing makes the page scroll sideways.
        await page.setViewportSize({ width: PHONE_PX, height: 740 })
        await Browser.eventually(() => page.evaluate("document.documentElement.scrollWidth")).toBe(PHONE_PX)
        await page.setViewportSize(Browser.DESK)
      })
    }

    it("make nothing in the console complain", () => {
      assert.deepEqual(seen.complaints, [])
    })
  },
)
