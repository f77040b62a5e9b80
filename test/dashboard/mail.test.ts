import * as TrackedHtml from "@waybill/mail/TrackedHtml"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as Browser from "./Browser.ts"
import * as House from "./Service.ts"

const browser = await Browser.open()
const TIMEOUT = 120_000
const HOUR_MS = 3_600_000

/** What a reader of mail would wince at: too much of it, a picture without words, links to nowhere, a lost attachment. */
const BAD_HTML =
  `<style>p { color: red }</style><p style="color: red" onclick="alert(1)">Hello</p>` +
  `<script>document.title = "taken over"</script>` +
  `<img src="cid:lost"><a href="javascript:alert(1)">Run</a><a href="http://localhost/">Home</a>` +
  `<a href="https://example.org/real">Real</a><p>${"x".repeat(110 * 1024)}</p>`

const SCRAPS =
  `<|</|>|<a |<a href=|<a href='https://x.test/1'>|<a href="https://x.test/2&amp;b">|<a href=https://x.test/3>|</a>|href='|"` +
  `|'|=|/| |<!--|-->|--|!|<!|<?|<style>|</style>|</STYLE >|<script>|</script>|<script|</body>|<body>|<title>|</title>` +
  `|<textarea>|</textarea>|<xmp>|<iframe>|</iframe>|<noscript>|<div|<p>|<table>|<td>|&|&#|&amp;|&copy|é|x|text|\n|\t` +
  `|<b title="|<img alt='>'|<plaintext>|<!DOCTYPE html>|<![if !mso]>|<![endif]>|<!--[if mso]>|<![endif]-->|</p` +
  `|<area href=https://x.test/4>|<a/href='https://x.test/5'/>`

/** HTML as nobody should write it, the same at every run. */
const oddDocuments = (count: number): ReadonlyArray<string> => {
  const scraps = SCRAPS.split("|")
  let seed = Number(process.env["WAYBILL_FUZZ_SEED"] ?? 20261121) || 1
  const next = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below
  return Array.from({ length: count }, () =>
    Array.from({ length: 1 + next(14) }, () => scraps[next(scraps.length)]).join(""),
  )
}

describe.skipIf(typeof browser === "string")(
  `mail in the dashboard${typeof browser === "string" ? ` (skipped: ${browser})` : ""}`,
  () => {
    let house: House.House
    let seen: Browser.Watched

    beforeAll(async () => {
      if (typeof browser === "string") return
      house = await House.open()
      seen = await Browser.visit(browser, house.url)
      await Browser.signIn(seen.page, house.owner)
    }, TIMEOUT)

    afterAll(async () => {
      if (typeof browser === "string") return
      await browser.close()
      await house.close()
    }, TIMEOUT)

    const headline = (name: string) => seen.page.getByRole("heading", { name }).first().waitFor()

    it("is composed and sent, as the member who signed in", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      await page.goto("/compose")
      await page.getByLabel("To", { exact: true }).fill("ana@example.org")
      await page.getByLabel("Subject").fill("A bad example")
      await page.getByLabel("HTML").fill(BAD_HTML)
      await page.getByLabel("Tags").fill("trial")
      await page.getByRole("button", { name: "Send", exact: true }).click()
      await headline("A bad example")
      await page.locator("li[data-event='email.delivered']").waitFor()
      const { json } = await house.ask("GET", "/email/logs?tag=trial")
      const events = await house.ask("GET", `/email/logs/${json.data[0].id}/events`)
      assert.strictEqual(events.json.data[0].actor.type, "user")
    })

    it("runs nothing that a stranger wrote into it", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      await page.frameLocator("iframe").getByText("Hello").waitFor()
      const frame = page.frames().find((each) => each.url().includes("/preview/emails/"))
      assert.strictEqual(await frame?.title(), "")
      for (const [tab, words] of [
        ["HTML", "cid:lost"],
        ["Headers", "DKIM-Signature"],
        ["Raw", "MIME-Version"],
      ] as const) {
        await page.getByRole("tab", { name: tab }).click()
        await page.getByRole("tabpanel").getByText(words).first().waitFor()
      }
    })

    it(
      "is tracked where a browser finds its links, and reads the same to the letter",
      { timeout: TIMEOUT },
      async () => {
        const OPEN = "https://t.test/open"
        const click = (url: string) => `https://t.test/${encodeURIComponent(url)}`
        const documents = oddDocuments(1_500).map((html) => [html, TrackedHtml.rewrite(html, { click, open: OPEN })])
        // A page of its own: the dashboard's policy would complain of each style in what is read.
        const empty = await seen.context.newPage()
        const differing = await empty.evaluate((pairs) => {
          const look = (html: string) => {
            const read = new DOMParser().parseFromString(html, "text/html")
            const pictures = [...read.querySelectorAll("img[src='https://t.test/open']")]
            for (const picture of pictures) picture.remove()
            const links = [...read.querySelectorAll("a[href],area[href]")].map(
              (each) => each.getAttribute("href") ?? "",
            )
            return { text: read.documentElement.textContent, links, pictures: pictures.length }
          }
          return pairs.filter(([html = "", tracked = ""]) => {
            const [before, after] = [look(html), look(tracked)]
            const tells = after.links.filter((each) => each.startsWith("https://t.test/"))
            const leads = after.links.map((each) => decodeURIComponent(each.replace(/^https:\/\/t\.test\//u, "")))
            const wanted = before.links.filter((each) => /^https:\/\/x\.test\/\d[&\w]*$/u.test(each))
            const isSame = before.text === after.text && before.links.join(" ") === leads.join(" ")
            return !isSame || tells.length < wanted.length || after.pictures > 1
          })
        }, documents)
        await empty.close()
        assert.deepEqual(differing, [])
      },
    )

    it("is looked at by the inbox, which says what is wrong with it", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      await page.goto("/inbox")
      await headline("A bad example")
      await page.getByRole("tab", { name: /^Checks/u }).click()
      for (const words of [
        "Gmail clips what is over 102.0 KB",
        "1 of 1 pictures have no alt text",
        "No attachment is named cid:lost",
        "These lead nowhere from outside: javascript:alert(1), http://localhost/",
        "acme.test can never be real",
        "Signed by DKIM for acme.test",
      ])
        await Browser.eventually(() => page.getByRole("tabpanel").textContent()).toContain(words)
      await page.getByRole("tab", { name: /^Links/u }).click()
      // What is no address is no link here.
      const links = page.getByRole("tabpanel").getByRole("link")
      await links.first().waitFor()
      assert.deepEqual(await links.allTextContents(), ["http://localhost/", "https://example.org/real"])
    })

    it("shows what is hidden in a subject, which turns nothing beside it", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      await house.ask("POST", "/email/send", {
        from: "hello@acme.test",
        to: "ana@example.org",
        subject: "Invoice \u202egpj.exe \u001b[31mred",
        text: "x",
        scheduled_at: new Date(Date.now() + HOUR_MS).toISOString(),
      })
      await page.goto("/emails")
      const subject = page.getByText("Invoice [U+202E]gpj.exe ␛[31mred").first()
      await subject.waitFor()
      assert.strictEqual(await subject.evaluate((node) => getComputedStyle(node).unicodeBidi), "isolate")
      await subject.click()
      await headline("Invoice [U+202E]gpj.exe ␛[31mred")
    })

    it("is rescheduled, put back, and canceled while it waits", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      const scheduled_at = new Date(Date.now() + HOUR_MS).toISOString()
      const sent = await house.ask("POST", "/email/send", {
        from: "hello@acme.test",
        to: "ana@example.org",
        subject: "Later",
        text: "Not yet.",
        scheduled_at,
      })
      const scheduled = async () => (await house.ask("GET", `/email/logs/${sent.json.id}`)).json.scheduled_at
      await page.goto(`/emails/${sent.json.id}`)
      await page.getByRole("button", { name: "Reschedule" }).click()
      const later = new Date(Date.now() + 2 * HOUR_MS).toISOString()
      await page.getByLabel("Send at").fill(later.slice(0, 16))
      await page.getByRole("dialog").getByRole("button", { name: "Reschedule" }).click()
      await page.getByText("Rescheduled.", { exact: true }).waitFor()
      assert.strictEqual(await scheduled(), `${later.slice(0, 16)}:00.000Z`)
      await page.getByRole("button", { name: "Undo" }).click()
      await Browser.eventually(scheduled).toBe(scheduled_at)
      await page.getByRole("button", { name: "Cancel", exact: true }).click()
      await page.getByRole("button", { name: "Cancel the message" }).click()
      await page.locator("li[data-event='email.canceled']").waitFor()
      assert.strictEqual((await house.ask("GET", `/email/logs/${sent.json.id}`)).json.status, "canceled")
    })

    it("is found by every filter of the log, each of which stands in the address", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      await page.goto("/emails")
      await page.getByRole("button", { name: "State" }).click()
      await page.getByRole("menuitem", { name: "Delivered" }).click()
      await page.getByRole("button", { name: "More filters" }).click()
      const filters = page.getByRole("dialog")
      await filters.getByLabel("To", { exact: true }).fill("ana@example.org")
      await filters.getByLabel("From").fill("hello@acme.test")
      await filters.getByLabel("Subject contains").fill("bad")
      await filters.getByLabel("Domain").fill("acme.test")
      await filters.getByLabel("Tags").fill("trial")
      await filters.getByLabel("After").fill("2020-01-01T00:00")
      await filters.getByLabel("Before").fill("2090-01-01T00:00")
      await filters.getByRole("button", { name: "Show" }).click()
      await page.getByRole("link", { name: /A bad example/u }).waitFor()
      const { searchParams } = new URL(page.url())
      for (const name of ["status", "to", "from", "subject", "domain", "tag", "created_after", "created_before"])
        assert.isTrue(searchParams.has(name), name)
      await page.reload()
      await page.getByRole("link", { name: /A bad example/u }).waitFor()
      await page.getByRole("button", { name: "Remove the filter Tag" }).click()
      await Browser.eventually(() => new URL(page.url()).searchParams.has("tag")).toBe(false)
    })

    it("stays quick in a log of many, of which only what is seen is drawn", { timeout: TIMEOUT }, async () => {
      const { page } = seen
      const emails = Array.from({ length: 100 }, (_, nth) => ({
        from: "hello@acme.test",
        to: `reader${nth}@example.org`,
        subject: `Number ${nth}`,
        text: "One of many.",
      }))
      assert.isBelow((await house.ask("POST", "/email/send/batch", { emails })).status, 300)
      await page.goto("/emails")
      const rows = page.getByRole("list", { name: "Emails" }).getByRole("listitem")
      await page
        .getByRole("link", { name: /Number/u })
        .first()
        .waitFor()
      for (let nth = 0; nth < 60; nth++) await page.keyboard.press("j")
      await Browser.eventually(() => page.evaluate("scrollY > 1000")).toBe(true)
      assert.isBelow(await rows.count(), 60)
      await page.keyboard.press("Enter")
      await page.getByRole("heading", { level: 1, name: /Number \d+/u }).waitFor()
    })

    it("has made nothing in the console complain, but of a stranger's script", () => {
      assert.deepEqual(
        seen.complaints.filter((each) => !each.includes("/preview/emails/")),
        [],
      )
    })
  },
)
