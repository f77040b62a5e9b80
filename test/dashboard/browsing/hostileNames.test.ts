import { afterAll, assert, beforeAll, it } from "vitest"
import { freePort } from "../../support/process/service.ts"
import * as DnsServer from "../../support/mail/dnsServer.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import * as WebhookReceiver from "../../support/web/WebhookReceiver.ts"
import * as Browser from "../support/Browser.ts"
import { inBrowser } from "../support/inBrowser.ts"
import * as ContactSheet from "../support/ContactSheet.ts"
import * as Instance from "../support/Instance.ts"
import * as Hostile from "./hostileAccount.ts"

const TIMEOUT = 240_000
const PHONE_PX = 360
const RETURN_PATH = "bounces.waybill.example"
/** Routes that lead to another, and those that somebody who is signed in does not see. */
const ELSEWHERE: ReadonlySet<string> = new Set(["/", "/sign-in", "/welcome", "/$", "/*"])
/** The page of a record that does not exist says so, and logs the refusal. */
const NOT_FOUND = /^ApiError: /u
/** Scripts of a preview are blocked by its own policy; that the browser says so is no fault of the page. */
const OF_PREVIEW = /\/preview\/(?:emails\/|template)|about:srcdoc/u

/** What a hostile name has reached: a script that ran, an element of its own, or the prototype of all objects. */
const REACHED = `(() => [
  ...(window.${Hostile.TAKEN} === undefined ? [] : ["a script ran"]),
  ...[...document.querySelectorAll("img[src=x], svg[onload], [onerror], [onmouseover], [onfocus], [onclick], body style")].map((e) => e.outerHTML.slice(0, 120)),
  ...[...document.querySelectorAll("[href], [src], [action], [formaction]")]
    .flatMap((e) => ["href", "src", "action", "formaction"].map((name) => e.getAttribute(name) ?? ""))
    .filter((link) => /^\\s*(?:javascript|data|vbscript):/i.test(link)),
  ...Object.keys(Object.prototype),
  ...(getComputedStyle(document.body).display === "none" ? ["the page is hidden"] : []),
])()`

await inBrowser("every screen with hostile names", (browser) => {
  let dns: Awaited<ReturnType<typeof DnsServer.open>>
  let smtp: Awaited<ReturnType<typeof SmtpServer.open>>
  let receiver: WebhookReceiver.Receiver
  let instance: Instance.Instance
  let tab: Browser.BrowserTab
  let account: Hostile.HostileAccount
  const outside: Array<string> = []
  const dialogs: Array<string> = []

  beforeAll(async () => {
    dns = await DnsServer.open()
    let replies = 0
    smtp = await SmtpServer.open({
      script: ({ phase }) =>
        phase === "rcpt" && replies++ % 2 === 0
          ? `550 5.1.1 ${Hostile.TEXTS[replies % Hostile.TEXTS.length]?.slice(0, 400)}`
          : undefined,
    })
    receiver = await WebhookReceiver.open({ answer: () => ({ status: 500, body: Hostile.TEXTS.join("\n") }) })
    const mailPort = await freePort()
    instance = await Instance.start({
      DNS_SERVERS: dns.server,
      WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8",
      SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
      RETURN_PATH_DOMAIN: RETURN_PATH,
      MAIL_PORT: String(mailPort),
    })
    await instance.runCommand("domains", "transport", "acme.test", "relay")
    account = await Hostile.seed(instance, { receiver: receiver.url, mailPort, returnPath: RETURN_PATH })
    tab = await Browser.openTab(browser, instance.url)
    tab.page.on("dialog", (dialog) => {
      dialogs.push(dialog.message())
      void dialog.dismiss()
    })
    tab.page.on("request", (request) => {
      if (!request.url().startsWith(instance.url) && !/^(?:data|blob|about):/u.test(request.url()))
        outside.push(request.url())
    })
    await Browser.signIn(tab.page, instance.owner)
    assert.deepStrictEqual([...new Set((await tab.page.evaluate(Hostile.saveViews)) as Array<number>)], [200])
  }, TIMEOUT)

  afterAll(async () => {
    await instance.close()
    await receiver.close()
    await smtp.close()
    await dns.close()
  }, TIMEOUT)

  /** Paths of the router, with the hostile records in place of its parameters. */
  const paths = async (): Promise<ReadonlyArray<string>> => {
    const routes = (await tab.page.evaluate("Object.keys(window.__TSR_ROUTER__.routesByPath)")) as Array<string>
    assert.isAbove(routes.length, 20)
    const records: Readonly<Record<string, ReadonlyArray<string>>> = {
      "/emails/$id": account.emails,
      "/requests/$id": account.requests,
      "/domains/$name": account.domains,
      "/webhooks/$id": account.webhooks,
      "/templates/$id": account.templates,
    }
    return routes
      .filter((route) => !ELSEWHERE.has(route))
      .flatMap((route) => {
        if (!route.includes("$")) return [route]
        // A new screen of a record needs an example of it above.
        const examples = records[route]
        assert(examples !== undefined, `no example for ${route}`)
        return [...examples, ...Hostile.TEXTS.slice(0, 7)].map((each) =>
          route.replace(/\$\w+/u, encodeURIComponent(each)),
        )
      })
  }

  const settled = () => tab.page.locator("main h1, main h2").first().waitFor()

  const check = async (where: string) => {
    assert.deepStrictEqual(await tab.page.evaluate(REACHED), [], where)
    assert.deepStrictEqual([dialogs, outside], [[], []], where)
  }

  for (const mode of ["live", "test"] as const)
    it(`of ${mode} mail shows them as text, and nothing else`, { timeout: 10 * TIMEOUT }, async () => {
      const { page } = tab
      if (mode === "test") await page.getByRole("switch", { name: "Test mode" }).click()
      const all = await paths()
      const wide: Array<string> = []
      for (const path of mode === "live" ? all : all.filter((each) => each.split("/").length === 2)) {
        await page.setViewportSize(Browser.DESKTOP)
        await page.evaluate(`history.pushState({}, "", ${JSON.stringify(path)})`)
        await page.locator("main").waitFor()
        await page.locator("main h1").first().waitFor()
        for (const name of ["HTML", "Text", "Headers", "Raw", "Attachments", "Checks", "Links"]) {
          const button = page.getByRole("tab", { name: new RegExp(`^${name}`, "u") })
          if ((await button.count()) > 0) await button.first().click()
        }
        await check(`${mode} ${path}`)
        await page.setViewportSize({ width: PHONE_PX, height: 740 })
        await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        if (Number(await page.evaluate("document.documentElement.scrollWidth")) > PHONE_PX) {
          const widest = await page.evaluate(
            `[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > ${PHONE_PX} + 1 && getComputedStyle(e).position !== "fixed").slice(0, 3).map((e) => e.outerHTML.slice(0, 150))`,
          )
          wide.push(`${path}: ${JSON.stringify(widest)}`)
        }
      }
      await page.setViewportSize(Browser.DESKTOP)
      assert.deepStrictEqual(wide, [])
    })

  // threat: dashboard-text
  it("shows them in the search of everything and in the dialogs of their records", { timeout: TIMEOUT }, async () => {
    const { page } = tab
    await page.getByRole("switch", { name: "Test mode" }).click()
    await page.goto("/overview")
    await settled()
    await page.keyboard.press("Control+k")
    for (const text of Hostile.TEXTS.slice(0, 4)) {
      await page.getByRole("combobox").or(page.getByRole("textbox")).last().fill(text.slice(0, 40))
      await check(`search ${text}`)
    }
    await page.keyboard.press("Escape")
    for (const id of account.emails.slice(0, 4)) {
      await page.goto(`/emails/${id}`)
      await settled()
      const resend = page.getByRole("button", { name: "Resend", exact: true })
      if ((await resend.count()) > 0) {
        await resend.click()
        await page.getByRole("alertdialog").waitFor()
        await check(`resend ${id}`)
        await page.keyboard.press("Escape")
      }
    }
    await ContactSheet.shoot(page, "hostile-email")
    await page.goto(`/webhooks/${account.webhooks[0]}`)
    await settled()
    await page
      .getByRole("button", { name: /\b500\b/u })
      .first()
      .click()
    await page.getByText("Request", { exact: true }).first().waitFor()
    await check("delivery of a webhook")
    assert.deepStrictEqual([dialogs, outside], [[], []])
    await ContactSheet.shoot(page, "hostile-webhook")
  })

  it("logs no console errors except for blocked scripts of previews", () => {
    const known = (line: string) =>
      OF_PREVIEW.test(line) || NOT_FOUND.test(line) || /status of (?:400|404|422)/u.test(line)
    assert.deepStrictEqual(
      tab.consoleErrors.filter((each) => !known(each)),
      [],
    )
  })
})
